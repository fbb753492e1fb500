"""What one run measured, and what a person accepted: the types of the files on disk.

`case → trials → check results`. Scores are fractions 0..1. A baseline *is* an accepted record.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field

from evalaction.core.model import model as stored

SCHEMA_VERSION: Literal[1] = 1

Score = Annotated[float, Field(ge=0, le=1)]


@stored
class CheckResult:
    """One check on one answer. `detail` says why, in one line; `values` are its metrics when they are not just the score."""

    id: str
    score: Score
    passed: bool
    detail: str = ""
    values: Mapping[str, float] | None = None


@stored
class Failure:
    """Why a trial could not be measured; `detail` is the tail of what the system said."""

    code: str
    message: str
    detail: str = ""


@stored
class Tokens:
    """Tokens of one call."""

    input: int = 0
    output: int = 0


@stored
class Trial:
    """One run of one case: measured (`score`, `passed`, `checks`) or failed (`error`).

    `repeat` counts from 0; the trials of the suite's pass p are those with repeat // CaseRecord.repeats == p.
    `answer` is the answer as JSON, long texts cut; None once it has been dropped from memory.
    """

    repeat: int
    score: Score | None = None
    passed: bool | None = None
    checks: tuple[CheckResult, ...] = ()
    latency_ms: float | None = None
    cost_usd: float | None = None
    tokens: Tokens | None = None
    error: Failure | None = None
    answer: Any = None

    @property
    def measured(self) -> bool:
        """Whether this trial counts."""
        return self.error is None


@stored
class CheckInfo:
    """Identity of a check: pairs are compared only when id and fingerprint agree."""

    id: str
    type: str
    fingerprint: str
    weight: float = 1.0
    metrics: tuple[str, ...] = ()


@stored
class CaseRecord:
    """Everything measured of one case. `repeats` is the number of trials in one pass over the suite; later passes are confirmations."""

    schema_version: Literal[1] = SCHEMA_VERSION
    id: str
    fingerprint: str
    input: str = ""
    category: str | None = None
    tags: tuple[str, ...] = ()
    line: int | None = None
    repeats: int = Field(default=1, ge=1)
    checks: tuple[CheckInfo, ...] = ()
    trials: tuple[Trial, ...] = ()

    @property
    def measured(self) -> tuple[Trial, ...]:
        """The trials that count."""
        return tuple([trial for trial in self.trials if trial.error is None])

    @property
    def is_error(self) -> bool:
        """Fewer than half of the trials were measured: neither pass nor fail."""
        return 2 * len(self.measured) < len(self.trials) or not self.trials


@stored
class Calls:
    """Calls of target and judge: planned before the start, and made."""

    planned: int = 0
    made: int = 0
    judge_planned: int = 0
    judge_made: int = 0


@stored
class Shard:
    """Part `index` of `of`, counted from 1."""

    index: int = Field(ge=1)
    of: int = Field(ge=1)


@stored
class Selection:
    """What narrowed the run down; all None for a whole suite."""

    filter: str | None = None
    tag: str | None = None
    shard: Shard | None = None

    @property
    def is_partial(self) -> bool:
        """Whether some cases may have been left out on purpose."""
        return any((self.filter, self.tag, self.shard))


@stored
class RunHeader:
    """`record.json`: what was run, on what, under which policy, and what came out on average.

    `metrics` are means over the whole current suite; `target` and `judge` describe without secrets;
    `interrupted` marks a run that a signal or a limit ended early.
    """

    schema_version: Literal[1] = SCHEMA_VERSION
    suite: str
    key: str
    digest: str
    dataset_version: str | None = None
    file: str = ""
    commit: str | None = None
    run_id: str | None = None
    pull_request: int | None = None
    started_at: str
    finished_at: str
    tool_version: str
    deterministic: bool = False
    repeatable: bool = True
    """Whether the target can be asked again; a file of answers cannot."""
    target: Mapping[str, Any] = Field(default_factory=dict)
    judge: Mapping[str, Any] | None = None
    policy: Mapping[str, Any] = Field(default_factory=dict)
    floor: bool = True
    repeats: int = 1
    selection: Selection = Selection()
    interrupted: Failure | None = None
    counts: Mapping[str, int] = Field(default_factory=dict)
    metrics: Mapping[str, float] = Field(default_factory=dict)
    calls: Calls = Calls()
    cost_usd: float | None = None
    notes: tuple[str, ...] = ()
    """Doubts that arose while measuring, one line each."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class RunRecord:
    """A whole record: the header and its cases by id."""

    header: RunHeader
    cases: Mapping[str, CaseRecord]


@stored
class Acceptance:
    """Who made a record the baseline, when, and why. `digest` is that of the baseline as accepted; `cases` is None for all of them."""

    reason: str
    accepted_at: str
    accepted_by: str
    commit: str | None = None
    run_id: str | None = None
    pull_request: int | None = None
    accepted_in: str | None = None
    cases: tuple[str, ...] | None = None
    moved_anchor: bool = False
    digest: str = ""


@stored
class AcceptanceFile:
    """`acceptance.json` of a baseline: the acceptance in force and the chain before it, oldest first."""

    schema_version: Literal[1] = SCHEMA_VERSION
    current: Acceptance
    chain: tuple[Acceptance, ...] = ()


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Baseline:
    """An accepted record with its acceptance, the chain of earlier ones, and the level it may not drift below."""

    record: RunRecord
    acceptance: Acceptance
    chain: tuple[Acceptance, ...] = ()
    anchor: RunRecord | None = None
