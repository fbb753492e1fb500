"""The statistical rule, case by case: noise told from change, from the first pass to the verdict, at as few runs as possible."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalaction.core.compare import compare
from evalaction.core.comparison import Rules
from evalaction.core.record import RunRecord
from evalaction.core.suite import Policy
from tests.making import baseline, case, codes, record, words
from tests.measuring import Gate, always, chaotic, fresh, graded, taken, world


def test_quiet_suite__is_one_pass_and_no_warning():
    """Nothing looks worse: one call per case, every word says unchanged, and the plan says why it stops."""
    steady = {f"c{number}": always(1.0) for number in range(60)}
    gate = Gate(baseline(*taken(steady, 10)))

    found = gate.judge(steady)

    assert (found.verdict, found.rule, found.warnings) == ("passed", "statistical", ())
    assert set(gate.runs.values()) == {1}
    assert set(words(found).values()) | {metric.verdict for metric in found.metrics} == {"unchanged"}
    plan = gate.compared(gate.measured(steady), can_confirm=True).plan
    assert plan is not None
    assert "no worse" in plan.why


def test_one_dead_case_among_two_hundred__is_red_by_name_for_few_runs():
    """A case that always passed and now never does: found, named, nothing else flagged, and run at most ten times."""
    suite = world(199, "big") | {"dead": always(1.0)}
    gate = Gate(baseline(*taken(suite, 10)))

    found = gate.judge(fresh(suite) | {"dead": always(0.0)})

    assert found.verdict == "regressed"
    assert [name for name, word in words(found).items() if word == "regressed"] == ["dead"]
    assert {reason.case for reason in found.reasons} == {"dead"}
    assert 5 < gate.runs["dead"] <= 10
    assert sum(gate.runs.values()) < 5.2 * 200


@pytest.mark.parametrize(("pattern", "word"), [((0, 1), "flaky"), ((0, 0, 1), "within_noise"), ((0, 1, 1, 1, 1, 0, 1), "flaky")])
def test_flaky_case__stays_green(pattern, word):
    """A case that fails at first and then passes again is a warning at most, whatever its first run said."""
    steady = {f"c{number}": always(1.0) for number in range(30)}
    gate = Gate(baseline(*taken(steady, 10)))

    found = gate.judge(steady | {"c7": lambda run: float(pattern[run] if run < len(pattern) else 1)})

    assert (found.verdict, words(found)["c7"]) == ("passed", word)
    assert gate.runs["c7"] > 1


def test_a_break_hidden_behind_a_fix__is_red():
    """One case mended, one broken, the mean unchanged: red, by name."""
    steady = {f"c{number}": always(1.0) for number in range(20)}
    gate = Gate(baseline(*taken(steady | {"mended": always(0.0)}, 10)))

    found = gate.judge(steady | {"mended": always(1.0), "c3": always(0.0)})

    assert (found.verdict, codes(found)) == ("regressed", {"CASE_REGRESSED", "CHECK_REGRESSED"})
    assert {reason.case for reason in found.reasons} == {"c3"}
    assert next(metric for metric in found.metrics if metric.metric == "pass_rate").verdict != "regressed"


def test_graded_case__that_loses_much__is_red_and_one_misfire_is_not():
    """A judge's score falls by 40 points: red after a few runs. One run of 0 among good ones: green."""
    suite = world(30, "graded", "graded")
    gate = Gate(baseline(*taken(suite, 10)))

    lost = gate.judge(fresh(suite) | {"c005": graded(0.3, "lost")})
    assert (lost.verdict, [name for name, word in words(lost).items() if word == "regressed"]) == ("regressed", ["c005"])
    assert 4 <= gate.runs["c005"] <= 10

    misfired = gate.judge(suite | {"c005": lambda run: 0.0 if run == 0 else suite["c005"](run)})
    assert (misfired.verdict, words(misfired)["c005"] == "regressed") == ("passed", False)
    assert gate.runs["c005"] > 1


