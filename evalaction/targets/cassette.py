"""Targets with a cassette: what is recorded is replayed, what is asked afresh is recorded, errors never are."""

from __future__ import annotations

import contextlib
import dataclasses
import time
from collections.abc import AsyncGenerator, Mapping, Sequence
from pathlib import Path
from typing import Any

from evalaction.core.answer import PARTS, Answer, read_answer
from evalaction.core.cassette import Key, Kind, Slot, Tape
from evalaction.core.suite import ModelTarget, PredictionsTarget, PythonTarget, TargetSpec
from evalaction.errors import MeasureError
from evalaction.targets.asked import Asked, asked_of
from evalaction.targets.base import BatchTarget, Reply, Request, SingleTarget
from evalaction.targets.build import build_target
from evalaction.targets.python import described


def build_taped(spec: TargetSpec, tape: Tape, *, environment: Mapping[str, str], cwd: Path, concurrency: int) -> SingleTarget | BatchTarget:
    """The target of a suite with its cassette; a file of answers needs none. Raises ConfigError.

    When nothing may be asked, neither a model's key and SDK nor the author's function is needed.
    """
    stand_in = None if tape.asks else _unasked(spec, environment)
    inner = stand_in or build_target(spec, environment=environment, cwd=cwd, concurrency=concurrency)
    if isinstance(spec, PredictionsTarget):
        return inner
    questions = _Questions(asked_of(spec, environment), tape)
    return TapedBatch(inner, questions) if isinstance(inner, BatchTarget) else TapedSingle(inner, questions)


def tape_reference(inner: SingleTarget, asked: Asked, tape: Tape) -> SingleTarget:
    """The target of a reference query with the suite's cassette."""
    return TapedSingle(inner, _Questions(asked, tape, "reference"))


def answer_to_json(answer: Answer) -> dict[str, Any]:
    """An answer that `read_answer` reads back as it is."""
    stated = answer.as_json()
    return stated if any(name in stated for name in PARTS) or not stated else {"output": None, **stated}


class _Questions:
    """Finds and keeps the answers of one target on the tape."""

    def __init__(self, asked: Asked, tape: Tape, kind: Kind = "target") -> None:
        self._asked, self.tape, self._kind = asked, tape, kind

    def place(self, request: Request) -> tuple[Slot, Key]:
        """Slot and key of one trial. Raises TargetError when the request cannot be filled in."""
        endpoint, body = self._asked.of(request)
        return Slot(request.case.id, request.repeat, self._kind), self.tape.key(request.case, self._asked.settings, endpoint, body)

    def knows(self, request: Request) -> bool:
        """See `Recalling`."""
        if not self.tape.replays:
            return False
        with contextlib.suppress(MeasureError):
            return not self.tape.asks or self.tape.holds(*self.place(request))
        return False

    def recall(self, request: Request) -> Answer | None:
        """The recorded answer, None when it has to be asked for. Raises MeasureError NOT_RECORDED."""
        if not self.tape.replays:
            return None
        reply = self.tape.find(*self.place(request))
        return None if reply is None else read_answer(reply)

    def keep(self, request: Request, answer: Answer) -> None:
        """Record an answer, if this run records."""
        if self.tape.records:
            self.tape.record(*self.place(request), answer_to_json(answer))


class _Taped:
    """What both shapes share."""

    def __init__(self, inner: Any, questions: _Questions) -> None:
        self._inner, self._questions = inner, questions
        self.repeatable, self.retries = questions.tape.asks, inner.retries

    @property
    def description(self) -> Mapping[str, Any]:
        """That of the target itself."""
        description: Mapping[str, Any] = self._inner.description
        return description

    @property
    def has_price(self) -> bool:
        """Whether answers come with their cost; those that are replayed cost nothing any more."""
        return not self._questions.tape.asks or getattr(self._inner, "has_price", True)

    def knows(self, request: Request) -> bool:
        """See `Recalling`."""
        return self._questions.knows(request)

    async def close(self) -> None:
        """Give back what the target holds."""
        await self._inner.close()


class TapedSingle(_Taped):
    """One trial at a time."""

    async def ask(self, request: Request) -> Answer:
        """The recorded answer, or a fresh one with its latency in milliseconds. Raises MeasureError NOT_RECORDED, and what the target raises."""
        known = self._questions.recall(request)
        if known is not None:
            return known
        started = time.perf_counter()
        answer: Answer = await self._inner.ask(request)
        if answer.latency_ms is None:
            answer = dataclasses.replace(answer, latency_ms=round((time.perf_counter() - started) * 1000, 1))
        self._questions.keep(request, answer)
        return answer


class TapedBatch(_Taped):
    """A whole batch: what is recorded comes first, the rest is asked in one go."""

    async def ask_all(self, requests: Sequence[Request]) -> AsyncGenerator[Reply, None]:
        """Recorded and fresh answers; a trial without a record, where nothing may be asked, is yielded as an error."""
        waiting: list[Request] = []
        for request in requests:
            reply = self._recalled(request)
            if reply is None:
                waiting.append(request)
            else:
                yield reply
        if waiting:
            async with contextlib.aclosing(self._fresh(waiting)) as replies:
                async for reply in replies:
                    yield reply

    def _recalled(self, request: Request) -> Reply | None:
        try:
            answer = self._questions.recall(request)
        except MeasureError as error:
            return Reply(request, Answer(), error=error)
        return None if answer is None else Reply(request, answer)

    async def _fresh(self, requests: Sequence[Request]) -> AsyncGenerator[Reply, None]:
        """Answers stand when the batch ends well or is cut short from outside; when it fails, none of them does."""
        answered: dict[str, Reply] = {}
        try:
            async with contextlib.aclosing(self._inner.ask_all(requests)) as replies:
                async for reply in replies:
                    answered[reply.request.case.id] = reply
                    yield reply
            for request in requests:
                answered.setdefault(request.case.id, Reply(request, Answer()))
        except MeasureError:
            answered.clear()
            raise
        finally:
            for reply in answered.values():
                if reply.error is None:
                    self._questions.keep(reply.request, reply.answer)


class _Unasked:
    """Stands for a target that is never asked."""

    repeatable, retries = False, 0

    def __init__(self, description: Mapping[str, Any]) -> None:
        self.description = description

    async def ask(self, request: Request) -> Answer:
        """Never called: the tape has settled it."""
        raise MeasureError("NOT_RECORDED", f"the cassette has no answer for case {request.case.id}")

    async def close(self) -> None:
        """Nothing is held."""


def _unasked(spec: TargetSpec, environment: Mapping[str, str]) -> SingleTarget | None:
    """A stand-in for a target that could not be built without a key or the author's code; None for the others."""
    if isinstance(spec, PythonTarget):
        return _Unasked(described(spec))
    if not isinstance(spec, ModelTarget):
        return None
    from evalaction.targets.prompt_form import PromptForm  # noqa: PLC0415  # Jinja2 is slow to import

    return _Unasked(PromptForm(spec, environment).description)
