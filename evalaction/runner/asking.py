"""Asking once more when that may help, and no more often than it may."""

from __future__ import annotations

import itertools
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

from evalaction.core.answer import Answer
from evalaction.core.model import copy_of
from evalaction.errors import TargetError
from evalaction.runner.backoff import delay_seconds
from evalaction.runner.throttle import Throttle
from evalaction.runner.work import Work
from evalaction.targets.base import Recalling, Request, SingleTarget

T = TypeVar("T")


class Caller:
    """Makes the calls of one system, with its retries, within the budget and the permitted concurrency.

    `take` counts a call that is about to be made, and raises when it may not be.
    """

    def __init__(self, work: Work, retries: int, take: Callable[[], None] | None) -> None:
        self._work, self._retries, self._take = work, retries, take
        self._throttle = Throttle(work.concurrency)

    async def call(self, attempt: Callable[[], Awaitable[T]]) -> tuple[T, float]:
        """What the call gave, and the milliseconds that its last attempt took.

        Raises MeasureError: the system's last error, or BUDGET_EXHAUSTED.
        """
        for number in itertools.count():
            try:
                return await self._once(attempt)
            except TargetError as error:
                if not error.retryable or number >= self._retries:
                    raise _after(error, number + 1) from None
                await self._pause(error, number)
        raise AssertionError("counting never ends")

    async def _once(self, attempt: Callable[[], Awaitable[T]]) -> tuple[T, float]:
        async with self._throttle.call() as cuts:
            if self._take is not None:
                self._take()
            started = time.perf_counter()
            try:
                found = await attempt()
            except TargetError as error:
                if error.overloaded:
                    self._throttle.overloaded(cuts)
                raise
            elapsed_ms = (time.perf_counter() - started) * 1000
        self._throttle.succeeded()
        return found, elapsed_ms

    async def _pause(self, error: TargetError, number: int) -> None:
        delay = delay_seconds(number, error.retry_after_seconds, self._work.random.random())
        if delay >= self._work.budget.seconds_left:
            raise _after(error, number + 1)
        await self._work.sleep(delay)


class Asker:
    """Asks one target. `counted` is false for queries that are no calls of the system under test."""

    def __init__(self, target: SingleTarget, work: Work, *, counted: bool = True) -> None:
        self._target, self._work, self._counted = target, work, counted
        self._knows = target.knows if isinstance(target, Recalling) else _nothing_known
        self._caller = Caller(work, target.retries, work.budget.take_call if counted else None)

    async def ask(self, request: Request) -> Answer:
        """The answer with its latency in milliseconds, the target's own or that of the last attempt. A recorded one is no call.

        Raises MeasureError: the target's last error, BUDGET_EXHAUSTED, or NOT_RECORDED.
        """
        if self._knows(request):
            return await self._target.ask(request)
        answer, elapsed_ms = await self._caller.call(lambda: self._target.ask(request))
        if self._counted:
            self._work.budget.spend(answer.cost_usd)
        if answer.latency_ms is None and self._target.repeatable:
            return copy_of(answer, latency_ms=round(elapsed_ms, 1))
        return answer


def _nothing_known(_request: Request) -> bool:
    return False


def _after(error: TargetError, calls: int) -> TargetError:
    """The last error, saying how often was asked when that was more than once."""
    return TargetError(error.code, f"{error.message} (asked {calls} times)", error.detail) if calls > 1 else error
