"""An answer as it is stored: JSON that any reader takes, cut to a size that any disk takes."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import Any

from evalaction.core.answer import Answer

TEXT_LIMIT = 16_384
"""Characters of one text that are kept: the first and the last half of them."""
ITEM_LIMIT = 200
"""Items of one list or map that are kept."""
TOTAL_LIMIT = 262_144
"""Bytes of all texts together, about the size of the stored answer."""
_DEPTH_LIMIT = 40
_ITEM_COST = 8  # quotes, commas and numbers, roughly
_SURROGATE = re.compile("[\ud800-\udfff]")


def stored(answer: Answer) -> dict[str, Any]:
    """The parts of an answer as plain JSON of at most about 256 KiB.

    A text longer than 16,384 characters keeps its two ends and a mark with its length; a list or map
    keeps 200 items and a mark; lone surrogates become U+FFFD, so that the result is valid UTF-8.
    Scoring never sees this: it is given the whole answer.
    """
    fields = answer.as_json()
    return _as_lists(fields) if _is_small(fields) else _Cutter().map(fields, 0)


def _is_small(fields: Mapping[str, Any]) -> bool:
    """Whether an answer is plain and so short in all that nothing of it needs a look; asked of every answer, so it is one call."""
    try:
        return len(_plain_json(fields).encode()) <= TEXT_LIMIT
    except (ValueError, TypeError, RecursionError):
        return False


def _as_lists(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: list(value) if isinstance(value, tuple) else value for name, value in fields.items()}


_plain_json = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode


def stored_text(text: str) -> str:
    """One foreign text, such as the tail of a log, cut and made valid like the texts of an answer."""
    return _Cutter().text(text)


class _Cutter:
    """Walks one answer and keeps count of what may still be stored."""

    def __init__(self) -> None:
        self.left = TOTAL_LIMIT

    def value(self, value: Any, depth: int) -> Any:
        """Any JSON value, cut."""
        if isinstance(value, str):
            return self.text(value)
        self.left -= _ITEM_COST
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, int | float):
            return _number(value)
        if depth > _DEPTH_LIMIT:
            return "… [cut: nested too deep]"
        if isinstance(value, Mapping):
            return self.map(value, depth)
        if isinstance(value, list | tuple):
            return self.list(value, depth)
        return self.text(str(value))

    def text(self, text: str) -> str:
        """A text with its middle cut out where it is too long."""
        length = len(text)
        keep = min(TEXT_LIMIT, max(self.left, 0))
        if length > keep:
            head, tail = keep - keep // 2, keep // 2
            text = f"{text[:head]}… [cut: {length:,} characters in all] …{text[length - tail :]}"
        if text.isascii():
            self.left -= len(text)
            return text
        text = _SURROGATE.sub("\ufffd", text)
        self.left -= len(text.encode())
        return text

    def list(self, items: list[Any] | tuple[Any, ...], depth: int) -> list[Any]:
        """The first items; the last one is a mark when some are left out."""
        kept: list[Any] = []
        for item in items[:ITEM_LIMIT]:
            if self.left <= 0:
                break
            kept.append(self.value(item, depth + 1))
        return kept if len(kept) == len(items) else [*kept, f"… [cut: {len(items):,} items in all]"]

    def map(self, fields: Mapping[str, Any], depth: int) -> dict[str, Any]:
        """The first entries; the key `…` says so when some are left out."""
        kept: dict[str, Any] = {}
        for count, (key, value) in enumerate(fields.items()):
            if count == ITEM_LIMIT or self.left <= 0:
                kept["…"] = f"[cut: {len(fields):,} entries in all]"
                break
            kept[self.text(str(key))] = self.value(value, depth + 1)
        return kept


def _number(value: float) -> float | str:
    """Numbers that JSON cannot hold are spelled out."""
    if isinstance(value, int):
        return value if value.bit_length() <= 1024 else "… [cut: a whole number of more than 300 digits]"
    return value if math.isfinite(value) else str(value)
