"""The verdict: which word, which reasons, which warnings."""

from __future__ import annotations

import dataclasses

import pytest

from evalaction.core.record import Failure, Selection, Shard
from evalaction.core.suite import Policy
from evalaction.core.verdict import EXIT_CODES, SuiteVerdict, overall
from evalaction.errors import ExitCode
from tests.making import baseline, case, codes, record, verdict, words


def test_no_baseline__is_its_own_word_and_thresholds_still_hold():
    """A first run is `no_baseline`; a missed threshold is exit 1 all the same."""
    assert verdict(None, record(case("a", 1))).verdict == "no_baseline"
    assert verdict(None, record(case("a", 0), policy=Policy(thresholds={"equals": 0.5}))).verdict == "below_threshold"


def test_threshold__looks_at_the_whole_suite_and_not_at_the_pairs():
    """An added failing case moves no comparison and is seen by the threshold."""
    found = verdict(baseline(case("a", 1), case("b", 1)), record(case("a", 1), case("b", 1), case("c", 0), policy=Policy(thresholds={"equals": 0.8})))

    assert (found.verdict, codes(found), words(found)["c"]) == ("below_threshold", {"BELOW_THRESHOLD"}, "added")


def test_threshold__a_value_equal_to_it_is_enough():
    """0.5 meets a threshold of 0.5."""
    assert verdict(None, record(case("a", 1), case("b", 0), policy=Policy(thresholds={"equals": 0.5}))).verdict == "no_baseline"


@pytest.mark.parametrize(("threshold", "word", "warned"), [(0.72, "no_baseline", True), (0.95, "below_threshold", False)])
def test_threshold__repeated_runs_are_red_only_beyond_their_noise(threshold, word, warned):
    """Twenty cases at 70 %: a threshold a little above is a warning, one far above is red."""
    cases = [case(f"c{number}", *[float((number * 7 + run * 3) % 10 < 7) for run in range(10)], repeats=10) for number in range(20)]

    found = verdict(None, record(*cases, policy=Policy(thresholds={"equals": threshold})))

    assert found.verdict == word
    assert any("noise" in warning for warning in found.warnings) is warned


def test_threshold__a_deterministic_suite_is_judged_by_the_point():
    """Where answers do not vary there is no noise to allow for."""
    cases = [case(f"c{number}", *[float((number + run) % 10 < 7) for run in range(10)], repeats=10) for number in range(20)]

    assert verdict(None, record(*cases, deterministic=True, policy=Policy(thresholds={"equals": 0.72}))).verdict == "below_threshold"


def test_threshold__on_a_metric_that_was_not_produced__is_red():
    """A threshold that nothing produces a value for checks nothing, and that is never green."""
    found = verdict(None, record(case("a", 1), policy=Policy(thresholds={"recall@10": 0.8})))

    assert (found.verdict, codes(found)) == ("below_threshold", {"METRIC_MISSING"})


def test_metric_missing__because_its_cases_failed__is_not_measured():
    """A metric that only failed cases would have produced is an outage, not a loss."""
    before = baseline(case("a", {"equals": 1}), case("b", {"regex": 1}))
    now = record(case("a", {"equals": 1}), case("b", {"regex": None}), policy=Policy(thresholds={"regex": 0.5}))

    found = verdict(before, now)

    assert (found.verdict, "METRIC_MISSING" in codes(found)) == ("not_measured", False)


def test_metric_missing__that_the_baseline_had__is_regressed():
    """The last case with a metric was removed: the metric is missing, and that is red."""
    found = verdict(baseline(case("a", {"equals": 1}), case("b", {"regex": 1})), record(case("a", {"equals": 1})))

    assert (found.verdict, codes(found)) == ("regressed", {"METRIC_MISSING"})
    assert {metric.metric: metric.verdict for metric in found.metrics}["regex"] == "missing"


def test_errors__beyond_the_allowed_number__are_not_measured_and_say_why():
    """Three errors of ten: exit 3, with the count and the first failing reason."""
    found = verdict(None, record(*(case(f"c{number}", 1 if number < 7 else None, check_ids=["equals"]) for number in range(10))))

    message = next(reason.message for reason in found.reasons if reason.code == "TOO_MANY_ERRORS")
    assert found.verdict == "not_measured"
    assert "3 of 10" in message
    assert "TARGET_FAILED: exit 1" in message


def test_errors__a_proven_regression_among_the_others__stays_red():
    """An outage does not hide what was proven: 1 comes before 3."""
    found = verdict(baseline(case("a", 1), case("b", 1)), record(case("a", 0), case("b", None, check_ids=["equals"])))

    assert (found.verdict, found.exit_code) == ("regressed", ExitCode.REGRESSED)


@pytest.mark.parametrize(
    ("code", "regressed", "word"),
    [("INTERRUPTED", False, "not_measured"), ("INTERRUPTED", True, "not_measured"), ("BUDGET_EXHAUSTED", False, "not_measured"), ("BUDGET_EXHAUSTED", True, "regressed")],
)
def test_ended_early__is_never_green(code, regressed, word):
    """A signal ends as not measured; a used-up budget too, unless a regression is proven. `max_errors` excuses neither."""
    now = record(case("a", 0.0 if regressed else 1.0), interrupted=Failure(code=code, message="stopped"), policy=Policy(max_errors=99))

    assert verdict(baseline(case("a", 1)), now).verdict == word


