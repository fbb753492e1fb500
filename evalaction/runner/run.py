"""The three ways to run trials: one by one in parallel, in batches, or straight from a file."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterator, Sequence

from evalaction.core.answer import Answer
from evalaction.core.record import Trial
from evalaction.core.suite import Case
from evalaction.errors import MeasureError
from evalaction.runner.asking import Asker
from evalaction.runner.batch import run_batches
from evalaction.runner.judging import Helpers
from evalaction.runner.trials import failed, may_take_long, scored_at_once, scored_trial
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
    """Workers that take requests from one iterator. `open` holds those that are taken and not settled.

    A worker that has its answer asks the next question first; the answer is scored while the system thinks about it.
    """

    def __init__(self, target: SingleTarget, work: Work, helpers: Helpers) -> None:
        self._work, self._helpers = work, helpers
        self._asker = Asker(target, work, counted=target.repeatable)
        self._open: dict[int, Request] = {}
        self._answered: deque[tuple[int, Answer]] = deque()
        self._is_answered = asyncio.Event()

    async def run(self, requests: Sequence[Request]) -> None:
        """All requests, to the end, the deadline or the stop signal."""
        waiting = iter(enumerate(requests))
        finished = await until_over(self._all(waiting, min(self._work.concurrency, len(requests))), self._work)
        while self._answered:
            self._score_next()
        if not finished and not self._work.stop.is_set():
            for request in (*self._open.values(), *(request for _, request in waiting)):
                self._work.journal_and_settle(request, failed(request, self._work.budget.exhausted()))

    async def _all(self, waiting: Iterator[tuple[int, Request]], count: int) -> None:
        try:
            async with asyncio.TaskGroup() as group:
                scorer = group.create_task(self._score())
                await asyncio.gather(*(group.create_task(self._worker(waiting)) for _ in range(count)))
                scorer.cancel()
        except BaseExceptionGroup as errors:
            raise errors.exceptions[0] from errors

    async def _worker(self, waiting: Iterator[tuple[int, Request]]) -> None:
        for index, request in waiting:
            self._open[index] = request
            try:
                answer = await self._asker.ask(request)
            except MeasureError as error:
                self._settle(index, failed(request, error))
                continue
            if self._can_wait(request.case):
                self._answered.append((index, answer))
                self._is_answered.set()
            else:
                self._settle(index, await self._trial(request, answer))

    def _can_wait(self, case: Case) -> bool:
        """Whether an answer is scored in a moment, and fewer wait for that than calls are under way: a kill loses them too."""
        return len(self._answered) < self._work.concurrency - 1 and not may_take_long(case) and not self._helpers.are_needed(case)

    async def _score(self) -> None:
        """Score what is answered, and give way to the connections after each."""
        while True:
            await self._is_answered.wait()
            while self._answered:
                self._score_next()
                await asyncio.sleep(0)
            self._is_answered.clear()

    def _score_next(self) -> None:
        index, answer = self._answered.popleft()
        self._settle(index, scored_at_once(self._open[index], answer, self._work))

    async def _trial(self, request: Request, answer: Answer) -> Trial:
        try:
            outside = await self._helpers.help(request, answer)
        except MeasureError as error:
            return failed(request, error, answer)
        return await scored_trial(request, answer, self._work, outside)

    def _settle(self, index: int, trial: Trial) -> None:
        self._work.journal_and_settle(self._open.pop(index), trial)
