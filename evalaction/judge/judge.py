"""Applies the rubrics of one trial: one call for all criteria, votes where asked for, and an error where no verdict came."""

from __future__ import annotations

import dataclasses
import math
import secrets
import statistics
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from evalaction.core.answer import Answer, as_text
from evalaction.core.checks.base import is_deep, missing_part, one_line
from evalaction.core.checks.rubric import criterion_result, fraction_of, rubrics_of, unanswered
from evalaction.core.identity import PROMPT_VERSION
from evalaction.core.record import CheckResult
from evalaction.core.specs import Rubric
from evalaction.core.suite import Case, Judge, TargetSpec
from evalaction.errors import MeasureError, TargetError
from evalaction.judge.memory import Memory, NoMemory, Question
from evalaction.judge.prompt import ANSWER_LIMIT, Asked, asked_criteria, build_prompt
from evalaction.judge.reply import Unusable, Vote, excerpt_of, read_reply
from evalaction.providers.base import Completion, Prompt, Provider
from evalaction.providers.prices import undated

Call = Callable[[Callable[[], Awaitable[Completion]]], Awaitable[Completion]]
"""Makes one call, with the retries, the pace and the budget of whoever runs the judge."""
Judged = Mapping[str, tuple[CheckResult, ...]]
"""Results of the criteria, by the id of their rubric."""
ATTEMPTS = 2
"""A reply that is no verdict is asked for once more."""
_MORE_ROOM = 4
"""A model that thinks long before it replies gets so many times the tokens at its second attempt."""


async def call_once(attempt: Callable[[], Awaitable[Completion]]) -> Completion:
    """The simplest Call: no retries, no limits."""
    return await attempt()


class Usage:
    """What a judge has used: tokens, and US dollars where the price is known."""

    def __init__(self) -> None:
        self.tokens: tuple[int, int] | None = None
        self._costs: list[float] = []

    def add(self, completion: Completion) -> Completion:
        """Count one reply, usable or not, and hand it on."""
        if completion.tokens is not None:
            before = self.tokens or (0, 0)
            self.tokens = (before[0] + completion.tokens[0], before[1] + completion.tokens[1])
        if completion.cost_usd is not None:
            self._costs.append(completion.cost_usd)
        return completion

    @property
    def cost_usd(self) -> float | None:
        """US dollars in all, whatever the order of the replies; None where no price is known."""
        return math.fsum(self._costs) if self._costs else None

    def as_json(self) -> Mapping[str, Any]:
        """For the record; what is not known is left out."""
        tokens = None if self.tokens is None else {"input": self.tokens[0], "output": self.tokens[1]}
        return {name: value for name, value in (("tokens", tokens), ("cost_usd", self.cost_usd)) if value is not None}


