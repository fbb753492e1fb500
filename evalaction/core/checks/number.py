"""Reading numbers as people and warehouses write them, comparing them under a tolerance, and the number check.

A number is written `500`, `500.0`, `.5`, `1e3`, `$565,238.13`, `5 €`, `-3` (or with a Unicode minus), `(500)` (accountants' -500) or `12%` (12).
Commas group thousands and only in well-formed groups: `1,30`, `13,0000`, `130,00` and `1.234,56` are no numbers.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Any

from evalaction.core.answer import Answer, as_text
from evalaction.core.checks.base import RIGHT, CheckScore, is_deep, missing_part, quoted
from evalaction.core.scalars import SpelledFloat, SpelledInt
from evalaction.core.specs import Closeness, NumberCheck

EPSILON = 1e-9
_LONGEST = 100
"""Characters of a number; longer runs of digits are none."""
_LARGEST = 10**300
_WHOLE_FROM = 2.0**52  # from here on floats have no fractions, and whole numbers lose digits as floats

_CORE = r"(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]+)(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?|\.[0-9]+(?:[eE][+-]?[0-9]+)?"
_CURRENCY = r"[$¢£¤¥฿\u20a0-\u20cf\uff04\uffe1\uffe5]"
_MINUS = {0x2212: "-", 0xFE63: "-", 0xFF0D: "-"}

_WHOLE = re.compile(rf"(?P<sign>[+-])?(?:{_CURRENCY}\s*)?(?P<inner>[+-])?(?P<core>{_CORE})(?:\s*{_CURRENCY})?(?:\s*%)?")
_BRACKETED = re.compile(rf"(?:{_CURRENCY}\s*)?\(((?:{_CURRENCY}\s*)?(?:{_CORE})(?:\s*{_CURRENCY})?(?:\s*%)?)\)(?:\s*{_CURRENCY})?")

# Letters that a digit can be glued to. Scripts written without blanks (Chinese, Japanese, Thai, …) glue nothing: 共72个 holds 72.
_GLUE = r"0-9A-Za-z_\u00aa\u00b2\u00b3\u00b5\u00b9\u00ba\u00bc-\u00be\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f\u0370-\u052f\u1e00-\u1fff\u2070-\u209c"
_LETTER = r"[A-Za-z\u00b5\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f\u0370-\u052f\u1e00-\u1fff]"
_TOKEN = re.compile(
    rf"(?P<minus>(?<![{_GLUE}\)\]%.,-])-)?(?:{_CURRENCY}[ \u00a0]?(?P<inner>-)?)?"
    rf"(?P<word>(?:(?<![{_GLUE}.])\.(?=[0-9]))?[{_GLUE}]+(?:(?:(?<=[0-9])[,:/'\u2019^\u2013\u00a0\u2009\u202f](?=[0-9])|(?<=[0-9][eE])\+(?=[0-9])|\.(?=[0-9])|-(?=[{_GLUE}]))[{_GLUE}]+)*)"
)
_PLAIN = re.compile(rf"(?P<core>{_CORE})(?P<unit>{_LETTER}{{1,3}}[²³]?|(?:-{_LETTER}+)+)?")
_NO_UNITS = frozenset({"st", "nd", "rd", "th", "k", "K", "M", "B", "G", "T", "bn", "Bn", "BN", "mn", "Mn", "mln", "MM", "tn"})
"""Ordinals count, and `5k` is not 5."""
_CLOSING = re.compile(rf"(?:\s*{_CURRENCY})?(?:\s*%)?\)")


def _value(core: str) -> int | float | None:
    if len(core) > _LONGEST:
        return None
    digits = core.replace(",", "")
    value = int(digits) if digits.isdecimal() else float(digits)
    return value if math.isfinite(value) else None


def parse_number(text: str) -> int | float | None:
    """The whole text as a number, outer blanks aside; None when it is none. Whole numbers are exact."""
    if len(text) > 2 * _LONGEST:
        return None
    plain = text.strip().translate(_MINUS)
    if bracketed := _BRACKETED.fullmatch(plain):
        inner = parse_number(bracketed.group(1))
        return None if inner is None else -inner
    found = _WHOLE.fullmatch(plain)
    if found is None or (found["sign"] and found["inner"]):
        return None
    value = _value(found["core"])
    return -value if value is not None and "-" in (found["sign"], found["inner"]) else value


def number_of(value: Any) -> int | float | None:
    """A JSON value as a number: numbers as they are, text as `parse_number` reads it; booleans, null, NaN and anything else are none."""
    if isinstance(value, str):
        return parse_number(value)
    if isinstance(value, bool) or not isinstance(value, int | float) or not -_LARGEST < value < _LARGEST:
        return None
    return value


def find_numbers(text: str) -> Iterator[int | float]:
    """The numbers of a sentence, in order.

    Punctuation, currency signs and units do not matter: `It is 72, in total`, `USD 29`, `540 meters`, `540ms`, `a 30-day window`.
    `(29)` is -29, unless the bracket is a call's (`f(29)`). No number is taken out of an identifier or a longer notation: `v2`,
    `abc123`, `GPT-4`, `2026-08-17`, `10-20`, `12:30`, `3/4`, `10^6`, `1.2.3`, `3rd`, `5k`, `1'000`.
    """
    plain = text.translate(_MINUS)
    for token in _TOKEN.finditer(plain):
        found = _PLAIN.fullmatch(token["word"].strip("_"))
        value = None if found is None or found["unit"] in _NO_UNITS else _value(found["core"])
        if value is not None:
            yield -value if token["minus"] or token["inner"] or _is_bracketed(plain, token) else value


def _is_bracketed(text: str, token: re.Match[str]) -> bool:
    before = text[max(0, token.start() - 2) : token.start()]
    return before[-1:] == "(" and not (before[:-1].isalnum() or before[:-1] == "_") and _CLOSING.match(text, token.end()) is not None


def bounds(expected: float, tolerance: Closeness) -> tuple[int | float, int | float]:
    """Smallest and largest number that is close enough to `expected`.

    Either tolerance may hold: |actual - expected| ≤ absolute, or ≤ relative · |expected| (which for 0 allows only 0).
    A billionth is added for rounding, so that bounds are included. Large whole numbers stay exact.
    """
    size = abs(float(expected))
    margin = max(tolerance.absolute, tolerance.relative * size) * (1 + EPSILON) + EPSILON * min(1.0, size)
    if size >= _WHOLE_FROM and margin < 1:
        return expected, expected
    return min(expected, expected - margin), max(expected, expected + margin)


def is_close(expected: float, actual: float, tolerance: Closeness) -> bool:
    """Whether `actual` lies within the bounds round `expected`, bounds included."""
    low, high = bounds(expected, tolerance)
    return low <= actual <= high


def show(value: float) -> str:
    """A number in a detail: as its author spelled it, else as short as it can be."""
    if isinstance(value, SpelledInt | SpelledFloat):
        return str(value)
    if isinstance(value, int) and value.bit_length() > 1024:
        return "a whole number of more than 300 digits"
    return repr(int(value)) if isinstance(value, float) and value.is_integer() and abs(value) < 1e15 else repr(value)


def _allowed(tolerance: Closeness) -> str:
    parts = [f"{show(tolerance.absolute)} absolute"] * (tolerance.absolute > 0) + [f"{show(tolerance.relative)} relative"] * (tolerance.relative > 0)
    return f" (tolerance {' or '.join(parts)})" if parts else ""


def _pick(numbers: Iterator[int | float], pick: str) -> tuple[int | float | None, list[int | float]]:
    """The chosen number, and up to six different ones."""
    chosen: int | float | None = None
    different: list[int | float] = []
    for number in numbers:
        if chosen is None or pick == "last":
            chosen = number
        if pick == "first":
            break
        if len(different) < 6 and number not in different:
            different.append(number)
    return chosen, different


def score_number(spec: NumberCheck, answer: Answer) -> CheckScore:
    """1 when the number in the text (last, first, or the only one) is close enough to `value`. A part that is a JSON number is taken as it is."""
    if missing := missing_part(spec, answer):
        return missing
    part = answer.part(spec.part)
    if is_deep(part):
        return CheckScore(0.0, "no number found: the answer is nested too deeply")
    text = as_text(part) or ""
    exact = number_of(part) if not isinstance(part, str) else None
    chosen, different = (exact, []) if exact is not None else _pick(find_numbers(text), spec.pick)
    if chosen is None:
        return CheckScore(0.0, f"no number found in {quoted(text.strip())}")
    if spec.pick == "only" and len(different) > 1:
        return CheckScore(0.0, f"several numbers found: {', '.join(map(show, different))}; expected only {show(spec.value)}")
    if is_close(spec.value, chosen, spec.tolerance):
        return RIGHT
    return CheckScore(0.0, f"wrong number: expected {show(spec.value)}{_allowed(spec.tolerance)}, got {show(chosen)}")
