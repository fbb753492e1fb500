"""Graded scores: the pooled t of a suite with its guard, the shrunk t of a case with its looks, and what they can see."""

from __future__ import annotations

import dataclasses
import math
import statistics
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from evalaction.core.readings import deviations
from evalaction.core.stats.pooled import Runs, pooled_t, smoothed_variance
from evalaction.core.stats.power import factor, minimum_detectable
from evalaction.core.stats.shrunk import FLOOR, look_alpha, shrunk_t, stored

SCORES = st.lists(st.sampled_from([0.0, 0.2, 0.35, 0.5, 0.8, 0.95, 1.0]), min_size=1, max_size=6).map(tuple)
SUITES = st.lists(st.builds(Runs, SCORES, SCORES), min_size=1, max_size=8).map(tuple)


def suite(chance: Random, *, cases: int = 30, stored_runs: int = 10, runs: int = 5, shock: float = 0.0, drop: float = 0.0) -> tuple[Runs, ...]:
    """Graded cases with a noise of five points; `shock` moves all cases of a baseline pass together."""
    moved = [chance.gauss(0, shock) for _ in range(stored_runs)]
    found = []
    for _ in range(cases):
        level = chance.uniform(0.5, 0.9)
        before = tuple(level + moved[number] + chance.gauss(0, 0.05) for number in range(stored_runs))
        found.append(Runs(before, tuple(level - drop + chance.gauss(0, 0.05) for _ in range(runs)), deviations(tuple(enumerate(before)), stored_runs)))
    return tuple(found)


def test_pooled__of_one_case__is_student_s_t():
    """One case with several runs on both sides is the classic two-sample t test with pooled variance."""
    before, now = (0.9, 0.8, 0.85, 0.95), (0.7, 0.75, 0.8)

    found = pooled_t((Runs(before, now),))

    assert found.p_worse == pytest.approx(float(stats.ttest_ind(before, now, alternative="greater").pvalue), rel=1e-9)
    assert found.df == 5


def test_pooled__degrees_of_freedom_are_satterthwaite_s():
    """Equal variances: the sum of the cases' degrees of freedom; one noisy case among silent ones: its own."""
    alike = Runs((0.4, 0.6, 0.5), (0.4, 0.6))
    silent = Runs((0.5, 0.5, 0.5), (0.5, 0.5))

    assert pooled_t((alike,) * 7).df == pytest.approx(21)
    assert pooled_t((alike, silent, silent)).df == pytest.approx(3)


def test_pooled__the_spread_between_cases_does_not_count():
    """Each case is its own control: easy and hard cases add no noise."""
    near, far = (pooled_t((Runs((0.5, 0.6), (0.5, 0.6)), Runs((level, level + 0.1), (level, level + 0.1)))) for level in (0.5, 0.1))

    assert near.standard_error == pytest.approx(far.standard_error)


@settings(max_examples=100, deadline=None)
@given(SUITES)
def test_pooled__swapped_sides_swap_the_tails(cases):
    """Worse becomes better, the drop changes its sign, and every p is a probability."""
    there, back = pooled_t(cases), pooled_t(tuple(Runs(case.current, case.baseline) for case in cases))

    assert (there.p_worse, there.drop) == pytest.approx((back.p_better, -back.drop), abs=1e-9)
    assert 0 <= there.p_worse <= 1


@settings(max_examples=60, deadline=None)
@given(SUITES, st.floats(0.01, 0.5))
def test_pooled__a_larger_drop_is_never_less_suspicious(cases, more):
    """Every current score lower by the same amount: p does not rise."""
    lower = tuple(Runs(case.baseline, tuple(value - more for value in case.current)) for case in cases)

    assert pooled_t(lower).p_worse <= pooled_t(cases).p_worse + 1e-9


@settings(max_examples=60, deadline=None)
@given(SUITES, st.randoms(use_true_random=False))
def test_pooled__order_never_matters(cases, chance):
    """Cases and runs in another order give the same result, to the last bit."""
    mixed = [Runs(tuple(chance.sample(case.baseline, len(case.baseline))), tuple(chance.sample(case.current, len(case.current)))) for case in cases]
    chance.shuffle(mixed)

    assert pooled_t(tuple(mixed)) == pooled_t(cases)


@pytest.mark.parametrize(("now", "p"), [(0.5, 1.0), (0.5 + 1e-12, 1.0), (0.6, 1.0), (0.4, 0.0)])
def test_pooled__without_any_noise__only_a_drop_is_suspicious(now, p):
    """Answers that never vary: equal is fine, lower is certain, and rounding is not lower."""
    assert pooled_t((Runs((0.5,) * 5, (now,)),) * 4).p_worse == p


def test_pooled__one_run_on_each_side__borrows_or_says_that_it_cannot():
    """A case without repeats takes the others' noise; a suite without any has no estimate."""
    once, often = Runs((0.5,), (0.4,)), Runs((0.4, 0.6), (0.5, 0.5))

    assert pooled_t((once, often)).estimated
    assert pooled_t((once, often)).standard_error > pooled_t((Runs((0.5, 0.5), (0.4, 0.4)), often)).standard_error
    assert not pooled_t((once, once)).estimated


