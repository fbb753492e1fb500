"""The t test of a suite of graded cases: each case is its own control, and only the noise within cases counts."""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Sequence

from evalaction.core.stats.special import chi2_tail, t_tail

EPSILON = 1e-9
"""Below this two means are the same: what is left is rounding."""
_GUARD_LEVEL = 0.05
_BOUND_LEVEL = 0.05


@dataclasses.dataclass(frozen=True, slots=True)
class Runs:
    """One case: its values on both sides, in the metric's unit, higher is better, at least one each.

    `deviations` are those of the baseline's passes from the case's mean, one per whole pass (0 where the trial of a pass failed).
    """

    baseline: tuple[float, ...]
    current: tuple[float, ...]
    deviations: tuple[float, ...] = ()


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class PooledTest:
    """`drop` = mean over cases of baseline minus current, in the metric's unit; `variance` is that of one run of a case, averaged.

    `overdispersion` is how much more the baseline's passes scatter than their cases explain, where that is more than chance
    (it widens `standard_error` already), else None. `warnings` are sentences for the report.
    """

    cases: int
    drop: float
    standard_error: float
    df: float
    p_worse: float
    p_better: float
    estimated: bool
    overdispersion: float | None = None
    scatter: float | None = None
    """The same ratio whether or not chance explains it; None with fewer than two whole passes or without any variance."""
    warnings: tuple[str, ...] = ()
    _parts: tuple[float, float] = (0.0, 0.0)

    def excludes(self, drop: float) -> bool:
        """Whether the one-sided 95 % bound excludes a drop this large."""
        if self.standard_error == 0:
            return self.drop < drop
        return t_tail((drop - self.drop) / self.standard_error, self.df) < _BOUND_LEVEL

    def standard_error_after(self, passes: int) -> float:
        """The standard error that `passes` current runs of each case would have, with the same noise."""
        from_baseline, from_runs = self._parts
        return math.sqrt((self.overdispersion or 1.0) * (from_baseline + from_runs / passes)) / self.cases

    def standard_error_between(self, stored: float, passes: float) -> float:
        """The standard error with `stored` and `passes` runs of each case on the two sides; infinite runs make a side exact."""
        return math.sqrt((self.overdispersion or 1.0) * self._parts[1] * (1 / stored + 1 / passes)) / self.cases


@functools.lru_cache(maxsize=32)
def pooled_t(cases: tuple[Runs, ...]) -> PooledTest:
    """The test over at least one case.

    SE = √(Σ v_i (1/Rb + 1/n)) / N with v_i the variance within case i, pooled over both sides; degrees of freedom
    (Σ v_i)² / Σ(v_i²/(Rb + n - 2)). Source: Satterthwaite, Biometrics Bulletin 2 (1946) 110; Bland & Altman, BMJ 313 (1996) 744 for within-subject noise.
    """
    means = [(_mean(case.baseline), _mean(case.current)) for case in cases]
    drop = math.fsum(before - now for before, now in means) / len(cases)
    variances, freedoms, estimated = _variances(cases, means)
    total = math.fsum(variances)
    df = total**2 / math.fsum(v * v / nu for v, nu in zip(variances, freedoms, strict=True)) if total > 0 else math.inf
    parts = (
        math.fsum(v / len(case.baseline) for v, case in zip(variances, cases, strict=True)),
        math.fsum(variances),
    )
    squared = math.fsum(v * (1 / len(case.baseline) + 1 / len(case.current)) for v, case in zip(variances, cases, strict=True)) / len(cases) ** 2
    scatter, passes = _scatter(cases, total) if estimated else (None, 0)
    ratio = scatter if scatter is not None and chi2_tail(scatter * (passes - 1), passes - 1) < _GUARD_LEVEL else None
    error = math.sqrt(squared * (ratio or 1.0))
    df = df if ratio is None else passes - 1
    warnings = () if ratio is None else (f"whole passes of the baseline scatter {ratio:.1f} times as much as their cases explain: something moves all cases together",)
    return PooledTest(
        cases=len(cases), drop=drop, standard_error=error, df=df, p_worse=_p(drop, error, df), p_better=_p(-drop, error, df), estimated=estimated,
        overdispersion=ratio, scatter=scatter, warnings=warnings, _parts=parts,
    )  # fmt: skip


def _p(drop: float, error: float, df: float) -> float:
    if error == 0:
        return 0.0 if drop > EPSILON else 1.0
    return max(0.5, t_tail(drop / error, df)) if drop <= EPSILON else t_tail(drop / error, df)


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def squares(values: Sequence[float], centre: float) -> float:
    """Σ (x - centre)², exactly rounded, so that the order of the runs never matters."""
    return math.fsum([(value - centre) ** 2 for value in values])


def _variances(cases: Sequence[Runs], means: Sequence[tuple[float, float]]) -> tuple[list[float], list[float], bool]:
    """Per case variance and degrees of freedom; a case with one run on each side borrows the average of the others.

    Where there is no variance at all, the value (x + 1/2)/(m + 1) of m runs with sum x gives one that is not 0 (for values in 0..1).
    """
    found: list[float | None] = []
    freedoms: list[float] = []
    for case, (before, now) in zip(cases, means, strict=True):
        nu = len(case.baseline) + len(case.current) - 2
        found.append((squares(case.baseline, before) + squares(case.current, now)) / nu if nu else None)
        freedoms.append(float(nu or 1))
    known = [v for v in found if v is not None]
    if not known:
        return [smoothed_variance(case) for case in cases], freedoms, False
    typical = _mean(known)
    return [typical if v is None else v for v in found], freedoms, True


def smoothed_variance(case: Runs) -> float:
    """P (1 - p) at p = (x + 1/2)/(m + 1): a variance above 0 for runs that were all alike (Jeffreys' prior)."""
    values = (*case.baseline, *case.current)
    rate = min(1.0, max(0.0, (math.fsum(values) + 0.5) / (len(values) + 1)))
    return rate * (1 - rate)


def _scatter(cases: Sequence[Runs], variance: float) -> tuple[float | None, int]:
    """Var(pass means of the baseline) / (Σ v_i/N²) and the passes; 1 is what the noise within cases explains."""
    passes = min((len(case.deviations) for case in cases), default=0)
    if passes < 2 or variance <= 0:
        return None, passes
    sums = [math.fsum(case.deviations[number] for case in cases) for number in range(passes)]
    return squares(sums, _mean(sums)) / (passes - 1) / variance, passes
