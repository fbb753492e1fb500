"""Trials of a target that is fed a whole batch and answers as it likes."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Sequence

from evalaction.core.answer import Answer
from evalaction.core.record import Trial
from evalaction.errors import MeasureError
from evalaction.runner.judging import Helpers
from evalaction.runner.trials import failed, scored_trial
from evalaction.runner.work import Work, until_over
from evalaction.targets.base import BatchTarget, Recalling, Reply, Request


async def run_batches(requests: Sequence[Request], target: BatchTarget, work: Work, helpers: Helpers) -> None:
    """One batch per repeat number, one after the other: a system may keep its state in files."""
    for repeat in dict.fromkeys(request.repeat for request in requests):
        if not work.stop.is_set():
            await _Batch(target, work, helpers).run([request for request in requests if request.repeat == repeat])


class _Batch:
    """One start of the target. `trials` grows as answers come; they are final when the batch has ended well."""

    def __init__(self, target: BatchTarget, work: Work, helpers: Helpers) -> None:
        self._target, self._work, self._helpers = target, work, helpers
        self._knows = target.knows if isinstance(target, Recalling) else None
        self._trials: dict[str, Trial] = {}
        self._is_whole = False

    async def run(self, requests: Sequence[Request]) -> None:
        """Ask, and settle every request, unless a signal ends the run: then those answered."""
        admitted = self._admitted(requests)
        try:
            await until_over(self._collect(admitted), self._work)
        except MeasureError as error:
            self._trials = {}
            self._fail(admitted, error)
        await self._complete(admitted)
        if not self._work.stop.is_set():
            self._fail(requests, self._work.budget.exhausted())
        for request in requests:
            if request.case.id in self._trials:
                self._work.settle(request, self._trials[request.case.id])

    def _admitted(self, requests: Sequence[Request]) -> list[Request]:
        """As many as the budget has calls for; every request of a batch is a call, unless its answer is recorded."""
        admitted = []
        with contextlib.suppress(MeasureError):  # the rest is settled as such at the end
            for request in requests:
                if not self._is_known(request):
                    self._work.budget.take_call()
                admitted.append(request)
        return admitted

    def _is_known(self, request: Request) -> bool:
        return self._knows is not None and self._knows(request)

    async def _collect(self, requests: Sequence[Request]) -> None:
        """Take replies as they come; those that wait for a judge must not hold up the others."""
        if not requests:
            return
        try:
            async with asyncio.TaskGroup() as waiting:
                is_whole = await self._take(requests, waiting)
        except BaseExceptionGroup as errors:
            raise errors.exceptions[0] from errors
        # Only now: a trial that still waited for its judge when the time was over was not answered with nothing.
        self._is_whole = is_whole

    async def _take(self, requests: Sequence[Request], waiting: asyncio.TaskGroup) -> bool:
        """Whether the target came to its own end."""
        async with contextlib.aclosing(self._target.ask_all(requests)) as replies:
            async for reply in replies:
                if not self._is_known(reply.request):
                    self._work.budget.spend(reply.answer.cost_usd)
                if self._helpers.is_judged(reply.request.case):
                    waiting.create_task(self._settled(reply))
                else:
                    await self._settled(reply)
                if self._work.budget.is_overspent:
                    return False
        return True

    async def _settled(self, reply: Reply) -> None:
        self._known(reply.request, await self._trial(reply))

    async def _trial(self, reply: Reply) -> Trial:
        if reply.error is not None:
            return failed(reply.request, reply.error)
        try:
            outside = await self._helpers.help(reply.request, reply.answer)
        except MeasureError as error:
            return failed(reply.request, error, reply.answer)
        return await scored_trial(reply.request, reply.answer, self._work, outside)

    async def _complete(self, admitted: Sequence[Request]) -> None:
        """After a batch that ended well, a request without a line was answered with nothing."""
        for request in admitted if self._is_whole else ():
            if request.case.id not in self._trials:
                self._known(request, await self._trial(Reply(request, Answer())))

    def _fail(self, requests: Sequence[Request], error: MeasureError) -> None:
        for request in requests:
            if request.case.id not in self._trials:
                self._known(request, failed(request, error))

    def _known(self, request: Request, trial: Trial) -> None:
        self._trials[request.case.id] = trial
        self._work.sink.journal(request, trial)
