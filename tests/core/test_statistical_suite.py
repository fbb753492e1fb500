"""The statistical rule over the whole suite: metrics, shared checks, what alpha is spent on, which rule applies, drift."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
import time
from random import Random

import pytest

from evalaction.core.accept import accept, drift
from evalaction.core.compare import compare
from evalaction.core.comparison import Rules
from evalaction.core.record import RunRecord
from evalaction.core.rules import choose_rule
from evalaction.core.suite import Policy
from tests.making import baseline, record, request
from tests.measuring import Gate, alpha_of, always, fresh, graded, level_of, rubric, taken, world


def test_criterion_that_dies_under_an_unchanged_average__is_red_for_the_suite():
    """Five criteria rise a little, one falls from 95 % to 25 %: the average stays, the check is red and its reason names it."""
    gate = Gate(baseline(*taken(rubric([0.86] * 5 + [0.95], "before"), 10)))

    found = gate.judge(rubric([1.0] * 5 + [0.25], "after"))

    assert abs(next(metric for metric in found.metrics if metric.metric == "tone").delta or 0) < 0.03
    assert [(one.check, one.case) for one in found.reasons if one.code == "CHECK_REGRESSED" and one.case is None] == [("tone.c5", None)]
    assert {family.metric: family.verdict for family in found.checks}["tone.c5"] == "regressed"
    assert len(found.checks) == 6


def test_uniform_drop__is_red_at_the_last_stage_only():
    """Every case loses half its passes: red for the suite, with p, and not before the fifth pass."""
    suite = world(40, "uniform")
    gate = Gate(baseline(*taken(suite, 10)))
    worse = {name: (lambda run, answer=answer: answer(run + 500) if run % 2 else 0.0) for name, answer in suite.items()}

    seen = []
    gate.runs = dict.fromkeys(worse, 1)
    while (found := gate.compared(gate.measured(worse), can_confirm=True)).pending:
        seen.append((min(gate.runs.values()), found.metrics[0].verdict))
        for name in found.pending:
            gate.runs[name] += 1

    assert {word for passes, word in seen if passes < 5} == {"within_noise"}
    assert found.metrics[0].verdict == "regressed"
    assert 0 < found.metrics[0].p_value < 0.001
    assert min(gate.runs.values()) == 5
    assert sum(runs > 5 for runs in gate.runs.values()) <= 5


@pytest.mark.parametrize(("cases", "word"), [(3, "within_noise"), (400, "unchanged")])
def test_metric__unchanged_only_where_a_notable_drop_is_excluded(cases, word):
    """Equal means: a small noisy suite cannot exclude a drop of two points and does not claim to; a large one can."""
    alternating = {f"c{number}": (lambda run, number=number: 0.7 + 0.2 * ((run + number) % 2)) for number in range(cases)}
    gate = Gate(baseline(*taken(alternating, 10)), repeats=2)

    found = gate.judge(alternating)

    assert next(metric.verdict for metric in found.metrics if metric.metric == "equals") == word
    assert not any("worse" in warning for warning in found.warnings)


def test_metric__states_the_smallest_visible_drop():
    """Every metric under the rule has p and a minimum detectable effect above its tolerance; twice as many cases see less."""
    small, large = (Gate(baseline(*taken(world(cases, "mde"), 10))).judge(world(cases, "mde")) for cases in (50, 200))

    assert all(metric.p_value is not None and metric.mde is not None and metric.mde > 0.01 for metric in (*small.metrics, *large.metrics))
    assert (large.metrics[0].mde or 0) < 0.7 * (small.metrics[0].mde or 0)


def test_metric__of_runs_without_any_variance__has_an_effect_above_zero():
    """Ten of ten everywhere: the noise is small, not nothing."""
    steady = {f"c{number}": always(1.0) for number in range(30)}

    found = Gate(baseline(*taken(steady, 10))).judge(steady)

    assert all((metric.mde or 0) > 0.02 for metric in found.metrics)


def test_alpha__is_shared_by_distinct_series_only():
    """One check: metric, pass rate and check are one series. Six criteria that fail independently: six, their mean and the pass rate."""
    one, six = world(30, "alpha"), rubric([0.8] * 6, "alpha")

    assert alpha_of(taken(one, 10), taken(fresh(one), 5)) == pytest.approx(0.01)
    assert alpha_of(taken(six, 10), taken(fresh(six), 5)) == pytest.approx(0.01 / 8)
    assert alpha_of(taken(six, 10), taken(fresh(six), 5), Policy(fail_on=("metric",))) == pytest.approx(0.01 / 2)


def test_alpha__is_not_spent_on_what_could_not_be_significant():
    """A criterion that never fails on either side takes nothing from the other."""
    both = {name: (lambda run, answer=answer: {"tone.a": answer(run), "tone.b": 1.0}) for name, answer in world(30, "tarone").items()}

    assert alpha_of(taken(both, 10), taken(fresh(both), 5)) == pytest.approx(0.01 / 2)


def test_raw_metric__is_tested_with_its_sign_where_a_tolerance_names_it():
    """Latency that doubles in noise is red with `tolerances: {latency_ms: 0.2}`, latency that halves is improved, and without a tolerance neither is tested."""

    def timed(level: float, policy: Policy) -> RunRecord:
        cases = taken({f"c{number}": always(1.0) for number in range(12)}, 5)
        chance = Random(str(level))
        measured = [dataclasses.replace(one, trials=tuple(dataclasses.replace(run, latency_ms=level * chance.uniform(0.8, 1.2)) for run in one.trials)) for one in cases]
        return record(*measured, policy=policy)

    def word(before: float, now: float, policy: Policy) -> str:
        found = compare(timed(before, policy), timed(now, policy), Rules(name="statistical", policy=policy))
        return next(metric.verdict for metric in found.metrics if metric.metric == "latency_ms")

    named = Policy(tolerances={"latency_ms": 0.2})
    assert [word(100, 200, named), word(200, 100, named), word(100, 200, Policy())] == ["regressed", "improved", "unchanged"]


def test_thresholds__do_not_see_the_further_runs_of_suspects():
    """A case that failed once and then passes nine times counts as the suite's pass saw it."""
    steady = {f"c{number}": always(1.0) for number in range(18)}
    gate = Gate(baseline(*taken(steady | dict.fromkeys(["up", "too"], always(0.0)), 10)))

    found = gate.judge(steady | dict.fromkeys(["up", "too"], always(1.0)) | {"c2": lambda run: float(run > 0)})

    assert (gate.runs["c1"], gate.runs["c2"] > 1) == (1, True)
    assert next(metric for metric in found.metrics if metric.metric == "equals").current_all == pytest.approx(19 / 20)


