"""What every use needs, made once at the porch and handed down."""

from __future__ import annotations

import dataclasses
import random
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal, Protocol

from evalaction.console import Console
from evalaction.core.record import Shard
from evalaction.core.verdict import Verdict
from evalaction.datasets.overrides import Overrides
from evalaction.report.details import Details
from evalaction.settings import Settings


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """Settings, log, clocks and chance."""

    settings: Settings
    console: Console
    now: Callable[[], datetime] = lambda: datetime.now(UTC)
    clock: Callable[[], float] = time.monotonic
    random: random.Random = dataclasses.field(default_factory=random.Random)

    def before_measuring(self, outputs: Outputs) -> Parts:
        """The same, knowing what of the working tree is not committed; results and baselines aside."""
        return dataclasses.replace(self, settings=self.settings.with_changes((outputs.out, outputs.baseline)))

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

    @property
    def is_whole(self) -> bool:
        """Whether all cases are meant."""
        return self.filter is None and self.tag is None and self.shard is None


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Remarks:
    """What the choice of a baseline leaves to say: candidates passed over with their reasons, and doubts about the one that was taken."""

    passed_over: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    behind_by: int | None = None
    """Commits that the default branch has beyond the acceptance."""


class BaselineSource(Protocol):
    """Where accepted baselines come from when that is no folder of the repository."""

    def fetch(self, keys: Sequence[str]) -> None:
        """Put the baselines of these suites where `Outputs.baseline` looks for them. Raises ConfigError or GitHubError; "none" is no error."""
        ...

    def fetch_beside(self, keys: Collection[str]) -> None:
        """Put there too what the same acceptances stored of other suites than these. Raises as `fetch` does."""
        ...

    def remarks(self, key: str) -> Remarks:
        """What is to be said about the choice."""
        ...


class Sink(Protocol):
    """Somewhere a verdict is shown beside the files; it can fail on its own and never changes the verdict."""

    def __call__(self, verdict: Verdict, details: Mapping[str, Details]) -> None:
        """Show it; `details` by suite key."""
        ...


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Outputs:
    """Where results go and in which form."""

    out: Path
    baseline: Path
    format: Literal["text", "json", "markdown"] = "text"
    report: Path | None = None
    junit: Path | None = None
    html: Path | None = None
    report_only: bool = False
    label: str | None = None
    """Name under which the records are kept for later comparisons."""
    baseline_label: str | None = None
    """Label whose newest runs stand in the place of the accepted baselines."""
    command: str = ""
    """The command line as it was typed, for whoever wants to run it again."""
    accept: str | None = None
    """How to accept this run, where that is no command line."""
    accept_regressions: str | None = None
    """The same for only what got worse, where that is the better advice."""
    source: BaselineSource | None = None
    commit: str | None = None
    """The commit that was provably measured, where the records' own word for it is not believed."""
    sink: Sink | None = None
    foreign: bool = False
    """Whether the records come from a run that may be a stranger's: they are data, and name neither their baseline nor what a base system said."""


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
