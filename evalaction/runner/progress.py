"""How far a run is, on stderr: a bar on a terminal, else a plain line now and then."""

from __future__ import annotations

import threading
from typing import Any, Protocol, TextIO

from evalaction.core.excerpts import excerpt

PLAIN_SECONDS = 5.0

_SHOWN = 60
"""Characters of a suite or case that a line of progress names."""


class Progress(Protocol):
    """Told by the caller when a suite starts and ends, and by the runner of every trial."""

    def start(self, suite: str, total: int) -> None:
        """A suite of `total` trials begins."""

    def step(self, case: str, *, failed: bool) -> None:
        """One trial is final; `failed` when it could not be measured."""

    def finish(self) -> None:
        """The suite is over; may be called twice."""


def progress_on(stream: TextIO, *, quiet: bool = False) -> Progress:
    """The kind of progress that fits a stream."""
    if quiet:
        return NoProgress()
    return Bar(stream) if stream.isatty() else PlainLines(stream)


class NoProgress:
    """Says nothing."""

    def start(self, suite: str, total: int) -> None:
        """Nothing."""

    def step(self, case: str, *, failed: bool) -> None:
        """Nothing."""

    def finish(self) -> None:
        """Nothing."""


class PlainLines:
    """A line every few seconds, also while a slow target lets no trial finish, and one at the end.

    Every line begins with our own words: a runner must never take a case's id for one of its commands.
    """

    def __init__(self, stream: TextIO, interval_seconds: float = PLAIN_SECONDS) -> None:
        self._stream, self._interval_seconds = stream, interval_seconds
        self._suite, self._total, self._done, self._failed, self._last = "", 0, 0, 0, ""
        self._over = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self, suite: str, total: int) -> None:
        """Begin to report."""
        self.finish()
        self._suite, self._total, self._done, self._failed, self._last = excerpt(suite, _SHOWN), total, 0, 0, ""
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._report, args=(self._over,), name="eval-gate progress", daemon=True)
        self._thread.start()

    def step(self, case: str, *, failed: bool) -> None:
        """Count."""
        self._done += 1
        self._failed += failed
        self._last = case

    def finish(self) -> None:
        """The last line."""
        if self._thread is not None:
            self._over.set()
            self._thread.join()
            self._thread = None
            self._say()

    def _report(self, over: threading.Event) -> None:
        while not over.wait(self._interval_seconds):
            self._say()

    def _say(self) -> None:
        errors = f", {self._failed} could not be measured" if self._failed else ""
        last = f", last {excerpt(self._last, _SHOWN)}" if self._last and self._done < self._total else ""
        self._stream.write(f"eval-gate: {self._suite}: {self._done} of {self._total} trials{errors}{last}\n")
        self._stream.flush()


class Bar:
    """A bar that moves."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._bar: Any = None
        self._task: Any = None
        self._failed = 0

    def start(self, suite: str, total: int) -> None:
        """Draw it."""
        from rich.console import Console  # noqa: PLC0415  # slow to import, needed on terminals only
        from rich.markup import escape  # noqa: PLC0415  # as above
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn  # noqa: PLC0415  # as above

        self.finish()
        self._failed = 0
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.fields[errors]}"))
        self._bar = Progress(*columns, console=Console(file=self._stream), transient=True)
        self._task = self._bar.add_task(escape(excerpt(suite, _SHOWN)), total=total, errors="")
        self._bar.start()

    def step(self, case: str, *, failed: bool) -> None:  # noqa: ARG002  # the bar names no cases
        """Move it."""
        if self._bar is not None:
            self._failed += failed
            self._bar.update(self._task, advance=1, errors=f"{self._failed} not measured" if self._failed else "")

    def finish(self) -> None:
        """Take it away."""
        if self._bar is not None:
            bar, self._bar = self._bar, None
            bar.stop()
