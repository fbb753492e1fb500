"""The judge over the wire of both vendors: what it is told, what becomes of its words, votes, and what is no verdict."""

import re
import socket

import pytest

from evalaction.core.specs import Rubric
from evalaction.core.suite import ExecTarget, Judge, ModelTarget
from evalaction.errors import MeasureError
from evalaction.judge.judge import self_preference
from tests.judge.judging import GRADED, POLITE, TONE, failure, judge
from tests.vendors import Object, Parts, Status, schema_in, told, verdicts

PASS = Object(verdicts(polite=True))


def test_verdict__each_criterion_is_a_result_with_the_judges_words(start, vendor):
    """One call for two criteria gives two results, each with its own score and reason."""
    server = start(Object(verdicts(polite=True, short=False)))
    found = judge(server, "Good day.", TONE, vendor=vendor)
    assert {name: (one.score, one.passed, one.detail) for name, one in found.items()} == {
        "tone.polite": (1.0, True, "because of polite"),
        "tone.short": (0.0, False, "because of short"),
    }
    assert len(server.seen) == 1


def test_verdict__all_rubrics_of_a_trial_go_into_one_call(start, vendor):
    """Two rubrics, one of them scored, are asked together; a criterion of each name keeps to its rubric."""
    server = start(Object(verdicts(polite=False, complete=4)))
    found = judge(server, "Good day.", POLITE, GRADED, vendor=vendor)
    assert {name: (one.score, one.passed) for name, one in found.items()} == {"tone.polite": (0.0, False), "depth.complete": (0.75, True)}
    assert len(server.seen) == 1


def test_verdict__criteria_of_one_name_in_two_rubrics_are_told_apart(start):
    """Two rubrics that share an id of a criterion are asked under numbered names, and neither answers for the other."""
    server = start(Object(verdicts(c1=True, c2=False)))
    found = judge(server, "Good day.", POLITE, Rubric(id="manner", criteria={"polite": "Says please"}))
    assert {name: one.passed for name, one in found.items()} == {"tone.polite": True, "manner.polite": False}


def test_verdict__ids_that_no_vendor_takes_are_asked_under_numbers(start):
    """An id with blanks or accents is the author's; over the wire it has a plain name, and the result has its own id."""
    server = start(Object(verdicts(c1=True)))
    found = judge(server, "Good day.", Rubric(id="ton", criteria={"höflich genug": "Ist höflich"}))
    assert set(found) == {"ton.höflich genug"}
    assert list(schema_in(server.seen[0])["properties"]["criteria"]["properties"]) == ["c1"]


@pytest.mark.parametrize(("points", "score", "passed"), [(1, 0.0, False), (2, 0.25, False), (3, 0.5, False), (4, 0.75, True), (5, 1.0, True)])
def test_verdict__points_are_fractions_and_four_of_five_passes(start, points, score, passed):
    """(n - 1) / 4, and a pass from 4."""
    (found,) = judge(start(Object(verdicts(complete=points))), "x", GRADED).values()
    assert (found.score, found.passed, found.detail) == (score, passed, f"{points} of 5: because of complete")


def test_verdict__a_threshold_of_the_authors_own_counts(start):
    """A rubric with a threshold passes from there."""
    strict = Rubric(id="depth", criteria={"complete": "Covers everything"}, scale=5, threshold=1.0)
    assert not judge(start(Object(verdicts(complete=4))), "x", strict)["depth.complete"].passed


def test_verdict__words_are_one_bounded_line(start):
    """The judge's words cannot break a table or fill a report."""
    reply = {"criteria": {"polite": {"reason": "line\nline\u202e\x1b[31m" + "x" * 5000, "pass": True}}}
    detail = judge(start(Object(reply)))["tone.polite"].detail
    assert detail.isprintable()
    assert len(detail) <= 300


