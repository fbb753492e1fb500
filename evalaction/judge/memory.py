"""Verdicts that a judge gave before: nothing, or a cassette."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Protocol

from pydantic import Field, TypeAdapter

from evalaction.core.answer import LARGEST
from evalaction.core.cassette import Key, Slot, Tape
from evalaction.core.identity import PROMPT_VERSION
from evalaction.core.model import model
from evalaction.core.suite import Case, Judge
from evalaction.errors import MeasureError
from evalaction.judge.prompt import Asked, build_prompt
from evalaction.providers.base import Completion, Prompt

_NONCE = "0" * 16
"""Stands for the random code of the marks, which is no part of what is asked."""
_Tokens = Annotated[int, Field(ge=0, le=LARGEST["tokens"])]


@dataclasses.dataclass(frozen=True, slots=True)
class Question:
    """What a judge is asked about one trial: the texts that are judged by the part of the answer, and the criteria."""

    case: Case
    repeat: int
    parts: Mapping[str, str]
    asked: Sequence[Asked]


class Memory(Protocol):
    """Usable replies by question and number of the vote."""

    def recall(self, question: Question, vote: int) -> Completion | None:
        """A reply that was given before, None when the judge has to be asked. Raises MeasureError NOT_RECORDED when it may not be."""

    def keep(self, question: Question, vote: int, completion: Completion) -> None:
        """Take a usable reply."""


class NoMemory:
    """Every verdict is asked for."""

    def recall(self, question: Question, vote: int) -> None:
        """Nothing was given before."""

    def keep(self, question: Question, vote: int, completion: Completion) -> None:
        """Nothing is kept."""


@model
class _Stored:
    """A completion as a cassette holds it."""

    text: str | None = None
    value: Any = None
    refusal: str | None = None
    tool_calls: tuple[Mapping[str, Any], ...] = ()
    tokens: tuple[_Tokens, _Tokens] | None = None
    cost_usd: Annotated[float, Field(ge=0, le=LARGEST["cost_usd"])] | None = None
    stop_reason: str | None = None


_STORED = TypeAdapter(_Stored)


class TapedMemory:
    """The verdicts on the cassette of a suite. `endpoint` is where the judge is asked."""

    def __init__(self, tape: Tape, spec: Judge, endpoint: str) -> None:
        self._tape, self._endpoint = tape, endpoint
        self._settings = {"provider": spec.provider, "model": spec.model, "prompt_version": PROMPT_VERSION}

    def recall(self, question: Question, vote: int) -> Completion | None:
        """See `Memory`."""
        if not self._tape.replays:
            return None
        reply = self._tape.find(*self._place(question, vote))
        return None if reply is None else completion_of(reply)

    def keep(self, question: Question, vote: int, completion: Completion) -> None:
        """See `Memory`."""
        if self._tape.records:
            stated = {name: value for name, value in dataclasses.asdict(completion).items() if value not in (None, ())}
            self._tape.record(*self._place(question, vote), stated)

    def _place(self, question: Question, vote: int) -> tuple[Slot, Key]:
        prompt = dataclasses.asdict(build_prompt(question.case, question.parts, question.asked, _NONCE))
        return Slot(question.case.id, question.repeat, "judge", vote), self._tape.key(question.case, self._settings, self._endpoint, prompt)


def completion_of(reply: Mapping[str, Any]) -> Completion:
    """A stored reply. Raises ValueError when it is none of a judge."""
    stored = _STORED.validate_python(reply)
    return Completion(**{field.name: getattr(stored, field.name) for field in dataclasses.fields(Completion)})


class NoProvider:
    """Stands for a model that is never asked."""

    has_price = True

    async def complete(self, prompt: Prompt) -> Completion:  # noqa: ARG002 - the shape of a provider
        """Never called: the memory has settled it."""
        raise MeasureError("NOT_RECORDED", "the cassette has no verdict")

    async def close(self) -> None:
        """Nothing is held."""
