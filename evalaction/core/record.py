"""What one run measured, and what a person accepted: the types of the files on disk.

`case → trials → check results`. Scores are fractions 0..1. A baseline *is* an accepted record.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field
from pydantic_core import PydanticCustomError

from evalaction.core.answer import LARGEST
from evalaction.core.model import default_of
from evalaction.core.model import model as stored
from evalaction.core.reruns import ExtraRuns
from evalaction.core.scalars import Size

SCHEMA_VERSION: Literal[1] = 1

Score = Annotated[float, Field(ge=0, le=1)]
Amount = Annotated[float, Field(ge=0, le=1e15)]
"""A sum or a mean of amounts that answers state."""
UNCOMMITTED = "uncommitted"
"""The count of a record that `RunHeader.uncommitted` reads. No field of its own: readers of the first format refuse fields that they do not know, and pass over counts."""
MOST_REPEATS = 100_000
"""Trials of one case, in one pass and over all of them."""
Repeats = Annotated[int, Field(ge=1, le=MOST_REPEATS)]


@stored
class CheckResult:
    """One check on one answer. `detail` says why, in one line; `values` are its metrics when they are not just the score."""

    id: str
    score: Score
    passed: bool
    detail: str = ""
    values: Mapping[str, Score] | None = None


@stored
class Failure:
    """Why a trial could not be measured; `detail` is the tail of what the system said."""

    code: str
    message: str
    detail: str = ""


@stored
class Tokens:
    """Tokens of one call."""

    input: int = Field(default=0, ge=0, le=LARGEST["tokens"])
    output: int = Field(default=0, ge=0, le=LARGEST["tokens"])


@stored
class Trial:
    """One run of one case: measured (`score`, `passed`, `checks`) or failed (`error`).

    `repeat` counts from 0; the trials of the suite's pass p are those with repeat // CaseRecord.repeats == p.
    `answer` is the answer as JSON, long texts cut; None once it has been dropped from memory.
    """

    repeat: int = Field(ge=0, le=MOST_REPEATS)
    score: Score | None = None
    passed: bool | None = None
    checks: tuple[CheckResult, ...] = ()
    latency_ms: float | None = Field(default=None, ge=0, le=LARGEST["latency_ms"])
    cost_usd: float | None = Field(default=None, ge=0, le=LARGEST["cost_usd"])
    tokens: Tokens | None = None
    error: Failure | None = None
    answer: Any = None

    def __post_init__(self) -> None:
        if self.error is not None:
            if self.score is not None or self.passed is not None or self.checks:
                raise _wrong("a trial has both an error and scores")
        elif self.score is None or self.passed is None or not self.checks:
            raise _wrong("a trial has neither an error nor score, passed and a check")
        elif len(self.checks) > 1 and _repeated([result.id for result in self.checks]):
            raise _wrong("a trial has two results of one check")

    @property
    def measured(self) -> bool:
        """Whether this trial counts."""
        return self.error is None


@stored
class CheckInfo:
    """Identity of a check: pairs are compared only when id and fingerprint agree.

    A check of weight 0 speaks for itself only: it is compared like any other, and neither the score nor the pass of its case rests on it.
    """

    id: str
    type: str
    fingerprint: str
    weight: float = Field(default=1.0, ge=0, le=1_000_000)
    metrics: tuple[str, ...] = ()


@stored
class CaseRecord:
    """Everything measured of one case. `repeats` is the number of trials in one pass over the suite; later passes are confirmations.

    `floor` is what the case's own score must reach, whatever the baseline says.
    """

    schema_version: Literal[1] = SCHEMA_VERSION
    id: str
    fingerprint: str
    input: str = ""
    category: str | None = None
    tags: tuple[str, ...] = ()
    line: int | None = None
    floor: Score | None = None
    repeats: Repeats = 1
    checks: tuple[CheckInfo, ...] = ()
    trials: tuple[Trial, ...] = ()

    def __post_init__(self) -> None:
        if len(self.checks) > 1 and _repeated([check.id for check in self.checks]):
            raise _wrong("a case has one check twice")
        if len(self.trials) > 1 and _repeated([trial.repeat for trial in self.trials]):
            raise _wrong("a case has one trial twice")
        _all_declared(self)
        if any(result.values is not None for trial in self.trials for result in trial.checks):
            _all_stated(self)

    @property
    def measured(self) -> tuple[Trial, ...]:
        """The trials that count."""
        return tuple([trial for trial in self.trials if trial.error is None])

    @property
    def is_error(self) -> bool:
        """Fewer than half of the trials of the first pass were measured: neither pass nor fail. Later runs only confirm or clear what that pass says."""
        planned = self.trials
        if len(planned) > self.repeats:
            planned = tuple([trial for trial in planned if trial.repeat < self.repeats]) or planned
        return 2 * sum(trial.error is None for trial in planned) < len(planned) or not planned

    @property
    def is_stuck(self) -> bool:
        """Its first pass was measured, and of all its runs fewer than half were: asking on would neither confirm nor clear anything."""
        return len(self.trials) > self.repeats and 2 * len(self.measured) < len(self.trials) and not self.is_error


def _all_declared(case: CaseRecord) -> None:
    """A trial has results of its case's checks only; a check that did not apply to an answer has none."""
    declared = {check.id for check in case.checks}
    if not all(result.id in declared for trial in case.trials for result in trial.checks):
        raise _wrong("a trial has a result of a check that its case does not have")


