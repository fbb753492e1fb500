"""One case that passes or fails: Boschloo's unconditional exact test, with ties kept together."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator
from fractions import Fraction
from itertools import groupby

RATES = tuple(step / 1000 for step in range(1, 1000))
"""The true pass rates over which the chance of an outcome is maximised."""
MOST_RUNS = 60
"""Up to here a number of runs that would do is looked for."""
_EPSILON = 1e-9
_Outcome = tuple[Fraction, int, int]
PTable = tuple[tuple[float, ...], ...]


def fisher_p(baseline_runs: int, runs: int, baseline_passes: int, passes: int) -> Fraction:
    """One-sided Fisher p that `passes` of `runs` are fewer than `baseline_passes` of `baseline_runs` suggest; exact."""
    total = baseline_passes + passes
    ways = sum(math.comb(runs, c) * math.comb(baseline_runs, total - c) for c in range(max(0, total - baseline_runs), passes + 1))
    return Fraction(ways, math.comb(baseline_runs + runs, total))


@functools.lru_cache(maxsize=64)
def boschloo_table(baseline_runs: int, runs: int) -> PTable:
    """p[b][c] for b of `baseline_runs` before and c of `runs` now: the chance of an outcome at least as bad, whatever the pass rate.

    Outcomes are ordered by Fisher's p, compared as fractions, so that ties stay together. Rows are b = 0..baseline_runs, columns c = 0..runs.
    Source: Boschloo, Statistica Neerlandica 24 (1970) 1.
    """
    table = [[1.0] * (runs + 1) for _ in range(baseline_runs + 1)]
    chance = [0.0] * len(RATES)
    powers = _powers(baseline_runs + runs)
    for _, tied in groupby(_ordered(baseline_runs, runs), key=lambda outcome: outcome[0]):
        group = [(b, c) for _, b, c in tied]
        for b, c in group:
            ways = math.comb(baseline_runs, b) * math.comb(runs, c)
            chance = [sofar + ways * power for sofar, power in zip(chance, powers[b + c], strict=True)]
        p = min(1.0, max(chance))
        for b, c in group:
            table[b][c] = p
    return tuple(map(tuple, table))


def _ordered(baseline_runs: int, runs: int) -> list[_Outcome]:
    return sorted((fisher_p(baseline_runs, runs, b, c), b, c) for b in range(baseline_runs + 1) for c in range(runs + 1))


@functools.lru_cache(maxsize=64)
def _powers(runs: int) -> tuple[tuple[float, ...], ...]:
    """q^s (1 - q)^(runs - s) for every s in 0..runs and every rate q."""
    return tuple(tuple(rate**s * (1 - rate) ** (runs - s) for rate in RATES) for s in range(runs + 1))


@functools.lru_cache(maxsize=4096)
def boschloo_p(baseline_runs: int, runs: int, baseline_passes: int, passes: int) -> float:
    """One entry of `boschloo_table`, for a question that needs no more than one."""
    limit = fisher_p(baseline_runs, runs, baseline_passes, passes)
    ways = [0] * (baseline_runs + runs + 1)
    for b in range(baseline_runs + 1):
        for c in _as_bad(baseline_runs, runs, b, limit):
            ways[b + c] += math.comb(baseline_runs, b) * math.comb(runs, c)
    powers = _powers(baseline_runs + runs)
    return min(1.0, max(math.fsum(way * powers[s][place] for s, way in enumerate(ways) if way) for place in range(len(RATES))))


def _as_bad(baseline_runs: int, runs: int, baseline_passes: int, limit: Fraction) -> Iterator[int]:
    """The numbers of passes that are at least as bad as `limit`: Fisher's p grows with the passes."""
    for c in range(runs + 1):
        if fisher_p(baseline_runs, runs, baseline_passes, c) > limit:
            return
        yield c


@functools.lru_cache(maxsize=4096)
def critical_passes(baseline_runs: int, baseline_passes: int, runs: int, alpha: float, tolerance: float) -> int | None:
    """The most passes of `runs` that prove a regression: p <= alpha and a drop of the rate beyond `tolerance`; None when no outcome does."""
    row = boschloo_table(baseline_runs, runs)[baseline_passes] if runs else ()
    proving = [c for c, p in enumerate(row) if p <= alpha and baseline_passes / baseline_runs - c / runs > tolerance + _EPSILON]
    return max(proving, default=None)


@functools.lru_cache(maxsize=1024)
def runs_needed(baseline_runs: int, baseline_passes: int, alpha: float, tolerance: float) -> int | None:
    """The fewest runs of which none passes that would prove a regression; None when `MOST_RUNS` are not enough for this baseline."""
    if baseline_passes / baseline_runs <= tolerance + _EPSILON or boschloo_p(baseline_runs, MOST_RUNS, baseline_passes, 0) > alpha:
        return None
    low, high = 0, MOST_RUNS
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if boschloo_p(baseline_runs, middle, baseline_passes, 0) <= alpha else (middle, high)
    return high