class RubricJudge:
    """A model that applies rubrics. `nonce` makes the random code of the marks of one call; `memory` holds verdicts that were given before."""

    retries = 2
    """How often a call that failed on the way may be made again."""

    def __init__(self, spec: Judge, provider: Provider, nonce: Callable[[], str] = lambda: secrets.token_hex(8), memory: Memory | None = None) -> None:
        self.spec, self.provider, self._nonce, self._memory = spec, provider, nonce, memory or NoMemory()
        self._takes_temperature = True
        self.usage = Usage()

    @property
    def description(self) -> Mapping[str, Any]:
        """What is stored of the judge; no secrets."""
        return {"provider": self.spec.provider, "model": self.spec.model, "votes": self.spec.votes, "prompt_version": PROMPT_VERSION}

    def planned_calls(self, case: Case) -> int:
        """Calls for one trial of a case, when every reply is a verdict."""
        return self.spec.votes if rubrics_of(case) else 0

    async def judge(self, case: Case, answer: Answer, call: Call = call_once, repeat: int = 0) -> Judged:
        """The results of every rubric of a case in one run of it, counted from 0; a rubric whose part of the answer is empty scores 0 without a call.

        Raises MeasureError: JUDGE_FAILED when no verdict came, with the beginning of the last reply in its detail, and
        what `call` and the memory raise of their own (BUDGET_EXHAUSTED, NOT_RECORDED).
        """
        results: dict[str, tuple[CheckResult, ...]] = {}
        open_checks: list[Rubric] = []
        for check in rubrics_of(case):
            missing = missing_part(check, answer)
            if missing is None:
                open_checks.append(check)
            else:
                results[str(check.id)] = unanswered(check, missing.detail)
        if open_checks:
            question = Question(case, repeat, _parts(open_checks, answer), asked_criteria(open_checks))
            results |= _by_rubric(question.asked, [await self._vote(question, number, call) for number in range(self.spec.votes)])
        return results

    async def close(self) -> None:
        """Close all connections."""
        await self.provider.close()

    async def _vote(self, question: Question, number: int, call: Call) -> tuple[Vote, ...]:
        """The vote of this number: one that was given before, else a fresh one, which is kept."""
        known = self._memory.recall(question, number)
        if known is None:
            completion, vote = await self._fresh(question, call)
            self._memory.keep(question, number, completion)
            return vote
        try:
            return _read(self.usage.add(known), question)
        except Unusable as error:
            raise MeasureError("JUDGE_FAILED", f"the recorded reply is no verdict: {error}", excerpt_of(known)) from None

    async def _fresh(self, question: Question, call: Call) -> tuple[Completion, tuple[Vote, ...]]:
        """One usable reply, asked for twice at the most; each time with new marks, and with more room when there was too little."""
        why, detail, room = "", "", 1
        for _ in range(ATTEMPTS):
            prompt = build_prompt(question.case, question.parts, question.asked, self._nonce())
            try:
                completion = await self._asked(dataclasses.replace(prompt, max_tokens=prompt.max_tokens * room), call)
                return completion, _read(completion, question)
            except Unusable as error:
                why, detail = str(error), excerpt_of(completion)
                room = _MORE_ROOM if completion.stop_reason in {"max_tokens", "length"} else 1
            except TargetError as error:
                why, detail = error.message, error.detail
                if error.code != "INVALID_ANSWER":
                    raise MeasureError("JUDGE_FAILED", f"the judge could not be asked: {why}", detail) from None
        raise MeasureError("JUDGE_FAILED", f"{why} (asked {ATTEMPTS} times)", detail)

    async def _asked(self, prompt: Prompt, call: Call) -> Completion:
        """One completion. Some models take no temperature at all: those that say so are asked without."""
        if self._takes_temperature:
            try:
                return self.usage.add(await call(lambda: self.provider.complete(prompt)))
            except TargetError as error:
                if "HTTP 400" not in error.message or "temperature" not in error.detail:
                    raise
            self._takes_temperature = False
        bare = dataclasses.replace(prompt, temperature=None)
        return self.usage.add(await call(lambda: self.provider.complete(bare)))


def _read(completion: Completion, question: Question) -> tuple[Vote, ...]:
    return read_reply(completion, question.asked, (*question.parts.values(), question.case.input, *(turn.content for turn in question.case.history)))


def self_preference(judge: Judge | None, target: TargetSpec) -> str | None:
    """The warning for a judge of the target's own model, under whichever release date; None when they differ, or when nobody can tell."""
    asked = getattr(target, "model", None)
    if judge is None or not isinstance(asked, str) or undated(asked).casefold() != undated(judge.model).casefold():
        return None
    return f"self-preference: the judge is the same model as the target ({judge.model}), and models favour answers like their own; name another judge"


def _parts(checks: Sequence[Rubric], answer: Answer) -> Mapping[str, str]:
    if any(is_deep(answer.part(check.part)) for check in checks):
        raise MeasureError("JUDGE_FAILED", "the answer is nested too deeply to be shown to a judge")
    parts = {check.part: as_text(answer.part(check.part)) or "" for check in checks}
    length = sum(map(len, parts.values()))
    if length > ANSWER_LIMIT:
        raise MeasureError("JUDGE_FAILED", f"the answer has {length:,} characters, and a judge is shown {ANSWER_LIMIT:,} at the most; less than all of it cannot be judged")
    return parts


def _by_rubric(asked: Sequence[Asked], votes: Sequence[tuple[Vote, ...]]) -> Judged:
    results: dict[str, list[CheckResult]] = {}
    for one, cast in zip(asked, zip(*votes, strict=True), strict=True):
        results.setdefault(str(one.check.id), []).append(_result(one, cast))
    return {check_id: tuple(found) for check_id, found in results.items()}


def _result(asked: Asked, cast: Sequence[Vote]) -> CheckResult:
    """The majority, which is the lower median: of an even number of votes the lower one, so that ties fail."""
    value = statistics.median_low(vote.value for vote in cast)
    score = fraction_of(value) if asked.check.scale else float(value)
    reason = next(vote.reason for vote in cast if vote.value == value)
    return criterion_result(asked.check, asked.criterion, score, one_line(": ".join(filter(None, (_tally(asked, cast, value), reason)))))


def _tally(asked: Asked, cast: Sequence[Vote], value: int) -> str:
    if asked.check.scale:
        points = ", ".join(str(vote.value) for vote in cast)
        return f"votes {points} of 5" if len(cast) > 1 else f"{value} of 5"
    return f"{sum(vote.value for vote in cast)} of {len(cast)} votes for yes" if len(cast) > 1 else ""