def _all_stated(case: CaseRecord) -> None:
    """Where a result states values, it states one for each metric of its check."""
    metrics = {check.id: check.metrics for check in case.checks}
    for trial in case.trials:
        for result in trial.checks:
            if result.values is not None and not result.values.keys() >= set(metrics.get(result.id, ())):
                raise _wrong("a result lacks a value for a metric of its check")


def _repeated(values: list[Any]) -> bool:
    return len(set(values)) < len(values)


def _wrong(what: str) -> PydanticCustomError:
    return PydanticCustomError("INVALID_RECORD", what)


@stored
class Calls:
    """Calls of target and judge: planned before the start, made, and replayed from a cassette instead of made."""

    planned: Size = 0
    made: Size = 0
    judge_planned: Size = 0
    judge_made: Size = 0
    replayed: Size = 0
    judge_replayed: Size = 0


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
    """Whether the target can be asked again; a file of answers cannot, nor a cassette."""
    target: Mapping[str, Any] = Field(default_factory=dict)
    judge: Mapping[str, Any] | None = None
    policy: Mapping[str, Any] = Field(default_factory=dict)
    floor: bool = True
    blame: Mapping[str, Any] | None = None
    """The base system that the suite names."""
    repeats: Repeats = 1
    selection: Selection = default_of(Selection)
    interrupted: Failure | None = None
    counts: Mapping[str, Size] = Field(default_factory=dict)
    metrics: Mapping[str, Amount] = Field(default_factory=dict)
    calls: Calls = default_of(Calls)
    cost_usd: Amount | None = None
    notes: tuple[str, ...] = ()
    """Doubts that arose while measuring, one line each."""
    extra_runs: tuple[ExtraRuns, ...] = ()
    description: str = ""
    dialect: str | None = None
    """The foreign kind of suite that was read; its own way of reporting is added."""

    @property
    def uncommitted(self) -> int:
        """Tracked files that were changed and not committed when the run began: then `commit` alone is not what was measured. Stands in `counts`, if not 0."""
        return self.counts.get(UNCOMMITTED, 0)

    @property
    def is_replayed(self) -> bool:
        """Whether what was measured came from a cassette, and so cannot come out otherwise."""
        return not self.repeatable and self.calls.replayed + self.calls.judge_replayed > 0


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class RunRecord:
    """A whole record: the header and its cases by id. `score` is set where a baseline is no more than a pass rate, and no case is known."""

    header: RunHeader
    cases: Mapping[str, CaseRecord]
    score: float | None = None
