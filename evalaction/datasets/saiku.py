"""Saiku's agent evals as they are: one cube a file, questions with the rows, insight or refusal that are right.

Where Saiku's own reader drops or passes something in silence (a case without an expectation, an empty list of rows,
a name used twice, a field it does not know, a text of the wrong type), this one says so.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, TypeAdapter, ValidationError
from pydantic_core import PydanticCustomError

from evalaction.core.fingerprint import defined, slug, suite_digest
from evalaction.core.model import copy_of
from evalaction.core.model import model as spec
from evalaction.core.scalars import Flag, Json, Text, Word, kind_of, spell
from evalaction.core.specs import CheckSpec, Closeness, ContainsAll, Refusal, Rows
from evalaction.core.specs import Intent as IntentCheck
from evalaction.core.suite import SAIKU_SERVER, Case, HttpTarget, Limits, Policy, Suite, TargetSpec, Turn
from evalaction.datasets.dialects import Dialect, Finish, Phrases
from evalaction.datasets.faults import Subject, clip, translate
from evalaction.datasets.intake import Intake, Record
from evalaction.datasets.known import nearest
from evalaction.datasets.native import Defaults
from evalaction.datasets.overrides import Overrides
from evalaction.datasets.policy_rules import Metrics, flag_faults
from evalaction.datasets.source import Source
from evalaction.datasets.yaml_tree import Document
from evalaction.errors import Fault

INTENTS = ("QUERY", "INSIGHT", "VIEW_CHANGE", "REFUSED")
POLICY = Policy(thresholds={"pass_rate": 1.0})
"""Saiku's own rule, that any failing case fails, beside the usual gate."""
_OWN = frozenset({"question", "expectedIntent", "expectedRefusalContains", "expectedRows", "referenceQuery", "orderMatters", "expectedInsightContains"})
"""Fields that only Saiku's cases have (a ragbench record has its question, and stands in no mapping)."""
_BEYOND = ("no server answers the reference query here", f"ask a server with --http URL, or name one in the variable {SAIKU_SERVER}")


def _intent(value: object) -> object:
    name = spell(value).strip().upper() if isinstance(value, str) else value
    if isinstance(name, str) and name and name not in INTENTS:
        near = nearest(name, INTENTS)
        fix = f"write `{near}`" if near else f"write one of {', '.join(INTENTS)}"
        raise PydanticCustomError("INVALID_VALUE", "`{found}` is no intent, so no answer could have it", {"found": clip(value), "fix": fix})
    return value


def _rows(value: object) -> object:
    for row in value if isinstance(value, list) else ():
        for key, cell in row.items() if isinstance(row, dict) else ():
            if isinstance(cell, list | dict):
                what = {"key": clip(key), "kind": kind_of(cell), "fix": "write a text or a number; a cell of an answer is never nested"}
                raise PydanticCustomError("TYPE_MISMATCH", "the cell `{key}` of an expected row is {kind}", what)
    return value


def _query(value: object) -> object:
    if value == {}:
        raise PydanticCustomError("NOTHING_TO_CHECK", "an empty reference query asks for nothing", {"fix": "name at least its measures"})
    return value


def _amount(value: object) -> object:
    """A number, also as text; Saiku takes any other text for 0 in silence."""
    if value is None:
        return 0.0
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            raise PydanticCustomError("INVALID_TOLERANCE", "a tolerance is a number of at least 0", {"fix": "write 0 for exact, or a positive number"})
    return value


def _tolerance(value: object) -> object:
    return {name: _amount(amount) for name, amount in value.items()} if isinstance(value, dict) else value


@spec
class SaikuCube:
    """Which cube every case of the file asks."""

    connectionName: Word  # noqa: N815 - the format's own names, here and below
    catalog: Word
    schema: Word
    cubeName: Word  # noqa: N815 - as above


@spec
class SaikuCase:
    """One question. `referenceQuery` is asked live for the expected rows, and stands over `expectedRows` where a server can be asked."""

    name: Word
    question: Word
    history: tuple[Turn, ...] | None = None
    expectedIntent: Annotated[Word | None, BeforeValidator(_intent)] = None  # noqa: N815 - as above
    expectedRefusalContains: Word | None = None  # noqa: N815 - as above
    expectedRows: Annotated[tuple[dict[str, Json], ...] | None, BeforeValidator(_rows)] = None  # noqa: N815 - as above
    referenceQuery: Annotated[dict[str, Json] | None, BeforeValidator(_query)] = None  # noqa: N815 - as above
    orderMatters: Flag | None = None  # noqa: N815 - as above
    expectedInsightContains: Phrases = ()  # noqa: N815 - as above
    tolerance: Annotated[Closeness | None, BeforeValidator(_tolerance)] = None


@spec
class SaikuFile:
    """A suite of Saiku's; `format: saiku` may be added where its shape does not tell."""

    format: Literal["saiku"] | None = None
    name: Word
    description: Text | None = None
    cube: SaikuCube
    cases: tuple[SaikuCase, ...]


@dataclasses.dataclass(frozen=True, slots=True)
class Asked:
    """What a file's cases are converted with: the cube, and whether a server can be asked for reference rows."""

    cube: Mapping[str, str]
    live: bool


def is_saiku(value: object) -> bool:
    """Whether a mapping is a suite of Saiku's: it says so, has a cube and no version, or its cases have Saiku's own fields."""
    if not isinstance(value, dict) or "version" in value:
        return False
    if value.get("format") == "saiku" or "cube" in value:
        return True
    cases = value.get("cases")
    return isinstance(cases, list) and any(isinstance(case, dict) and _OWN & case.keys() and "input" not in case for case in cases)


