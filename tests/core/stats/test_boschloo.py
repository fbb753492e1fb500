"""One case that passes or fails: Boschloo's test with its ties, the limits that prove, and the runs that would do."""

from __future__ import annotations

import itertools
import math

import pytest
from scipy import stats

from evalaction.core.stats.boschloo import RATES, boschloo_p, boschloo_table, critical_passes, fisher_p, runs_needed

SIZES = [(1, 1), (3, 2), (5, 8), (10, 10), (4, 12)]


@pytest.mark.parametrize(
    ("stored", "runs", "before", "now", "p"), [(10, 10, 10, 0, 9.54e-7), (10, 10, 10, 1, 2.00e-5), (10, 10, 10, 2, 1.06e-4), (5, 8, 5, 0, 1.73e-4)]
)
def test_table__anchors(stored, runs, before, now, p):
    """The published anchors, to their three digits."""
    assert boschloo_table(stored, runs)[before][now] == pytest.approx(p, rel=4e-3)


def test_table__ties_are_kept_together():
    """10/10 to 1/10 ties with 9/10 to 0/10: 21 of 2^20 outcomes at the rate of one half, where splitting the tie would give 11."""
    assert fisher_p(10, 10, 10, 1) == fisher_p(10, 10, 9, 0)
    assert boschloo_table(10, 10)[10][1] == pytest.approx(21 / 2**20, rel=1e-12)


@pytest.mark.parametrize(("stored", "runs"), SIZES)
def test_table__is_what_its_definition_says(stored, runs):
    """The largest chance, over all rates, of an outcome whose Fisher p is no larger: computed the long way with a library."""
    outcomes = list(itertools.product(range(stored + 1), range(runs + 1)))
    table = boschloo_table(stored, runs)
    rates = RATES[::37]
    of_before, of_now = ([stats.binom.pmf(passed, count, rates) for passed in range(count + 1)] for count in (stored, runs))
    for before, now in outcomes[:: max(1, len(outcomes) // 12)]:
        as_bad = [(b, c) for b, c in outcomes if fisher_p(stored, runs, b, c) <= fisher_p(stored, runs, before, now)]
        chance = max(sum(of_before[b] * of_now[c] for b, c in as_bad))
        assert table[before][now] >= chance - 1e-12
        assert table[before][now] <= float(fisher_p(stored, runs, before, now)) + 1e-12


@pytest.mark.parametrize(("stored", "runs"), SIZES)
def test_table__is_monotone_and_a_probability(stored, runs):
    """More passes now are less suspicious, more passes before are more so."""
    table = boschloo_table(stored, runs)

    assert all(0 < p <= 1 for row in table for p in row)
    assert all(row[c] <= row[c + 1] for row in table for c in range(runs))
    assert all(table[b + 1][c] <= table[b][c] for b in range(stored) for c in range(runs + 1))


@pytest.mark.parametrize(("stored", "runs"), SIZES)
def test_table__swapping_sides_and_passes_changes_nothing(stored, runs):
    """Failing more often now is passing more often before: p is the same under that relabelling."""
    there, back = boschloo_table(stored, runs), boschloo_table(runs, stored)

    assert all(there[b][c] == pytest.approx(back[runs - c][stored - b], rel=1e-9) for b in range(stored + 1) for c in range(runs + 1))


@pytest.mark.parametrize(("stored", "runs"), SIZES)
def test_p__of_one_outcome__is_that_of_the_table(stored, runs):
    """The short way to one entry gives the entry."""
    table = boschloo_table(stored, runs)

    assert all(boschloo_p(stored, runs, b, c) == pytest.approx(table[b][c], rel=1e-9) for b in range(stored + 1) for c in range(0, runs + 1, 3))


@pytest.mark.parametrize(("stored", "runs", "before", "now"), [(10, 10, 10, 1), (10, 5, 7, 0), (5, 8, 5, 3), (2, 3, 1, 1)])
def test_fisher__is_the_library_s(stored, runs, before, now):
    """One-sided Fisher p as a fraction, equal to the library's to its precision."""
    expected = stats.fisher_exact([[before, stored - before], [now, runs - now]], alternative="greater").pvalue

    assert float(fisher_p(stored, runs, before, now)) == pytest.approx(float(expected), rel=1e-9)


@pytest.mark.parametrize(
    ("before", "alpha", "tolerance", "limit"), [(10, 0.01 / 50, 0.2, 2), (10, 0.01 / 50, 0.85, 1), (10, 1e-9, 0.2, None), (3, 0.01 / 50, 0.2, None), (0, 0.5, 0.2, None)]
)
def test_critical_passes__needs_both_the_p_and_the_drop(before, alpha, tolerance, limit):
    """The most passes that prove; None where no outcome does, or none loses enough."""
    assert critical_passes(10, before, 10, alpha, tolerance) == limit


def test_critical_passes__a_drop_equal_to_the_tolerance_proves_nothing():
    """10/10 to 8/10 is a drop of exactly 0.20."""
    assert critical_passes(10, 10, 10, 1.0, 0.2) == 7


@pytest.mark.parametrize(("stored", "needed"), [(3, (10, 13, 18, 23, 29)), (5, (5, 7, 8, 10, 11)), (10, (3, 4, 5, 5, 6)), (20, (3, 3, 3, 4, 4))])
def test_runs_needed__for_a_total_collapse(stored, needed):
    """Suites of 10 to 200 cases: the fewest runs of a case that always passed and now never does."""
    assert tuple(runs_needed(stored, stored, 0.01 / cases, 0.2) for cases in (10, 20, 50, 100, 200)) == needed


def test_runs_needed__when_the_baseline_passed_too_rarely__is_none():
    """A case that passed once in ten can never be proven worse at this level."""
    assert runs_needed(10, 1, 0.01 / 50, 0.2) is None
    assert runs_needed(10, 2, 0.5, 0.2) is None


@pytest.mark.parametrize("rate", [0.1, 0.5, 0.9, 0.97])
def test_critical_passes__false_alarms_stay_below_alpha(rate):
    """Whatever the true rate, the chance of a proof without a change is at most alpha; summed over all outcomes."""
    alpha, total = 0.01, 0.0
    for before in range(11):
        limit = critical_passes(10, before, 10, alpha, 0.0)
        if limit is not None:
            total += math.comb(10, before) * rate**before * (1 - rate) ** (10 - before) * float(stats.binom.cdf(limit, 10, rate))
    assert 0 < total <= alpha