@pytest.mark.parametrize(
    ("cast", "passed", "tally"),
    [
        ((True, True, False), True, "2 of 3"), ((False, False, True), False, "1 of 3"), ((True, False), False, "1 of 2"), ((True, True), True, "2 of 2"),
        ((False, True, True, False), False, "2 of 4"),
    ],
)  # fmt: skip
def test_votes__the_majority_counts_and_ties_fail(start, cast, passed, tally):
    """N calls, the votes in the detail, half is not a majority."""
    server = start([Object(verdicts(polite=vote)) for vote in cast])
    found = judge(server, votes=len(cast))["tone.polite"]
    assert (found.passed, found.score, found.detail) == (passed, float(passed), f"{tally} votes for yes: because of polite")
    assert len(server.seen) == len(cast)


@pytest.mark.parametrize(("cast", "score", "passed"), [((5, 4, 1), 0.75, True), ((5, 3, 1), 0.5, False), ((4, 3), 0.5, False), ((1, 5), 0.0, False)])
def test_votes__of_points_the_lower_middle_counts(start, cast, score, passed):
    """The middle of the votes, and of an even number the lower one: it passes when more than half of the votes do."""
    found = judge(start([Object(verdicts(complete=vote)) for vote in cast]), "x", GRADED, votes=len(cast))["depth.complete"]
    assert (found.score, found.passed) == (score, passed)
    assert f"votes {', '.join(map(str, cast))} of 5" in found.detail


def test_votes__one_without_a_verdict_is_no_majority_of_the_others(start):
    """Where a vote cannot be had there is no verdict at all."""
    server = start([PASS, "prose", "prose", PASS])
    assert failure(server, votes=3).code == "JUDGE_FAILED"


@pytest.mark.parametrize("answer", ["", "  \n", None, {"output": ""}, {"output": None, "contexts": ["d"]}])
def test_empty__answers_score_nothing_without_a_call(start, answer):
    """There is nothing to judge in an empty answer: 0, a reason, no call."""
    server = start(PASS)
    found = judge(server, answer, TONE)
    assert [(one.score, one.passed) for one in found.values()] == [(0.0, False)] * 2
    assert all("answer" in one.detail for one in found.values())
    assert server.seen == []


def test_empty__a_field_that_is_missing_scores_nothing_beside_one_that_is_judged(start):
    """Only the rubric whose part is there is asked about."""
    server = start(PASS)
    found = judge(server, "Good day.", POLITE, Rubric(id="why", field="insight", criteria={"clear": "Is clear"}))
    assert {name: one.passed for name, one in found.items()} == {"tone.polite": True, "why.clear": False}
    assert "Is clear" not in told(server.seen[0])


def test_prompt__each_field_is_shown_and_each_criterion_says_which_it_is_about(start):
    """Rubrics on two parts of the answer are asked together, and told apart."""
    server = start(Object(verdicts(polite=True, clear=True)))
    judge(server, {"output": "Good day.", "insight": "Sales fell."}, POLITE, Rubric(id="why", field="insight", criteria={"clear": "Is clear"}))
    text = told(server.seen[0])
    assert "- polite (about `output`): Is polite" in text
    assert "- clear (about `insight`): Is clear" in text
    assert "Good day." in text
    assert "Sales fell." in text


def test_prompt__says_question_criteria_answer_and_that_data_is_no_instruction(start, vendor):
    """The judge knows what was asked and what counts, and is told what is data."""
    server = start(PASS)
    judge(server, "Good day.", vendor=vendor)
    text = told(server.seen[0])
    assert all(part in text for part in ("How are you?", "- polite: Is polite", "Good day.", "DATA", "never instructions"))
    assert server.seen[0]["temperature"] == 0


def test_prompt__marks_have_a_new_random_code_in_every_call(start):
    """Nobody who writes an answer can know the code of its marks."""
    server = start(PASS)
    for _ in range(3):
        judge(server)
    codes = [re.search(r"<answer-([0-9a-f]{16})>", body["messages"][-1]["content"])[1] for body in server.seen]
    assert len(set(codes)) == 3


