"""What a target returned for one case, read from any JSON value."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from typing import Any

from evalaction.core.scalars import kind_of, spell
from evalaction.errors import MeasureError

PARTS = ("output", "retrieved", "contexts", "rows", "intent", "refusal", "insight", "tool_calls", "cost_usd", "tokens", "latency_ms")
LARGEST = {"cost_usd": 1_000_000, "latency_ms": 1_000_000_000, "tokens": 1_000_000_000_000}
"""The most of each that one answer can have cost: US dollars, milliseconds, tokens of either kind. More is a slip of the unit."""
_IGNORED = frozenset({"id", "repeat", "answer"})


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One answer, part by part; None is a part that was not given.

    `output` is text or any other JSON value; `cost_usd` in US dollars, `latency_ms` in milliseconds,
    `tokens` as (input, output); `extra` holds keys of the author's own, which a check may name as its `field`.
    """

    output: Any = None
    retrieved: tuple[str, ...] | None = None
    contexts: tuple[str, ...] | None = None
    rows: tuple[Mapping[str, Any], ...] | None = None
    intent: str | None = None
    refusal: str | None = None
    insight: str | None = None
    tool_calls: tuple[Mapping[str, Any], ...] | None = None
    cost_usd: float | None = None
    tokens: tuple[int, int] | None = None
    latency_ms: float | None = None
    extra: Mapping[str, Any] | None = None

    def part(self, name: str) -> Any:
        """A part by name, None when the answer has none of that name."""
        if name in PARTS:
            return getattr(self, name)
        return (self.extra or {}).get(name)

    @property
    def is_nothing(self) -> bool:
        """Whether the system said nothing at all: no part but blank text."""
        parts = (self.output, self.retrieved, self.contexts, self.rows, self.intent, self.refusal, self.insight, self.tool_calls)
        return self.extra is None and all(part is None or (isinstance(part, str) and not part.strip()) for part in parts)

    def as_json(self) -> dict[str, Any]:
        """The parts that were given, in a fixed order."""
        stated = {name: value for name in PARTS if (value := getattr(self, name)) is not None}
        if self.tokens is not None:
            stated["tokens"] = {"input": self.tokens[0], "output": self.tokens[1]}
        return {**stated, **(self.extra or {})}


def read_answer(raw: Any) -> Answer:
    """An answer from text, an answer object or any other JSON value (which then is the output).

    Raises MeasureError INVALID_ANSWER when an object names none of the known parts, or a part has
    the wrong type: a part dropped in silence would look like a worse answer.
    """
    if not isinstance(raw, Mapping):
        return Answer(output=raw)
    fields = dict(raw)
    if "answer" in fields:
        if "output" in fields:
            raise _invalid("the answer has both `output` and `answer`")
        fields["output"] = fields.pop("answer")
    extra = {key: value for key, value in fields.items() if key not in PARTS and key not in _IGNORED}
    known = {name: _READERS[name](name, value) for name, value in fields.items() if name in PARTS and value is not None}
    if extra and not any(name in fields for name in PARTS):
        raise _invalid(f"the answer object has none of the known parts ({', '.join(PARTS[:6])}, …) but {', '.join(sorted(extra)[:5])}")
    return Answer(**known, extra=extra or None)


def as_text(part: Any) -> str | None:
    """A part of an answer as text: text as it is, scalars as JSON spells them, lists and maps as JSON; None for nothing."""
    if part is None or isinstance(part, str):
        return part
    if isinstance(part, bool | int | float):
        return spell(part)
    return json.dumps(part, ensure_ascii=False, default=list)


_TEXT_ONLY = {str}


def _invalid(message: str) -> MeasureError:
    return MeasureError("INVALID_ANSWER", message)


def _any(_name: str, value: Any) -> Any:
    return value


def _text(name: str, value: Any) -> str:
    if not isinstance(value, str):
        raise _invalid(f"`{name}` of the answer must be text, found {kind_of(value)}")
    return value


def _texts(name: str, value: Any) -> tuple[str, ...]:
    if isinstance(value, list) and set(map(type, value)) == _TEXT_ONLY:  # by far the most frequent; one look at the whole list
        return tuple(value)
    if not isinstance(value, list | tuple) or not all(isinstance(item, str | int | float) and not isinstance(item, bool) for item in value):
        raise _invalid(f"`{name}` of the answer must be a list of texts, found {kind_of(value)}")
    return tuple(item if isinstance(item, str) else spell(item) for item in value)


def _maps(name: str, value: Any) -> tuple[Mapping[str, Any], ...]:
    if not isinstance(value, list | tuple) or not all(isinstance(item, Mapping) for item in value):
        raise _invalid(f"`{name}` of the answer must be a list of objects, found {kind_of(value)}")
    return tuple(value)


def _amount(name: str, value: Any) -> float:
    """A number from 0 to what its part can be at all; nothing may be so large that a mean or a sum over a suite overflows."""
    most = LARGEST[name.partition(".")[0]]
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _invalid(f"`{name}` of the answer must be a number, found {kind_of(value)}")
    if not 0 <= value <= most:
        raise _invalid(f"`{name}` of the answer must be from 0 to {most:,}, found {'NaN' if value != value else 'less' if value < 0 else 'more'}")  # noqa: PLR0124 - only NaN differs from itself
    return float(value)


def _tokens(name: str, value: Any) -> tuple[int, int]:
    if isinstance(value, Mapping):
        return (int(_amount("tokens.input", value.get("input") or 0)), int(_amount("tokens.output", value.get("output") or 0)))
    return (0, int(_amount(name, value)))


_READERS = {
    "output": _any, "retrieved": _texts, "contexts": _texts, "rows": _maps, "intent": _text, "refusal": _text, "insight": _text, "tool_calls": _maps,
    "cost_usd": _amount, "tokens": _tokens, "latency_ms": _amount,
}  # fmt: skip