def test_inconclusive__a_case_that_passed_too_rarely__says_how_many_runs_would_do():
    """6 of 10 before and never now cannot be proven among fifty cases; the note says with how many runs it could, and the policy may fail on it."""
    steady = {f"c{number}": always(1.0) for number in range(49)}
    before = baseline(*taken(steady, 10), case("shaky", *[1, 0, 1, 0, 1, 1, 0, 1, 0, 1], repeats=10))

    found = Gate(before).judge(steady | {"shaky": always(0.0)})

    shaky = next(one for one in found.cases if one.case == "shaky")
    assert (found.verdict, shaky.verdict, found.counts.inconclusive) == ("passed", "inconclusive", 1)
    assert "6 of 10" in (shaky.note or "")
    assert "runs would do" in (shaky.note or "")
    assert any("case shaky" in warning for warning in found.warnings)
    strict = Gate(before, policy=Policy(fail_on=("case", "inconclusive"))).judge(steady | {"shaky": always(0.0)})
    assert (strict.verdict, codes(strict)) == ("regressed", {"CASE_REGRESSED"})


def test_inconclusive__the_number_of_runs_it_names_would_do():
    """With as many runs at once as the note asks for, the same collapse is proven."""
    before = baseline(*taken({f"c{number}": always(1.0) for number in range(49)}, 10), case("shaky", *[1] * 8, 0, 0, repeats=10))
    steady = {f"c{number}": always(1.0) for number in range(49)}
    gate = Gate(before, policy=Policy(profile="lean"))
    gate.runs = dict.fromkeys([*steady, "shaky"], 4)
    few = gate.judged_again(steady | {"shaky": always(0.0)})
    note = next(one.note for one in few.cases if one.case == "shaky") or ""
    needed = int(note.split("; ")[1].split(" ")[0])

    gate.runs["shaky"] = needed
    enough = gate.judged_again(steady | {"shaky": always(0.0)})

    assert words(few)["shaky"] == "inconclusive"
    assert 4 < needed < 20
    assert (words(enough)["shaky"], enough.verdict) == ("regressed", "regressed")


def test_improved__is_the_same_test_mirrored():
    """Never passed before and always now, in enough runs: improved, and green."""
    before = baseline(*taken({f"c{number}": always(1.0) for number in range(20)} | {"up": always(0.0)}, 10))
    gate = Gate(before, repeats=5)

    found = gate.judge({f"c{number}": always(1.0) for number in range(20)} | {"up": always(1.0)})

    assert (found.verdict, words(found)["up"], found.counts.improved) == ("passed", "improved", 1)


@settings(max_examples=25, deadline=None)
@given(st.dictionaries(st.sampled_from("abcdefgh"), st.tuples(st.integers(0, 8), st.integers(0, 8)), min_size=1))
def test_mirrored_outcomes__mirror_proven_words(suite):
    """Every pass made a fail and every fail a pass on both sides: what regressed has improved and the other way round, and every change of a mean is turned."""

    def side(number: int, *, turned: bool) -> RunRecord:
        passes = {name: 8 - pair[number] if turned else pair[number] for name, pair in suite.items()}
        return record(*(case(name, *[1] * passed, *[0] * (8 - passed), repeats=8) for name, passed in passes.items()))

    rules = Rules(name="statistical", policy=Policy())
    there, back = (compare(side(0, turned=turned), side(1, turned=turned), rules) for turned in (False, True))

    mirror = {"regressed": "improved", "improved": "regressed"}
    for one, other in zip((*there.outcomes, *back.outcomes), (*back.outcomes, *there.outcomes), strict=True):
        if one.verdict.verdict in mirror:
            assert other.verdict.verdict == mirror[one.verdict.verdict]
        assert one.verdict.delta == pytest.approx(-(other.verdict.delta or 0))
    for before, after in zip(there.metrics, back.metrics, strict=True):
        assert before.delta == pytest.approx(-(after.delta or 0))


