"""A cassette: what a target and a judge replied, under everything that they were asked; in memory, without a disk."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import Field

from evalaction.core.checks.base import DEEPEST, is_deep
from evalaction.core.fingerprint import define, digest
from evalaction.core.model import model as stored
from evalaction.core.record import MOST_REPEATS, Failure
from evalaction.core.suite import Case
from evalaction.errors import MeasureError

Kind = Literal["target", "reference", "judge"]
_KINDS: tuple[Kind, ...] = ("target", "reference", "judge")
_NAMES = {"target": "answer", "reference": "rows of the reference query", "judge": "verdict"}
_PARTS = {"case": "the case's input, history or variables", "settings": "the settings", "endpoint": "the endpoint", "request": "the request"}
_AROUND = 3
"""Levels of nesting that an exchange puts round its reply."""
_SHOWN = 8
"""Numbers of runs in a message at most."""


@stored
class Key:
    """What must be the same for a recorded reply to stand for a fresh one.

    `case` is the case's fingerprint; `settings` (of target or judge) and `request` (as it was filled in, secrets masked) are digests;
    `endpoint` is where it was asked, without user name and query.
    """

    case: str
    settings: str
    endpoint: str
    request: str


@stored
class Exchange:
    """One reply as it is stored. `repeat` is the run of the case, from 0; `number` tells the votes of a judge apart."""

    case: str
    repeat: Annotated[int, Field(ge=0, le=MOST_REPEATS)]
    kind: Kind
    number: Annotated[int, Field(ge=0, le=MOST_REPEATS)] = 0
    reply: Mapping[str, Any]
    key: Key

    @property
    def slot(self) -> Slot:
        """Which question of the suite this answers."""
        return Slot(self.case, self.repeat, self.kind, self.number)


class Slot(NamedTuple):
    """Which question: the case, its run, who was asked, and which vote."""

    case: str
    repeat: int
    kind: Kind = "target"
    number: int = 0


class Tape:
    """The exchanges of one suite in one run: those that may be replayed (`known`), those that were in the file before (`kept`), and those of this run.

    Without `known` nothing is replayed; without `records` nothing is asked afresh where something is replayed. `mask` takes secrets out of
    any JSON value, so that neither a key nor a reply depends on them.
    """

    def __init__(self, known: Iterable[Exchange] | None = None, kept: Iterable[Exchange] = (), *, records: bool = False, mask: Callable[[Any], Any] = lambda value: value) -> None:
        self.replays, self.records, self._mask = known is not None, records, mask
        self._known = {(one.slot, one.key): one for one in known or ()}
        self._kept = {(one.slot, one.key): one for one in kept}
        self._kept_runs = {(one.case, one.repeat) for one in self._kept.values() if one.kind == "target"}
        self._used: dict[tuple[Slot, Key], Exchange] = {}
        self._by_case: dict[tuple[str, Kind], list[Exchange]] = {}
        for one in self._known.values():
            self._by_case.setdefault((one.case, one.kind), []).append(one)
        self.replayed: Counter[Kind] = Counter()
        """Replies that were taken from the cassette, by who gave them."""
        self.unrecorded: list[str] = []
        """Cases with a reply that is nested too deeply to be read back."""
        self._missed: dict[Slot, str] = {}

    @property
    def asks(self) -> bool:
        """Whether target and judge may be asked at all."""
        return self.records or not self.replays

    def suffices(self, case: str, repeat: int) -> bool:
        """Whether a trial that an interrupted run has measured may stand: a recording needs its answer in the file as well."""
        return not self.records or (case, repeat) in self._kept_runs

    def key(self, case: Case, settings: Any, endpoint: str, request: Any) -> Key:
        """The key of one question; `settings` and `request` are JSON values."""
        return Key(
            case=define(case).fingerprint, settings=digest(self._mask(settings)), endpoint=str(self._mask(without_credentials(endpoint))), request=digest(self._mask(request))
        )  # fmt: skip

    def holds(self, slot: Slot, key: Key) -> bool:
        """Whether a reply can be replayed."""
        return (slot, key) in self._known

    def find(self, slot: Slot, key: Key) -> Mapping[str, Any] | None:
        """The recorded reply; None when it has to be asked for. Raises MeasureError NOT_RECORDED when nothing may be asked."""
        found = self._known.get((slot, key))
        if found is None and not self.asks:
            self._missed[slot] = self._why(slot, key)
            raise MeasureError("NOT_RECORDED", self._missed[slot])
        if found is None:
            return None
        self._used[slot, key] = found
        self.replayed[slot.kind] += 1
        return found.reply

    def record(self, slot: Slot, key: Key, reply: Mapping[str, Any]) -> None:
        """Keep a reply, if this run records."""
        if self.records and is_deep(reply, DEEPEST - _AROUND):
            self.unrecorded.append(slot.case)
        elif self.records:
            self._used[slot, key] = Exchange(case=slot.case, repeat=slot.repeat, kind=slot.kind, number=slot.number, reply=self._mask(reply), key=key)

    def join(self, kept: Iterable[Exchange]) -> None:
        """Keep what the file holds now: another run may have recorded since this one began. What this run used goes before it."""
        self._kept |= {(one.slot, one.key): one for one in kept}

    def exchanges(self, *, used_only: bool = False) -> list[Exchange]:
        """What the file is to hold, sorted by case, run, kind and number: what was there and what this run used, or the latter alone."""
        held = self._used if used_only else {**self._kept, **self._used}
        return sorted(held.values(), key=_order)

    @property
    def failure(self) -> Failure | None:
        """Why a replay is no measurement: something was asked that the cassette does not have."""
        if not self._missed:
            return None
        more = f" (and {len(self._missed) - 1:,} more)" if len(self._missed) > 1 else ""
        return Failure(code="NOT_RECORDED", message=f"the replay is not whole: {self._missed[min(self._missed)]}{more}")

    def _why(self, slot: Slot, key: Key) -> str:
        """Names the case, and what differs from the recorded exchange that is nearest."""
        missing = f"the cassette has no {_NAMES[slot.kind]} for case {slot.case}, run {slot.repeat}"
        others = self._by_case.get((slot.case, slot.kind))
        if not others:
            return f"{missing}: nothing is recorded for this case"
        nearest = min(others, key=lambda one: (one.repeat != slot.repeat, one.number != slot.number, len(list(_differing(one.key, key)))))
        if differing := list(_differing(nearest.key, key)):
            return f"{missing}: another one is recorded, and {' and '.join(differing)} {'differ' if len(differing) > 1 else 'differs'}"
        if nearest.repeat == slot.repeat:
            return f"{missing}, vote {slot.number}: fewer votes are recorded"
        runs = sorted({one.repeat for one in others})
        return f"{missing}: recorded {'are the runs' if len(runs) > 1 else 'is run'} {', '.join(map(str, runs[:_SHOWN]))}{', …' if len(runs) > _SHOWN else ''}"


def without_credentials(address: str) -> str:
    """An address without user name, query and fragment, which may hold secrets."""
    return re.sub(r"//[^/@]*@", "//", re.split(r"[?#]", address, maxsplit=1)[0])


def _differing(recorded: Key, asked: Key) -> Iterator[str]:
    """The parts of two keys that differ, in words; a request made from another case differs by that alone."""
    for name, words in _PARTS.items():
        before, now = getattr(recorded, name), getattr(asked, name)
        if before != now and not (name == "request" and recorded.case != asked.case):
            yield f"{words} ({before or 'the default'} was recorded, asked is {now or 'the default'})" if name == "endpoint" else words


def _order(one: Exchange) -> tuple[Any, ...]:
    return (one.case, one.repeat, _KINDS.index(one.kind), one.number, one.key.endpoint, one.key.case, one.key.settings, one.key.request)
