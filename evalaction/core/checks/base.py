"""What a scoring function returns, and how it words its reasons."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from operator import mul
from typing import Any, NamedTuple

from evalaction.core.answer import Answer
from evalaction.core.specs import CheckSpec

DETAIL_LIMIT = 300
"""Characters of a detail; a reason is read in a table."""
DEEPEST = 100
"""Levels of nesting that are looked at; an answer may be a nesting bomb."""
QUOTED = 60
"""Characters of a quoted text."""
_LISTED = 20


class CheckScore(NamedTuple):
    """A score in 0..1 and why, in one line; `values` are the metrics when they are not just the score under the type's name."""

    score: float
    detail: str = ""
    values: Mapping[str, float] | None = None


RIGHT = CheckScore(1.0)


def yes_or_no(passed: bool, detail: str) -> CheckScore:
    """1 without a word, or 0 with the reason."""
    return RIGHT if passed else CheckScore(0.0, detail)


def is_blank(part: Any) -> bool:
    """Whether a part of an answer says nothing: None or blank text. `false`, 0 and `[]` say something."""
    return part is None or (isinstance(part, str) and not part.strip())


def no_part(name: str, part: Any = None) -> CheckScore:
    """0 because the answer lacks the part that the check looks at."""
    return CheckScore(0.0, f"the answer has no {_named(name)}" if part is None else f"{_named(name)} of the answer is empty")


def missing_part(spec: CheckSpec, answer: Answer) -> CheckScore | None:
    """0 when the check's part of the answer is missing or blank, else None."""
    part = answer.part(spec.part)
    return no_part(spec.part, part) if is_blank(part) else None


def _named(name: str) -> str:
    return f"`{visible(name[:QUOTED])}`"


def visible(text: str) -> str:
    """Text on one line: line ends, control and direction characters as escapes."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode("ascii") for char in text)


def one_line(text: str, limit: int = DETAIL_LIMIT) -> str:
    """Foreign text as a detail: on one line, at most `limit` characters, cut with `…`."""
    line = visible(" ".join(text[: 2 * limit].split()))
    return line if len(line) <= limit and len(text) <= 2 * limit else line[: limit - 1] + "…"


def quoted(text: str, limit: int = QUOTED) -> str:
    """Foreign text in double quotes on one line, cut with `…`."""
    if len(text) <= limit and text.isprintable():
        return f'"{text}"'
    line = visible(text[: limit + 1])
    return f'"{line[:limit]}…"' if len(text) > limit or len(line) > 2 * limit else f'"{line}"'


def listed(parts: Iterable[str], total: int, limit: int = DETAIL_LIMIT) -> str:
    """Reasons joined by `; ` within `limit` characters; what did not fit is counted out of `total`."""
    first = list(islice(parts, _LISTED))
    line = "; ".join(first)
    if len(first) == total and len(line) <= limit and line.isprintable():
        return line
    line, shown = "", 0
    for part in first:
        longer = f"{line}; {part}" if line else part
        if len(longer) > limit - len(_more(total)) and line:
            break
        line, shown = longer, shown + 1
    return one_line(line if shown == total else f"{line[: limit - len(_more(total))]}{_more(total - shown)}", limit)


def _more(count: int) -> str:
    return f"; and {count} more"


def is_deep(value: Any, deepest: int = DEEPEST) -> bool:
    """Whether a JSON value is nested deeper than `deepest` levels; found without recursion."""
    level: Sequence[Any] = (value,)
    for _ in range(deepest):
        level = [item for holder in level if isinstance(holder, Mapping | list | tuple) for item in (holder.values() if isinstance(holder, Mapping) else holder)]
        if not level:
            return False
    return True


def share(held: int, total: int) -> float:
    """Held / total in 0..1; 0 of 0 is 1."""
    return held / total if total else 1.0


def weighted_mean(scores: Sequence[float], weights: Sequence[float]) -> float:
    """Mean in 0..1 under positive weights; rounding never lifts it above the best score."""
    return min(math.fsum(map(mul, scores, weights)) / math.fsum(weights), max(scores))
