"""The command line in this process: what a child process would do, without the half second that one takes to start."""

from __future__ import annotations

import contextlib
import dataclasses
import io
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from unittest.mock import patch

from evalaction.cli import execute


@dataclasses.dataclass(frozen=True)
class Ended:
    """What a command left behind: its exit code, what it wrote to each stream, and both in the order in which they were written."""

    code: int
    out: str
    err: str
    printed: str


class _Both(io.StringIO):
    """A stream that also writes to a second one."""

    def __init__(self, whole: io.StringIO) -> None:
        super().__init__()
        self._whole = whole

    def write(self, text: str) -> int:
        """Write to both."""
        self._whole.write(text)
        return super().write(text)


def run_here(arguments: Sequence[str], folder: Path, environment: Mapping[str, str]) -> Ended:
    """Run `eval-gate` with these arguments in this folder and with no other variables than these."""
    printed = io.StringIO()
    out, err = _Both(printed), _Both(printed)
    with (
        patch.dict(os.environ, environment, clear=True), patch.object(sys, "argv", ["eval-gate", *arguments]), contextlib.chdir(folder), _modules_of(folder),
        contextlib.redirect_stdout(out), contextlib.redirect_stderr(err),
    ):  # fmt: skip
        code = execute(list(arguments))
    return Ended(code, out.getvalue(), err.getvalue(), printed.getvalue())


@contextlib.contextmanager
def _modules_of(folder: Path) -> Iterator[None]:
    """Forgets the modules that were loaded from a folder: another one may hold other modules of the same names."""
    known = list(sys.path)
    yield
    sys.path[:] = known
    for name, module in list(sys.modules.items()):
        if str(getattr(module, "__file__", None) or "").startswith(f"{folder}{os.sep}"):
            del sys.modules[name]
