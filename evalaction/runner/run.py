"""The three ways to run trials: one by one in parallel, in batches, or straight from a file."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence

from evalaction.core.answer import Answer
from evalaction.core.record import Trial
from evalaction.core.suite import Case
from evalaction.errors import MeasureError
from evalaction.runner.asking import Asker
from evalaction.runner.batch import run_batches
from evalaction.runner.judging import Helpers
from evalaction.runner.trials import failed, scored_at_once, scored_trial
from evalaction.runner.work import Work, until_over
from evalaction.targets.base import BatchTarget, Request, SingleTarget


async def run(requests: Sequence[Request], target: SingleTarget | BatchTarget, work: Work) -> None:
    """Ask and score every request; each is settled once in the sink, measured or as an error.

    At the deadline of the budget calls under way are cancelled and they and all that are left become
    BUDGET_EXHAUSTED. When `work.stop` is set, calls under way are cancelled and what is left is not
    settled at all. The target stays open. Errors of the target never raise.
    """
    if work.stop.is_set():
        return
    helpers = Helpers(work)
    try:
        if isinstance(target, BatchTarget):
            await run_batches(requests, target, work, helpers)
        else:
            await _Singles(target, work, helpers).run(requests)
    finally:
        await helpers.close()


def run_offline(requests: Sequence[Request], answer: Callable[[Case, int], Answer], work: Work) -> None:
    """Score answers that exist already; nothing is called and no budget is used.

    `answer` may raise MeasureError. `work.stop` is looked at before each trial. Cases with a reference
    query (`has_reference`) or a rubric need `run`.
    """
    for request in requests:
        if work.stop.is_set():
            return
        try:
            found = answer(request.case, request.repeat)
        except MeasureError as error:
            trial = failed(request, error)
        else:
            trial = scored_at_once(request, found, work)
        work.journal_and_settle(request, trial)


class _Singles:
    """Workers that take requests from one iterator. `open` holds those that are taken and not settled."""

    def __init__(self, target: SingleTarget, work: Work, helpers: Helpers) -> None:
        self._work, self._helpers = work, helpers
        self._asker = Asker(target, work, counted=target.repeatable)
        self._open: dict[int, Request] = {}

    async def run(self, requests: Sequence[Request]) -> None:
        """All requests, to the end, the deadline or the stop signal."""
        waiting = iter(enumerate(requests))
        finished = await until_over(self._workers(waiting, min(self._work.concurrency, len(requests))), self._work)
        if not finished and not self._work.stop.is_set():
            for request in (*self._open.values(), *(request for _, request in waiting)):
                self._work.journal_and_settle(request, failed(request, self._work.budget.exhausted()))

    async def _workers(self, waiting: Iterator[tuple[int, Request]], count: int) -> None:
        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(count):
                    group.create_task(self._worker(waiting))
        except BaseExceptionGroup as errors:
            raise errors.exceptions[0] from errors

    async def _worker(self, waiting: Iterator[tuple[int, Request]]) -> None:
        for index, request in waiting:
            self._open[index] = request
            trial = await self._trial(request)
            del self._open[index]
            self._work.journal_and_settle(request, trial)

    async def _trial(self, request: Request) -> Trial:
        answer: Answer | None = None
        try:
            answer = await self._asker.ask(request)
            outside = await self._helpers.help(request, answer)
        except MeasureError as error:
            return failed(request, error, answer)
        return await scored_trial(request, answer, self._work, outside)