def test_guard__passes_that_move_together_widen_the_error_and_say_so():
    """A shock shared by all cases of a pass is found in the baseline: error times the root of the ratio, degrees of freedom of the passes, a warning."""
    cases = suite(Random(3), shock=0.05)
    plain, guarded = pooled_t(tuple(Runs(case.baseline, case.current) for case in cases)), pooled_t(cases)
    means = [statistics.fmean(case.baseline[number] for case in cases) for number in range(10)]
    ratio = statistics.variance(means) / (sum(dataclasses.asdict(plain)["_parts"][1:]) / 30**2)

    assert plain.overdispersion is None
    assert guarded.overdispersion == pytest.approx(ratio)
    assert guarded.standard_error == pytest.approx(plain.standard_error * math.sqrt(ratio))
    assert guarded.df == 9
    assert "scatter" in guarded.warnings[0]


def test_guard__is_quiet_when_only_the_cases_vary():
    """Independent noise sets it off in about one of twenty suites."""
    chance = Random(11)
    fired = sum(pooled_t(suite(chance, cases=20)).overdispersion is not None for _ in range(400))

    assert 6 <= fired <= 38


@pytest.mark.parametrize("runs", [1, 3, 5])
def test_pooled__false_alarms_are_as_many_as_promised(runs):
    """Without a change p <= 0.05 comes in about one of twenty, with one current run as with five."""
    chance = Random(runs)
    alarms = sum(pooled_t(suite(chance, cases=10, runs=runs)).p_worse <= 0.05 for _ in range(600))

    assert 12 <= alarms <= 50


def test_pooled__the_bound_excludes_only_what_is_far_from_the_drop():
    """The one-sided 95 % bound lies 1.66 standard errors above the drop."""
    found = pooled_t(suite(Random(5), cases=40))
    bound = found.drop + float(stats.t.isf(0.05, found.df)) * found.standard_error

    assert found.excludes(bound + 1e-6)
    assert not found.excludes(bound - 1e-6)


def test_standard_error_after__is_that_of_more_runs():
    """The error with 5 runs foretold from 1 run is the error that 5 runs of the same noise have."""
    now = pooled_t((Runs((0.4, 0.6), (0.5,)),) * 9)

    assert now.standard_error_after(1) == pytest.approx(now.standard_error)
    assert now.standard_error_after(4) == pytest.approx(now.standard_error * math.sqrt((1 / 2 + 1 / 4) / (1 / 2 + 1)))


@pytest.mark.parametrize(("values", "rate"), [((1.0,) * 19, 19.5 / 20), ((0.0,) * 4, 0.5 / 5), ((1.0, 0.0), 1.5 / 3)])
def test_smoothed_variance__is_never_zero(values, rate):
    """(x + 1/2)/(m + 1) of runs that were all alike."""
    assert smoothed_variance(Runs(values[:1], values[1:])) == pytest.approx(rate * (1 - rate))


def test_shrunk__follows_its_formula():
    """Variance from suite, baseline and current with 4, Rb - 1 and n - 1 degrees of freedom, and half a point squared."""
    before, now, typical = (0.9, 0.8, 0.85, 0.95, 0.9), (0.5, 0.6, 0.55, 0.5), 0.003
    variance = (4 * typical + 4 * statistics.variance(before) + 3 * statistics.variance(now)) / 11 + FLOOR

    found = shrunk_t(stored(before, typical), now)

    assert found.t == pytest.approx((statistics.fmean(before) - statistics.fmean(now)) / math.sqrt(variance * (1 / 4 + 1 / 5)))
    assert (found.df, found.p) == (11, pytest.approx(float(stats.t.sf(found.t, 11))))
    assert found.median_drop == pytest.approx(0.88 - 0.525)


@given(SCORES, SCORES, st.floats(0, 0.05))
def test_shrunk__is_mirrored_by_mirrored_scores(before, now, typical):
    """Scores turned round turn t round; p is a probability."""
    there = shrunk_t(stored(before, typical), now)
    back = shrunk_t(stored([1 - value for value in before], typical), [1 - value for value in now])

    assert there.t == pytest.approx(-back.t, abs=1e-6)
    assert 0 <= there.p <= 1


def test_shrunk__one_misfire_does_not_move_the_median():
    """Nine good runs and one of 0: the mean fell, the median did not."""
    found = shrunk_t(stored((0.9,) * 10, 0.001), (*(0.9,) * 9, 0.0))

    assert found.drop == pytest.approx(0.09)
    assert found.median_drop == pytest.approx(0)


@pytest.mark.parametrize("most", [4, 5, 8, 10, 14])
def test_looks__spend_exactly_alpha(most):
    """All looks together have alpha, none before the fourth run, and the last has the most."""
    parts = [look_alpha(runs, most, 0.01) for runs in range(1, most + 1)]

    assert sum(parts) <= 0.01 + 1e-15
    assert sum(parts) == pytest.approx(0.01 if most > 4 else 0.006)
    assert parts[:3] == [0, 0, 0]
    assert parts[-1] == max(parts)


@pytest.mark.parametrize(("kind", "cases", "f"), [("binary", 49, 1.5), ("binary", 50, 1.3), ("graded", 10, 1.05)])
def test_power__states_the_smallest_visible_drop(kind, cases, f):
    """The larger of f (z + 0.84) SE the tolerance with the margin that power asks for."""
    assert factor(kind, cases) == f
    assert minimum_detectable(kind, cases, 0.02, 0.01, 0.01) == pytest.approx(f * (2.3263 + 0.8416) * 0.02, rel=1e-4)
    assert minimum_detectable(kind, cases, 0.0001, 0.01, 0.05) == pytest.approx(0.05 + 0.8416 * 0.0001, rel=1e-4)
