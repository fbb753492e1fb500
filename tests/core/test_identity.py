"""What a criterion is, for the comparison of two runs."""

import dataclasses

import pytest

from evalaction.core.fingerprint import define
from evalaction.core.identity import criterion_infos, judged_by
from evalaction.core.specs import Equals, Rubric
from evalaction.core.suite import Case, Judge

JUDGE = Judge(provider="anthropic", model="m1")
TONE = Rubric(id="tone", criteria={"polite": "Is polite", "short": "Is short"})


def prints(check=TONE, judge=JUDGE):
    """Fingerprint by id."""
    return {info.id: info.fingerprint for info in criterion_infos(check, judge)}


def test_infos__are_one_for_each_criterion_under_the_metric_rubric():
    """`tone.polite` and `tone.short`, of the type rubric, with the weight shared."""
    infos = criterion_infos(TONE, JUDGE)
    assert [(info.id, info.type, info.weight, info.metrics) for info in infos] == [("tone.polite", "rubric", 0.5, ("rubric",)), ("tone.short", "rubric", 0.5, ("rubric",))]


@pytest.mark.parametrize(("field", "value"), [("provider", "openai"), ("model", "m2")])
def test_fingerprint__another_judge_is_another_check(field, value):
    """Verdicts of two models are not compared."""
    other = prints(judge=dataclasses.replace(JUDGE, **{field: value}))
    assert not set(other.values()) & set(prints().values())


@pytest.mark.parametrize(("field", "value"), [("votes", 5), ("base_url", "http://127.0.0.1:1")])
def test_fingerprint__votes_and_address_of_the_judge_do_not_count(field, value):
    """More votes ask the same question."""
    assert prints(judge=dataclasses.replace(JUDGE, **{field: value})) == prints()


@pytest.mark.parametrize(("field", "value"), [("scale", 5), ("field", "insight"), ("threshold", 0.5), ("weight", 3.0)])
def test_fingerprint__parameters_of_the_rubric_count(field, value):
    """Another scale, part, threshold or weight is another check."""
    assert not set(prints(dataclasses.replace(TONE, **{field: value})).values()) & set(prints().values())


def test_fingerprint__rewording_one_criterion_leaves_the_others():
    """Each criterion is compared by itself."""
    other = prints(Rubric(id="tone", criteria={"polite": "Is very polite", "short": "Is short"}))
    assert {name for name in other if other[name] == prints()[name]} == {"tone.short"}


def test_cases__have_criteria_in_place_of_rubrics_and_keep_the_rest():
    """The definition of a judged case lists its criteria where the rubric stood; what is asked stays."""
    case = Case(id="a", input="q", checks=(Equals(id="equals", value="x"), TONE))
    (judged,) = judged_by([case], JUDGE)
    before, after = define(case), define(judged)
    assert [info.id for info in after.checks] == ["equals", "tone.polite", "tone.short"]
    assert (after.fingerprint, after.checks[0]) == (before.fingerprint, before.checks[0])
