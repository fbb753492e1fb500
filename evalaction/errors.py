"""Every way to say no, and the codes that name them.

    EvalGateError                 carries an exit code
    ├── ConfigError               a person must change something: exit 2, one or many Faults
    ├── GitHubError               GitHub refused, failed or could not be reached; whoever asked decides what that means
    └── MeasureError              a trial could not be measured: kept in the record, never raised to the user
        └── TargetError           the system under test failed; says whether asking again may help

A verdict of "no" is a value, never an exception.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from enum import IntEnum
from typing import Literal


class ExitCode(IntEnum):
    """What the process ends with; the table of the README is generated from it."""

    OK = 0
    REGRESSED = 1
    CONFIG = 2
    NOT_MEASURED = 3
    INTERNAL = 4

    @property
    def meaning(self) -> str:
        """One line for the log."""
        return _MEANINGS[self]


_MEANINGS = {
    ExitCode.OK: "nothing to object",
    ExitCode.REGRESSED: "judged, and got worse or is below a threshold",
    ExitCode.CONFIG: "a person must change something before this can be judged",
    ExitCode.NOT_MEASURED: "could not be measured or compared; this is not a verdict on the change",
    ExitCode.INTERNAL: "a bug in eval-gate",
}


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One configuration error: where, what, and what to do. Line and column are 1-based; `path` is the place inside the document."""

    code: str
    what: str
    fix: str
    file: str | None = None
    line: int | None = None
    column: int | None = None
    path: str = ""

    def __str__(self) -> str:
        """`CODE file:line:column path: what. Fix: …`, on one line."""
        place = ":".join(str(part) for part in (self.file, self.line, self.column) if part is not None)
        where = " ".join(part for part in (place, self.path) if part)
        head = f"{self.code} {where}: " if where else f"{self.code}: "
        return f"{head}{_ended(self.what)} Fix: {_ended(self.fix)}"


def _ended(sentence: str) -> str:
    """A sentence with one mark at its end."""
    return sentence if sentence.endswith(("?", "!")) else f"{sentence.rstrip('.')}."


class EvalGateError(Exception):
    """Base of all errors that are meant for a user."""

    exit_code = ExitCode.INTERNAL


class ConfigError(EvalGateError):
    """A person must change something. Carries every fault found, sorted by place."""

    exit_code = ExitCode.CONFIG

    def __init__(self, faults: Iterable[Fault]) -> None:
        self.faults = tuple(sorted(set(faults), key=lambda f: (f.file or "", f.line or 0, f.column or 0, f.code, f.path, f.what)))
        super().__init__("\n".join(map(str, self.faults)))

    @classmethod
    def one(cls, code: str, what: str, fix: str, **place: str | int | None) -> ConfigError:
        """A single fault; `place` takes file, line, column and path."""
        return cls([Fault(code=code, what=what, fix=fix, **place)])  # type: ignore[arg-type]


class GitHubError(EvalGateError):
    """GitHub did not do what was asked. Exit 3 where nobody knows better: a lookup that may not be made is a ConfigError, a surface that cannot be written is a warning.

    `kind`: `permission` (401, 403), `missing` (404, 410), `refused` (422 and other 4xx), `unavailable` (5xx, 429 after waiting, no connection, an answer that is none).
    """

    exit_code = ExitCode.NOT_MEASURED

    def __init__(self, kind: Literal["permission", "missing", "refused", "unavailable"], message: str, status: int | None = None) -> None:
        super().__init__(message)
        self.kind, self.status = kind, status


class MeasureError(EvalGateError):
    """One trial could not be measured. `detail` keeps the tail of what the system said."""

    exit_code = ExitCode.NOT_MEASURED

    def __init__(self, code: str, message: str, detail: str = "") -> None:
        super().__init__(message)
        self.code, self.message, self.detail = code, message, detail


class TargetError(MeasureError):
    """The system under test failed.

    `retryable`: asking again may help (429, 5xx, a broken connection); `retry_after_seconds`: the
    server's own hint; `overloaded`: fewer calls at once may help.
    """

    def __init__(self, code: str, message: str, detail: str = "", *, retryable: bool = False, retry_after_seconds: float | None = None, overloaded: bool = False) -> None:
        super().__init__(code, message, detail)
        self.retryable, self.retry_after_seconds, self.overloaded = retryable, retry_after_seconds, overloaded
