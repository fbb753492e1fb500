"""The runner's side of the street: workflow commands in the log, outputs, the job summary. A surface that is not there is skipped, and said."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import uuid
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Literal, Protocol

_MESSAGE_LIMIT = 4000
"""Characters of an annotation's message; the runner cuts at 4,096."""


class Log(Protocol):
    """Where commands go: the stream that the runner reads."""

    def write(self, text: str) -> int:
        """Write and flush."""
        ...


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Runner:
    """Files and log of the step. `output` and `summary` are None where the runner gave none."""

    log: Log
    output: Path | None = None
    summary: Path | None = None

    @classmethod
    def of(cls, environment: Mapping[str, str], log: Log) -> Runner:
        """The runner that the environment describes."""
        named = {name: environment.get(variable) for name, variable in (("output", "GITHUB_OUTPUT"), ("summary", "GITHUB_STEP_SUMMARY"))}
        return cls(log=log, **{name: Path(value) if value else None for name, value in named.items()})

    @contextlib.contextmanager
    def commands_off(self) -> Iterator[Quiet]:
        """Within, nothing that is printed is a workflow command, whatever it holds; the value given lets ours through."""
        quiet = Quiet(self.log, str(uuid.uuid4()))
        self.log.write(f"::stop-commands::{quiet.token}\n")
        try:
            yield quiet
        finally:
            self.log.write(f"::{quiet.token}::\n")

    def set_outputs(self, values: Mapping[str, str]) -> bool:
        """Write all outputs at once; False when there is nowhere to write them. A value can never add an output of its own."""
        mark = f"ghadelimiter_{uuid.uuid4()}"
        return _append(self.output, "".join(f"{name}<<{mark}\n{value}\n{mark}\n" for name, value in values.items()))

    def add_summary(self, markdown: str) -> bool:
        """Append to the job summary; False when there is none. The text must be below `limits.SUMMARY_LIMIT` bytes."""
        return _append(self.summary, markdown if markdown.endswith("\n") else f"{markdown}\n")


@dataclasses.dataclass(frozen=True, slots=True)
class Quiet:
    """A log in which commands are switched off."""

    log: Log
    token: str

    def command(self, level: Literal["error", "warning", "notice"], message: str, *, title: str = "", file: str = "", line: int | None = None) -> None:
        """One annotation of our own."""
        known = {"file": file, "line": str(line) if line else "", "title": title}
        properties = ",".join(f"{name}={_property(value)}" for name, value in known.items() if value)
        self.log.write(f"::{self.token}::\n::{level}{' ' if properties else ''}{properties}::{_data(message[:_MESSAGE_LIMIT])}\n::stop-commands::{self.token}\n")


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def _at_once(path: str, flags: int) -> int:
    """A pipe that nobody reads is refused rather than waited for."""
    return os.open(path, flags | os.O_NONBLOCK, 0o666)


def _append(path: Path | None, text: str) -> bool:
    if path is None:
        return False
    try:
        with open(path, "a", encoding="utf-8", errors="replace", opener=_at_once) as file:
            file.write(text)
    except OSError:
        return False
    return True
