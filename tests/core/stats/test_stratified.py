"""The exact test of a suite: against enumeration, against its special cases, and by its symmetries."""

from __future__ import annotations

import itertools
import math
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from evalaction.core.stats.stratified import Table, hypergeometric, stratified_exact


def table(before: int, of: int, now: int, out_of: int) -> Table:
    """One case: so many of so many before, so many of so many now."""
    return Table(baseline_runs=of, baseline_passes=before, current_runs=out_of, current_passes=now)


@st.composite
def tables(draw, most: int = 4):
    """Any table with up to `most` runs on each side."""
    runs, out_of = draw(st.integers(1, most)), draw(st.integers(1, most))
    return table(draw(st.integers(0, runs)), runs, draw(st.integers(0, out_of)), out_of)


def enumerated(cases: list[Table]) -> tuple[float, float]:
    """Every way to choose which runs are current, counted one by one."""
    seen = sum(case.current_passes for case in cases)
    sums: dict[int, int] = {0: 1}
    for case in cases:
        runs = [1] * (case.baseline_passes + case.current_passes)
        runs += [0] * (case.baseline_runs + case.current_runs - len(runs))
        found: dict[int, int] = {}
        for chosen in itertools.combinations(runs, case.current_runs):
            for total, ways in sums.items():
                found[total + sum(chosen)] = found.get(total + sum(chosen), 0) + ways
        sums = found
    ways = sum(sums.values())
    return sum(count for total, count in sums.items() if total <= seen) / ways, sum(count for total, count in sums.items() if total >= seen) / ways


@settings(max_examples=80, deadline=None)
@given(st.lists(tables(), min_size=1, max_size=5))
def test_stratified__is_the_count_of_all_relabellings(cases):
    """Up to five small cases with any numbers of runs: both tails equal brute-force enumeration."""
    found = stratified_exact(cases)

    assert (found.p_worse, found.p_better) == pytest.approx(enumerated(cases), rel=1e-12)


@settings(max_examples=80, deadline=None)
@given(st.lists(tables(6), min_size=1, max_size=12))
def test_stratified__swapped_sides_swap_the_tails(cases):
    """Baseline and current exchanged: worse becomes better, to the last digits; every p is a probability."""
    there = stratified_exact(cases)
    back = stratified_exact([table(case.current_passes, case.current_runs, case.baseline_passes, case.baseline_runs) for case in cases])

    assert (there.p_worse, there.p_better) == pytest.approx((back.p_better, back.p_worse), rel=1e-9)
    assert 0 <= there.smallest <= there.p_worse * (1 + 1e-9) <= 1 + 1e-9


@settings(max_examples=60, deadline=None)
@given(st.lists(tables(6), min_size=1, max_size=8), st.randoms(use_true_random=False))
def test_stratified__order_never_matters(cases, chance):
    """The same cases in another order give the same p, to the last bit."""
    assert stratified_exact(cases) == stratified_exact(chance.sample(cases, len(cases)))


@pytest.mark.parametrize("passes", range(5))
def test_stratified__fewer_passes_are_never_less_suspicious(passes):
    """The p grows with the passes of a case."""
    others = [table(9, 10, 4, 5), table(3, 10, 2, 5)]
    assert stratified_exact([*others, table(8, 10, passes, 5)]).p_worse < stratified_exact([*others, table(8, 10, passes + 1, 5)]).p_worse + 1e-12


@pytest.mark.parametrize(("lost", "won"), [(0, 0), (1, 0), (6, 1), (12, 3), (3, 9)])
def test_stratified__with_one_run_each__is_mcnemar(lost, won):
    """One run on each side: the exact binomial test of lost against won cases; agreeing cases do not count."""
    cases = [table(1, 1, 0, 1)] * lost + [table(0, 1, 1, 1)] * won + [table(1, 1, 1, 1)] * 20 + [table(0, 1, 0, 1)] * 5

    assert stratified_exact(cases).p_worse == pytest.approx(float(stats.binom.cdf(won, lost + won, 0.5)) if lost + won else 1.0)


@pytest.mark.parametrize(("before", "now"), [(10, 0), (10, 3), (7, 2), (5, 5), (0, 0), (2, 4)])
def test_stratified__of_one_case__is_fisher(before, now):
    """A single stratum is Fisher's exact test, one-sided."""
    expected = stats.fisher_exact([[before, 10 - before], [now, 5 - now]], alternative="greater").pvalue

    assert stratified_exact([table(before, 10, now, 5)]).p_worse == pytest.approx(float(expected), rel=1e-9)


@pytest.mark.parametrize(("stored", "runs", "passes"), [(10, 5, 0), (10, 5, 8), (10, 5, 15), (3, 7, 4)])
def test_hypergeometric__is_the_library_s(stored, runs, passes):
    """The distribution of current passes given all passes of a case."""
    mass = hypergeometric(stored, runs, passes)

    assert mass.values == pytest.approx([float(stats.hypergeom.pmf(mass.start + k, stored + runs, passes, runs)) for k in range(len(mass.values))])
    assert math.fsum(mass.values) == pytest.approx(1, abs=1e-14)


def test_stratified__smallest_p_says_whether_anything_could_be_said():
    """Where everything passed on both sides no outcome with these totals is suspicious."""
    assert stratified_exact([table(10, 10, 5, 5)] * 50).smallest == 1
    assert stratified_exact([table(9, 10, 5, 5)] * 50).smallest < 1e-20


def test_stratified__small_probabilities_keep_their_digits():
    """A p of 1e-25 is right to ten digits, not lost in rounding."""
    found = stratified_exact([table(10, 10, 0, 10)] * 5)

    assert found.p_worse == pytest.approx(math.comb(20, 10) ** -5.0, rel=1e-10)


def test_stratified__five_thousand_cases_of_ten_runs__take_seconds():
    """5,000 different cases with 10 runs on both sides, in a few seconds, and as the normal distribution has it."""
    cases = [table(number * 7 % 11, 10, min(10, max(0, number * 7 % 11 + number % 5 - 2)), 10) for number in range(5000)]
    start = time.process_time()

    found = stratified_exact(cases)

    assert time.process_time() - start < 10
    shift = sum(case.current_passes - (case.baseline_passes + case.current_passes) / 2 for case in cases)
    spread = math.sqrt(sum((t := case.baseline_passes + case.current_passes) * (20 - t) * 100 / (400 * 19) for case in cases))
    assert found.p_worse == pytest.approx(float(stats.norm.cdf((shift + 0.5) / spread)), abs=1e-4)
