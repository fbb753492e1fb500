"""Asking a target once more when that may help, and no more often than it may."""

from __future__ import annotations

import dataclasses
import itertools
import time

from evalaction.core.answer import Answer
from evalaction.errors import TargetError
from evalaction.runner.backoff import delay_seconds
from evalaction.runner.throttle import Throttle
from evalaction.runner.work import Work
from evalaction.targets.base import Request, SingleTarget


class Asker:
    """Asks one target, with its retries, within the budget and the permitted concurrency.

    `counted` is false for queries that are no calls of the system under test.
    """

    def __init__(self, target: SingleTarget, work: Work, *, counted: bool = True) -> None:
        self._target, self._work, self._counted = target, work, counted
        self._throttle = Throttle(work.concurrency)

    async def ask(self, request: Request) -> Answer:
        """The answer with its latency in milliseconds, the target's own or that of the last attempt.

        Raises MeasureError: the target's last error, or BUDGET_EXHAUSTED.
        """
        for attempt in itertools.count():
            try:
                return await self._once(request)
            except TargetError as error:
                if not error.retryable or attempt >= self._target.retries:
                    raise _after(error, attempt + 1) from None
                await self._pause(error, attempt)
        raise AssertionError("counting never ends")

    async def _once(self, request: Request) -> Answer:
        async with self._throttle.call() as cuts:
            if self._counted:
                self._work.budget.take_call()
            started = time.perf_counter()
            try:
                answer = await self._target.ask(request)
            except TargetError as error:
                if error.overloaded:
                    self._throttle.overloaded(cuts)
                raise
            elapsed_ms = (time.perf_counter() - started) * 1000
        self._throttle.succeeded()
        if self._counted:
            self._work.budget.spend(answer.cost_usd)
        if answer.latency_ms is None and self._target.repeatable:
            return dataclasses.replace(answer, latency_ms=round(elapsed_ms, 1))
        return answer

    async def _pause(self, error: TargetError, attempt: int) -> None:
        delay = delay_seconds(attempt, error.retry_after_seconds, self._work.random.random())
        if delay >= self._work.budget.seconds_left:
            raise _after(error, attempt + 1)
        await self._work.sleep(delay)


def _after(error: TargetError, calls: int) -> TargetError:
    """The last error, saying how often was asked when that was more than once."""
    return TargetError(error.code, f"{error.message} (asked {calls} times)", error.detail) if calls > 1 else error
