"""Regular expressions of authors, compiled in one way for validating and for scoring, and refused before they can eat the memory."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Any

LONGEST = 10_000
"""Characters of a pattern."""
MOST_REPEATS = 10_000
"""The largest number inside `{n,m}`."""
LARGEST = 1_000_000
"""Size of a pattern with its counted repeats written out; the library takes about 100 bytes for each."""

_BRACES = re.compile(r"(\\[pPN]\{[^}]*\}|\\.|\{[0-9]*,?[0-9]*\})|\{", re.DOTALL)
_COUNTED = re.compile(r"\{([0-9]*)(?:,([0-9]*))?\}")
_PIECES = re.compile(r"\\[pPN]\{[^}]*\}|\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\(\?#[^)]*\)|\{[0-9]*,?[0-9]*\}|.", re.DOTALL)
_VERBOSE_COMMENT = re.compile(r"(\\.|\[\^?\]?(?:\\.|[^\]\\])*\])|#[^\n]*|\s+", re.DOTALL)


class PatternError(ValueError):
    """The pattern cannot be used; the message says why."""


def fold(text: str) -> str:
    """Line ends as LF, characters composed (NFC)."""
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return text if text.isascii() else unicodedata.normalize("NFC", text)


@lru_cache(maxsize=256)
def compiled(pattern: str, flags: str) -> Any:
    """The folded pattern under flags of `imsx`, ready to search. Raises PatternError when it does not compile, or is too large to."""
    import regex  # noqa: PLC0415 - only suites with patterns pay for the import

    letters = {"i": regex.IGNORECASE, "m": regex.MULTILINE, "s": regex.DOTALL, "x": regex.VERBOSE}
    chosen = 0
    for letter in flags:
        chosen |= letters[letter]
    if len(pattern) > LONGEST:
        raise PatternError(f"it is longer than {LONGEST:,} characters")
    plain = _plain(fold(pattern))
    _refuse_large(plain)
    try:
        return regex.compile(plain, chosen)
    except regex.error as error:
        raise PatternError(str(error)) from None
    except (RecursionError, MemoryError, OverflowError):
        raise PatternError("it is nested too deeply, or too large") from None


def _plain(pattern: str) -> str:
    """The pattern in the syntax of Python's `re`: a brace that is no repeat is a brace, where `regex` would match approximately (`item{e}`)."""
    return _BRACES.sub(lambda found: found.group(1) or r"\{", pattern)


def _refuse_large(pattern: str) -> None:
    numbers = [number for piece in _PIECES.findall(pattern) if (counted := _COUNTED.fullmatch(piece)) for number in counted.groups() if number]
    if any(len(number.lstrip("0")) > 5 or int(number) > MOST_REPEATS for number in numbers):
        raise PatternError(f"it repeats something more than {MOST_REPEATS:,} times")
    # Where verbose patterns have comments, brackets in them are none; a pattern can turn that on itself.
    if max(_size(pattern), _size(_VERBOSE_COMMENT.sub(lambda found: found.group(1) or "", pattern))) > LARGEST:
        raise PatternError("its repeats inside repeats multiply to too many")


def _times(piece: str) -> int:
    """How often a repeat has its operand written out; 0 for what is no repeat."""
    counted = _COUNTED.fullmatch(piece)
    if counted is None:
        return {"+": 2, "*": 1, "?": 1}.get(piece, 0)
    least = int(counted.group(1) or 0)
    return 2 * least if least > 1 or (least == 1 and counted.group(2) not in (None, "1")) else 1


def _size(pattern: str) -> int:
    """Pieces of a pattern as the library writes its repeats out: what must occur n times 2n times over, again on each level above."""
    totals, last = [0], [0]
    for piece in _PIECES.findall(pattern):
        times = _times(piece)
        if times:
            grown = last[-1] * times
            totals[-1] += grown - last[-1]
            last[-1] = grown
        elif piece == "(":
            totals.append(1)
            last.append(0)
        elif piece == ")" and len(totals) > 1:
            inner = totals.pop()
            last.pop()
            totals[-1] += inner
            last[-1] = inner
        elif not piece.startswith("(?#"):
            totals[-1] += 1
            last[-1] = 1
    return sum(totals)
