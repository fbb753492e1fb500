"""The suite file as its author writes it: the models that files are checked against and the published schema is made from."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field
from pydantic_core import PydanticCustomError

from evalaction.core.model import default_of
from evalaction.core.model import model as spec
from evalaction.core.scalars import Flag, Json, Repeats, Text, Word, kind_of
from evalaction.core.specs import Check
from evalaction.core.suite import Blame, ImportTarget, Judge, Limits, Policy, TargetBlock, Turn

Format = Literal["ragbench", "native", "csv", "tsv", "golden", "saiku"]


@spec
class Dataset:
    """A file of cases; `format` where its shape does not tell."""

    path: Word
    format: Format | None = None


def short_dataset(value: object) -> object:
    """A path alone is short for a mapping with that path."""
    return {"path": value} if isinstance(value, str) else value


def _version(value: object) -> object:
    if isinstance(value, bool) or not isinstance(value, int):
        raise PydanticCustomError("TYPE_MISMATCH", "expected the number 1, found {kind}", {"kind": kind_of(value), "fix": "write `version: 1`, without quotes"})
    return value


@spec
class Defaults:
    """What every case of the suite has beside its own: default checks and tags are added, `repeats` stands in for a missing one."""

    repeats: Repeats = 1
    tags: tuple[Word, ...] = ()
    checks: tuple[Check, ...] = ()


@spec
class NativeCase:
    """One input with its checks. `vars` are available to templates; `input` and `history` may hold `{{ vars.x }}`."""

    id: Word
    input: Text
    category: Text | None = None
    history: tuple[Turn, ...] = ()
    vars: dict[Word, Json] = Field(default_factory=dict)
    tags: tuple[Word, ...] = ()
    metadata: dict[Word, Json] = Field(default_factory=dict)
    repeats: Repeats | None = None
    checks: tuple[Check, ...] = ()


@spec
class SuiteFile:
    """A suite of cases with a target and a gate policy."""

    version: Annotated[Literal[1], BeforeValidator(_version)]
    name: Word
    description: Text = ""
    dataset_version: Text | None = None
    deterministic: Flag = False
    target: TargetBlock | None = None
    import_: Annotated[ImportTarget | None, Field(alias="import")] = None
    judge: Judge | None = None
    defaults: Defaults = default_of(Defaults)
    limits: Limits = default_of(Limits)
    gate: Policy = default_of(Policy)
    blame: Blame | None = None
    datasets: tuple[Annotated[Dataset, BeforeValidator(short_dataset, json_schema_input_type=str | Dataset)], ...] = ()
    cases: tuple[NativeCase, ...] = ()
