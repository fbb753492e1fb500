"""Reading what a target wrote: strict JSON, and ids that compare as text."""

from __future__ import annotations

import json
import math
import unicodedata
from typing import Any, NoReturn

from evalaction.core.scalars import spell

OUTPUT_LIMIT = 64 * 1024 * 1024
"""Bytes of one answer that are read; more is not an answer but an accident."""


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise ValueError(f"the number {digits[:40]} is too large")
    return number


_decode = json.JSONDecoder(parse_constant=_refuse, parse_float=_finite).decode


def read_json(text: str) -> Any:
    """A JSON value without NaN, infinities or bottomless nesting. Raises ValueError with the reason."""
    try:
        return _decode(text)
    except RecursionError:
        raise ValueError("the JSON is nested too deep") from None


def id_key(value: object) -> str | None:
    """An id as it compares: as text, composed (NFC), blanks trimmed and collapsed; None for what is no id."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    text = spell(value)
    return text if text.isascii() and text.isalnum() else " ".join(unicodedata.normalize("NFC", text).split()) or None
