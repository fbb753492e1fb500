"""Checks of single cases that should have been made and were not: a metric may not fade from a suite case by case."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Mapping, Sequence

from evalaction.core.comparison import Comparison, Outcome
from evalaction.core.pairing import Pair
from evalaction.core.produced import Lost
from evalaction.core.record import CaseRecord, CheckInfo, RunRecord


def with_lost(comparison: Comparison, current: RunRecord) -> Comparison:
    """The comparison with every check that a case lost, though nobody took it out of the definition.

    Imported results define their checks by having them, so there a check of the baseline that is gone is lost. What the whole suite lacks is
    said of the suite, and not again of each case.
    """
    imported, gated = current.header.target.get("kind") == "import", {"metric", "check"} & {*comparison.rules.policy.fail_on}
    found: list[Lost] = []
    outcomes = list(comparison.outcomes)
    for place, outcome in enumerate(outcomes):
        lost = [check for check in _lost(outcome.pair, imported=imported) if not set(check.metrics) <= {*comparison.missing}]
        if lost:
            found += [Lost(case=outcome.pair.id, check=check.id, metrics=check.metrics) for check in lost]
            outcomes[place] = _marked(outcome, {check.id for check in lost}, gated=bool(gated))
    return dataclasses.replace(comparison, outcomes=tuple(outcomes), lost=tuple(found)) if found else comparison


def _marked(outcome: Outcome, names: set[str], *, gated: bool) -> Outcome:
    verdict = outcome.verdict
    checks = tuple(dataclasses.replace(check, verdict="missing") if check.check in names else check for check in verdict.checks)
    word = "regressed" if gated and outcome.pair.status == "compared" else verdict.verdict
    return dataclasses.replace(outcome, verdict=dataclasses.replace(verdict, checks=checks, verdict=word))


def _lost(pair: Pair, *, imported: bool) -> Sequence[CheckInfo]:
    """Checks with a metric that at least half of the baseline's runs have and fewer than half of this one's."""
    before, now = pair.baseline, pair.current
    if before is None or now is None or pair.status not in ("compared", "changed") or before.fingerprint != now.fingerprint:
        return ()
    gone = {*pair.removed} if imported else set()
    if not gone and all(len(trial.checks) == len(now.checks) for trial in now.measured):
        return ()
    had, have = _made(before), _made(now)
    expected = [*pair.compared, *(check for check in before.checks if check.id in gone)]
    runs, stored = len(now.measured), len(before.measured)
    return [check for check in expected if check.metrics and 2 * had.get(check.id, 0) >= stored and 2 * have.get(check.id, 0) < runs]


def _made(case: CaseRecord) -> Mapping[str, int]:
    """How many of the measured runs have a result of each check."""
    return Counter(result.id for trial in case.measured for result in trial.checks)
