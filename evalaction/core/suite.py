"""The suite as the rest of the program knows it: cases, checks, target and gate policy, all frozen."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field
from pydantic_core import PydanticCustomError

from evalaction.core.model import model as spec
from evalaction.core.record import CheckInfo, Trial
from evalaction.core.scalars import Count, Fraction, Json, Number, Positive, Text, Tolerance, Whole, Word
from evalaction.core.specs import CheckSpec

SAIKU_SERVER = "SAIKU_URL"
"""Variable of the environment with the base of a Saiku server, where no target names one."""
FailOn = Literal["case", "check", "metric", "threshold", "removed", "inconclusive"]


@spec
class Policy:
    """When a difference is a regression. Fractions of a metric's range; `tolerances` of raw metrics are fractions of the baseline's value."""

    rule: Literal["auto", "tolerance", "statistical"] = "auto"
    profile: Literal["lean", "standard", "thorough"] = "standard"
    tolerance: Tolerance = 0.01
    tolerances: dict[Word, Tolerance] = Field(default_factory=dict)
    case_tolerance: Tolerance = 0.05
    pass_rate_tolerance: Tolerance = 0.20
    thresholds: dict[Word, Number] = Field(default_factory=dict)
    max_errors: Annotated[Whole, Field(ge=0)] = 0
    min_comparable: Fraction = 0.5
    removed_cases: Literal["warn", "fail"] = "warn"
    fail_on: tuple[FailOn, ...] = ("case", "check", "metric", "threshold")


@spec
class Limits:
    """What one run may spend. None means no limit."""

    max_calls: Count | None = None
    max_cost_usd: Positive | None = None
    max_minutes: Positive | None = None
    max_concurrency: Count = 8


@spec
class Judge:
    """Which model applies rubrics."""

    provider: Literal["anthropic", "openai"]
    model: Word
    base_url: Word | None = None
    votes: Count = 1


@spec
class ExecTarget:
    """A command: a string runs under `bash -o pipefail -c`, a list without a shell."""

    command: Word | Annotated[tuple[Word, ...], Field(min_length=1)]
    protocol: Literal["jsonl", "text"] = "jsonl"
    timeout_seconds: Positive = 300.0
    env: tuple[Word, ...] = ()


@spec
class HttpTarget:
    """One request per trial; `url`, `headers`, `json` and `body` are templates, `extract` is JMESPath per field of the answer.

    With `protocol: saiku` the url is the base of a Saiku server, and its own endpoints are asked.
    """

    url: Word
    method: Literal["GET", "POST", "PUT", "PATCH", "DELETE"] = "POST"
    headers: dict[Word, Text] = Field(default_factory=dict)
    json_: Annotated[Json, Field(alias="json")] = None
    body: Text | None = None
    extract: dict[Word, Word] = Field(default_factory=dict)
    timeout_seconds: Positive = 60.0
    retries: Annotated[Whole, Field(ge=0)] = 2
    protocol: Literal["plain", "saiku"] = "plain"


@spec
class PythonTarget:
    """A function of the author's: `(case) -> answer`, plain or async."""

    callable: Annotated[Word, Field(pattern=r"^[A-Za-z_][\w.]*:[A-Za-z_][\w.]*$")]
    timeout_seconds: Positive = 300.0


@spec
class ModelTarget:
    """A model through its vendor's own SDK."""

    provider: Literal["anthropic", "openai"]
    model: Word
    base_url: Word | None = None
    system: Text | None = None
    prompt: Text = "{{ case.input }}"
    temperature: Annotated[Number, Field(ge=0)] | None = None
    max_output_tokens: Count = 1024
    timeout_seconds: Positive = 120.0
    retries: Annotated[Whole, Field(ge=0)] = 2


@spec
class PredictionsTarget:
    """A file of answers, one JSON object a line, joined to the cases by `id`."""

    path: Word


ImportFormat = Literal["spring", "promptfoo", "junit", "deepeval", "inspect", "lm-eval", "ragas", "csv", "generic"]


@spec
class ImportTarget:
    """Finished results of another tool, read instead of asking anything. `baseline` is a place with accepted results of the same format.

    `lower_is_better` names metrics whose scores are turned round before they are compared.
    """

    format: ImportFormat
    path: Word
    baseline: Word | None = None
    lower_is_better: tuple[Word, ...] = ()


TargetSpec = ExecTarget | HttpTarget | PythonTarget | ModelTarget | PredictionsTarget | ImportTarget


def _command(value: object) -> object:
    return {"command": value} if isinstance(value, str | list) else value


def _path(value: object) -> object:
    return {"path": value} if isinstance(value, str) else value


