"""New files written in a thread of their own, so that the calls of a system do not wait for the disk."""

from __future__ import annotations

import contextlib
import threading
from queue import SimpleQueue

from evalaction.errors import ConfigError
from evalaction.store.files import write_new

MOST_WAITING = 1000
"""Files that may wait to be written; whoever brings the next one waits with them, so that a slow disk does not fill the memory."""


class WriteBehind:
    """Writes files in the order in which they come. A refusal of the system is raised by every later call, as `write_new` raises it; nothing more is written then."""

    def __init__(self) -> None:
        self._waiting: SimpleQueue[tuple[str, bytes] | threading.Event] = SimpleQueue()
        self._thread: threading.Thread | None = None
        self._refused: ConfigError | None = None

    def write(self, path: str, data: bytes) -> None:
        """Take a file that nobody reads before `flush`. Raises ConfigError CANNOT_WRITE for an earlier one."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name="write-behind", daemon=True)
            self._thread.start()
        if self._refused is not None or self._waiting.qsize() >= MOST_WAITING:
            self.flush()
        self._waiting.put((path, data))

    def flush(self) -> None:
        """Wait until everything is on disk. Raises ConfigError CANNOT_WRITE when something is not."""
        if self._thread is not None:
            done = threading.Event()
            self._waiting.put(done)
            done.wait()
        if self._refused is not None:
            raise self._refused

    def close(self) -> None:
        """Flush, and end the thread; what could not be written has been said by then."""
        with contextlib.suppress(ConfigError):
            self.flush()
        if self._thread is not None:
            self._waiting.put(("", b""))
            self._thread.join()
            self._thread = None

    def _work(self) -> None:
        while True:
            taken = self._waiting.get()
            if isinstance(taken, threading.Event):
                taken.set()
            elif not taken[0]:
                return
            elif self._refused is None:
                try:
                    write_new(*taken)
                except ConfigError as error:
                    self._refused = error
