"""Rubrics in a score: each criterion a check of its own, never a score without a verdict."""

import pytest

from evalaction.core.answer import read_answer
from evalaction.core.checks import Scoring, score_answer
from evalaction.core.checks.rubric import criterion_result
from evalaction.core.specs import Equals, Rubric
from evalaction.core.suite import Case
from evalaction.errors import MeasureError

TONE = Rubric(id="tone", criteria={"polite": "Is polite", "short": "Is short"}, weight=2.0)
EQUALS = Equals(id="equals", value="x")


def scored(raw, *checks, **judged):
    """The score of an answer under results of a judge, by rubric."""
    return score_answer(Case(id="a", input="", checks=checks), read_answer(raw), Scoring(judged=judged))


def results(check, *scores):
    """A judge's results for each criterion."""
    return tuple(criterion_result(check, name, score, "why") for name, score in zip(check.criteria, scores, strict=True))


def test_criteria__share_the_weight_of_their_rubric_and_stand_in_its_place():
    """A rubric of weight 2 beside a check of weight 1: (1 + 0 + 1) / 3 with weights 1, 1 and 1; results keep the order of the checks."""
    found = scored("x", EQUALS, TONE, tone=results(TONE, 1.0, 0.0))
    assert [check.id for check in found.checks] == ["equals", "tone.polite", "tone.short"]
    assert found.score == pytest.approx(2 / 3)
    assert not found.passed


def test_criteria__all_met_pass():
    """A case passes when every criterion does."""
    assert scored("x", TONE, tone=results(TONE, 1.0, 1.0)).passed


def test_nothing__is_zero_on_every_criterion():
    """An answer that is nothing needs no judge."""
    found = scored(None, EQUALS, TONE)
    assert [(check.id, check.score) for check in found.checks] == [("equals", 0), ("tone.polite", 0), ("tone.short", 0)]


@pytest.mark.parametrize("judged", [{}, {"tone": ()}, {"other": results(TONE, 1.0, 1.0)}, {"tone": results(TONE, 1.0, 1.0)[:1]}])
def test_no_verdict__is_an_error_and_no_score(judged):
    """Without a result for each criterion the trial is not measured."""
    with pytest.raises(MeasureError) as caught:
        scored("x", EQUALS, TONE, **judged)
    assert caught.value.code == "JUDGE_FAILED"


@pytest.mark.parametrize(
    ("scale", "threshold", "score", "passed"),
    [(None, None, 1.0, True), (None, None, 0.0, False), (5, None, 0.75, True), (5, None, 0.5, False), (5, 0.5, 0.5, True), (5, 1.0, 0.75, False)],
)
def test_pass__needs_a_yes_or_four_points_or_the_authors_threshold(scale, threshold, score, passed):
    """The three ways of passing a criterion."""
    check = Rubric(id="t", criteria={"a": "A"}, scale=scale, threshold=threshold)
    assert criterion_result(check, "a", score, "").passed is passed
