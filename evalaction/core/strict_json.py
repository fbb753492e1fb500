"""JSON that means one thing only: no key twice, no NaN, no number beyond a float, no bottomless nesting."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

from evalaction.core.checks.base import is_deep


def parse_strict_json(text: str) -> Any:
    """One JSON document. Raises ValueError with the reason: of a key given twice nobody could say which value was meant."""
    try:
        value = _decode(text)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    if is_deep(value):
        raise ValueError("it is nested too deeply")
    return value


def _pairs(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key is given twice")
    return found


def _constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON value")


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise ValueError("a number is too large")
    return number


_decode = json.JSONDecoder(object_pairs_hook=_pairs, parse_constant=_constant, parse_float=_finite).decode
