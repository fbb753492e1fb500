"""Records → numbers for the statistical rule: every value of every trial, run by run, and the series they form over the suite."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

from evalaction.core.metrics import RAW
from evalaction.core.pairing import Pair
from evalaction.core.record import CheckInfo, Trial
from evalaction.core.sample import Sample, sample
from evalaction.core.stats.pooled import Runs
from evalaction.core.stats.power import Kind

Values = tuple[tuple[int, float], ...]
"""Values of one case on one side as (repeat, value), by repeat; a failed trial leaves a gap."""
Name = tuple[Literal["metric", "check"], str]


@dataclasses.dataclass(frozen=True, slots=True)
class Reading:
    """One measured trial of a compared case, restricted to its compared checks; the sample holds one value of each."""

    repeat: int
    values: Sample


@dataclasses.dataclass(frozen=True, slots=True)
class CaseReadings:
    """One compared case: its place among the outcomes, its pair, and the readings of both sides, by repeat."""

    owner: int
    pair: Pair
    baseline: tuple[Reading, ...]
    current: tuple[Reading, ...]

    @property
    def attempts(self) -> int:
        """Current runs made, failed ones too."""
        return len(self.pair.current.trials) if self.pair.current else 0


def read_case(owner: int, pair: Pair) -> CaseReadings:
    """The readings of a compared pair."""
    before, now = (_readings(side.trials if side else (), pair.compared) for side in (pair.baseline, pair.current))
    return CaseReadings(owner, pair, before, now)


def _readings(trials: Sequence[Trial], checks: Sequence[CheckInfo]) -> tuple[Reading, ...]:
    measured = sorted((trial for trial in trials if trial.measured), key=lambda trial: trial.repeat)
    found = ((trial.repeat, sample((trial,), checks)) for trial in measured)
    return tuple(Reading(repeat, values) for repeat, values in found if values.scores)


@dataclasses.dataclass(slots=True)
class SuiteSeries:
    """One metric or check over the compared cases: `rows` are (owner, baseline values, current values)."""

    name: Name
    rows: list[tuple[int, Values, Values]] = dataclasses.field(default_factory=list)

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

    def first(self, passes: int, sign: int, baseline_passes: int) -> list[Runs]:
        """The cases with their values in the first passes over the suite; `sign` -1 turns a metric round where lower is better."""
        return [
            Runs(tuple(sign * value for _, value in before), now, _deviations(before, baseline_passes))
            for _, before, current in self.rows
            if (now := tuple(sign * value for repeat, value in current if repeat < passes))
        ]


def _deviations(values: Values, passes: int) -> tuple[float, ...]:
    """By how much each whole pass of the baseline was off the case's mean; 0 where its trial failed."""
    centre = sum(value for _, value in values) / len(values)
    by_pass = dict(values)
    return tuple(by_pass[number] - centre if number in by_pass else 0.0 for number in range(passes))


def collect(cases: Iterable[CaseReadings]) -> dict[Name, SuiteSeries]:
    """All series of the compared cases: every metric, and every check that at least two cases share."""
    series: dict[Name, SuiteSeries] = {}
    for case in cases:
        before, now = _by_name(case.baseline), _by_name(case.current)
        for name in before:
            if name in now:
                series.setdefault(name, SuiteSeries(name)).rows.append((case.owner, tuple(before[name]), tuple(now[name])))
    return {name: found for name, found in series.items() if name[0] == "metric" or len(found.rows) > 1}


def _by_name(readings: Iterable[Reading]) -> dict[Name, list[tuple[int, float]]]:
    found: dict[Name, list[tuple[int, float]]] = {}
    for reading in readings:
        for name, value in _named(reading.values):
            found.setdefault(name, []).append((reading.repeat, value))
    return found


def _named(values: Sample) -> Iterator[tuple[Name, float]]:
    for name, found in values.metrics.items():
        if found:
            yield ("metric", name), found[0]
    for name, scores in values.check_scores.items():
        yield ("check", name), scores[0]