@settings(max_examples=30, deadline=None)
@given(st.dictionaries(st.sampled_from("abcdefgh"), st.lists(st.sampled_from([0.0, 0.3, 0.5, 0.9, 1.0]), min_size=1, max_size=9), min_size=1), st.booleans())
def test_compare__with_itself_never_regresses(suite, can_confirm):
    """A record compared with itself asks for nothing and flags nothing, whatever it holds."""
    whole = record(*(case(name, *runs, repeats=len(runs), required=0.5) for name, runs in suite.items()))

    found = compare(whole, whole, Rules(name="statistical", policy=Policy(), can_confirm=can_confirm))

    assert {outcome.verdict.verdict for outcome in found.outcomes} == {"unchanged"}
    assert not {metric.verdict for metric in found.metrics} & {"regressed", "improved", "within_tolerance"}
    assert not any(outcome.case_proven or outcome.proven_checks for outcome in found.outcomes)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from(["binary", "graded"]), st.randoms(use_true_random=False))
def test_compare__order_of_cases_and_trials_never_matters(seed, kind, chance):
    """Shuffled cases and trials give the same words, values and pending cases."""
    before, now = record(*taken(world(12, seed, kind), 6)), record(*(dataclasses.replace(one, repeats=1) for one in taken(world(12, seed + 1, kind), 3)))

    def shuffled(whole: RunRecord) -> RunRecord:
        cases = [dataclasses.replace(one, trials=tuple(chance.sample(one.trials, len(one.trials)))) for one in whole.cases.values()]
        chance.shuffle(cases)
        return RunRecord(header=whole.header, cases={one.id: one for one in cases})

    rules = Rules(name="statistical", policy=Policy(), can_confirm=True)
    plain, mixed = compare(before, now, rules), compare(shuffled(before), shuffled(now), rules)

    assert {one.pair.id: one.verdict for one in plain.outcomes} == {one.pair.id: one.verdict for one in mixed.outcomes}
    assert {one.metric: one for one in plain.metrics} == {one.metric: one for one in mixed.metrics}
    assert set(plain.pending) == set(mixed.pending)
    assert sorted(plain.notes) == sorted(mixed.notes)


@pytest.mark.parametrize("kind", ["binary", "graded"])
@pytest.mark.parametrize("cases", [3, 25])
@pytest.mark.parametrize("dead", [None, "c001"])
def test_stored_record__is_judged_as_it_was_when_it_was_measured(kind, cases, dead):
    """The finished record of an adaptive run, judged where nothing can be run again: the same verdict and the same regressed cases."""
    for seed in range(6):
        suite = world(cases, f"{kind} {seed}", kind) | ({dead: always(0.95 if kind == "graded" else 1.0)} if dead else {})
        gate = Gate(baseline(*taken(suite, 10)))
        now = fresh(suite) | ({dead: always(0.0)} if dead else {})

        live, again = gate.judge(now), gate.judged_again(now)

        assert live.verdict == again.verdict == ("regressed" if dead else live.verdict)
        assert [name for name, word in words(live).items() if word == "regressed"] == [name for name, word in words(again).items() if word == "regressed"]


@pytest.mark.parametrize("profile", ["lean", "standard", "thorough"])
def test_plan__ends_and_never_runs_a_case_more_often_than_the_profile_allows(profile):
    """Everything worse, everything failing at random, a few cases only: no case has more runs than max_repeats."""
    most = {"lean": 8, "standard": 10, "thorough": 14}[profile]
    for seed in range(4):
        suite = world(8, f"end {seed}")
        gate = Gate(baseline(*taken(suite, 10)), policy=Policy(profile=profile, max_errors=8))

        gate.judge({name: chaotic(f"{name} {seed}") for name in suite})

        assert max(gate.runs.values()) <= most


