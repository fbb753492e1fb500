"""Trials in batches."""

import asyncio
import random
import time

import pytest

from evalaction.core.answer import Answer
from evalaction.core.suite import Limits
from evalaction.errors import MeasureError, TargetError
from evalaction.runner.budget import Budget
from evalaction.runner.run import run
from evalaction.runner.work import Work
from evalaction.targets.base import Reply
from tests.runner.acting import Batch, Recorder, Score, measure, requests_for


async def all_right(requests):
    """A batch that answers everything, last request first."""
    for request in reversed(requests):
        yield Reply(request, Answer(output="x"))


def test_batch__is_started_once_per_repeat():
    """Three repeats are three batches, each with one trial of every case, settled when the batch has ended."""
    target = Batch(all_right)
    done = measure(requests_for(3, 2), target)
    assert target.batches == [[("c0", 0), ("c1", 0), ("c2", 0)], [("c0", 1), ("c1", 1), ("c2", 1)]]
    assert (len(done.trials), done.budget.calls, done.trials["c0", 0].latency_ms) == (6, 6, None)


def test_batch__a_request_without_a_reply_was_answered_with_nothing():
    """A case that a good batch left out is scored on an empty answer."""

    async def but_one(requests):
        yield Reply(requests[0], Answer(output="x"))

    done = measure(requests_for(2), Batch(but_one))
    assert (done.errors, done.trials["c1", 0].passed, done.trials["c1", 0].answer) == ({}, False, {})


def test_batch__a_failure_makes_all_of_its_trials_errors():
    """Trials that were answered before the failure are errors, too, and are journaled again as such; other repeats stand."""

    async def breaks(requests):
        yield Reply(requests[0], Answer(output="x"))
        if requests[0].repeat == 1:
            raise TargetError("TARGET_FAILED", "status 3", "tail")

    done = measure(requests_for(2, 2), Batch(breaks))
    assert done.errors == {("c0", 1): "TARGET_FAILED", ("c1", 1): "TARGET_FAILED"}
    assert [trial.error is None for key, trial in done.journaled if key == ("c0", 1)] == [True, False]


def test_batch__one_bad_reply_is_its_own_error():
    """A reply with an error does not touch the others."""

    async def one_bad(requests):
        yield Reply(requests[0], Answer(), error=MeasureError("INVALID_ANSWER", "bad"))
        yield Reply(requests[1], Answer(output="x"))

    assert measure(requests_for(2), Batch(one_bad)).errors == {("c0", 0): "INVALID_ANSWER"}


def test_batch__the_budget_admits_as_many_as_it_has_calls_for():
    """The rest of the batch is not asked and says why."""
    target = Batch(all_right)
    done = measure(requests_for(5), target, Limits(max_calls=3))
    assert target.batches == [[("c0", 0), ("c1", 0), ("c2", 0)]]
    assert done.errors == {("c3", 0): "BUDGET_EXHAUSTED", ("c4", 0): "BUDGET_EXHAUSTED"}


async def two_then_silence(requests):
    """A batch that hangs after two answers."""
    yield Reply(requests[0], Answer(output="x", cost_usd=1))
    yield Reply(requests[1], Answer(output="x", cost_usd=1))
    await asyncio.sleep(60)


@pytest.mark.parametrize("limits", [Limits(max_minutes=0.005), Limits(max_cost_usd=2)])
def test_batch__an_exhausted_budget_keeps_what_came(limits):
    """Deadline and money end the batch; answers that came are measured, the others are errors, the target is closed."""
    target = Batch(two_then_silence)
    started = time.monotonic()
    done = measure(requests_for(4), target, limits)
    assert time.monotonic() - started < 5
    assert (done.errors, target.closed) == ({("c2", 0): "BUDGET_EXHAUSTED", ("c3", 0): "BUDGET_EXHAUSTED"}, 1)


def test_batch__the_signal_keeps_what_came_and_invents_nothing():
    """After the signal the batch is closed and the next repeat is not started."""
    target = Batch(two_then_silence)
    both, scored = asyncio.Event(), []

    def score(case, answer, rows):
        scored.append(case.id)
        if len(scored) == 2:
            both.set()
        return Score(1.0, True)

    async def go():
        sink, stop = Recorder(), asyncio.Event()
        work = Work(score=score, sink=sink, budget=Budget(Limits(), time.monotonic), concurrency=1, random=random.Random(1), stop=stop)
        task = asyncio.create_task(run(requests_for(4, 2), target, work))
        await asyncio.wait_for(both.wait(), 5)
        stop.set()
        await asyncio.wait_for(task, 5)
        return sink

    sink = asyncio.run(go())
    assert (set(sink.trials), len(target.batches), target.closed) == ({("c0", 0), ("c1", 0)}, 1, 1)
