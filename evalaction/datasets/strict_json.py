"""JSON to records: one object a line, or one list; strict, bounded, with line numbers, numbers as spelled."""

from __future__ import annotations

import io
import json
import re
import sys
from collections import Counter
from collections.abc import Iterator
from typing import Any

from evalaction.core.scalars import SpelledFloat, SpelledInt
from evalaction.datasets.faults import clip
from evalaction.datasets.source import Source, decode
from evalaction.errors import ConfigError

MAX_DEPTH = 100
MAX_PARTS = 5_000_000
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_BLANKS = re.compile(r"[ \t\r\n]*")


class _Refused(ValueError):
    """JSON that Python would read and a strict reader does not."""

    def __init__(self, code: str, what: str, fix: str) -> None:
        super().__init__(what)
        self.code, self.what, self.fix = code, what, fix


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = {sys.intern(key): value for key, value in pairs}  # a dataset has the same few keys in every line
    if len(found) != len(pairs):
        twice = Counter(key for key, _ in pairs).most_common(1)[0][0]
        raise _Refused("DUPLICATE_KEY", f"the key `{clip(twice)}` is written twice in one object", "keep one of the two")
    return found


def _int(text: str) -> int:
    if len(text) > 4000:  # Python itself refuses to convert more than 4300 digits
        raise _Refused("MALFORMED_JSON", "a number has more than 4000 digits", "write it as text, in quotes")
    return SpelledInt(int(text), text)


def _float(text: str) -> float:
    number = float(text)
    if number in (float("inf"), float("-inf")):
        raise _Refused("MALFORMED_JSON", f"the number {clip(text)} is too large", "write it as text, in quotes")
    return SpelledFloat(number, text)


def _constant(name: str) -> Any:
    raise _Refused("MALFORMED_JSON", f"{name} is not JSON", "write a number or null")


_DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_int=_int, parse_float=_float, parse_constant=_constant)


def parse(source: Source, text: str, first_line: int = 1) -> Any:
    """One whole JSON value. Raises ConfigError MALFORMED_JSON or DUPLICATE_KEY with the place."""
    value, end = parse_at(source, text, _skip(text, 0), first_line)
    end = _skip(text, end)
    if end != len(text):
        raise _at(source, "something follows the JSON value", "keep one value, on a line of its own in JSONL", text, end, first_line)
    return value


def parse_at(source: Source, text: str, start: int, first_line: int = 1) -> tuple[Any, int]:
    """The JSON value that starts at an offset, and the offset of its end. Raises like `parse`."""
    try:
        value, end = _DECODER.raw_decode(text, start)
    except json.JSONDecodeError as error:
        raise _at(source, error.msg[0].lower() + error.msg[1:], "correct the JSON; every record is one object", text, error.pos, first_line) from None
    except _Refused as error:
        raise source.refuse(error.code, error.what, error.fix, first_line + text.count("\n", 0, start), 1) from None
    except RecursionError:
        raise _at(source, f"the value is nested more than {MAX_DEPTH} deep", "flatten it", text, start, first_line) from None
    if text.count("[", start, end) + text.count("{", start, end) > MAX_DEPTH and not _is_flat(value):
        raise _at(source, f"the value is nested more than {MAX_DEPTH} deep", "flatten it", text, start, first_line)
    if _SURROGATE.search(text, start, end) and not _is_unicode(value):
        raise _at(source, "an escape such as \\ud800 is half a character", "write both halves, or the character itself", text, start, first_line)
    return value, end


def _at(source: Source, what: str, fix: str, text: str, offset: int, first_line: int) -> ConfigError:
    line, column = first_line + text.count("\n", 0, offset), offset - text.rfind("\n", 0, offset)
    return source.refuse("MALFORMED_JSON", what, fix, line, column)


def _is_flat(value: Any) -> bool:
    """Whether a value is nested at most MAX_DEPTH deep."""
    level = [value]
    for _ in range(MAX_DEPTH + 1):
        level = [child for node in level if isinstance(node, dict | list) for child in (node.values() if isinstance(node, dict) else node)]
        if not level:
            return True
    return False


def _is_unicode(value: Any) -> bool:
    try:
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def lines(source: Source, raw: bytes) -> Iterator[tuple[Any, int] | ConfigError]:
    """Each record of a JSONL file with its line, or what is wrong with that line; blank lines and `//` comments are passed over."""
    for number, line in enumerate(io.BytesIO(raw), 1):
        stripped = line.strip()
        if not stripped or stripped.startswith(b"//"):
            continue
        try:
            yield parse(source, decode(source, stripped, "MALFORMED_JSON", number), number), number
        except ConfigError as error:
            yield error


def items(source: Source, raw: bytes) -> Iterator[tuple[Any, int] | ConfigError]:
    """Each record of one JSON list with the line it starts on; the first thing that is malformed ends the reading."""
    try:
        text = decode(source, raw, "MALFORMED_JSON")
        if text.count(",") > MAX_PARTS:
            raise source.refuse("MALFORMED_JSON", f"the list has more than {MAX_PARTS} parts", "write one JSON object a line instead (JSONL)", 1, 1)
        yield from _items(source, text)
    except ConfigError as error:
        yield error


def _items(source: Source, text: str) -> Iterator[tuple[Any, int]]:
    at = _skip(text, 0)
    if at == len(text):
        return
    if text[at : at + 1] != "[":
        raise _at(source, "expected a list of cases", "write one list, or one JSON object a line (JSONL)", text, at, 1)
    line, counted, at = 1, 0, _skip(text, at + 1)
    while text[at : at + 1] != "]":
        line, counted = line + text.count("\n", counted, at), at
        value, at = parse_at(source, text, at)
        yield value, line
        at = _skip(text, at)
        if text[at : at + 1] == ",":
            at = _skip(text, at + 1)
            if text[at : at + 1] == "]":
                raise _at(source, "a comma stands before the end of the list", "drop the comma", text, at, 1)
        elif text[at : at + 1] != "]":
            raise _at(source, "expected a comma or the end of the list", "correct the JSON here", text, at, 1)
    if (end := _skip(text, at + 1)) != len(text):
        raise _at(source, "something follows the list", "keep one list", text, end, 1)


def _skip(text: str, at: int) -> int:
    return _BLANKS.match(text, at).end()  # type: ignore[union-attr]  # a pattern of blanks that may be none always matches