def test_reply__that_is_no_verdict_is_asked_for_once_more(start, vendor):
    """Prose first, a verdict second: the verdict counts, two calls, two sets of marks."""
    server = start(["Looks polite to me!", PASS])
    assert judge(server, vendor=vendor)["tone.polite"].passed
    first, second = (body["messages"][-1]["content"] for body in server.seen)
    assert first != second


def test_reply__prose_for_ever_is_a_judge_error_that_keeps_the_words(start, vendor):
    """Two calls, no verdict, the beginning of the last reply kept; never a pass, a fail or a score."""
    server = start("Looks polite to me, truly!")
    error = failure(server, vendor=vendor)
    assert (error.code, error.detail, len(server.seen)) == ("JUDGE_FAILED", "Looks polite to me, truly!", 2)


def test_reply__that_ran_out_of_room_gets_more(start, vendor):
    """A model that thought too long may write more at its second attempt."""
    cut = Parts([{"type": "text", "text": "Let me th"}], {"content": "Let me th"}, "max_tokens" if vendor == "anthropic" else "length")
    server = start([cut, PASS])
    assert judge(server, vendor=vendor)["tone.polite"].passed
    first, second = (body["max_tokens"] for body in server.seen)
    assert second == 4 * first


def test_outage__is_a_judge_error_with_the_reason(start, vendor):
    """HTTP 500 is neither pass nor fail, and is not a reply to ask again for."""
    server = start(Status(500, {"error": {"message": "overloaded, sorry"}}))
    error = failure(server, vendor=vendor)
    assert (error.code, len(server.seen)) == ("JUDGE_FAILED", 1)
    assert "HTTP 500" in error.message
    assert "overloaded, sorry" in error.message


def test_outage__a_judge_nobody_can_reach_says_so(vendor):
    """A refused connection is told as one."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{probe.getsockname()[1]}"
    error = failure(url, vendor=vendor)
    assert error.code == "JUDGE_FAILED"
    assert "connect" in error.message


def test_temperature__a_model_that_takes_none_is_asked_without(start, vendor):
    """The judge asks for 0, and does without where the model refuses it; later calls do not try again."""
    refused = Status(400, {"error": {"message": "`temperature` is deprecated for this model."}})
    server = start(lambda body, _number: refused if "temperature" in body else PASS)
    assert judge(server, vendor=vendor, votes=2)["tone.polite"].passed
    assert ["temperature" in body for body in server.seen] == [True, False, False]


def test_budget__its_error_is_kept_as_it_is(start):
    """When the caller may not call any more, that is what the trial says."""

    async def refuse(_attempt):
        raise MeasureError("BUDGET_EXHAUSTED", "no calls left")

    assert failure(start(PASS), call=refuse).code == "BUDGET_EXHAUSTED"


def test_length__an_answer_that_cannot_be_shown_whole_is_not_judged(start):
    """A judge that saw less than all could pass what it should fail."""
    server = start(PASS)
    assert failure(server, "x" * 200_001).code == "JUDGE_FAILED"
    assert server.seen == []


def test_length__a_nesting_bomb_is_not_judged(start):
    """An answer nested beyond all bounds is an error, not a crash."""
    bomb: list = []
    for _ in range(5000):
        bomb = [bomb]
    assert failure(start(PASS), {"output": bomb}).code == "JUDGE_FAILED"


def test_self_preference__is_said_when_judge_and_target_are_one_model():
    """A judge of the target's own model, of whichever date, gets a warning; another one, or a target that is no model, none."""
    spec = Judge(provider="openai", model="m1")
    assert "self-preference" in self_preference(spec, ModelTarget(provider="openai", model="m1"))
    assert self_preference(spec, ModelTarget(provider="openai", model="m2")) is None
    for named in ("m1-2025-08-06", "M1", "m1-latest"):
        assert "self-preference" in self_preference(spec, ModelTarget(provider="openai", model=named)), named
    assert self_preference(spec, ExecTarget(command="x")) is None
    assert self_preference(None, ModelTarget(provider="openai", model="m1")) is None
