"""The comparison: what is worse, what is proven, what is only noise."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalaction.core.acceptance import Baseline
from evalaction.core.compare import compare
from evalaction.core.comparison import PASSES_TO_PROVE, Rules
from evalaction.core.record import RunRecord
from evalaction.core.suite import Policy
from tests.making import baseline, case, codes, record, verdict, words

SCORES = st.sampled_from([0.0, 0.25, 0.5, 0.84, 0.85, 0.9, 0.95, 1.0])
RUNS = st.lists(SCORES, min_size=1, max_size=4)
SUITES = st.dictionaries(st.sampled_from("abcdefgh"), RUNS, min_size=1)


def of(suite: dict[str, list[float]], **options) -> RunRecord:
    return record(*(case(name, *runs, repeats=len(runs), required=0.5) for name, runs in suite.items()), **options)


@settings(max_examples=60, deadline=None)
@given(SUITES, st.booleans())
def test_compare__with_itself_never_regresses(suite, exact):
    """A record compared with itself passes, whatever its scores (exact: with one run each, for several runs have a median)."""
    suite = {name: runs[:1] if exact else runs for name, runs in suite.items()}

    found = verdict(baseline(*of(suite).cases.values()), of(suite), exact=exact)

    assert found.verdict == "passed"
    assert set(words(found).values()) == {"unchanged"}
    assert {metric.delta for metric in found.metrics} == {0}


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(st.sampled_from("abcdef"), st.tuples(SCORES, SCORES), min_size=1))
def test_compare__mirrored_mirrors_every_word_and_sign(suite):
    """Swapping the sides turns regressed into improved and back, for single runs with one check each, and every change of a mean round."""
    before = {name: [pair[0]] for name, pair in suite.items()}
    now = {name: [pair[1]] for name, pair in suite.items()}

    there, back = (compare(of(one), of(other), Rules(name="tolerance", policy=Policy())) for one, other in ((before, now), (now, before)))

    mirror = {"regressed": "improved", "improved": "regressed", "unchanged": "unchanged", "within_tolerance": "unchanged"}
    for one, other in zip(there.outcomes, back.outcomes, strict=True):
        if one.verdict.verdict != "unchanged":
            assert other.verdict.verdict == mirror[one.verdict.verdict]
        assert one.verdict.delta == pytest.approx(-other.verdict.delta)
    for one, other in zip(there.metrics, back.metrics, strict=True):
        assert one.delta == pytest.approx(-other.delta)


@settings(max_examples=60, deadline=None)
@given(SUITES, SUITES, st.randoms(use_true_random=False))
def test_compare__order_of_cases_and_trials_never_matters(before, now, chance):
    """Shuffled cases and trials give the same words, values and reasons, to the last bit."""

    def shuffled(whole: RunRecord) -> RunRecord:
        cases = [dataclasses.replace(one, trials=tuple(chance.sample(one.trials, len(one.trials)))) for one in whole.cases.values()]
        chance.shuffle(cases)
        return RunRecord(header=whole.header, cases={one.id: one for one in cases})

    known = baseline(*of(before).cases.values())
    plain, mixed = verdict(known, of(now)), verdict(Baseline(record=shuffled(known.record), acceptance=known.acceptance), shuffled(of(now)))

    assert plain.verdict == mixed.verdict
    assert {one.case: one for one in plain.cases} == {one.case: one for one in mixed.cases}
    assert {one.metric: one for one in plain.metrics} == {one.metric: one for one in mixed.metrics}
    assert sorted(map(repr, plain.reasons)) == sorted(map(repr, mixed.reasons))


def test_verdict__one_breaks_and_another_is_mended__is_red():
    """Improvements never pay for regressions: the count is unchanged, the verdict is not."""
    found = verdict(baseline(case("a", 1), case("b", 0)), record(case("a", 0), case("b", 1)))

    assert (found.verdict, words(found)) == ("regressed", {"a": "regressed", "b": "improved"})
    assert next(metric for metric in found.metrics if metric.metric == "pass_rate").delta == 0


def test_verdict__one_dead_case_under_a_good_total__is_red_by_name():
    """Nineteen perfect cases do not hide one that fell from 5/5 to 0/5."""
    good = [case(f"c{number}", *[1] * 5, repeats=5) for number in range(19)]

    found = verdict(baseline(*good, case("dead", *[1] * 5, repeats=5)), record(*good, case("dead", *[0] * 5, repeats=5)))

    assert [name for name, word in words(found).items() if word == "regressed"] == ["dead"]
    assert {reason.case for reason in found.reasons if reason.code == "CASE_REGRESSED"} == {"dead"}


@pytest.mark.parametrize(
    ("now", "word", "result"), [(0.90, "unchanged", "passed"), (0.88, "within_tolerance", "passed"), (0.85, "within_tolerance", "passed"), (0.84, "regressed", "regressed")]
)
def test_verdict__a_drop_equal_to_the_tolerance__passes(now, word, result):
    """A graded case may lose exactly its tolerance of 0.05 and not a hair more."""
    found = verdict(baseline(case("a", 0.90, required=0.5)), record(case("a", now, required=0.5)))

    assert (words(found)["a"], found.verdict) == (word, result)


@pytest.mark.parametrize(("cases", "dropped", "now", "red"), [(4, 1, 0.86, False), (4, 2, 0.86, True), (4, 4, 0.88, True), (10, 1, 0.86, False), (10, 3, 0.86, True)])
def test_metric__tolerance_is_never_narrower_than_one_case_inside_its_own(cases, dropped, now, red):
    """max(0.01, 0.05/N) holds for a suite of N cases."""
    names = [f"c{number}" for number in range(cases)]

    found = verdict(
        baseline(*(case(name, 0.9, required=0.5) for name in names)), record(*(case(name, now if number < dropped else 0.9, required=0.5) for number, name in enumerate(names)))
    )

    assert ("METRIC_REGRESSED" in codes(found)) is red


@pytest.mark.parametrize(("policy", "floor"), [(Policy(tolerances={"equals": 0.01}), True), (Policy(), False)])
def test_metric__a_tolerance_of_its_own_or_of_a_dialect__is_taken_as_it_is(policy, floor):
    """Neither a value in `tolerances` nor a dialect's own policy is widened to one case's tolerance."""
    found = verdict(
        baseline(case("a", 0.9, required=0.5), case("b", 0.9, required=0.5)), record(case("a", 0.86, required=0.5), case("b", 0.9, required=0.5), policy=policy), floor=floor
    )

    assert "METRIC_REGRESSED" in codes(found)


@pytest.mark.parametrize(
    ("runs", "word", "pending"),
    [([0], "within_noise", True), ([0, 0], "within_noise", True), ([0, 0, 0], "regressed", False), ([0, 1], "flaky", False), ([0, 0, 1], "flaky", False)],
)
@pytest.mark.parametrize("exact", [True, False])
def test_confirmation__red_needs_the_drop_in_all_three_passes(runs, word, pending, exact):
    """A suspicion is no more than noise until three passes show it, and flaky as soon as one does not; both rules alike."""
    rules = Rules(name="exact" if exact else "tolerance", policy=Policy(), can_confirm=True)

    found = compare(record(case("a", 1), case("b", 1)), record(case("a", *runs), case("b", 1)), rules)

    assert found.outcomes[0].verdict.verdict == word
    assert found.pending == (("a",) if pending else ())
    assert len(runs) <= PASSES_TO_PROVE


def test_confirmation__a_flaky_case_leaves_the_suite_green():
    """What was back in one of the passes is a warning: case and metrics are flaky, the verdict is passed."""
    found = verdict(baseline(case("a", 1), case("b", 1)), record(case("a", 0, 1), case("b", 1)), can_confirm=True)

    assert (found.verdict, found.counts.flaky) == ("passed", 1)
    assert {metric.verdict for metric in found.metrics} == {"flaky"}


def test_confirmation__a_fallen_mean_without_a_suspicious_case__asks_all_that_fell():
    """When only the mean is beyond its tolerance, the cases below their baseline are run again and no others."""
    before = record(*(case(name, 0.9, required=0.5) for name in "abcd"))
    now = record(*(case(name, 0.88 if name != "d" else 0.9, required=0.5) for name in "abcd"))

    found = compare(before, now, Rules(name="tolerance", policy=Policy(), can_confirm=True))

    assert found.pending == ("a", "b", "c")


def test_confirmation__only_what_the_policy_fails_on_is_asked_again():
    """Without `case` and `check` in fail_on a worse case costs no call."""
    rules = Rules(name="tolerance", policy=Policy(fail_on=("threshold",)), can_confirm=True)

    assert compare(record(case("a", 1)), record(case("a", 0)), rules).pending == ()


def test_check__one_criterion_that_dies_under_an_unchanged_average__is_red():
    """A check that passed and now fails is red whatever the case's average says."""
    found = verdict(baseline(case("a", {"tone.polite": 1, "tone.short": 0})), record(case("a", {"tone.polite": 0, "tone.short": 1})))

    reason = next(reason for reason in found.reasons if reason.code == "CHECK_REGRESSED")
    assert (reason.case, reason.check, found.verdict) == ("a", "tone.polite", "regressed")


