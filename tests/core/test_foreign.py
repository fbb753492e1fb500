"""From foreign results to cases and trials, and what a check of weight 0 counts for."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from evalaction.core.foreign import Foreign, ForeignCase, ForeignCheck, ForeignTrial, as_cases, distinct, overall
from evalaction.core.record import CheckInfo, CheckResult, Trial
from evalaction.core.sample import sample

SCORES = st.floats(0, 1)


def infos(*weights):
    return tuple(CheckInfo(id=f"c{number}", type="t", fingerprint="f", weight=weight) for number, weight in enumerate(weights))


def trial(*results):
    checks = tuple(CheckResult(id=f"c{number}", score=score, passed=passed) for number, (score, passed) in enumerate(results))
    return Trial(repeat=0, score=0, passed=True, checks=checks)


@settings(max_examples=50, deadline=None)
@given(SCORES, st.booleans(), st.lists(st.tuples(SCORES, st.booleans()), max_size=4))
def test_sample__checks_of_weight_0_move_neither_score_nor_pass(score, passed, others):
    """Whatever the checks of weight 0 say, score and pass are those of the one that counts."""
    found = sample([trial((score, passed), *others)], infos(1, *[0] * len(others)))

    assert (found.scores, found.passes) == ((score,), (passed,))
    assert len(found.check_scores) == 1 + len(others)


def test_sample__only_checks_of_weight_0_count_alike():
    """Where nothing else is left to compare, checks of weight 0 are a plain mean, and all must pass."""
    for runs in (1, 2):
        found = sample([trial((1, True), (0.5, False))] * runs, infos(0, 0))

        assert (found.scores, found.passes) == ((0.75,) * runs, (False,) * runs)


def test_distinct__a_second_check_of_a_name_gets_a_number():
    """Two checks of one name are told apart, also from a check that has the number already."""
    named = [ForeignCheck(id=name, type="t", score=1, passed=True) for name in ("a", "a-2", "a", "a")]

    assert [check.id for check in distinct(named)] == ["a", "a-2", "a-3", "a-4"]


def test_as_cases__long_and_hostile_texts_are_stored_cut():
    """A detail is one bounded line, and a long answer is cut with a mark."""
    check = overall(0.5, passed=True, kind="t", detail="x\n" * 10_000)
    case = ForeignCase(id="a", input="q", trials=(ForeignTrial(checks=(check,), answer={"output": "y" * 100_000}),))

    _, imported = as_cases(Foreign(cases=(case,)))
    (stored,) = imported.trials["a"]

    assert len(stored.checks[0].detail) <= 300
    assert "\n" not in stored.checks[0].detail
    assert len(stored.answer["output"]) < 20_000
