"""Trials one by one: concurrency, retries, limits, signals, scoring."""

import asyncio
import threading
import time

import pytest

from evalaction.core.answer import Answer
from evalaction.core.specs import Equals, PythonCheck, Regex
from evalaction.core.suite import Limits
from evalaction.errors import MeasureError, TargetError
from tests.runner.acting import Score, Target, busy, measure, raising, requests_for


def test_singles__every_request_is_settled_once_with_its_score():
    """Good and bad answers become trials with score, checks, latency and the stored answer."""
    done = measure(requests_for(20, 2), Target(lambda request, _: Answer(output="x" if request.case.id != "c3" else "y", cost_usd=0.5, tokens=(1, 2))))
    assert len(done.trials) == 40
    assert {key for key, trial in done.trials.items() if not trial.passed} == {("c3", 0), ("c3", 1)}
    trial = done.trials["c1", 1]
    assert (trial.repeat, trial.score, trial.checks[0].id, trial.cost_usd, trial.tokens.output) == (1, 1.0, "c", 0.5, 2)
    assert trial.latency_ms is not None
    assert trial.answer["output"] == "x"
    assert (done.budget.calls, done.budget.cost_usd) == (40, 20.0)
    assert sorted(key for key, _ in done.journaled) == sorted(key for key, _ in done.settled)


def test_singles__every_repeat_is_a_call():
    """Five repeats are five calls; nothing answers from memory."""
    target = Target(lambda _request, _number: Answer(output="x"))
    measure(requests_for(1, 5), target)
    assert target.calls == 5


def test_singles__the_targets_own_latency_counts_and_predictions_have_none():
    """Latency is the answer's own where it has one; a file of answers is not timed."""
    assert measure(requests_for(1), Target(lambda _request, _: Answer(output="x", latency_ms=7))).trials["c0", 0].latency_ms == 7
    target = Target(lambda _request, _: Answer(output="x"))
    target.repeatable = False
    assert measure(requests_for(1), target).trials["c0", 0].latency_ms is None


def test_singles__scoring_sees_the_measured_latency():
    """A check on latency is given the time around the last attempt in milliseconds."""
    seen = []

    async def slow(number):
        await asyncio.sleep(0.05)
        return Answer(output="x")

    measure(requests_for(1), Target(lambda _request, number: slow(number)), score=lambda _case, answer, _rows: seen.append(answer.latency_ms) or Score(1.0, True))
    assert 40 < seen[0] < 1000


@pytest.mark.parametrize(("concurrency", "first"), [(4, ["ask"] * 4), (1, ["ask", "score"] * 2)])
def test_singles__the_next_question_is_asked_before_the_last_answer_is_scored(concurrency, first):
    """The system never waits for our scoring; where one is asked at a time nothing waits, so that a kill loses one answer at most."""
    seen = []
    target = Target(lambda _request, _number: seen.append("ask") or Answer(output="x"))
    measure(requests_for(12), target, concurrency=concurrency, score=lambda _case, _answer, _rows: seen.append("score") or Score(1.0, True))
    assert seen[: len(first)] == first
    assert (seen.count("ask"), seen.count("score")) == (12, 12)


def test_singles__concurrency_is_bounded_and_used():
    """Never more calls at once than permitted, and as many as that."""

    async def nap():
        await asyncio.sleep(0.005)
        return Answer(output="x")

    target = Target(lambda _request, _: nap())
    measure(requests_for(30), target, concurrency=3)
    assert target.peak == 3


def test_retries__two_429_with_a_hint_then_ok_is_a_measured_trial():
    """The server's hint is slept, the case is measured, three calls were made."""
    target = Target(lambda _request, number: raising(busy(2)) if number < 2 else Answer(output="x"), retries=3)
    done = measure(requests_for(1), target)
    assert (done.trials["c0", 0].passed, target.calls, done.budget.calls) == (True, 3, 3)
    assert all(2 <= nap <= 2.2 for nap in done.naps)


def test_retries__for_ever_busy_is_an_error_and_no_score():
    """After the last retry the trial is an error that says how often was asked, never a failed check."""
    target = Target(lambda _request, _number: raising(busy()), retries=2)
    trial = measure(requests_for(1), target).trials["c0", 0]
    assert (trial.error.code, trial.score, trial.checks, target.calls) == ("TARGET_FAILED", None, (), 3)
    assert trial.error.message == "HTTP 429 (asked 3 times)"


def test_retries__none_means_one_call():
    """`retries: 0` asks once, also where asking again might help."""
    target = Target(lambda _request, _number: raising(busy(status=500)))
    measure(requests_for(1), target)
    assert target.calls == 1


def test_retries__a_hint_of_a_day_is_capped():
    """Retry-After of 86,400 s is slept for a minute at most."""
    assert measure(requests_for(1), Target(lambda _request, _number: raising(busy(86400)), retries=1)).naps == [60.0]