def is_live(target: TargetSpec | None, environment: Mapping[str, str]) -> bool:
    """Whether reference queries can be asked: the target is a Saiku server, or the environment names one."""
    return (isinstance(target, HttpTarget) and target.protocol == "saiku") or bool(environment.get(SAIKU_SERVER))


def server_of(target: TargetSpec | None, environment: Mapping[str, str]) -> TargetSpec | None:
    """The target of a suite of Saiku's: `--http` names a server's base, and so does the environment where no flag names a target."""
    if isinstance(target, HttpTarget):
        return copy_of(target, protocol="saiku")
    if target is None and environment.get(SAIKU_SERVER):
        return HttpTarget(url=environment[SAIKU_SERVER], protocol="saiku")
    return target


def read_saiku(source: Source, document: Document, intake: Intake, *, live: bool) -> Dialect:
    """Take every case of a file into the intake; faults of the head and of the cases go there too."""
    head = _head(source, document, intake)
    dialect = dialect_of(Asked(cube=_cube(head), live=live))
    cases = document.value.get("cases")
    for index, raw in enumerate(cases if isinstance(cases, list) else ()):
        steps = ("cases", index)
        intake.take(Record(source, raw, document.place(steps)[0], steps, document), dialect)
    if cases == []:
        intake.faults.append(source.fault("NO_CASES", "the suite has no case", "write at least one case", *document.place(("cases",))))
    return dialect


def saiku_suite(source: Source, document: Document, overrides: Overrides, environment: Mapping[str, str]) -> tuple[Suite | None, list[Fault]]:
    """A file of Saiku's as a suite of its own: its own policy, everything else from flags and the environment."""
    target = server_of(overrides.target, environment)
    intake = Intake(Finish(Defaults()), environment)
    read_saiku(source, document, intake, live=is_live(target, environment))
    faults = [*intake.faults, *flag_faults(overrides, Metrics.of(intake.cases))]
    if target is None:
        fix = f"ask a server with --http URL or the variable {SAIKU_SERVER}, or name a file of answers with --predictions"
        faults.append(source.fault("MISSING_FIELD", "a suite of Saiku's has no `target`", fix, 1, 1))
    if faults or target is None:
        return None, faults
    return _suite(source, document.value, defined(intake.cases), target, overrides), []


def _suite(source: Source, raw: Mapping[str, Any], cases: tuple[Case, ...], target: TargetSpec, overrides: Overrides) -> Suite:
    name = overrides.name or spell(raw["name"])
    return Suite(
        name=name, key=slug(name), file=source.name, cases=cases, target=target, gate=overrides.policy(POLICY, own=True), digest=suite_digest(cases),
        floor=overrides.tolerance is None, description=spell(raw["description"]).strip() if raw.get("description") else "", judge=overrides.judge,
        limits=overrides.limits(Limits()), repeats=overrides.repeats or 1, dialect="saiku",
    )  # fmt: skip


def _head(source: Source, document: Document, intake: Intake) -> SaikuFile | None:
    """Everything but the cases, which are read one by one so that a fault in one hides none in another."""
    raw = document.value
    subject = Subject(source=source, raw=raw, model=SaikuFile, place=document.place)
    apart = {**raw, "cases": []} if isinstance(raw.get("cases"), list) else raw
    try:
        return TypeAdapter(SaikuFile).validate_python(apart)
    except ValidationError as error:
        intake.faults += translate(error, subject)
        return None


def _cube(head: SaikuFile | None) -> Mapping[str, str]:
    return dataclasses.asdict(head.cube) if head else {}


def dialect_of(asked: Asked) -> Dialect:
    """The dialect of one file's cases."""

    def convert(record: SaikuCase, raw: Mapping[str, Any], line: int, finish: Finish) -> Case:
        """A question with its checks; the foreign record carries the cube, which a target needs to ask."""
        foreign = finish.foreign({"cube": dict(asked.cube), **raw})
        return Case(
            id=record.name, input=record.question, checks=finish.checks(_checks(record, asked, finish)), history=record.history or (), tags=finish.tags(()),
            foreign=foreign, line=line,
        )  # fmt: skip

    return Dialect(
        name="saiku", model=SaikuCase, convert=convert, key="name", policy=POLICY, empty_says=frozenset({"expectedRows"}),
        expectations=("expectedIntent", "expectedRefusalContains", "expectedRows", "referenceQuery", "expectedInsightContains"),
    )  # fmt: skip


def _checks(record: SaikuCase, asked: Asked, finish: Finish) -> Iterable[CheckSpec]:
    if record.expectedIntent is not None:
        yield IntentCheck(id="intent", value=record.expectedIntent)
    if record.expectedRefusalContains is not None:
        yield Refusal(id="refusal", contains=record.expectedRefusalContains)
    if record.referenceQuery is not None or record.expectedRows is not None:
        yield from _rows_check(record, asked, finish)
    if record.expectedInsightContains:
        yield ContainsAll(id="insight", value=record.expectedInsightContains, field="insight", ignore_case=False)


def _rows_check(record: SaikuCase, asked: Asked, finish: Finish) -> Iterable[Rows]:
    """The rows a server gives at the moment of the answer; where none can be asked, those of the file."""
    order, closeness = record.orderMatters is not False, record.tolerance or Closeness()
    if record.referenceQuery is not None and asked.live:
        yield Rows(id="rows", reference={"saiku": {"cube": dict(asked.cube), **record.referenceQuery}}, order_matters=order, tolerance=closeness)
    elif record.expectedRows is not None:
        yield Rows(id="rows", value=record.expectedRows, order_matters=order, tolerance=closeness)
    else:
        finish.object("INVALID_VALUE", *_BEYOND, ("referenceQuery",))
