"""Asking a judge about one answer, with what the judge says scripted."""

from __future__ import annotations

import asyncio

import pytest

from evalaction.core.answer import read_answer
from evalaction.core.specs import Rubric
from evalaction.core.suite import Case, Judge
from evalaction.errors import MeasureError
from evalaction.judge.judge import RubricJudge, call_once
from tests.vendors import MODEL, provider_of

TONE = Rubric(id="tone", criteria={"polite": "Is polite", "short": "Is at most three sentences"})
POLITE = Rubric(id="tone", criteria={"polite": "Is polite"})
GRADED = Rubric(id="depth", criteria={"complete": "Covers everything"}, scale=5)


def judge(server, answer="Good day.", *checks, vendor="anthropic", votes=1, question="How are you?", call=call_once, **provider):
    """Results by id of the criterion."""
    spec = Judge(provider=vendor, model=MODEL, votes=votes)
    one = RubricJudge(spec, provider_of(server, vendor, **provider))
    case = Case(id="a", input=question, checks=checks or (POLITE,))

    async def go():
        try:
            return await one.judge(case, read_answer(answer), call)
        finally:
            await one.close()

    return {result.id: result for results in asyncio.run(go()).values() for result in results}


def failure(server, *args, **options):
    """The error in place of results."""
    with pytest.raises(MeasureError) as caught:
        judge(server, *args, **options)
    return caught.value