def test_exact__the_reference_is_the_median_of_the_baseline_runs():
    """One stray run of the baseline does not lower the level that a deterministic suite is held to."""
    found = verdict(baseline(case("a", 1, 1, 0, repeats=3)), record(case("a", 0)), exact=True)

    assert (found.cases[0].baseline, words(found)["a"], found.rule) == (1, "regressed", "exact")


def test_pairs__adding_removing_and_rewriting_cases_moves_no_mean():
    """Both sides' means use the compared pairs only."""
    before = baseline(case("a", 1), case("b", 0), case("gone", 0), case("rewritten", 0))
    now = record(case("a", 1), case("b", 0), case("new", 1), case("rewritten", 1, fingerprint="other question"))

    found = verdict(before, now)

    metric = next(metric for metric in found.metrics if metric.metric == "equals")
    assert (metric.baseline, metric.current, metric.current_all, metric.cases) == (0.5, 0.5, 0.75, 2)
    assert words(found) == {"a": "unchanged", "b": "unchanged", "new": "added", "rewritten": "changed", "gone": "removed"}
    assert (found.verdict, found.removed_cases) == ("passed", ("gone",))


def test_pairs__a_changed_check_is_listed_and_leaves_the_others_compared():
    """Checks are paired by id and fingerprint; a check that vanished from a case is a warning, never silence."""
    before = baseline(case("a", {"equals": 1, "regex": 1}, definition="old"))
    now = record(dataclasses.replace(case("a", {"equals": 1}, definition="old")))

    found = verdict(before, now)

    assert [(check.check, check.verdict) for check in found.cases[0].checks] == [("equals", "unchanged"), ("regex", "removed")]
    assert any("regex" in warning for warning in found.warnings)
    assert "METRIC_MISSING" in codes(found)


