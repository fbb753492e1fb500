"""How long a server asks its callers to wait."""

from __future__ import annotations

import email.utils
import math


def retry_after_seconds(value: str | None, now_seconds: float) -> float | None:
    """Seconds from now that a Retry-After header names, as a number or an HTTP date; None when it names none.

    `now_seconds` counts from the epoch. Never negative.
    """
    if value is None:
        return None
    try:
        seconds = float(value)
    except ValueError:
        try:
            seconds = email.utils.parsedate_to_datetime(value).timestamp() - now_seconds
        except (ValueError, OverflowError):
            return None
    return None if math.isnan(seconds) else max(seconds, 0.0)
