"""One graded case: t with noise shrunk towards the suite's, looked at after every run from the fourth on."""

from __future__ import annotations

import dataclasses
import math
import statistics
from collections.abc import Sequence

from evalaction.core.stats.pooled import squares
from evalaction.core.stats.special import t_tail

PRIOR_DF = 4
"""How many runs the suite's typical variance is worth."""
FLOOR = 0.000025
"""Variance that every case has at least: half a point, squared."""
FIRST_LOOK = 4
EARLY_SHARE = 0.4
"""Share of alpha that the looks before the last divide among them; the last has the rest."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class ShrunkTest:
    """`drop` of the mean and `median_drop` to the median current run, in the metric's unit; `t` of the former and its one-sided `p`."""

    drop: float
    median_drop: float
    t: float
    df: int

    @property
    def p(self) -> float:
        """P(T >= t); computed only when asked for, since most looks need no more than t."""
        return t_tail(self.t, self.df)


@dataclasses.dataclass(frozen=True, slots=True)
class Stored:
    """The baseline of one case: runs, mean, sum of squared deviations; `typical` is the suite's mean variance of a case."""

    runs: int
    mean: float
    squares: float
    typical: float


def stored(values: Sequence[float], typical: float) -> Stored:
    """Sum up at least one baseline run, in the metric's unit."""
    centre = math.fsum(values) / len(values)
    return Stored(len(values), centre, squares(values, centre), typical)


def shrunk_t(baseline: Stored, current: Sequence[float]) -> ShrunkTest:
    """Compare one case's current runs (at least one) with its baseline.

    s² = (4 v̄ + (Rb-1) s_b² + (n-1) s_c²)/(Rb + n + 2) + 0.000025, t = drop / (s √(1/n + 1/Rb)), df = Rb + n + 2.
    Source: Smyth, Statistical Applications in Genetics and Molecular Biology 3 (2004), the moderated t.
    """
    n = len(current)
    centre = math.fsum(current) / n
    df = baseline.runs + n + 2
    variance = (PRIOR_DF * baseline.typical + baseline.squares + squares(current, centre)) / df + FLOOR
    drop = baseline.mean - centre
    return ShrunkTest(drop=drop, median_drop=baseline.mean - statistics.median(current), t=drop / math.sqrt(variance * (1 / n + 1 / baseline.runs)), df=df)


def look_alpha(runs: int, most: int, alpha: float) -> float:
    """The part of `alpha` that the look after `runs` of at most `most` runs may spend; 0 before the fourth.

    The parts add up to alpha: 0.4 divided among the looks before the last, 0.6 for the last (Bonferroni over looks).
    """
    if runs < FIRST_LOOK:
        return 0.0
    return (1 - EARLY_SHARE) * alpha if runs >= most else EARLY_SHARE * alpha / max(1, most - FIRST_LOOK)
