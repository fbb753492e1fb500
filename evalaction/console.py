"""The log and the results: lines that nobody's text can turn into something else, with secrets masked, on streams that may be gone."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import shutil
import sys
from typing import TextIO

from evalaction.core.masking import Masker
from evalaction.errors import ConfigError
from evalaction.report.text import plain


def _sayable(text: str, raw: TextIO) -> str:
    """The text in what the stream can spell: one sign that a terminal lacks must not cost the whole table."""
    encoding = getattr(raw, "encoding", None) or "utf-8"
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return text.encode(encoding, "backslashreplace").decode(encoding)
    return text


class Stream:
    """A text stream that may be closed, full or missing: what cannot be said is not said, and the verdict stands."""

    def __init__(self, raw: TextIO | None) -> None:
        self._raw = raw

    def write(self, text: str) -> int:
        """Write and flush."""
        if self._raw is not None:
            with contextlib.suppress(OSError, ValueError):
                self._raw.write(_sayable(text, self._raw))
                self._raw.flush()
        return len(text)

    def deliver(self, text: str) -> None:
        """Write what a program reads. Raises ConfigError CANNOT_WRITE when a disk or device does not take it; a reader that has gone wants no more."""
        if self._raw is not None:
            try:
                with contextlib.suppress(BrokenPipeError, ValueError):
                    self._raw.write(text)
                    self._raw.flush()
            except OSError as error:
                fix = "free some space, or send the output elsewhere"
                raise ConfigError.one("CANNOT_WRITE", f"cannot write: {error.strerror or error}", fix, file="stdout") from None

    def flush(self) -> None:
        """Nothing is kept back."""

    def isatty(self) -> bool:
        """Whether a person looks at it."""
        try:
            return self._raw is not None and self._raw.isatty()
        except ValueError:
            return False


def let_go() -> None:
    """At the end of the process: flush, and keep Python from ending with a code of its own when that fails."""
    for stream in (sys.stdout, sys.stderr):
        if stream is None:
            continue
        try:
            stream.flush()
        except (OSError, ValueError):
            with contextlib.suppress(OSError, ValueError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


@dataclasses.dataclass(frozen=True, slots=True)
class Console:
    """Where messages and results go. Results go to stdout and are left as they are but for secrets."""

    masker: Masker = dataclasses.field(default_factory=Masker)
    verbose: bool = False
    err: Stream = dataclasses.field(default_factory=lambda: Stream(sys.stderr))
    out: Stream = dataclasses.field(default_factory=lambda: Stream(sys.stdout))
    plain_colours: bool = False
    """Whether the owner of the terminal wants no colours."""

    @property
    def width(self) -> int:
        """Columns of the terminal, or of the variable COLUMNS."""
        return shutil.get_terminal_size((100, 24)).columns

    @property
    def coloured(self) -> bool:
        """Whether results go to a terminal whose owner wants colours."""
        return self.out.isatty() and not self.plain_colours

    def say(self, message: str) -> None:
        """One line of the log."""
        self.err.write(plain(self.masker.text(message)) + "\n")

    def detail(self, message: str) -> None:
        """A line for those who asked for more."""
        if self.verbose:
            self.say(message)

    def result(self, text: str) -> None:
        """A finished document; its author has made foreign text harmless."""
        self.out.write(_whole(self.masker.text(text)))

    def document(self, text: str, *, keep: frozenset[str] = frozenset()) -> None:
        """JSON that a program reads, masked in its texts but for those under the keys in `keep`. Raises ConfigError CANNOT_WRITE when it is lost."""
        shown = self.masker.serialised(text, keep=keep) if self.masker.finds(text.encode()) else text
        self.out.deliver(_whole(shown))


def _whole(text: str) -> str:
    return text if text.endswith("\n") else f"{text}\n"
