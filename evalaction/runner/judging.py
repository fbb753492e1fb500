"""What a trial needs beside its answer: rows that are fetched, and the verdicts of a judge."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from evalaction.core.answer import Answer
from evalaction.core.checks.rubric import rubrics_of
from evalaction.core.suite import Case
from evalaction.runner.asking import Caller
from evalaction.runner.references import References, has_reference
from evalaction.runner.work import Outside, Work
from evalaction.targets.base import Request


class Helpers:
    """Reference queries and the judge of one run."""

    def __init__(self, work: Work) -> None:
        self._work, self._references = work, References(work)
        self._caller = None if work.judge is None else Caller(work, work.judge.retries, work.budget.take_judge_call)

    def is_judged(self, case: Case) -> bool:
        """Whether a trial of this case waits for a judge."""
        return self._caller is not None and bool(rubrics_of(case))

    def are_needed(self, case: Case) -> bool:
        """Whether the checks of this case need anything from outside."""
        return self.is_judged(case) or has_reference(case)

    async def help(self, request: Request, answer: Answer) -> Outside:
        """What the checks of a trial need, by their id. Raises MeasureError when it cannot be had: no score is made up."""
        rows = await self._references.rows(request)
        if self._work.judge is None or not self.is_judged(request.case):
            return rows
        return {**rows, **await self._work.judge.judge(request.case, answer, self._call, request.repeat)}

    async def close(self) -> None:
        """Close the targets of reference queries; the judge belongs to whoever made it."""
        await self._references.close()

    async def _call(self, attempt: Callable[[], Awaitable[Any]]) -> Any:
        if self._caller is None:
            raise RuntimeError("a judge is called through the caller that was made for it")
        completion, _ = await self._caller.call(attempt)
        self._work.budget.spend(completion.cost_usd)
        return completion
