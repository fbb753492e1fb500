"""One child process, measured from outside."""

from __future__ import annotations

import dataclasses
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path

DEADLINE_SECONDS = 900.0
SCRIPTS = Path(__file__).resolve().parent


class BenchError(Exception):
    """A child did not do what was asked; figures of such a run mean nothing."""


@dataclasses.dataclass(frozen=True, slots=True)
class Measured:
    """One finished process. `ended_at` is on the machine's monotonic clock, which all processes share."""

    wall_seconds: float
    cpu_seconds: float
    peak_mb: float
    ended_at: float


def measure(command: Sequence[str], folder: Path, expected: int = 0) -> Measured:
    """Run to its end in `folder`: wall and processor time (user and system, with its own children), peak resident memory in MB (10^6 bytes).

    The kernel counts the memory of the starting process until the child's program is loaded, so the starter
    has to stay small: data are written line by line here, and nothing but the standard library is loaded.

    Raises BenchError when it ends with another code than `expected`, or not within 15 minutes.
    """
    with tempfile.TemporaryFile() as said:
        started = time.monotonic()
        process = subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=said, stderr=said, env=clean_environment())
        watch = threading.Timer(DEADLINE_SECONDS, process.kill)
        watch.start()
        try:
            _, status, usage = os.wait4(process.pid, 0)
        finally:
            watch.cancel()
        ended = time.monotonic()
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != expected:
            raise BenchError(f"{' '.join(command)} ended with {process.returncode}, not {expected}:\n{_tail(said)}")
    bytes_per_unit = 1 if sys.platform == "darwin" else 1024
    return Measured(ended - started, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * bytes_per_unit / 1e6, ended)


def clean_environment() -> dict[str, str]:
    """Only what a process needs, so that a proxy or a colour setting does not change a figure."""
    return {"PATH": os.environ.get("PATH", os.defpath), "HOME": os.environ.get("HOME", "/"), "LANG": "C.UTF-8"}


def _tail(said: tempfile._TemporaryFileWrapper[bytes] | object) -> str:
    said.seek(0)  # type: ignore[union-attr]  # typeshed has no public name for the file
    text: bytes = said.read()  # type: ignore[union-attr]  # the same
    return text.decode(errors="replace")[-2000:]
