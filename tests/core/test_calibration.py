"""What repeated runs say about noise, and unchanged pull requests drawn from them."""

from __future__ import annotations

import math
from random import Random

import pytest

from evalaction.core.calibration import calibrate
from evalaction.core.resampling import Simulated, pull_requests_for, simulate
from tests.making import case, record
from tests.measuring import always, noisy, taken, world


@pytest.mark.parametrize(
    ("runs", "mean", "sd", "word"),
    [((1, 1, 1, 1), 1.0, 0.0, "deterministic"), ((0.8, 0.9, 0.8, 0.9), 0.85, 0.0577, "noisy"), ((1, 0, 1, 1), 0.75, 0.5, "flaky"), ((0, 0, 0), 0.0, 0.0, "deterministic")],
)
def test_case__mean_sd_and_kind(runs, mean, sd, word):
    """Alike is deterministic, other scores noisy, passes and fails flaky; the sd has n - 1 below."""
    (found,) = calibrate(record(case("a", *runs, repeats=len(runs), required=0.5))).cases

    assert (found.mean, found.word, found.runs) == (pytest.approx(mean), word, len(runs))
    assert found.sd == pytest.approx(sd, abs=1e-4)


def test_case__with_checks_that_cancel_out__is_not_deterministic():
    """Two checks whose scores move against each other leave the case's mean alone and are noise all the same."""
    runs = [{"x": 0.8, "y": 0.6}, {"x": 0.6, "y": 0.8}]
    (found,) = calibrate(record(case("a", *runs, repeats=2, required=0.5))).cases

    assert (found.sd, found.word) == (0.0, "noisy")


def test_series__standard_error_shrinks_with_the_root_of_the_passes():
    """The SE of one pass is the root of Σ variances over N; four passes halve it."""
    runs = [(0.7, 0.8, 0.9, 0.8), (0.5, 0.7, 0.5, 0.7), (0.9, 0.9, 0.8, 0.8)]
    whole = record(*(case(f"c{n}", *values, repeats=4, required=0.1) for n, values in enumerate(runs)))
    found = next(one for one in calibrate(whole).series if one.metric == "equals")

    variances = [sum((x - sum(values) / 4) ** 2 for x in values) / 3 for values in runs]
    errors = dict(found.standard_errors)
    assert errors[1] == pytest.approx(math.sqrt(sum(variances)) / 3)
    assert errors[4] == pytest.approx(errors[1] / 2)
    assert found.tolerance >= 2.33 * errors[1]


def test_series__passes_that_move_together_are_told():
    """Forty cases that all fall by 20 points in the same passes: overdispersed, and the visible drop grows."""
    shaken = [case(f"c{n}", *[0.6 + (0.1 if run % 2 else -0.1) + Random(f"{n} {run}").gauss(0, 0.05) for run in range(10)], repeats=10, required=0.1) for n in range(40)]
    calm = [case(f"c{n}", *[0.6 + Random(f"{n} {run}").gauss(0, 0.11) for run in range(10)], repeats=10, required=0.01) for n in range(40)]

    together, apart = (next(one for one in calibrate(record(*cases)).series if one.metric == "equals") for cases in (shaken, calm))

    assert (together.moves_together, apart.moves_together) == (True, False)
    assert (together.overdispersion or 0) > 10
    assert (apart.overdispersion or 0) < 3
    assert together.visible[0].mde > 2 * apart.visible[0].mde


def test_visible__falls_with_stored_runs_and_with_passes():
    """More runs on either side show smaller drops."""
    (found, *_) = calibrate(record(*taken(world(30, "mde"), 10))).series
    by_runs = {(one.stored, one.passes): one.mde for one in found.visible}

    assert by_runs[5, 1] > by_runs[10, 1] > by_runs[20, 1]
    assert by_runs[10, 1] > by_runs[10, 3] > by_runs[10, 5] > 0


def test_simulate__is_seeded_and_rarely_red():
    """The same seed gives the same pull requests; few of those that change nothing are red, and they cost what a quiet one costs."""
    whole = record(*taken(world(20, "quiet"), 10))

    once, again = (simulate(whole, 40, lambda number: Random(f"one/{number}")) for _ in range(2))

    assert once == again
    assert once.red <= 3
    assert 1 <= once.calls_each / 20 < 3


def test_simulate__a_deterministic_suite_costs_one_call_a_case():
    """Nothing varies: no false alarm, no further run."""
    whole = record(*taken({f"c{n}": always(1.0) for n in range(5)}, 6))

    assert simulate(whole, 10, Random) == Simulated(pull_requests=10, red=0, calls=50)


def test_simulate__under_points_a_thin_baseline_alarms_more():
    """Ten coins judged by points, three runs to confirm: false alarms are frequent, and the simulation says so."""
    whole = record(*taken({f"c{n}": noisy(0.5, f"coin {n}") for n in range(10)}, 4))
    found = simulate(whole, 30, lambda number: Random(f"thin/{number}"))

    assert found.rate > 0.3
    low, high = found.interval
    assert low < found.rate < high


def test_pull_requests__are_fewer_for_large_suites():
    """Two thousand for a hundred cases, fewer for thousands, never less than a hundred or more than asked for."""
    assert [pull_requests_for(cases, 2000) for cases in (1, 100, 1000, 50_000)] == [2000, 2000, 200, 100]
    assert pull_requests_for(10, 5) == 5