def test_errors__are_in_no_mean_on_either_side():
    """Four wrong cases that become errors do not flatter the comparison."""
    before = baseline(*(case(f"c{number}", 1 if number < 16 else 0) for number in range(20)))
    now = record(*(case(f"c{number}", 1 if number < 16 else None) for number in range(20)), policy=Policy(max_errors=4))

    found = verdict(before, now)

    metric = next(metric for metric in found.metrics if metric.metric == "equals")
    assert (metric.baseline, metric.current, found.counts.errors, found.counts.improved) == (1, 1, 4, 0)


@pytest.mark.parametrize(("lost", "is_error"), [(1, False), (2, False), (3, True), (4, True)])
def test_errors__half_of_the_trials_must_be_measured(lost, is_error):
    """Of four repeats two failed ones are bearable, three are not."""
    assert case("a", *[None] * lost, *[1.0] * (4 - lost), repeats=4, check_ids=["equals"]).is_error is is_error


def test_raw_metrics__are_reported_and_gated_only_when_a_tolerance_names_them():
    """Latency doubles: reported; with `tolerances: {latency_ms: 0.5}` it is red, for lower is better."""

    def timed(milliseconds: float, policy: Policy) -> RunRecord:
        one = case("a", 1)
        return record(dataclasses.replace(one, trials=(dataclasses.replace(one.trials[0], latency_ms=milliseconds),)), policy=policy)

    loose, strict = Policy(), Policy(tolerances={"latency_ms": 0.5})
    before = Baseline(record=timed(100, loose), acceptance=baseline(case("a", 1)).acceptance)

    assert verdict(before, timed(200, loose)).verdict == "passed"
    assert codes(verdict(before, timed(200, strict))) == {"METRIC_REGRESSED"}
    assert verdict(before, timed(150, strict)).verdict == "passed"
    assert verdict(before, timed(20, strict)).verdict == "passed"