def test_plan__a_suspect_whose_further_runs_all_fail__ends():
    """Runs that fail count as asked, so that a broken target cannot keep the plan going."""
    steady = {f"c{number}": always(1.0) for number in range(30)}
    gate = Gate(baseline(*taken(steady, 10)))

    found = gate.judge(steady | {"c3": lambda run: 0.0 if run == 0 else None})

    assert found.verdict in ("passed", "not_measured")
    assert gate.runs["c3"] <= 10


def test_plan__only_what_the_policy_fails_on_costs_calls():
    """Thresholds alone: one pass, whatever looks worse."""
    steady = {f"c{number}": always(1.0) for number in range(10)}
    gate = Gate(baseline(*taken(steady, 10)), policy=Policy(fail_on=("threshold",)))

    gate.judge(dict.fromkeys(steady, always(0.0)))

    assert set(gate.runs.values()) == {1}


def test_suite_s_own_repeats__are_the_first_stage():
    """With repeats: 4 a suite that looks worse has five passes, and a quiet one four."""
    suite = world(30, "own")
    gate = Gate(baseline(*taken(suite, 10)), repeats=4)

    gate.judge({name: always(1.0) for name in suite})
    assert set(gate.runs.values()) == {4}
    gate.judge(dict.fromkeys(suite, always(0.0)))
    assert min(gate.runs.values()) == 5


def test_thin_baseline__falls_back_to_points_check_by_check():
    """Three stored runs: enough for a graded score, too few for what passes or fails; both in one suite, and the report says so."""
    steady = {f"g{number}": graded(0.8, number, 0.01) for number in range(10)}
    flips = {f"b{number}": always(1.0) for number in range(10)}
    before = baseline(*taken(steady, 3), *(dataclasses.replace(one, checks=one.checks) for one in taken(flips, 3)))
    gate = Gate(before)

    found = gate.judge(fresh(steady) | flips | {"b4": always(0.0)})

    assert words(found)["b4"] == "regressed"
    assert gate.runs["b4"] in (3, 5)
    assert any("point comparison" in warning for warning in found.warnings)


def test_one_thin_case__does_not_take_the_statistics_from_the_others():
    """A case accepted later with one run is compared by points; the metric keeps its p-value."""
    steady = {f"c{number}": always(1.0) for number in range(20)}
    gate = Gate(baseline(*taken(steady, 10), case("new", 1)))

    found = gate.judge(steady | {"new": always(0.0)})

    assert all(metric.p_value is not None for metric in found.metrics)
    assert (words(found)["new"], gate.runs["new"]) == ("regressed", 3)


@pytest.mark.parametrize(("runs", "word"), [([0.9] * 6 + [0.3] * 4, "within_noise"), ([0.9] * 4 + [0.3] * 6, "regressed")])
def test_graded_case__median_and_mean_must_both_have_fallen(runs, word):
    """However lenient alpha is, a mean that a few bad runs pulled down proves nothing while the median run stays."""
    before, now = record(case("a", *[0.9] * 10, repeats=10, required=0.1)), record(case("a", *runs, repeats=10, required=0.1))

    found = compare(before, now, Rules(name="statistical", policy=Policy(), alpha=0.9))

    assert found.outcomes[0].verdict.verdict == word


@pytest.mark.parametrize(("others", "word"), [(0.0, "regressed"), (1.0, "inconclusive")])
def test_cases_that_never_passed__take_nothing_from_the_others(others, word):
    """Four runs prove a collapse among five cases that could regress, and do not among two hundred."""
    suite = {f"c{number}": always(1.0) for number in range(5)} | {f"n{number}": always(others) for number in range(195)}
    gate = Gate(baseline(*taken(suite, 10)))
    gate.runs = dict.fromkeys(suite, 4)

    assert words(gate.judged_again(suite | {"c3": always(0.0)}))["c3"] == word