def test_too_few_left_to_compare__is_not_comparable():
    """Two of six cases are left: exit 3, unless the policy asks for less."""
    before = baseline(*(case(name, 1) for name in "abcdef"))
    now = [case(name, 1) for name in "abxyz"]

    assert verdict(before, record(*now)).verdict == "not_comparable"
    assert verdict(before, record(*now, policy=Policy(min_comparable=0.3))).verdict == "passed"


def test_nothing_compared__is_never_green_even_when_the_policy_asks_for_nothing():
    """With min_comparable 0 and not one pair there is still no comparison to be green about."""
    assert verdict(baseline(case("a", 1)), record(case("b", 1), policy=Policy(min_comparable=0))).verdict == "not_comparable"


@pytest.mark.parametrize("policy", [Policy(removed_cases="fail"), Policy(fail_on=("case", "removed"))])
def test_removed_case__can_be_made_red(policy):
    """Removal is a warning by default and red when the policy says so."""
    found = verdict(baseline(case("a", 1), case("b", 1), case("c", 1)), record(case("a", 1), case("b", 1), policy=policy))

    assert [reason.case for reason in found.reasons if reason.code == "CASE_REMOVED"] == ["c"]
    assert found.verdict == "regressed"


@pytest.mark.parametrize("selection", [Selection(filter="a*"), Selection(tag="smoke"), Selection(shard=Shard(index=1, of=2))])
def test_partial_run__compares_what_ran_and_calls_nothing_removed(selection):
    """A filter, a tag or a shard narrows the baseline down as well, and the verdict says so."""
    before = baseline(case("a1", 1, tags=("smoke",)), case("b", 1), case("c", 1))

    found = verdict(before, record(case("a1", 1, tags=("smoke",)), selection=selection))

    assert (found.verdict, found.counts.removed, found.counts.compared) == ("passed", 0, 1)
    assert any("partial" in warning for warning in found.warnings)


def test_partial_run__still_sees_a_case_removed_within_its_scope():
    """A filter that would have meant a removed case lists it."""
    assert verdict(baseline(case("a1", 1), case("a2", 1), case("b", 1)), record(case("a1", 1), selection=Selection(filter="a*"))).removed_cases == ("a2",)


def test_loosened_policy__stands_in_the_verdict():
    """A pull request that widens a tolerance and drops a threshold is green and says both."""
    before = baseline(case("a", 1), policy=Policy(thresholds={"equals": 0.9}))

    found = verdict(before, record(case("a", 1), policy=Policy(tolerance=0.5)))

    assert found.verdict == "passed"
    assert any("tolerance 0.01 → 0.5" in line for line in found.loosened)
    assert any("equals" in line for line in found.loosened)


def test_thin_baseline__is_said():
    """One stored run: a point comparison, and how to get more runs."""
    found = verdict(baseline(case("a", 1)), record(case("a", 1)))

    assert any("1 run" in warning and "--repeats" in warning for warning in found.warnings)
    assert found.baseline.runs == 1


def suite(word: str) -> SuiteVerdict:
    return SuiteVerdict(suite=word, verdict=word)


@pytest.mark.parametrize(
    ("words_of_suites", "word", "code"),
    [
        (["passed", "regressed", "not_measured"], "regressed", 1),
        (["passed", "not_measured"], "not_measured", 3),
        (["passed", "no_baseline"], "no_baseline", 0),
        (["passed"], "passed", 0),
        (["config_error", "regressed"], "config_error", 2),
        (["internal_error", "config_error"], "internal_error", 4),
        (["below_threshold", "regressed"], "regressed", 1),
        (["not_comparable", "passed"], "not_comparable", 3),
    ],
)
def test_overall__precedence_of_several_suites(words_of_suites, word, code):
    """4, 2, 1, 3, 0: the first of these that any suite has."""
    found = overall(tuple(map(suite, words_of_suites)))

    assert (found.verdict, found.exit_code, found.would_exit) == (word, code, code)


def test_overall__report_only_excuses_exit_1_and_nothing_else():
    """The word stays; would_exit tells what would have been; an outage is not excused."""
    red, lost = overall((suite("regressed"),), report_only=True), overall((suite("not_measured"),), report_only=True)

    assert (red.verdict, red.exit_code, red.would_exit) == ("regressed", 0, 1)
    assert (lost.exit_code, lost.would_exit) == (3, 3)


def test_exit_codes__every_word_has_one():
    """No verdict word is without an exit code."""
    from typing import get_args

    from evalaction.core.verdict import VerdictWord

    assert set(get_args(VerdictWord)) == set(EXIT_CODES)


def test_interrupted__with_an_excused_error__is_not_too_many():
    """A run that ended early names what ended it; one failed case of five allowed is no reason."""
    now = record(case("a", 1), case("b", None), policy=Policy(max_errors=5), interrupted=Failure(code="INTERRUPTED", message="stopped"))

    assert "TOO_MANY_ERRORS" not in codes(verdict(None, now))


def test_warnings__say_which_way_a_metric_moved():
    """Latency that got worse rose; it did not fall."""

    def timed(milliseconds):
        one = case("a", 1)
        return dataclasses.replace(one, trials=tuple(dataclasses.replace(trial, latency_ms=milliseconds) for trial in one.trials))

    found = verdict(baseline(timed(100.0)), record(timed(140.0), policy=Policy(tolerances={"latency_ms": 0.5})))

    assert "latency_ms rose 40.0000, inside its tolerance of 50.0000" in found.warnings
