"""Records → numbers for the statistical rule: every value of every run of a case, and the series they form over the suite."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal

from evalaction.core.pairing import Pair
from evalaction.core.record import CheckInfo, Trial
from evalaction.core.sample import Sample, sample
from evalaction.core.spec_base import RAW
from evalaction.core.stats.pooled import Runs
from evalaction.core.stats.power import Kind

Values = tuple[tuple[int, float], ...]
"""Values of one case on one side as (repeat, value), by repeat; a failed run leaves a gap."""
Name = tuple[Literal["metric", "check", "passes", "score"], str]
"""A metric, the score of a check, whether a check passes, or, with the name "", whether the case passes and its score."""
PASSED: Name = ("passes", "")
SCORE: Name = ("score", "")


@dataclasses.dataclass(frozen=True, slots=True)
class CaseReadings:
    """One compared case: its place among the outcomes, its pair, and the values of both sides by name, over its compared checks."""

    owner: int
    pair: Pair
    baseline: Mapping[Name, Values]
    current: Mapping[Name, Values]

    @property
    def attempts(self) -> int:
        """Current runs made, failed ones too."""
        return len(self.pair.current.trials) if self.pair.current else 0

    @property
    def repeats(self) -> int:
        """Runs of this case in one pass over the suite."""
        return self.pair.current.repeats if self.pair.current else 1


def read_case(owner: int, pair: Pair) -> CaseReadings | None:
    """The readings of a compared pair; None where a side has no run with a compared check."""
    before, now = (_read(side.trials if side else (), pair.compared) for side in (pair.baseline, pair.current))
    return CaseReadings(owner, pair, before, now) if before and now else None


def _read(trials: Sequence[Trial], checks: Sequence[CheckInfo]) -> dict[Name, Values]:
    measured = sorted((trial for trial in trials if trial.measured), key=lambda trial: trial.repeat)
    whole = sample(measured, checks)
    repeats = [trial.repeat for trial in measured]
    columns = list(_columns(whole))
    if all(len(column) == len(measured) for _, column in columns):
        return {name: tuple(zip(repeats, map(float, column), strict=True)) for name, column in columns if column}
    return _read_one_by_one(measured, checks)


def _read_one_by_one(trials: Sequence[Trial], checks: Sequence[CheckInfo]) -> dict[Name, Values]:
    """The same where some run lacks a value that others have: a check that did not apply, a cost that was not stated."""
    found: dict[Name, list[tuple[int, float]]] = {}
    for trial in trials:
        for name, column in _columns(sample((trial,), checks)):
            if column:
                found.setdefault(name, []).append((trial.repeat, float(column[0])))
    return {name: tuple(values) for name, values in found.items()}


def _columns(values: Sample) -> Iterator[tuple[Name, Sequence[float]]]:
    for metric, found in values.metrics.items():
        yield ("metric", metric), found
    for check, scores in values.check_scores.items():
        yield ("check", check), scores
        yield ("passes", check), values.check_passes[check]
    yield PASSED, values.passes
    yield SCORE, values.scores


@dataclasses.dataclass(slots=True)
class SuiteSeries:
    """One metric or check over the compared cases: `rows` are (owner, baseline values, current values), `repeats` the runs of each in one pass."""

    name: Name
    repeats: list[int] = dataclasses.field(default_factory=list)
    rows: list[tuple[int, Values, Values]] = dataclasses.field(default_factory=list)
    _deviations: list[tuple[float, ...]] = dataclasses.field(default_factory=list)

    @property
    def kind(self) -> Kind:
        """Binary when every value on both sides is 0 or 1."""
        if self.name[1] in RAW and self.name[0] == "metric":
            return "graded"
        return "binary" if all(value in {0.0, 1.0} for _, before, now in self.rows for side in (before, now) for _, value in side) else "graded"

    @property
    def stored_runs(self) -> int:
        """Baseline runs of the median case."""
        counts = sorted(len(before) for _, before, _ in self.rows)
        return counts[len(counts) // 2]

    def first(self, passes: int, sign: int) -> tuple[Runs, ...]:
        """The cases with their values in the first passes over the suite; `sign` -1 turns a metric round where lower is better.

        A case with more repeats of its own brings all that its first pass has: those were planned, whatever was seen.
        """
        if not self._deviations:
            stored = self.stored_runs
            self._deviations = [deviations(before, stored) for _, before, _ in self.rows]
        return tuple(
            Runs(tuple([sign * value for _, value in before]), tuple(now), off)
            for (_, before, current), own, off in zip(self.rows, self.repeats, self._deviations, strict=True)
            if (now := [sign * value for repeat, value in current if repeat < max(passes, own)])
        )


def deviations(values: Values, passes: int) -> tuple[float, ...]:
    """By how much each whole pass of the baseline was off the case's mean; 0 where its run failed."""
    centre = sum(value for _, value in values) / len(values)
    by_pass = dict(values)
    return tuple([by_pass[number] - centre if number in by_pass else 0.0 for number in range(passes)])


def collect(cases: Iterable[CaseReadings]) -> dict[Name, SuiteSeries]:
    """All series of the compared cases: every metric, and every check that at least two cases share."""
    series: dict[Name, SuiteSeries] = {}
    for case in cases:
        for name, before in case.baseline.items():
            if name[0] in ("metric", "check") and name in case.current:
                found = series.setdefault(name, SuiteSeries(name))
                found.rows.append((case.owner, before, case.current[name]))
                found.repeats.append(case.repeats)
    return {name: one for name, one in series.items() if name[0] == "metric" or len(one.rows) > 1}
