"""How long GitHub may take: an answer as a whole, failures together, and all that is asked within a stretch of work."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

T = TypeVar("T")
ANSWER_SECONDS = 20.0
"""How long one answer may take, from the request to its last byte."""
TROUBLE_SECONDS = 40.0
"""How long answers that did not come in time may hold us up in all."""
_AFTERWARDS_SECONDS = 5.0
"""What an answer has after that: one try, in case the outage is over."""


class LateAnswer(Exception):
    """The answer was not whole in time."""


class Deadline:
    """The time that is left, for a client. Seconds are those of the monotonic clock."""

    def __init__(self, answer_seconds: float = ANSWER_SECONDS) -> None:
        self._answer_seconds, self._lost = answer_seconds, 0.0
        self._until: float | None = None

    @contextlib.contextmanager
    def within(self, seconds: float) -> Iterator[None]:
        """Everything asked within takes so long at most, and no longer than what is round it allows."""
        before, until = self._until, time.monotonic() + seconds
        self._until = until if before is None else min(before, until)
        try:
            yield
        finally:
            self._until = before

    @property
    def is_over(self) -> bool:
        """Whether nothing more may be asked."""
        return self._until is not None and time.monotonic() >= self._until

    @property
    def may_repeat(self) -> bool:
        """Whether what failed may be asked again."""
        return self._lost < TROUBLE_SECONDS and not self.is_over

    @contextlib.contextmanager
    def counted(self) -> Iterator[float]:
        """One try, and the seconds that it has; one that takes nearly all of them counts as trouble, even where an answer came."""
        seconds, started = self._seconds(), time.monotonic()
        yield seconds
        taken = time.monotonic() - started
        self._lost += taken if taken > seconds / 2 else 0.0

    def _seconds(self) -> float:
        each = self._answer_seconds if self._lost < TROUBLE_SECONDS else min(self._answer_seconds, _AFTERWARDS_SECONDS)
        return each if self._until is None else max(min(each, self._until - time.monotonic()), 0.1)


def in_time(work: Callable[[], T], seconds: float) -> T:
    """What `work()` returns or raises; LateAnswer after so many seconds, and the work is left to a thread that keeps no process from ending.

    A timeout of a socket counts from byte to byte, and PyGithub waits by itself for an answer 202: neither ends in a time that is known.
    """
    outcome: list[Any] = []
    failure: list[Exception] = []

    def run() -> None:
        try:
            outcome.append(work())
        except Exception as error:  # noqa: BLE001 - raised again in the thread that waits
            failure.append(error)

    thread = threading.Thread(target=run, name="eval-gate-github", daemon=True)
    thread.start()
    thread.join(seconds)
    if failure:
        raise failure[0]
    if not outcome:
        raise LateAnswer(f"no whole answer in {seconds:.0f} s")
    return outcome[0]  # type: ignore[no-any-return]  # what the work returned
