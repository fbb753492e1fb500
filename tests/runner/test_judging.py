"""Judged trials: calls of the judge are paced, retried and paid like those of the target, and no verdict is no score."""

import asyncio
import dataclasses

import pytest

from evalaction.core.answer import Answer
from evalaction.core.checks import Scoring, score_answer
from evalaction.core.checks.rubric import criterion_result, rubrics_of, unanswered
from evalaction.core.specs import Rubric
from evalaction.core.suite import Limits
from evalaction.errors import MeasureError, TargetError
from evalaction.targets.base import Reply
from tests.runner.acting import Batch, Target, busy, measure, raising, requests_for

TONE = Rubric(id="tone", criteria={"polite": "Is polite"})


@dataclasses.dataclass
class Said:
    """What one call of the judge gave."""

    passed: bool = True
    cost_usd: float | None = None


class Judge:
    """Judges by a function of (case id, number of the call); the runner's side is what is tested."""

    def __init__(self, say=lambda _case, _number: Said(), retries=1):
        self.say, self.retries = say, retries
        self.calls, self.now, self.peak = 0, 0, 0

    async def judge(self, case, answer, call, _repeat=0):
        """One call, unless there is nothing to judge."""
        (check,) = rubrics_of(case)
        if answer.is_nothing:
            return {"tone": unanswered(check, "nothing")}
        said = await call(lambda: self._once(case.id))
        return {"tone": (criterion_result(check, "polite", float(said.passed), "why"),)}

    async def _once(self, case_id):
        number, self.calls = self.calls, self.calls + 1
        self.now += 1
        self.peak = max(self.peak, self.now)
        try:
            await asyncio.sleep(0)
            said = self.say(case_id, number)
            return await said if asyncio.iscoroutine(said) else said
        finally:
            self.now -= 1


def by_rubric(case, answer, outside):
    """The product's own scoring."""
    return score_answer(case, answer, Scoring(judged=outside))


def judged(count, judge, target=None, limits=None, **parts):
    """A run whose cases have one rubric each."""
    return measure(requests_for(count, checks=(TONE,)), target or Target(lambda _request, _number: Answer(output="x")), limits, score=by_rubric, judge=judge, **parts)


async def answering(requests):
    """A batch that answers everything."""
    for request in requests:
        yield Reply(request, Answer(output="x"))


@pytest.mark.parametrize("target", [None, Batch(answering)], ids=["single", "batch"])
def test_verdicts__become_the_results_of_their_trials(target):
    """Each trial has the verdict on its own answer; calls of target and judge are counted apart."""
    done = judged(8, Judge(lambda case, _number: Said(passed=case != "c3")), target)
    assert {key[0] for key, trial in done.trials.items() if not trial.passed} == {"c3"}
    assert (done.budget.calls, done.budget.judge_calls) == (8, 8)


def test_batch__judging_goes_on_side_by_side_up_to_the_permitted_number():
    """The answers of a batch do not wait for one another's verdicts, and no more calls are under way than permitted."""
    judge = Judge()
    judged(20, judge, Batch(answering), concurrency=3)
    assert (judge.calls, judge.peak) == (20, 3)


def test_batch__that_fails_at_its_end_fails_whole_in_spite_of_verdicts():
    """A system that ends badly has no measured trial, judged or not."""

    async def failing(requests):
        async for reply in answering(requests):
            yield reply
        raise TargetError("TARGET_FAILED", "exit 1")

    done = judged(3, Judge(), Batch(failing))
    assert set(done.errors.values()) == {"TARGET_FAILED"}


@pytest.mark.parametrize("target", [None, Batch(answering)], ids=["single", "batch"])
def test_error__of_the_judge_is_the_trials_and_keeps_the_answer(target):
    """A judge that fails leaves no score; the answer and its cost stay for the record."""
    done = judged(2, Judge(lambda case, _number: raising(MeasureError("JUDGE_FAILED", "prose")) if case == "c0" else Said()), target)
    assert done.errors == {("c0", 0): "JUDGE_FAILED"}
    failed = done.trials["c0", 0]
    assert (failed.score, failed.passed, failed.answer["output"]) == (None, None, "x")
    assert done.trials["c1", 0].passed


def test_retry__a_call_that_may_be_made_again_is_and_every_attempt_counts():
    """429 at first, a verdict then: one policy for target and judge."""
    judge = Judge(lambda _case, number: raising(busy(hint=3.0)) if number == 0 else Said())
    done = judged(1, judge)
    assert (done.errors, done.budget.judge_calls, judge.calls) == ({}, 2, 2)
    assert 3.0 <= done.naps[0] <= 3.3


def test_retry__ends_after_the_judges_own_number():
    """A judge that stays overloaded is not asked for ever."""
    judge = Judge(lambda _case, _number: raising(busy()), retries=2)
    done = judged(1, judge)
    assert (list(done.errors.values()), judge.calls) == (["TARGET_FAILED"], 3)


def test_budget__calls_of_target_and_judge_use_up_one_limit():
    """With 6 calls for 4 judged trials, no more than 6 are made in all, and what is left over is not measured."""
    done = judged(4, Judge(), limits=Limits(max_calls=6), concurrency=1)
    assert done.budget.calls + done.budget.judge_calls == 6
    assert list(done.errors.values()) == ["BUDGET_EXHAUSTED"]
    assert sum(trial.passed is True for trial in done.trials.values()) == 3


def test_budget__money_of_the_judge_counts():
    """A judge that costs half a dollar a call spends a limit of one dollar in two."""
    judge = Judge(lambda _case, _number: Said(cost_usd=0.5))
    done = judged(4, judge, limits=Limits(max_cost_usd=1.0), concurrency=1)
    assert (judge.calls, done.budget.cost_usd) == (2, 1.0)
    assert set(done.errors.values()) == {"BUDGET_EXHAUSTED"}


@pytest.mark.parametrize("target", [None, Batch(answering)], ids=["single", "batch"])
def test_deadline__a_judge_that_never_replies_does_not_hold_the_run(target):
    """At the end of the time the call is cancelled and its trial is an error."""
    judge = Judge(lambda case, _number: asyncio.Event().wait() if case == "c1" else Said())
    done = judged(3, judge, target, limits=Limits(max_minutes=0.005))
    assert done.errors == {("c1", 0): "BUDGET_EXHAUSTED"}


def test_nothing__is_not_judged():
    """An answer that is nothing costs no call."""
    judge = Judge()
    done = judged(2, judge, Target(lambda _request, _number: Answer()))
    assert (judge.calls, done.budget.judge_calls, [trial.score for trial in done.trials.values()]) == (0, 0, [0.0, 0.0])


def test_case__without_a_rubric_never_meets_the_judge():
    """A judge in the suite is not asked about cases that do not want it."""
    judge = Judge()
    done = measure(requests_for(2), Target(lambda _request, _number: Answer(output="x")), judge=judge)
    assert (judge.calls, done.errors) == (0, {})
