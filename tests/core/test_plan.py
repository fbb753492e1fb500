"""The adaptive plan: stages over the suite, suspects one run at a time, and when to stop."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalaction.core.plan import PROFILES, Look, SuiteProgress, Suspect, choose_suspects, follow_stages, next_runs


def followed(p_by_passes: dict[int, float] | float, done: int, *, planned: int = 1, profile: str = "standard", repeatable: bool = True) -> SuiteProgress:
    """The stages of a suite whose worst series, `recall`, has these p after so many passes."""

    def look(passes: int) -> Look:
        return Look(p=p_by_passes if isinstance(p_by_passes, float) else p_by_passes[passes], series="recall")

    return follow_stages(PROFILES[profile], planned, done, look, repeatable=repeatable)


@pytest.mark.parametrize(
    ("p", "done", "passes", "wanted", "last"),
    [
        ({1: 0.5}, 1, 1, None, False), ({1: 0.49}, 1, 1, 3, False), ({1: 0.49, 2: 0.9}, 2, 2, 3, False), ({1: 0.1, 3: 0.25}, 3, 3, None, False),
        ({1: 0.1, 3: 0.24}, 3, 3, 5, False), ({1: 0.1, 3: 0.1, 5: 0.9}, 5, 5, None, True), ({1: 0.1, 3: 0.1, 5: 0.001}, 5, 5, None, True),
    ],
)  # fmt: skip
def test_stages__go_on_only_while_the_suite_looks_worse(p, done, passes, wanted, last):
    """Standard: 1, 3, 5 passes; on while p < 0.5, then p < 0.25; only the fifth pass is the last stage."""
    found = followed(p, done)

    assert (found.passes, found.wanted, found.last, found.final_passes) == (passes, wanted, last, 5)


@pytest.mark.parametrize(("profile", "passes", "most"), [("lean", [1, 2], 8), ("standard", [1, 3, 5], 10), ("thorough", [2, 5, 10], 14)])
def test_profiles__a_suite_that_looks_worse_makes_all_stages(profile, passes, most):
    """From one pass on, always p = 0.01: exactly the profile's passes, and then the last stage."""
    done, seen = 1, []
    while (found := followed(0.01, done, profile=profile)).wanted is not None:
        seen.append(found.wanted)
        done += 1

    assert (done, found.last, PROFILES[profile].max_repeats) == (passes[-1], True, most)
    assert set(seen) == set(passes) - {1}


@pytest.mark.parametrize(("planned", "stages"), [(1, {1, 3, 5}), (2, {2, 3, 5}), (4, {4, 5}), (5, {5}), (12, {12})])
def test_stages__have_at_least_the_suite_s_own_repeats(planned, stages):
    """`repeats: n` makes n passes the first stage, and the last one when n is larger than all."""
    done, reached = planned, {planned}
    while (found := followed(0.01, done, planned=planned)).wanted is not None:
        reached.add(found.wanted)
        done += 1

    assert (reached, found.passes) == (stages, max(stages))


@pytest.mark.parametrize("done", [1, 2, 3, 4])
def test_stages__when_nothing_can_be_run_again__what_there_is_stands_for_the_last(done):
    """A suite that looks worse and has no more passes is judged by those it has."""
    found = followed(0.01, done, repeatable=False)

    assert (found.passes, found.last, found.wanted, found.final_passes, found.cut_short) == (done, True, None, done, True)


def test_stages__a_stored_record_stops_where_it_stopped_when_it_was_measured():
    """A suite that was fine after one pass stays so, although its suspects have ten runs."""
    found = followed({1: 0.7}, 10, repeatable=False)

    assert (found.passes, found.last) == (1, False)


def test_stages__where_nothing_is_gated__no_pass_is_added():
    """Without a series that statistics may call red the planned passes are all."""
    for profile in PROFILES.values():
        found = follow_stages(profile, 1, 1, lambda _: None, repeatable=True)
        assert (found.passes, found.wanted, found.last) == (1, None, True)


def test_stages__every_further_pass_has_a_reason():
    """The reason names the series and its p."""
    assert "recall looks worse (p 0.12)" in followed({1: 0.12}, 1).why
    assert "passes 2 to 3" in followed({1: 0.12}, 1).why
    assert "no worse" in followed({1: 0.8}, 1).why


def suspects(count: int) -> list[Suspect]:
    """So many suspects, each a little worse than the one before."""
    return [Suspect(owner=number, case=f"c{number:03}", z=number / 10, what="the case") for number in range(count)]


@pytest.mark.parametrize(("cases", "red", "most"), [(10, False, 5), (25, False, 5), (26, False, 6), (200, False, 40), (200, True, 5), (3, False, 5)])
def test_suspects__at_most_a_fifth_of_the_cases_and_five_when_the_suite_is_red(cases, red, most):
    """max(5, ⌈0.2 N⌉), the most suspicious first."""
    chosen = choose_suspects(suspects(100), cases, suite_is_red=red)

    assert [one.case for one in chosen] == [f"c{number:03}" for number in range(99, 99 - most, -1)]


@given(st.permutations([*suspects(12), Suspect(owner=3, case="c003", z=5.0, what="check tone")]))
def test_suspects__order_never_matters_and_a_case_counts_once(shuffled):
    """Several suspicious checks of one case take one place, that of the worst; ties go by id."""
    chosen = choose_suspects(shuffled, 40, suite_is_red=False)

    assert [(one.case, one.what) for one in chosen][:2] == [("c003", "check tone"), ("c011", "the case")]
    assert len({one.owner for one in chosen}) == len(chosen) == 8


def test_next_runs__a_stage_asks_every_case_that_lacks_a_pass():
    """Cases with their own repeats are ahead and wait; single suspects wait for the stage."""
    plan = next_runs(followed({1: 0.1}, 1), {"a": 1, "b": 3, "c": 2}, {"b": "looks worse"})

    assert (plan.stage, set(plan.runs), plan.finished) == ("suite", {"a", "c"}, False)


def test_next_runs__after_the_stages__asks_the_undecided_with_their_reasons():
    """One run of each undecided case, and nothing when none is left."""
    stopped = followed({1: 0.9}, 1)

    assert next_runs(stopped, {"a": 1, "b": 1}, {"b": "looks worse"}).runs == {"b": "looks worse"}
    assert next_runs(stopped, {"a": 1, "b": 1}, {}).finished
    assert next_runs(stopped, {"a": 1}, {}).why == stopped.why
