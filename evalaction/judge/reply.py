"""The reply contract: one exact form is believed, and nothing else is a verdict."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from evalaction.core.checks.base import one_line
from evalaction.core.excerpts import cut
from evalaction.core.strict_json import parse_strict_json
from evalaction.judge.copies import is_copy
from evalaction.judge.prompt import Asked
from evalaction.providers.base import Completion

REPLY_LIMIT = 200_000
"""Characters of a reply that are looked at."""
_FENCE = re.compile(r"(`{3,}|~{3,})[ \t]*(?:json)?[ \t]*\r?\n(.*?)\r?\n[ \t]*\1", re.DOTALL | re.IGNORECASE)
_SCALE = range(1, 6)


class Unusable(ValueError):
    """A reply that is no verdict; the message says why."""


class Vote(NamedTuple):
    """One verdict on one criterion: 1 or 0 for yes or no, 1..5 where it is scored; `reason` in the judge's words, on one line."""

    value: int
    reason: str


def read_reply(completion: Completion, asked: Sequence[Asked], shown: Iterable[str] = ()) -> tuple[Vote, ...]:
    """A vote for each criterion, in their order. Raises Unusable for anything but exactly what was asked for.

    The whole reply, or the whole of one fence, is one object whose `criteria` are exactly the asked ones, each with a boolean `pass`
    or, where it is scored, a whole number 1..5. Further keys, such as a total of the judge's own, are ignored. A reply that stands
    in one of the texts that were `shown` is no verdict on them: the judge has copied it.
    """
    if not completion.is_whole:
        raise Unusable(f"the judge's reply ends with {'a refusal' if completion.refusal else completion.stop_reason}")
    if completion.tool_calls and completion.value is None:
        raise Unusable("the judge's reply has several parts, or calls a tool that it was not given")
    reply = completion.value if completion.value is not None else _object_in(completion.text or "")
    if any(is_copy(reply, text) for text in shown):
        raise Unusable("the judge's reply is a copy of what stands in the answer")
    criteria = reply.get("criteria") if isinstance(reply, Mapping) else None
    if not isinstance(criteria, Mapping):
        raise Unusable("the judge's reply is no object with `criteria`")
    _check_names(criteria, {one.wire for one in asked})
    return tuple(_vote(one, criteria[one.wire]) for one in asked)


def _object_in(text: str) -> Any:
    if len(text) > REPLY_LIMIT:
        raise Unusable(f"the judge's reply has {len(text):,} characters")
    whole = text.strip("\ufeff \t\r\n")
    fence = _FENCE.fullmatch(whole)
    try:
        return parse_strict_json(fence[2] if fence else whole)
    except ValueError as error:
        raise Unusable(f"the judge's reply is not one JSON object: {error}" if whole else "the judge's reply is empty") from None


def _check_names(criteria: Mapping[str, Any], names: set[str]) -> None:
    found = set(map(str, criteria))
    if missing := sorted(names - found):
        raise Unusable(f"the judge's reply lacks the criterion {missing[0]}")
    if more := sorted(found - names):
        raise Unusable(f"the judge's reply has a criterion that was not asked for, {one_line(more[0], 60)}")


def _vote(asked: Asked, stated: Any) -> Vote:
    if not isinstance(stated, Mapping):
        raise Unusable(f"the judge's verdict on {asked.wire} is no object")
    reason = stated.get("reason", "")
    if not isinstance(reason, str):
        raise Unusable(f"the judge's reason for {asked.wire} is no text")
    return Vote(_points(asked, stated.get("score")) if asked.check.scale else _yes_no(asked, stated.get("pass")), one_line(reason))


def _yes_no(asked: Asked, stated: Any) -> int:
    if not isinstance(stated, bool):
        raise Unusable(f"the judge's `pass` for {asked.wire} is neither true nor false")
    return int(stated)


def _points(asked: Asked, stated: Any) -> int:
    # bool is a kind of int in Python, and 4.0 is a float
    if type(stated) is not int or stated not in _SCALE:
        raise Unusable(f"the judge's `score` for {asked.wire} is no whole number from 1 to 5")
    return stated


def excerpt_of(completion: Completion) -> str:
    """The beginning of a reply, for the record of a failure."""
    said = completion.text or completion.refusal or ("" if completion.value is None else str(completion.value))
    return cut(said, 2048)
