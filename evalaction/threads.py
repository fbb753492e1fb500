"""Work that may hang, in daemon threads: a thread that never ends must not keep the process from ending.

The loop's own executor is joined at the end of a run and again at the exit of the interpreter, so one
hung function of an author's would hang the whole run.
"""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")


async def in_daemon_thread(work: Callable[[], T]) -> T:
    """The result of `work()`, or whatever it raised; cancelling leaves the thread behind and goes on."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()
    context = contextvars.copy_context()
    threading.Thread(target=_work, args=(context, work, loop, future), name="eval-gate", daemon=True).start()
    return await future


def _work(context: contextvars.Context, work: Callable[[], Any], loop: asyncio.AbstractEventLoop, future: asyncio.Future[Any]) -> None:
    outcome: Any = None
    error: BaseException | None = None
    try:
        outcome = context.run(work)
    except BaseException as caught:  # noqa: BLE001  # handed over to whoever awaits it
        error = caught
    try:
        loop.call_soon_threadsafe(_deliver, future, outcome, error)
    except RuntimeError:  # the loop is closed: nobody waits for this any more
        return


def _deliver(future: asyncio.Future[Any], outcome: Any, error: BaseException | None) -> None:
    if future.done():
        return
    if isinstance(error, StopIteration):  # a future refuses to carry it
        error = RuntimeError("StopIteration was raised").with_traceback(error.__traceback__)
    if error is None:
        future.set_result(outcome)
    else:
        future.set_exception(error)