def _called(value: object) -> object:
    return {"callable": value} if isinstance(value, str) else value


@spec
class TargetBlock:
    """The `target:` block of a suite file: exactly one kind."""

    exec: Annotated[ExecTarget, BeforeValidator(_command, json_schema_input_type=str | list[str] | ExecTarget)] | None = None
    http: HttpTarget | None = None
    python: Annotated[PythonTarget, BeforeValidator(_called, json_schema_input_type=str | PythonTarget)] | None = None
    model: ModelTarget | None = None
    predictions: Annotated[PredictionsTarget, BeforeValidator(_path, json_schema_input_type=str | PredictionsTarget)] | None = None

    def __post_init__(self) -> None:
        named = [name for name in ("exec", "http", "python", "model", "predictions") if getattr(self, name) is not None]
        if len(named) != 1:
            raise PydanticCustomError(
                "INVALID_VALUE",
                "a target has exactly one kind, found {found}",
                {"found": " and ".join(named) or "none", "fix": "keep one of exec, http, python, model, predictions"},
            )

    @property
    def target(self) -> TargetSpec:
        """The one kind that is set."""
        kinds: tuple[TargetSpec | None, ...] = (self.exec, self.http, self.python, self.model, self.predictions)
        return next(kind for kind in kinds if kind is not None)


_REF = r"^[^-\x00-\x20\x7f:?*\[\\][^\x00-\x20\x7f:?*\[\\]*$"
"""What git takes for the name of a commit: nothing that could be an option, a path in a commit or a pattern."""


@spec
class Blame:
    """The system before the change, which is asked when the gate is about to fail: a command of its own, or a git ref where the target's command is run."""

    command: Word | Annotated[tuple[Word, ...], Field(min_length=1)] | None = None
    ref: Annotated[Word, Field(max_length=200, pattern=_REF)] | None = None

    def __post_init__(self) -> None:
        if (self.command is None) == (self.ref is None):
            raise PydanticCustomError("INVALID_VALUE", "blame has exactly one of command and ref", {"fix": "write `blame: { ref: base }`, or a command that runs the base system"})


@spec
class Turn:
    """One earlier turn of a conversation."""

    role: Word
    content: Text


@dataclasses.dataclass(frozen=True, slots=True)
class Definition:
    """The identity of a case: the digest of what is asked, and each check with its own digest."""

    fingerprint: str
    checks: tuple[CheckInfo, ...]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One input with its checks; every check has an id that is unique within the case."""

    id: str
    input: str
    checks: tuple[CheckSpec, ...]
    repeats: int | None = None
    category: str | None = None
    history: tuple[Turn, ...] = ()
    vars: Mapping[str, Json] | None = None
    tags: tuple[str, ...] = ()
    metadata: Mapping[str, Json] | None = None
    foreign: str | None = None
    """The foreign record this case was read from, as JSON; a target gets it as it stands."""
    line: int = 1
    """Line of the case in `Suite.file` or in its dataset."""
    floor: float | None = None
    """What the case's own score must reach, 0..1, whatever the baseline says."""
    definition: Definition | None = dataclasses.field(default=None, compare=False, repr=False)
    """Follows from the rest: `fingerprint.define`. Kept from reading until the case is recorded, because digests take time."""

    @property
    def record(self) -> dict[str, Json] | None:
        """The foreign record, None for a case of our own form. Kept as text: by the hundred thousand, maps would fill the memory."""
        return None if self.foreign is None else dict(json.loads(self.foreign))


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """What another tool measured: the trials of each case by id, the version of its format as it states it, and doubts, one line each.

    `unfinished` says why that tool's run did not come to its end.
    """

    trials: Mapping[str, tuple[Trial, ...]]
    version: str | None = None
    notes: tuple[str, ...] = ()
    unfinished: str | None = None


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Suite:
    """A read and checked suite. `key` names its folder of results; `digest` covers the definitions of all cases."""

    name: str
    key: str
    file: str
    cases: tuple[Case, ...]
    target: TargetSpec
    gate: Policy
    digest: str
    floor: bool = True
    """Whether the suite-wide tolerance is at least one case's own; a dialect's or a flag's value is taken as it is."""
    description: str = ""
    dataset_version: str | None = None
    deterministic: bool = False
    judge: Judge | None = None
    limits: Limits = dataclasses.field(default_factory=Limits)
    repeats: int = 1
    imported: Imported | None = None
    """With an `ImportTarget`: its results."""
    dialect: str | None = None
    """The foreign kind of suite whose own way of reporting is added, None for our own."""
    blame: Blame | None = None

    def planned(self, case: Case) -> int:
        """Trials of a case in one pass over the suite."""
        return case.repeats or self.repeats