def test_shocks__that_move_all_cases_together__are_a_warning():
    """A baseline whose passes scatter more than its cases explain says so."""
    moved = [0.0, 0.2, 0.0, 0.2, 0.1, 0.2, 0.0, 0.2]
    shaken = {f"c{number}": (lambda run, number=number: graded(0.5, number, 0.02)(run) + moved[run % 8]) for number in range(20)}

    found = Gate(baseline(*taken(shaken, 8))).judge(shaken)

    assert any("scatter" in warning for warning in found.warnings)


@pytest.mark.parametrize(
    ("deterministic", "rule", "stored", "score", "repeatable", "expected"),
    [
        (True, "auto", 10, 1.0, True, "exact"), (False, "auto", 10, 1.0, True, "statistical"), (False, "auto", 4, 1.0, True, "tolerance"),
        (False, "auto", 5, 1.0, True, "statistical"), (False, "auto", 3, 0.7, True, "statistical"), (False, "auto", 2, 0.7, True, "tolerance"),
        (False, "auto", 10, 1.0, False, "tolerance"), (False, "tolerance", 10, 1.0, True, "tolerance"), (True, "tolerance", 10, 1.0, True, "tolerance"),
        (False, "statistical", 1, 1.0, False, "statistical"),
    ],
)  # fmt: skip
def test_rule__is_chosen_by_what_is_stored(deterministic, rule, stored, score, repeatable, expected):
    """Five stored runs for what passes or fails, three for graded scores; a named rule wins; a file of answers is compared by points."""
    before, now = record(*taken({"a": always(score)}, stored)), record(*taken({"a": always(score)}, 1))

    assert choose_rule(deterministic=deterministic, policy=Policy(rule=rule), baseline=before, current=now, repeatable=repeatable) == expected


def test_rule__without_a_baseline_or_without_a_common_case__is_by_points():
    """There is nothing to do statistics with."""
    now = record(*taken({"a": always(1.0)}, 9))

    for before in (None, record(*taken({"b": always(1.0)}, 9))):
        assert choose_rule(deterministic=False, policy=Policy(), baseline=before, current=now, repeatable=True) == "tolerance"


