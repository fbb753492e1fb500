"""Known secrets are masked in everything that is written: as they are, and as JSON, URLs, HTML, hexadecimal and base64 spell them."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any

from evalaction.core.spellings import is_escaped, needles, pattern

MASK = "***"
SHORTEST = 6
"""Shorter values are too common to be masked without destroying the text."""
CUT = "…"
"""Stands where a text was cut."""
LONGEST_BEGINNING = 300
_SECRET_NAME = re.compile(r"KEY|TOKEN|SECRET|PASS|CREDENTIAL|CRED$|AUTH(?!OR(?!I[ZS]))|COOKIE|PRIVATE|DSN|SIGNATURE|(^|_)PWD$|(^|_)PAT$", re.IGNORECASE)
_NOT_SECRET = re.compile(r"^(PWD|OLDPWD|SSH_AUTH_SOCK|XAUTHORITY|.*_(PATH|FILE|DIR|HOME))$", re.IGNORECASE)
_JSON_TEXT = re.compile(r'"((?:[^"\\]|\\.)*+)"(\s*:)?')
"""A text in JSON, and the colon that makes it a key."""
_BEGUN = re.compile(r"\\{1,64}(?:u[0-9a-fA-F]{0,3}|x[0-9a-fA-F]?)?\Z")
"""The beginning of an escape whose rest is the beginning of a secret."""


def looks_secret(name: str) -> bool:
    """Whether a variable of this name holds a secret, by the words that people use for them."""
    return _SECRET_NAME.search(name) is not None and _NOT_SECRET.match(name) is None


@dataclasses.dataclass(frozen=True, slots=True)
class Shape:
    """What of an object is ours: a secret that happens to be one of our own words must not take it away, and leaks nothing that is not published.

    `own` keys are never masked, and what stands under them has the same shape, or the one that `below` names. Under a key of anybody else's
    everything is foreign. Values under the keys in `keep` stay as they are.
    """

    own: frozenset[str] = frozenset()
    keep: frozenset[str] = frozenset()
    below: Mapping[str, Shape] = dataclasses.field(default_factory=dict)

    def under(self, key: str) -> Shape:
        """The shape of a value."""
        return self.below.get(key) or (self if key in self.own else FOREIGN)


FOREIGN = Shape()
"""Of which nothing is ours."""


class _Secret:
    """One secret; its pattern is made when a text that may hold it comes by."""

    def __init__(self, value: str) -> None:
        self.value = value

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """Matches every spelling."""
        return pattern(self.value, SHORTEST)

    @cached_property
    def beginning(self) -> re.Pattern[str]:
        """Matches the beginning of the secret where a text was cut: a detail quotes no more than so many characters of an answer."""
        ends = range(min(len(self.value), LONGEST_BEGINNING), SHORTEST - 1, -1)
        return re.compile(f"(?:{'|'.join(re.escape(self.value[:end]) for end in ends)})(?={CUT})")

    @cached_property
    def ending(self) -> re.Pattern[str]:
        """Matches the end of the secret after a cut: of a long log its last characters are kept."""
        sizes = range(min(len(self.value), LONGEST_BEGINNING), SHORTEST - 1, -1)
        return re.compile(f"(?<={CUT})(?:{'|'.join(re.escape(self.value[-size:]) for size in sizes)})")


class Masker:
    """Replaces known secrets in text and in JSON values. Its `repr` shows none of them."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        known = sorted({secret.strip() for secret in secrets if len(secret.strip()) >= SHORTEST}, key=lambda secret: (-len(secret), secret))
        self._secrets = tuple(map(_Secret, known))
        self._needles = tuple(dict.fromkeys((needle, secret) for secret in self._secrets for needle in needles(secret.value, SHORTEST)))

    def __repr__(self) -> str:
        return "Masker(…)"

    def text(self, text: str) -> str:
        """The text with every known secret replaced. Strict JSON stays strict JSON: an escape is replaced whole or not at all."""
        for secret in self._suspects(text):
            text = _replaced(text, secret.pattern)
        if CUT in text:
            for secret in self._secrets:
                text = secret.ending.sub(MASK, secret.beginning.sub(MASK, text))
        return text

    def finds(self, data: bytes) -> bool:
        """Whether any secret stands in these bytes (UTF-8), in any spelling, escaped for JSON or not."""
        if not self._secrets:
            return False
        text = data.decode("utf-8", "replace")
        if CUT in text and any(secret.beginning.search(text) or secret.ending.search(text) for secret in self._secrets):
            return True
        return any(secret.pattern.search(text) for secret in self._suspects(text))

    def json(self, value: Any, shape: Shape = FOREIGN) -> Any:
        """A JSON value with secrets replaced in every text and key but for what its shape says is ours."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            return {key if key in shape.own else self.text(str(key)): item if key in shape.keep else self.json(item, shape.under(key)) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self.json(item, shape) for item in value]
        return value

    def serialised(self, text: str, *, keep: frozenset[str] = frozenset()) -> str:
        """JSON, or a piece of it between two values, with secrets replaced in its texts: never in a key or a number, nor in what stands under the keys in `keep`."""
        key = ""

        def masked(found: re.Match[str]) -> str:
            nonlocal key
            if found[2] is not None:
                key = found[1]
                return found[0]
            return found[0] if key in keep else f'"{self.text(found[1])}"'

        return _JSON_TEXT.sub(masked, text)

    def _suspects(self, text: str) -> tuple[_Secret, ...]:
        """The secrets that a quick look does not exclude, the longest first."""
        if not self._secrets or not text:
            return ()
        if is_escaped(text):
            return self._secrets
        near = {secret for needle, secret in self._needles if needle in text}
        return tuple(secret for secret in self._secrets if secret in near) if near else ()


def _replaced(text: str, secret: re.Pattern[str]) -> str:
    pieces: list[str] = []
    done = 0
    for found in secret.finditer(text):
        if found.start() < done:
            continue
        start, end = found.span()
        begun = _BEGUN.search(text, max(done, start - 70), start)
        pieces += (text[done : begun.start() if begun else start], MASK)
        done = end + 1 if _escapes_next(text, end) else end
    return "".join([*pieces, text[done:]]) if pieces else text


def _escapes_next(text: str, end: int) -> bool:
    """Whether the match ends in the middle of an escaped character: after an odd number of backslashes."""
    run = end - len(text[:end].rstrip("\\")) if text[end - 1 : end] == "\\" else 0
    return run % 2 == 1 and end < len(text)
