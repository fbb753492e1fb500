"""From an answer, or a failure, to the trial that is kept."""

from __future__ import annotations

import asyncio

from evalaction.core.answer import Answer
from evalaction.core.answer_text import stored, stored_text
from evalaction.core.record import Failure, Tokens, Trial
from evalaction.core.specs import PatternSpec, PythonCheck, Similarity
from evalaction.core.suite import Case
from evalaction.errors import MeasureError
from evalaction.runner.work import Outside, ReferenceRows, Work
from evalaction.targets.base import Request
from evalaction.threads import in_daemon_thread

SCORING_SECONDS = 300.0
"""For the checks of one answer that run in a thread."""
NO_ROWS: ReferenceRows = {}


def failed(request: Request, error: MeasureError, answer: Answer | None = None) -> Trial:
    """A trial that could not be measured; of an answer that came all the same, answer and costs are kept."""
    failure = Failure(code=error.code, message=stored_text(error.message), detail=stored_text(error.detail))
    if answer is None:
        return Trial(repeat=request.repeat, error=failure)
    return Trial(repeat=request.repeat, error=failure, latency_ms=answer.latency_ms, cost_usd=answer.cost_usd, tokens=_tokens(answer), answer=stored(answer))


def scored_at_once(request: Request, answer: Answer, work: Work, outside: Outside = NO_ROWS) -> Trial:
    """The trial of an answer. Scoring sees all of the answer, the trial keeps it cut."""
    try:
        scored = work.score(request.case, answer, outside)
    except MeasureError as error:
        return failed(request, error, answer)
    return Trial(
        repeat=request.repeat,
        score=scored.score,
        passed=scored.passed,
        checks=scored.checks,
        latency_ms=answer.latency_ms,
        cost_usd=answer.cost_usd,
        tokens=_tokens(answer),
        answer=stored(answer),
    )


async def scored_trial(request: Request, answer: Answer, work: Work, outside: Outside = NO_ROWS) -> Trial:
    """The same, in a thread where a check may take long: the author's code, a pattern, or an embedding."""
    if not may_take_long(request.case):
        return scored_at_once(request, answer, work, outside)
    try:
        async with asyncio.timeout(SCORING_SECONDS):
            return await in_daemon_thread(lambda: scored_at_once(request, answer, work, outside))
    except TimeoutError:
        return failed(request, MeasureError("SCORER_FAILED", f"the checks took longer than {SCORING_SECONDS:g} s"), answer)


def may_take_long(case: Case) -> bool:
    """Whether a check of this case runs the author's code, a pattern or a model."""
    return any(isinstance(check, PythonCheck | PatternSpec | Similarity) for check in case.checks)


def _tokens(answer: Answer) -> Tokens | None:
    return None if answer.tokens is None else Tokens(input=answer.tokens[0], output=answer.tokens[1])