def test_drift__ten_steps_of_one_point__are_found_by_the_anchor():
    """Each step is invisible to its baseline; the anchor's test finds their sum by the tenth, and finds nothing where nothing moved."""
    chance = Random("levels")
    levels = [chance.uniform(0.75, 0.9) for _ in range(40)]

    def taken_at(step: int, fall: float) -> RunRecord:
        return record(*taken({f"c{number}": graded(level - fall * step, f"{step} {number}") for number, level in enumerate(levels)}, 10))

    anchor = taken_at(0, 0.01)
    assert [metric.metric for metric in drift(anchor, taken_at(10, 0.01))] == ["equals"]
    assert all(metric.p_value is not None and metric.p_value <= 0.005 for metric in drift(anchor, taken_at(10, 0.01)))
    assert drift(anchor, taken_at(3, 0.0)) == ()


def test_drift__with_one_run_on_either_side__is_a_plain_drop():
    """Too few runs for a test: a drop beyond the tolerance is enough."""
    many, few = record(*taken({f"c{number}": always(0.9) for number in range(5)}, 10)), record(*taken({f"c{number}": always(0.8) for number in range(5)}, 1))

    assert [(metric.metric, metric.p_value) for metric in drift(many, few)] == [("equals", None)]


def test_accept__only_regressions__takes_what_the_statistical_gate_flagged():
    """The cases that were red when they were measured, and no case that only looks worse."""
    suite = world(25, "accept") | {"dead": always(1.0)}
    gate = Gate(baseline(*taken(suite, 10)))
    now = fresh(suite) | {"dead": always(0.0)}
    gate.judge(now)

    accepted = accept(gate.measured(now), gate.before, request(only="regressions", move_anchor=True))

    assert accepted.baseline.acceptance.cases == ("dead",)


@pytest.mark.parametrize("kind", ["binary", "graded"])
def test_speed__two_hundred_cases_of_ten_runs__are_decided_in_a_second(kind):
    """A 200-case comparison with 10 runs on both sides takes less than one second of one core."""
    before, now = record(*taken(world(200, "speed", kind), 10)), record(*taken(world(200, "speed 2", kind), 10))
    start = time.process_time()

    compare(before, now, Rules(name="statistical", policy=Policy()))

    assert time.process_time() - start < 1


def test_imports__the_other_rules_do_not_load_statistics():
    """A process that compares by points has loaded neither the tests of chance nor numpy."""
    code = (
        "import sys; from evalaction.core.compare import compare; from evalaction.core.decide import decide; from evalaction.core.accept import accept; "
        "print([name for name in sys.modules if 'core.stat' in name or name in ('numpy', 'scipy')])"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, timeout=60)

    assert done.stdout.strip() == "[]"


def test_look__counts_the_worst_of_many_series_as_one_test():
    """The plan's p is the chance that the smallest of m series is this small, so that six criteria cost no more passes than one."""
    six = rubric([0.8] * 6, "look")
    level = level_of(taken(six, 10), taken(fresh(six), 5))
    smallest = min(tested.p_worse for name in level.gated() if (tested := level.test(name, 5)) is not None)
    found = level.look(5)

    assert found is not None
    assert len(level.gated()) == 8
    assert found.p == pytest.approx(1 - (1 - smallest) ** 8)


def test_guard__of_what_passes_or_fails__makes_the_exact_test_less_sure():
    """Whole passes of the baseline that fail together: the larger of both p counts."""
    together = {f"c{number}": (lambda run, number=number: float(run % 2 or number % 5 == run // 2)) for number in range(20)}
    level = level_of(taken(together, 10), taken(dict.fromkeys(together, always(0.0)) | {"c1": always(1.0)}, 2))
    tested = level.test(("metric", "equals"), 2)

    assert tested is not None
    assert tested.exact is not None
    assert tested.pooled.overdispersion is not None
    assert tested.p_worse == tested.pooled.p_worse > tested.exact.p_worse


def test_alpha__checks_of_single_cases_do_not_share_it():
    """A hundred criteria that one case has each are judged case by case, not as a hundred series of the suite."""
    single = {name: (lambda run, answer=answer, name=name: {"tone": answer(run), f"own.{name}": answer(run + 7)}) for name, answer in world(30, "single").items()}

    assert alpha_of(taken(single, 10), taken(fresh(single), 5)) == pytest.approx(0.01 / 3)


def test_drift__that_noise_explains__is_none():
    """A mean that is lower by more than the tolerance, though by no more than chance allows, is accepted."""
    anchor, lower = (record(*taken({f"c{number}": graded(0.7, f"{seed} {number}", 0.12) for number in range(4)}, 5)) for seed in ("one", "two"))
    metrics = {metric.metric: metric for metric in compare(anchor, lower, Rules(name="statistical", policy=Policy())).metrics}

    assert (metrics["equals"].delta or 0) < -0.01
    assert 0.005 < (metrics["equals"].p_value or 0) < 0.5
    assert drift(anchor, lower) == ()
