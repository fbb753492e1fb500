"""From read suites to planned work: the cases that are meant, and the refusals that need no call."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence

from evalaction.app.parts import Selected
from evalaction.core.checks import SCORERS
from evalaction.core.metrics import type_of
from evalaction.core.pairing import is_meant
from evalaction.core.suite import Case, Suite
from evalaction.errors import ConfigError, Fault


def select(suites: Sequence[Suite], selected: Selected) -> tuple[Suite, ...]:
    """The suites with only the cases that are meant. Raises ConfigError NO_CASES when a filter, tag or shard leaves nothing."""
    chosen = tuple(dataclasses.replace(suite, cases=_cases(suite.cases, selected)) for suite in suites)
    named = " ".join(f"--{name} {value}" for name, value in (("filter", selected.filter), ("tag", selected.tag)) if value)
    if named and not any(suite.cases for suite in chosen):
        raise ConfigError.one("NO_CASES", f"no case is meant by {named}", "name ids or tags that the suite has; globs such as 'refund-*' work")
    kept = tuple(suite for suite in chosen if suite.cases)
    if selected.shard is not None:
        kept = tuple(dataclasses.replace(suite, cases=suite.cases[selected.shard.index - 1 :: selected.shard.of]) for suite in kept)
        empty = [suite.name for suite in kept if not suite.cases]
        if empty:
            what = f"shard {selected.shard.index} of {selected.shard.of} of suite {empty[0]} has no case"
            raise ConfigError.one("NO_CASES", what, "use at most as many shards as there are cases")
    return kept


def _cases(cases: Iterable[Case], selected: Selected) -> tuple[Case, ...]:
    return tuple(case for case in cases if is_meant(case.id, case.tags, glob=selected.filter, tag=selected.tag))


def refuse_unsupported(suites: Sequence[Suite]) -> None:
    """Raise for everything that this version reads and cannot run: a check that does not run is never a pass."""
    faults = [fault for suite in suites for fault in _unsupported(suite)]
    if faults:
        raise ConfigError(faults)


def _unsupported(suite: Suite) -> Iterable[Fault]:
    lacking = {type_of(check): case for case in reversed(suite.cases) for check in case.checks if type(check) not in SCORERS}
    for kind, case in lacking.items():
        what = f"{kind} checks cannot be run by this version (case {case.id})"
        yield Fault(code="INVALID_VALUE", what=what, fix="leave the check out, or use a python check", file=suite.file, line=case.line)


def refuse_small_budgets(suite: Suite, planned: int) -> None:
    """Raise ConfigError BUDGET_TOO_SMALL when the planned calls, of target and judge together, cannot fit into `limits.max_calls`."""
    most = suite.limits.max_calls
    if most is not None and planned > most:
        what = f"suite {suite.name} plans {planned} calls, and limits.max_calls allows {most}"
        raise ConfigError.one("BUDGET_TOO_SMALL", what, f"raise max_calls to at least {planned}, or measure fewer cases or repeats", file=suite.file, path="limits.max_calls")
