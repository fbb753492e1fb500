"""The log: lines on stderr that nobody's text can turn into something else, with secrets masked."""

from __future__ import annotations

import dataclasses
import os
import shutil
import sys
from typing import TextIO

from evalaction.core.masking import Masker
from evalaction.report.text import plain


@dataclasses.dataclass(frozen=True, slots=True)
class Console:
    """Where messages and results go. Results go to stdout and are left as they are but for secrets."""

    masker: Masker = dataclasses.field(default_factory=Masker)
    verbose: bool = False
    err: TextIO = dataclasses.field(default_factory=lambda: sys.stderr)
    out: TextIO = dataclasses.field(default_factory=lambda: sys.stdout)

    @property
    def width(self) -> int:
        """Columns of the terminal, or of the variable COLUMNS."""
        return shutil.get_terminal_size((100, 24)).columns

    @property
    def coloured(self) -> bool:
        """Whether results go to a terminal whose owner wants colours."""
        return self.out.isatty() and "NO_COLOR" not in os.environ

    def say(self, message: str) -> None:
        """One line of the log."""
        self.err.write(plain(self.masker.text(message)) + "\n")
        self.err.flush()

    def detail(self, message: str) -> None:
        """A line for those who asked for more."""
        if self.verbose:
            self.say(message)

    def result(self, text: str) -> None:
        """A finished document; its author has made foreign text harmless."""
        self.out.write(self.masker.text(text) + ("" if text.endswith("\n") else "\n"))
        self.out.flush()
