"""What the runner knows of a target: two shapes, one that answers a case at a time and one that is fed a whole pass."""

from __future__ import annotations

import dataclasses
from collections.abc import AsyncGenerator, Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

from evalaction.core.answer import Answer
from evalaction.core.suite import Case
from evalaction.errors import MeasureError


@dataclasses.dataclass(frozen=True, slots=True)
class Request:
    """One trial to be asked for; `repeat` counts from 0 over all passes."""

    case: Case
    repeat: int


@dataclasses.dataclass(frozen=True, slots=True)
class Reply:
    """The answer to one request.

    `error` is set instead of the answer when this one trial failed and the rest of the batch may go on.
    """

    request: Request
    answer: Answer
    error: MeasureError | None = None


class Target(Protocol):
    """Any target. `description` is stored in the record and holds no secrets; `repeatable` is false for a file of answers."""

    repeatable: bool
    retries: int

    @property
    def description(self) -> Mapping[str, Any]:
        """What was asked, for the record."""

    async def close(self) -> None:
        """Give back connections and processes; may be called twice."""


@runtime_checkable
class SingleTarget(Target, Protocol):
    """Answers one trial at a time; the runner calls it from several tasks at once."""

    async def ask(self, request: Request) -> Answer:
        """Raise TargetError when it failed."""


@runtime_checkable
class BatchTarget(Target, Protocol):
    """Is fed trials that share one repeat number, and answers in any order.

    Yields a Reply, or an error for a request, as they come. A request that was never yielded when the
    iteration ends without an exception was answered with nothing. A TargetError raised at the end of the
    iteration makes *every* trial of the batch an error, those already yielded too.
    """

    def ask_all(self, requests: Sequence[Request]) -> AsyncGenerator[Reply, None]:
        """Close the generator to end the batch early."""


@runtime_checkable
class Recalling(Protocol):
    """A target with a cassette, which may settle a trial without a call."""

    def knows(self, request: Request) -> bool:
        """Whether this trial takes no call: its answer is recorded, or nothing may be asked afresh. The same in all of a run."""


def case_line(request: Request) -> dict[str, Any]:
    """What a target is told of a case: the foreign record as it stands, or our own fields; never the checks.

    A foreign record gets `repeat`, and an `id` where it has none: an answer could not be joined without.
    """
    case = request.case
    record = case.record
    if record is not None:
        return {"id": case.id, "repeat": request.repeat, **record}
    return {
        "id": case.id, "input": case.input, "history": [{"role": turn.role, "content": turn.content} for turn in case.history], "vars": dict(case.vars or {}),
        "category": case.category, "tags": list(case.tags), "metadata": dict(case.metadata or {}), "repeat": request.repeat,
    }  # fmt: skip
