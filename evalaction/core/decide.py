"""Comparison → SuiteVerdict: the reasons, the word, the warnings."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from evalaction.core.comparison import Comparison, Outcome
from evalaction.core.doubts import warnings_of
from evalaction.core.evidence import Evidence, describe, stored_runs
from evalaction.core.loosened import loosened, lowered_floors
from evalaction.core.reasons import reasons_of
from evalaction.core.since_anchor import since_anchor
from evalaction.core.verdict import BaselineInfo, CallsInfo, Counts, Doubt, MetricVerdict, Reason, SuiteVerdict, VerdictWord

_RED = frozenset({"CASE_REGRESSED", "CHECK_REGRESSED", "METRIC_REGRESSED", "CASE_REMOVED"})


def decide(evidence: Evidence) -> SuiteVerdict:
    """The verdict on one suite. Every reason names what it speaks of; warnings never change the word."""
    comparison, header = evidence.comparison, evidence.current.header
    reasons = tuple(reasons_of(evidence))
    counts = _counts(comparison.outcomes)
    warnings = tuple(warnings_of(evidence, counts))
    return SuiteVerdict(
        suite=header.suite, key=header.key, verdict=_word(reasons, evidence), rule=comparison.rules.name if evidence.baseline else None,
        reasons=reasons, warnings=tuple(one if isinstance(one, str) else one.message for one in warnings), doubts=tuple(one for one in warnings if isinstance(one, Doubt)),
        metrics=(*comparison.metrics, *_missing_metrics(comparison)), checks=comparison.families,
        cases=tuple(outcome.verdict for outcome in comparison.outcomes), counts=counts, baseline=_baseline_info(evidence),
        calls=_calls(evidence), cost_usd=header.cost_usd, baseline_cost_usd=evidence.baseline.record.header.cost_usd if evidence.baseline else None,
        dataset_version=header.dataset_version, digest=header.digest, commit=header.commit, file=header.file, selection=describe(header.selection),
        removed_cases=tuple(outcome.pair.id for outcome in comparison.outcomes if outcome.pair.status == "removed"),
        loosened=_loosened(evidence),
        changed_cases=_changed(comparison.outcomes), extra_runs=header.extra_runs,
    )  # fmt: skip


def _word(reasons: tuple[Reason, ...], evidence: Evidence) -> VerdictWord:
    codes = {reason.code for reason in reasons}
    if "INTERRUPTED" in codes:
        return "not_measured"
    gone = [reason for reason in reasons if reason.code == "METRIC_MISSING"]
    lost = any(reason.case is not None or reason.metric in evidence.comparison.missing for reason in gone)
    if codes & _RED or lost:
        return "regressed"
    if codes & {"BELOW_THRESHOLD", "METRIC_MISSING"}:
        return "below_threshold"
    if codes & {"TOO_MANY_ERRORS", "BUDGET_EXHAUSTED", "NOT_RECORDED"}:
        return "not_measured"
    if "TOO_FEW_COMPARABLE" in codes:
        return "not_comparable"
    return "no_baseline" if evidence.baseline is None else "passed"


def _missing_metrics(comparison: Comparison) -> tuple[MetricVerdict, ...]:
    return tuple(MetricVerdict(metric=name, verdict="missing") for name in comparison.missing)


def _loosened(evidence: Evidence) -> tuple[str, ...]:
    """What was accepted and is looser now: parts of the policy, floors of single cases, and another base system, since it may clear a change of blame."""
    if evidence.baseline is None or evidence.is_score:
        return ()
    before = evidence.baseline.record
    accepted, now = before.header, evidence.current.header
    lines = (*loosened(accepted.policy, dataclasses.asdict(evidence.policy)), *lowered_floors(before.cases, evidence.current.cases))
    return lines if now.blame is None or now.blame == accepted.blame else (*lines, f"blame {_system(accepted.blame)} → {_system(now.blame)}")


def _system(blame: Mapping[str, Any] | None) -> str:
    return next((f"{name} {value}" for name, value in (blame or {}).items() if value is not None), "none")


def _changed(outcomes: Iterable[Outcome]) -> tuple[str, ...]:
    """Cases of which something was not compared because it is defined anew: the input, or checks by name."""
    lines = []
    for outcome in outcomes:
        if outcome.pair.status == "changed":
            lines.append(outcome.pair.id)
        elif outcome.pair.changed:
            lines.append(f"{outcome.pair.id} ({', '.join(outcome.pair.changed)})")
    return tuple(lines)


def _counts(outcomes: Sequence[Outcome]) -> Counts:
    status, words = Counter(outcome.pair.status for outcome in outcomes), Counter(outcome.verdict.verdict for outcome in outcomes)
    anew = sum(bool(outcome.pair.changed) for outcome in outcomes if outcome.pair.status == "compared")
    return Counts(
        compared=status["compared"], added=status["added"], removed=status["removed"], changed=status["changed"] + anew, errors=status["error"], regressed=words["regressed"],
        improved=words["improved"], within_noise=words["within_noise"], within_tolerance=words["within_tolerance"], flaky=words["flaky"], inconclusive=words["inconclusive"],
        unchanged=words["unchanged"],
    )  # fmt: skip


def _baseline_info(evidence: Evidence) -> BaselineInfo:
    if evidence.baseline is None:
        return BaselineInfo()
    accepted, header = evidence.baseline.acceptance, evidence.baseline.record.header
    if evidence.is_score:
        return BaselineInfo(found=True, suite_level_only=True, file=header.file)
    return BaselineInfo(
        found=True, run_id=header.run_id, commit=header.commit, accepted_at=accepted.accepted_at, accepted_by=accepted.accepted_by, reason=accepted.reason,
        accepted_in=accepted.accepted_in, age_days=evidence.age_days, runs=stored_runs(evidence), acceptances=len(evidence.baseline.chain) + 1,
        anchor=since_anchor(evidence),
    )  # fmt: skip


def _calls(evidence: Evidence) -> CallsInfo:
    calls = evidence.current.header.calls
    before = evidence.baseline.record.header.calls.made if evidence.baseline and not evidence.is_score else None
    return CallsInfo(**dataclasses.asdict(calls), baseline_made=before)
