"""What the runner is given: how to score, where trials go, what may be spent."""

from __future__ import annotations

import asyncio
import dataclasses
import random
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Protocol

from evalaction.core.answer import Answer
from evalaction.core.record import CheckResult, Trial
from evalaction.core.suite import Case
from evalaction.runner.budget import Budget
from evalaction.runner.progress import NoProgress, Progress
from evalaction.targets.base import Request, SingleTarget

ReferenceRows = Mapping[str, Sequence[Mapping[str, Any]]]
"""Expected rows that were fetched live, by the id of the check."""
Outside = Mapping[str, Sequence[Any]]
"""What checks need from outside, by their id: expected rows, or a judge's results for each criterion."""
JudgeCall = Callable[[Callable[[], Awaitable[Any]]], Awaitable[Any]]
"""Makes one call of a judge, with retries, pace and budget."""


class Scored(Protocol):
    """What scoring returns."""

    @property
    def score(self) -> float:
        """The case's score, 0..1."""

    @property
    def passed(self) -> bool:
        """Whether every check passed."""

    @property
    def checks(self) -> tuple[CheckResult, ...]:
        """Check by check."""


class Judge(Protocol):
    """Applies the rubrics of a case. `retries`: how often a call that failed on the way may be made again."""

    retries: int

    async def judge(self, case: Case, answer: Answer, call: JudgeCall, repeat: int = 0) -> Mapping[str, Sequence[CheckResult]]:
        """Results by the id of the rubric for one run of the case, counted from 0; every call goes through `call`. Raises MeasureError when no verdict came."""


class Sink(Protocol):
    """Where trials go."""

    def journal(self, request: Request, trial: Trial) -> None:
        """A trial is known. A batch that fails later journals its trials again, as errors: the last word counts."""

    def settle(self, request: Request, trial: Trial) -> None:
        """A trial is final; comes once for each request, unless a signal ended the run."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """The parts of one run.

    `score` may raise MeasureError, which makes the trial an error. `reference` builds the target of a
    `reference:` block; needed only where a suite has one, as is `judge`, which applies
    rubrics. `stop` is set by a signal.
    """

    score: Callable[[Case, Answer, Outside], Scored]
    sink: Sink
    budget: Budget
    concurrency: int
    random: random.Random
    stop: asyncio.Event
    reference: Callable[[Mapping[str, Any]], SingleTarget] | None = None
    judge: Judge | None = None
    progress: Progress = dataclasses.field(default_factory=NoProgress)
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep

    def settle(self, request: Request, trial: Trial) -> None:
        """Hand a final trial on."""
        self.sink.settle(request, trial)
        self.progress.step(request.case.id, failed=trial.error is not None)

    def journal_and_settle(self, request: Request, trial: Trial) -> None:
        """Hand on a trial that is final as soon as it is known."""
        self.sink.journal(request, trial)
        self.settle(request, trial)


async def until_over(job: Awaitable[None], work: Work) -> bool:
    """Run a job to its end, the deadline or the stop signal, whichever comes first.

    True when it came to its own end; else it has been cancelled and is over. Raises what the job raised.
    """
    task, stop = asyncio.ensure_future(job), asyncio.ensure_future(work.stop.wait())
    seconds_left = work.budget.seconds_left
    try:
        await asyncio.wait({task, stop}, timeout=None if seconds_left == float("inf") else seconds_left, return_when=asyncio.FIRST_COMPLETED)
    finally:
        finished = task.done()
        task.cancel()
        stop.cancel()
        await asyncio.gather(task, stop, return_exceptions=True)
    if not task.cancelled():
        task.result()
    return finished