def test_retries__not_where_asking_again_cannot_help():
    """401 is asked once for each case, and every trial is an error."""
    target = Target(lambda _request, _number: raising(TargetError("TARGET_FAILED", "HTTP 401")), retries=5)
    done = measure(requests_for(7), target)
    assert (target.calls, len(done.errors)) == (7, 7)


def test_retries__no_sleep_beyond_the_deadline():
    """When the pause would outlast the run's time the error stands at once."""
    target = Target(lambda _request, _number: raising(busy(50)), retries=5)
    done = measure(requests_for(1), target, Limits(max_minutes=0.5))
    assert (target.calls, done.naps, done.errors) == (1, [], {("c0", 0): "TARGET_FAILED"})


def test_overload__halves_concurrency_once_a_burst_and_recovers():
    """A burst of 429 halves the calls at once; good calls raise them again one by one."""
    peaks = []

    async def reply(number, target):
        await asyncio.sleep(0.002)
        if number < 8:
            raise busy()
        peaks.append(target.now)
        return Answer(output="x")

    target = Target(lambda _request, number: reply(number, target), retries=1)
    done = measure(requests_for(60), target, concurrency=8)
    assert not done.errors
    assert max(peaks[:4]) == 4
    assert max(peaks) == 8


def test_budget__max_calls_counts_attempts_and_names_the_limit():
    """After the last permitted call the rest are errors that name the limit."""
    target = Target(lambda _request, _number: Answer(output="x"))
    done = measure(requests_for(10), target, Limits(max_calls=4), concurrency=1)
    assert (target.calls, len(done.errors), set(done.errors.values())) == (4, 6, {"BUDGET_EXHAUSTED"})
    assert done.trials["c9", 0].error.message == "max_calls: 4 of 4 calls are made"


def test_budget__max_cost_stops_before_the_next_call():
    """Money is counted from the answers."""
    done = measure(requests_for(10), Target(lambda _request, _number: Answer(output="x", cost_usd=0.4)), Limits(max_cost_usd=1.0), concurrency=1)
    assert (len(done.errors), "max_cost_usd: 1.2" in done.trials["c9", 0].error.message) == (7, True)


def test_budget__the_deadline_cancels_calls_under_way():
    """At the deadline waiting and running trials become BUDGET_EXHAUSTED; what was measured stays."""

    async def reply(number):
        if number > 1:
            await asyncio.sleep(60)
        return Answer(output="x")

    started = time.monotonic()
    done = measure(requests_for(6), Target(lambda _request, number: reply(number)), Limits(max_minutes=0.005), concurrency=2)
    assert time.monotonic() - started < 5
    assert (len(done.trials), len(done.errors), set(done.errors.values())) == (6, 4, {"BUDGET_EXHAUSTED"})
    assert "max_minutes: the run's 0.005 minutes are over" in done.trials["c5", 0].error.message


def test_stop__cancels_calls_and_leaves_the_rest_unsettled():
    """After the signal nothing more is asked, nothing is invented, and the run returns."""

    async def reply(number):
        if number > 3:
            await asyncio.sleep(60)
        return Answer(output="x")

    started = time.monotonic()
    done = measure(requests_for(50), Target(lambda _request, number: reply(number)), stop_after=3)
    assert time.monotonic() - started < 5
    assert 3 <= len(done.trials) <= 4
    assert not done.errors


def test_scoring__a_scorer_that_fails_makes_an_error_that_keeps_the_answer():
    """SCORER_FAILED is neither pass nor fail, and answer and cost are on record."""
    trial = measure(requests_for(1), Target(lambda _request, _: Answer(output="x", cost_usd=1)), score=lambda *_: raising(MeasureError("SCORER_FAILED", "why"))).trials["c0", 0]
    assert (trial.error.code, trial.score, trial.answer["output"], trial.cost_usd) == ("SCORER_FAILED", None, "x", 1.0)


def test_scoring__a_bug_is_raised_as_it_is():
    """An exception that is no MeasureError ends the run and is not hidden in a trial."""
    with pytest.raises(ZeroDivisionError):
        measure(requests_for(5), Target(lambda _request, _: Answer(output="x")), score=lambda *_: 1 // 0)


@pytest.mark.parametrize(("check", "on_loop"), [(Equals(value="x"), True), (Regex(pattern="x"), False), (PythonCheck(callable="a:b"), False)])
def test_scoring__what_may_take_long_leaves_the_loop(check, on_loop):
    """Patterns and an author's code are scored in a thread, the rest where it is."""
    threads = []
    measure(requests_for(1, checks=(check,)), Target(lambda _request, _: Answer(output="x")), score=lambda *_: threads.append(threading.current_thread()) or Score(1.0, True))
    assert (threads[0] is threading.main_thread()) == on_loop
