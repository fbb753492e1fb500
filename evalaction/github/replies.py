"""What one answer over the wire means: how long to wait before asking again, and how a refusal is said."""

from __future__ import annotations

import dataclasses
import datetime
import json
import math
from collections.abc import Mapping
from typing import Any, Literal

from evalaction.core.checks.base import one_line
from evalaction.core.retry_after import retry_after_seconds

LOST = 0
"""The status of an exchange without an answer: no connection, or one that broke; `text` says which."""
_UNHINTED_SECONDS = 60.0
"""What GitHub asks for where a limit comes without a hint."""
_LONGEST_SECONDS = 10.0**8
_SECONDARY = ("secondary rate limit", "api rate limit exceeded", "abuse detection")
_MESSAGE = 200


@dataclasses.dataclass(frozen=True, slots=True)
class Reply:
    """Status, headers in lower case and text of an answer; status 0 for none."""

    status: int
    headers: Mapping[str, Any]
    text: str

    @property
    def kind(self) -> Literal["permission", "missing", "refused", "unavailable"]:
        """The kind of GitHubError that a status stands for."""
        if self.status in (401, 403):
            return "permission"
        if self.status in (404, 410):
            return "missing"
        return "refused" if 400 <= self.status < 500 and self.status != 429 else "unavailable"

    @property
    def is_failure(self) -> bool:
        """Whether the server or the way to it failed: asking again may help."""
        return self.status == LOST or self.status >= 500

    @property
    def message(self) -> str:
        """What went wrong, on one line and bounded: GitHub's own message, or that there is none."""
        if self.status == LOST:
            return f"no answer ({one_line(self.text, _MESSAGE)})"
        said = self._said()
        return f"{self.status}{f' {one_line(said, _MESSAGE)}' if said else ''}"

    def _said(self) -> str:
        """`message` of a JSON answer; nothing of a page of some proxy."""
        try:
            found = json.loads(self.text)
        except (ValueError, RecursionError):
            return ""
        said = found.get("message") if isinstance(found, dict) else None
        return said if isinstance(said, str) else ""

    def limit_seconds(self, now: float) -> float | None:
        """Seconds until a rate limit ends, None when this answer is no rate limit. `now` counts from the epoch.

        After GitHub's "Rate limits for the REST API": `retry-after`, else the reset of an exhausted quota, else a minute.
        """
        if self.status not in (403, 429):
            return None
        hint = retry_after_seconds(self.headers.get("retry-after"), now)
        if hint is None and self.headers.get("x-ratelimit-remaining") == "0":
            hint = self._until_reset(now)
        if hint is None and (self.status == 429 or any(words in self._said().lower() for words in _SECONDARY)):
            hint = _UNHINTED_SECONDS
        return None if hint is None else min(max(hint, 1.0), _LONGEST_SECONDS)

    def _until_reset(self, now: float) -> float:
        try:
            reset = float(self.headers.get("x-ratelimit-reset", ""))
        except ValueError:
            return _UNHINTED_SECONDS
        return reset - now + 1 if math.isfinite(reset) else _LONGEST_SECONDS

    @property
    def has_next(self) -> bool | None:
        """Whether the answer links to a next page; None where it links to none at all."""
        link = self.headers.get("link")
        return None if link is None else 'rel="next"' in link


def at(seconds: float) -> str:
    """A time of the epoch as people read it, to the minute; `later` where it is no date."""
    try:
        return datetime.datetime.fromtimestamp(seconds, datetime.UTC).strftime("%Y-%m-%d %H:%M UTC")
    except (ValueError, OverflowError, OSError):
        return "later"
