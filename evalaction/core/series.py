"""One metric over many cases: compact lists of case values on both sides, and the means that are compared."""

from __future__ import annotations

import dataclasses
from array import array
from collections.abc import Sequence

from evalaction.core.sample import mean


@dataclasses.dataclass(slots=True)
class Series:
    """Values of one metric, case by case, while pairs are being walked.

    `baseline[i]` and `current[i]` belong to the case `owners[i]` (its place among the outcomes);
    `current` is the first pass over the suite, `later[i]` the case's values in confirmation passes.
    """

    baseline: array[float] = dataclasses.field(default_factory=lambda: array("d"))
    current: array[float] = dataclasses.field(default_factory=lambda: array("d"))
    owners: array[int] = dataclasses.field(default_factory=lambda: array("L"))
    later: dict[int, tuple[float, ...]] = dataclasses.field(default_factory=dict)

    def add(self, owner: int, baseline: float, runs: Sequence[float]) -> None:
        """One case: its baseline value and its values per pass, the first pass first."""
        if len(runs) > 1:
            self.later[len(self.owners)] = tuple(runs[1:])
        self.owners.append(owner)
        self.baseline.append(baseline)
        self.current.append(runs[0])

    @property
    def passes(self) -> int:
        """Passes over the suite, confirmations included."""
        return 1 + max(map(len, self.later.values()), default=0)

    def current_mean(self, run: int) -> float:
        """Mean in pass `run` (0 = first); a case that was not run again stands with its last value."""
        if run == 0:
            return mean(self.current)
        values = array("d", self.current)
        for index, later in self.later.items():
            values[index] = later[min(run, len(later)) - 1]
        return mean(values)

    def fallen(self, sign: int) -> list[int]:
        """Owners whose first pass is worse than their baseline; `sign` is -1 where lower is better."""
        return [owner for owner, before, now in zip(self.owners, self.baseline, self.current, strict=True) if sign * (before - now) > 0]


@dataclasses.dataclass(slots=True)
class Whole:
    """One metric over the whole current suite, with the noise of its mean: `variance` sums s²/n over the cases."""

    values: array[float] = dataclasses.field(default_factory=lambda: array("d"))
    variance: float = 0.0
    repeated: bool = False

    def add(self, runs: Sequence[float]) -> None:
        """One case's values in the first pass."""
        centre = runs[0] if len(runs) == 1 else mean(runs)
        self.values.append(centre)
        if len(runs) > 1:
            self.repeated = True
            self.variance += sum((value - centre) ** 2 for value in runs) / (len(runs) - 1) / len(runs)

    @property
    def standard_error(self) -> float:
        """Standard error of the mean over cases, from the spread within cases: √(Σ sᵢ²/nᵢ) / N."""
        return float(self.variance**0.5 / len(self.values))
