"""SIGINT and SIGTERM end a run in order: calls under way are cancelled, what was measured is kept."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType

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
def one_interrupt() -> Iterator[None]:
    """Within, the first signal raises KeyboardInterrupt once `let_in` was called, and all later ones are ignored: what is left to do then is short, and must be done.

    Signals of before wait until then, and those after its end until the mask of before is back.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    try:
        with _handlers_kept():
            for number in SIGNALS:
                signal.signal(number, _interrupt)
            try:
                yield
            finally:
                signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)


def let_in() -> None:
    """Let signals come, those that waited at once."""
    signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)


def deaf() -> None:
    """From now on signals change nothing."""
    if threading.current_thread() is threading.main_thread():
        for number in SIGNALS:
            signal.signal(number, signal.SIG_IGN)


@contextlib.contextmanager
def held() -> Iterator[None]:
    """Signals that come within are raised at the end: what happens within happens whole."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    waiting: list[int] = []
    try:
        with _handlers_kept():
            for number in SIGNALS:
                signal.signal(number, lambda came, _frame: waiting.append(came))
            yield
    finally:
        for came in waiting[:1]:
            signal.raise_signal(came)


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    deaf()
    raise KeyboardInterrupt


@contextlib.contextmanager
def _handlers_kept() -> Iterator[None]:
    before = {number: signal.getsignal(number) for number in SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
