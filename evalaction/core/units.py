"""What about a single case may get worse: its own score and rate of passes, and those of its checks; equal ones are one."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator

from evalaction.core.readings import PASSED, SCORE, CaseReadings, Name, Values
from evalaction.core.rules import RUNS_FOR_BINARY, runs_needed_for
from evalaction.core.sample import mean
from evalaction.core.stats.power import Kind
from evalaction.core.suite import Policy

Label = str | None
"""None for the case itself, else a check's id."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """A series of runs of one case on both sides, higher is better. `statistical` says whether enough runs are stored to tell chance from change."""

    case: CaseReadings
    labels: tuple[Label, ...]
    kind: Kind
    tolerance: float
    baseline: tuple[float, ...]
    current: Values
    statistical: bool
    baseline_mean: float
    values: tuple[float, ...]
    """All current runs, the first run first."""

    @property
    def drop(self) -> float:
        """Baseline mean minus the mean of all current runs."""
        return self.baseline_mean - mean(self.values)

    @property
    def stored_passes(self) -> int:
        """Of a binary unit, the stored runs that passed."""
        return round(math.fsum(self.baseline))

    @property
    def can_regress(self) -> bool:
        """Whether there is anything to lose: a passed run, or a score above the tolerance."""
        return self.stored_passes > 0 if self.kind == "binary" else self.baseline_mean > self.tolerance

    @property
    def can_improve(self) -> bool:
        """Whether there is anything to gain (scores are fractions)."""
        return self.stored_passes < len(self.baseline) if self.kind == "binary" else self.baseline_mean < 1 - self.tolerance

    @property
    def name(self) -> str:
        """What to call it in a sentence."""
        return next((f"check {label}" for label in self.labels if label is not None), "the case")

    def first(self, passes: int) -> tuple[float, ...]:
        """The runs of the first passes over the suite, with all that the case's own first pass has; all runs where none of those was measured."""
        return tuple([value for repeat, value in self.current if repeat < max(passes, self.case.repeats)]) or self.values

    def is_gated(self, policy: Policy) -> bool:
        """Whether a drop may be red."""
        return any(("case" if label is None else "check") in policy.fail_on for label in self.labels)


def units_of(case: CaseReadings, policy: Policy) -> list[Unit]:
    """The distinct units of one case."""
    found: dict[tuple[Values, Values], list[Label]] = {}
    for label, name in _columns(case):
        if name in case.baseline and name in case.current:
            found.setdefault((case.baseline[name], case.current[name]), []).append(label)
    units = (_unit(case, tuple(dict.fromkeys(labels)), before, now, policy) for (before, now), labels in found.items())
    return [unit for unit in units if unit is not None]


def _columns(case: CaseReadings) -> Iterator[tuple[Label, Name]]:
    """Rates of passes and scores. Where every check passes or fails, the case's score adds nothing to its rate of passes and its checks'."""
    yield None, PASSED
    for check in case.pair.compared:
        yield check.id, ("check", check.id)
        yield check.id, ("passes", check.id)
    if len(case.baseline[SCORE]) < RUNS_FOR_BINARY or any(_is_graded(case, check.id) for check in case.pair.compared):
        yield None, SCORE


def _is_graded(case: CaseReadings, check: str) -> bool:
    """Whether a check's score says more than whether it passed."""
    return any(value not in {0.0, 1.0} for side in (case.baseline, case.current) for _, value in side.get(("check", check), ()))


def _unit(case: CaseReadings, labels: tuple[Label, ...], stored: Values, current: Values, policy: Policy) -> Unit | None:
    """None for a check's graded score without enough runs: by points a check is judged by whether it passes."""
    before, values = tuple([value for _, value in stored]), tuple([value for _, value in current])
    kind: Kind = "binary" if {0.0, 1.0}.issuperset(before) and {0.0, 1.0}.issuperset(values) else "graded"
    statistical = len(before) >= runs_needed_for(kind, policy)
    if not statistical and kind == "graded":
        labels = tuple(label for label in labels if label is None)
    if not labels:
        return None
    tolerance = policy.pass_rate_tolerance if kind == "binary" else policy.case_tolerance
    return Unit(
        case=case, labels=labels, kind=kind, tolerance=tolerance, baseline=before, current=current, statistical=statistical, baseline_mean=mean(before), values=values
    )
