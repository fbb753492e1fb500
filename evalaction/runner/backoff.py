"""How long to wait before a target is asked again."""

from __future__ import annotations

FIRST_SECONDS = 0.5
LONGEST_SECONDS = 30.0
LONGEST_HINT_SECONDS = 60.0
_SPREAD = 0.1


def delay_seconds(attempt: int, hint_seconds: float | None, chance: float) -> float:
    """Seconds to wait after failed attempt number `attempt` (from 0); `chance` is a random number in 0..1.

    Without a hint: exponential with full jitter, chance · min(30 s, 0.5 s · 2^attempt) (Brooker, "Exponential
    Backoff And Jitter", 2015). A server's own hint is kept, up to 60 s, and spread by a tenth so that
    waiting calls do not all come back at once.
    """
    if hint_seconds is not None:
        return min(hint_seconds * (1 + _SPREAD * chance), LONGEST_HINT_SECONDS)
    return chance * min(LONGEST_SECONDS, FIRST_SECONDS * 2.0 ** min(attempt, 32))
