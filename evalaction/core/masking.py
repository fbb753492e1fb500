"""Known secrets are masked in everything that is written: as they are, and as JSON, URLs and base64 spell them."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import quote, quote_plus

MASK = "***"
SHORTEST = 6
"""Shorter values are too common to be masked without destroying the text."""
_SECRET_NAME = re.compile(r"KEY|TOKEN|SECRET|PASS|CREDENTIAL|CRED$|AUTH|COOKIE|PRIVATE|DSN|SIGNATURE|(^|_)PWD$|(^|_)PAT$", re.IGNORECASE)
_NOT_SECRET = re.compile(r"^(PWD|OLDPWD|SSH_AUTH_SOCK|XAUTHORITY|.*_(PATH|FILE|DIR|HOME))$", re.IGNORECASE)


def looks_secret(name: str) -> bool:
    """Whether a variable of this name holds a secret, by the words that people use for them."""
    return _SECRET_NAME.search(name) is not None and _NOT_SECRET.match(name) is None


class Masker:
    """Replaces known secrets in text and in JSON values. Its `repr` shows none of them."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        forms = {form for secret in secrets if len(secret.strip()) >= SHORTEST for form in _forms(secret.strip())}
        ordered = sorted(forms, key=len, reverse=True)
        self._pattern = re.compile("|".join(map(re.escape, ordered))) if ordered else None
        self._bytes = re.compile(b"|".join(re.escape(form.encode("utf-8", "surrogatepass")) for form in ordered)) if ordered else None

    def __repr__(self) -> str:
        return "Masker(…)"

    def text(self, text: str) -> str:
        """The text with every known secret replaced."""
        return text if self._pattern is None else self._pattern.sub(MASK, text)

    def finds(self, data: bytes) -> bool:
        """Whether any secret stands in these bytes (UTF-8)."""
        return self._bytes is not None and self._bytes.search(data) is not None

    def json(self, value: Any, *, keep: frozenset[str] = frozenset()) -> Any:
        """A JSON value with secrets replaced in every text and key; values under the keys in `keep` stay as they are."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            return {self.text(str(key)): item if key in keep else self.json(item, keep=keep) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self.json(item, keep=keep) for item in value]
        return value


def _forms(secret: str) -> Iterable[str]:
    """The spellings under which a secret can turn up."""
    yield secret
    yield json.dumps(secret)[1:-1]
    yield json.dumps(secret, ensure_ascii=False)[1:-1]
    yield quote(secret, safe="")
    yield quote_plus(secret)
    raw = secret.encode("utf-8", "surrogatepass")
    for shift in range(3):
        # A secret inside a longer base64 text starts at one of three phases; the characters it shares with its neighbours are cut.
        for encode in (base64.b64encode, base64.urlsafe_b64encode):
            code = encode(b"\0" * shift + raw).decode().rstrip("=")
            start, end = (shift * 8 + 5) // 6, len(code) - (1 if (len(raw) + shift) % 3 else 0)
            if end - start >= SHORTEST:
                yield code[start:end]
