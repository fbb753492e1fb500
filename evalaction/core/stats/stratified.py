"""The exact test of a suite of cases that pass or fail: whether the whole suite passed less often than chance allows."""

from __future__ import annotations

import dataclasses
import functools
import math
import operator
from collections import Counter
from collections.abc import Iterable

_NEGLIGIBLE = 1e-40
"""Mass below this is cut off at the ends of a distribution; p-values are exact down to about it."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """One case as a two by two table: passes out of runs on both sides."""

    baseline_runs: int
    baseline_passes: int
    current_runs: int
    current_passes: int


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class ExactTest:
    """Probabilities, if nothing changed, of as few (`p_worse`) or as many (`p_better`) current passes.

    `smallest` is the smallest `p_worse` that these totals of passes allow; above alpha the test could not have said anything.
    """

    p_worse: float
    p_better: float
    smallest: float


@dataclasses.dataclass(frozen=True, slots=True)
class Mass:
    """Probabilities of the whole numbers from `start` on."""

    start: int
    values: tuple[float, ...]


def stratified_exact(tables: Iterable[Table]) -> ExactTest:
    """The exact stratified conditional test over any number of cases; needs no repeats on either side.

    With nothing changed, the current passes of a case, given its passes in all, are hypergeometric; their sum over the cases
    is compared with what was seen. Source: Cox, Analysis of Binary Data (1970), 5.2; with one run on each side it is McNemar's exact test.
    """
    shapes: Counter[tuple[int, int, int]] = Counter()
    seen = 0
    for table in tables:
        shapes[table.baseline_runs, table.current_runs, table.baseline_passes + table.current_passes] += 1
        seen += table.current_passes
    return _test(tuple(sorted(shapes.items())), seen)


@functools.lru_cache(maxsize=512)
def _test(shapes: tuple[tuple[tuple[int, int, int], int], ...], seen: int) -> ExactTest:
    total = Mass(0, (1.0,))
    log_smallest = 0.0
    for shape, count in shapes:
        one = hypergeometric(*shape)
        log_smallest += count * math.log(one.values[0])
        total = _convolve(total, _power(one, count))
    cut = seen - total.start
    p_worse, p_better = math.fsum(total.values[: max(0, cut + 1)]), math.fsum(total.values[max(0, cut) :])
    return ExactTest(p_worse=_probability(p_worse), p_better=_probability(p_better), smallest=math.exp(log_smallest))


def _probability(mass: float) -> float:
    """No outcome that was seen is impossible: what was cut off is said to be as large as it may be."""
    return min(1.0, max(_NEGLIGIBLE, mass))


@functools.lru_cache(maxsize=4096)
def hypergeometric(baseline_runs: int, current_runs: int, passes: int) -> Mass:
    """Current passes among `passes` passes in all, when every run is as likely to be one of them."""
    runs = baseline_runs + current_runs
    first, last = max(0, passes - baseline_runs), min(passes, current_runs)
    ways = math.comb(runs, current_runs)
    return Mass(first, tuple(math.comb(passes, c) * math.comb(runs - passes, current_runs - c) / ways for c in range(first, last + 1)))


def _power(one: Mass, count: int) -> Mass:
    """The sum of `count` independent copies, by repeated squaring."""
    result, square = Mass(0, (1.0,)), one
    while count:
        if count & 1:
            result = _convolve(result, square)
        count >>= 1
        if count:
            square = _convolve(square, square)
    return result


def _convolve(one: Mass, other: Mass) -> Mass:
    short, long = sorted((one.values, other.values), key=len)
    turned = short[::-1]
    width, length = len(short), len(long)
    out = []
    for k in range(length + width - 1):
        low, high = max(0, k - width + 1), min(k + 1, length)
        offset = low - (k - width + 1)
        out.append(sum(map(operator.mul, long[low:high], turned[offset : offset + high - low])))
    return _trimmed(one.start + other.start, out)


def _trimmed(start: int, values: list[float]) -> Mass:
    first, last = 0, len(values)
    while last - first > 1 and values[first] < _NEGLIGIBLE:
        first += 1
    while last - first > 1 and values[last - 1] < _NEGLIGIBLE:
        last -= 1
    return Mass(start + first, tuple(values[first:last]))
