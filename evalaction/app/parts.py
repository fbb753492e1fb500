"""What every use needs, made once at the porch and handed down."""

from __future__ import annotations

import dataclasses
import random
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from evalaction.console import Console
from evalaction.core.record import Shard
from evalaction.datasets.overrides import Overrides
from evalaction.settings import Settings


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """Settings, log, clocks and chance."""

    settings: Settings
    console: Console
    now: Callable[[], datetime] = lambda: datetime.now(UTC)
    clock: Callable[[], float] = time.monotonic
    random: random.Random = dataclasses.field(default_factory=random.Random)

    def stamp(self) -> str:
        """The time now, UTC, to the second, ISO 8601."""
        return self.now().strftime("%Y-%m-%dT%H:%M:%SZ")


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Selected:
    """Which cases, and how often."""

    filter: str | None = None
    tag: str | None = None
    shard: Shard | None = None
    resume: bool = False


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Outputs:
    """Where results go and in which form."""

    out: Path
    baseline: Path
    format: Literal["text", "json", "markdown"] = "text"
    report: Path | None = None
    junit: Path | None = None
    report_only: bool = False
    command: str = ""
    """The command line as it was typed, for whoever wants to run it again."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Tapes:
    """Folders of cassettes: answers are taken from `replay` and kept in `record_to`; `prune` drops from the latter what the run did not use."""

    replay: Path | None = None
    record_to: Path | None = None
    prune: bool = False


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One measuring command: suites, what overrides them, which cases, where to."""

    suites: tuple[str, ...]
    overrides: Overrides
    selected: Selected
    outputs: Outputs
    record: Path | None = None
    tapes: Tapes = Tapes()
