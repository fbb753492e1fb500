"""Whether a reply of the judge merely repeats a verdict that stands in what it was shown."""

from __future__ import annotations

import html
import json
import re
import unicodedata
from collections.abc import Iterator, Mapping
from itertools import islice, permutations
from typing import Any

_CRITERIA = re.compile(r'"criteria":\{')
_DECODER = json.JSONDecoder()
_ESCAPINGS = 3
"""How often a verdict may be wrapped in a text of JSON: not at all, once, twice."""
_MOST_COPIES = 1000
_MOST_ORDERED = 4
"""Keys of one verdict that are looked for in every order."""
_CODED = re.compile(r"(?<!\\)\\++u([0-9a-fA-F]{4})")
_ESCAPED = re.compile(r"(?<!\\)\\++[nrtbf]")
_NO_SIGN = re.compile(r"[\W_]+")


def is_copy(reply: Any, text: str) -> bool:
    """Whether the verdicts of a reply stand in a text: as the same JSON object, or letter by letter in any spelling.

    Blanks, the order of keys, escapes, quotes, brackets, invisible signs, markup and what stands beside the verdicts count for nothing, for
    a judge that copies also tidies up.
    """
    criteria = reply.get("criteria") if isinstance(reply, Mapping) else None
    if not isinstance(criteria, Mapping) or not criteria:
        return False
    return _stands_as_json(criteria, text) or _stands_as_words(criteria, text)


def _stands_as_json(criteria: Mapping[str, Any], text: str) -> bool:
    if "criteria" not in text:
        return False
    written = "".join(json.dumps(criteria, ensure_ascii=False).split())
    wanted, room = json.loads(written), 6 * len(written)  # a character takes six where it is escaped
    flat = "".join(text.split())
    for _ in range(_ESCAPINGS):
        if any(_stands_at(flat, found.end() - 1, room, wanted) for found in islice(_CRITERIA.finditer(flat), _MOST_COPIES)):
            return True
        flat = flat.replace('\\"', '"').replace("\\\\", "\\")
    return False


def _stands_at(text: str, start: int, room: int, wanted: Any) -> bool:
    """Whether the JSON object that starts here, within so many characters, is the wanted one."""
    try:
        return bool(_DECODER.raw_decode(text[start : start + room])[0] == wanted)
    except (ValueError, RecursionError):
        return False


def _stands_as_words(criteria: Mapping[str, Any], text: str) -> bool:
    """Whether every verdict stands there with its name, reason and value, all signs but letters and digits aside, in a text that has the form's own word."""
    flat = _letters(text)
    return "criteria" in flat and all(any(words in flat for words in _spellings(name, verdict)) for name, verdict in criteria.items())


def _spellings(name: str, verdict: Any) -> Iterator[str]:
    if not isinstance(verdict, Mapping):
        yield _letters(f"{name} {_written(verdict)}")
        return
    entries = [f"{key} {_written(value)}" for key, value in verdict.items()]
    for order in permutations(entries) if len(entries) <= _MOST_ORDERED else (entries,):
        yield "".join(map(_letters, (name, *order)))


def _written(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _letters(text: str) -> str:
    plain = _ESCAPED.sub(" ", _CODED.sub(lambda found: chr(int(found[1], 16)), text))
    return _NO_SIGN.sub("", unicodedata.normalize("NFKC", html.unescape(plain)).casefold())
