"""Keeps secrets out of what a child can read of this process: the block of variables that it was started with, in `/proc/PID/environ`.

Taking a variable out of `os.environ` leaves that block as it was. So the process starts itself once more, under the same
number, with the variables that every target is given, and reads the others from a nameless file. In the Action's container
the first process would keep the block all the same; there the script hands the secrets over in a file, emptied and removed here.
"""

from __future__ import annotations

import contextlib
import os
import re
import sys
from collections.abc import MutableMapping

from evalaction.targets.environment import passed_on

HANDED = "EVAL_GATE_HANDED"
"""Where variables were handed over: `fd:N` by ourselves, or the path of a file by the Action's script. Each is `NAME=value` with a zero byte behind it."""
_OURS = re.compile(r"\Afd:[0-9]{1,6}\Z|/eval-gate-handed\.[A-Za-z0-9]+\Z")
_PR_SET_DUMPABLE = 4


def take_over(environ: MutableMapping[str, str]) -> None:
    """Return with every variable in `environ` and no secret in the block; the process may begin anew before it does. What was handed over and is gone counts as not given."""
    handed = environ.pop(HANDED, "")
    if not _OURS.search(handed):
        with contextlib.suppress(OSError):  # a system without room for the file: the run goes on with its block as it is
            _begin_anew(environ)
    else:
        with contextlib.suppress(OSError):
            pairs = (os.fsdecode(pair).partition("=") for pair in _read(handed).split(b"\0") if pair)
            environ.update({name: value for name, _, value in pairs})
    _close_memory()


def _begin_anew(environ: MutableMapping[str, str]) -> None:
    shown = passed_on(environ)
    data = b"".join(os.fsencode(f"{name}={value}\0") for name, value in environ.items() if name not in shown)
    handle = _nameless()
    with os.fdopen(os.dup(handle), "wb") as file:
        file.write(data)
    os.lseek(handle, 0, os.SEEK_SET)
    os.set_inheritable(handle, True)
    os.execve(sys.executable, [sys.executable, *sys.orig_argv[1:]], {**shown, HANDED: f"fd:{handle}"})  # noqa: S606 - this very program


def _nameless() -> int:
    """A file that nobody else can open by a name."""
    if sys.platform == "linux":
        return os.memfd_create("eval-gate")
    import tempfile  # noqa: PLC0415 - only where there is nothing quicker

    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())


def _read(handed: str) -> bytes:
    if handed.startswith("fd:"):
        with os.fdopen(int(handed.removeprefix("fd:")), "rb") as file:
            return file.read()
    with open(handed, "r+b") as file:  # noqa: PTH123 - pathlib costs more than all of this
        os.unlink(handed)  # noqa: PTH108 - as above
        data = file.read()
        file.truncate(0)
    return data


def _close_memory() -> None:
    """On Linux, give `/proc/PID` to root, so that no process of the same user reads our memory or environment there; the next program that is started is open again."""
    if sys.platform != "linux":
        return
    with contextlib.suppress(ImportError, OSError, AttributeError):  # a Python without ctypes, or a library without it: the block holds no secret either way
        import ctypes  # noqa: PLC0415 - needed here alone

        ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
