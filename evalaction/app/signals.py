"""SIGINT and SIGTERM end a run in order: calls under way are cancelled, what was measured is kept."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import Iterator

SIGNALS = (signal.SIGINT, signal.SIGTERM)


@contextlib.contextmanager
def stopping(stop: asyncio.Event) -> Iterator[None]:
    """Within the running loop a signal sets `stop`; afterwards the handlers are those of before.

    The loop itself would leave SIGTERM with the system's default, which ends the process without a verdict.
    """
    loop = asyncio.get_running_loop()
    with _handlers_kept():
        for number in SIGNALS:
            loop.add_signal_handler(number, stop.set)
        try:
            yield
        finally:
            for number in SIGNALS:
                loop.remove_signal_handler(number)


@contextlib.contextmanager
def stopping_at_once(stop: asyncio.Event) -> Iterator[None]:
    """While no loop turns, a signal sets `stop` from a plain handler."""
    with _handlers_kept():
        for number in SIGNALS:
            signal.signal(number, lambda *_: stop.set())
        yield


@contextlib.contextmanager
def _handlers_kept() -> Iterator[None]:
    before = {number: signal.getsignal(number) for number in SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
