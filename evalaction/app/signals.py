"""SIGINT and SIGTERM end a run in order: calls under way are cancelled, what was measured is kept."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import Iterator

SIGNALS = (signal.SIGINT, signal.SIGTERM)


@contextlib.contextmanager
def stopping(stop: asyncio.Event) -> Iterator[None]:
    """Within the running loop a signal sets `stop`."""
    loop = asyncio.get_running_loop()
    for number in SIGNALS:
        with contextlib.suppress(NotImplementedError, RuntimeError):  # Windows has no such handlers: Ctrl-C then raises
            loop.add_signal_handler(number, stop.set)
    try:
        yield
    finally:
        for number in SIGNALS:
            with contextlib.suppress(NotImplementedError, RuntimeError):
                loop.remove_signal_handler(number)


@contextlib.contextmanager
def stopping_at_once(stop: asyncio.Event) -> Iterator[None]:
    """While no loop turns, a signal sets `stop` from a plain handler."""
    before = {number: signal.signal(number, lambda *_: stop.set()) for number in SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
