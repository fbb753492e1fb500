"""JSON lines of anybody: `id`, and each further key that is no text a metric with its score in 0..1."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Annotated, Any

from pydantic import Field

from evalaction.core.answer import LARGEST
from evalaction.core.foreign import PASSING, ForeignCase, ForeignCheck, ForeignTrial, overall
from evalaction.core.record import Tokens
from evalaction.core.scalars import Flag, Json, Number, Text, Whole, Word, kind_of
from evalaction.errors import ConfigError
from evalaction.imports.files import Place, Reader
from evalaction.imports.intake import Intake, Spot, failed, foreign_form, text_of


@foreign_form
class Line:
    """The keys with a meaning of their own."""

    id: Word
    repeat: Annotated[Whole, Field(ge=0)] | None = None
    input: Json = None
    output: Json = None
    category: Text | None = None
    tags: tuple[Word, ...] = ()
    error: Text | None = None
    reason: Text = ""
    score: Number | None = None
    passed: Annotated[Flag | None, Field(alias="pass")] = None
    minimum: Annotated[Number, Field(ge=0, le=1)] | None = None
    latency_ms: Annotated[Number, Field(ge=0, le=LARGEST["latency_ms"])] | None = None
    cost_usd: Annotated[Number, Field(ge=0, le=LARGEST["cost_usd"])] | None = None
    tokens: Annotated[Whole, Field(ge=0, le=LARGEST["tokens"])] | None = None


_OWN = frozenset({*(field.name for field in dataclasses.fields(Line)), "pass"})


def read(place: Place, intake: Intake) -> None:
    """Each line is a run of a case; lines of one id are told apart by `repeat`."""
    seen: set[tuple[str, int]] = set()
    try:
        for raw, number in intake.readable(Reader().lines(place.file())):
            spot = Spot(place, number)
            line = intake.read(Line, raw, spot)
            if line is not None:
                spot = Spot(place, number, case=line.id)
                if line.repeat is not None and (line.id, line.repeat) in seen:
                    intake.fault(spot, "DUPLICATE_ID", f"run {line.repeat} of the case is there twice", "number the runs of a case with `repeat` from 0")
                    continue
                seen.add((line.id, line.repeat or 0))
                _case(line, raw, spot, intake)
    except ConfigError as error:
        intake.refused(error)


def _case(line: Line, raw: Mapping[str, Any], spot: Spot, intake: Intake) -> None:
    before = len(intake.faults)
    trial = _trial(line, raw, spot, intake)
    if len(intake.faults) == before:
        case = ForeignCase(id=line.id, input=text_of(line.input), trials=(trial,), category=line.category, tags=line.tags, floor=line.minimum, line=spot.line or 1)
        intake.add(case, spot, repeats=line.repeat is not None)


def _trial(line: Line, raw: Mapping[str, Any], spot: Spot, intake: Intake) -> ForeignTrial:
    amounts: dict[str, Any] = {"latency_ms": line.latency_ms, "cost_usd": line.cost_usd, "tokens": None if line.tokens is None else Tokens(output=line.tokens)}
    answer = {"output": line.output}
    has_overall = line.score is not None or line.passed is not None
    checks = [*_overall(line, spot, intake), *_metrics(raw, spot, intake, weight=0.0 if has_overall else 1.0)]
    if line.error is not None:
        return failed(line.error, answer=answer, **amounts)
    if not checks:
        intake.fault(spot, "NOTHING_TO_CHECK", "the line has no metric, no `score` and no `pass`", 'write a metric with its score, such as "faithfulness": 0.9')
    return ForeignTrial(checks=tuple(checks), answer=answer, **amounts)


def _overall(line: Line, spot: Spot, intake: Intake) -> Iterator[ForeignCheck]:
    """`score` is the case's score, `pass` its pass; where only `pass` is stated, the score is 1 or 0."""
    if line.score is not None:
        score = intake.fraction(line.score, spot, "`score`")
        yield overall(score, passed=score >= PASSING if line.passed is None else line.passed, kind="generic", detail=line.reason)
    elif line.passed is not None:
        yield overall(float(line.passed), passed=line.passed, kind="generic", detail=line.reason)


def _metrics(raw: Mapping[str, Any], spot: Spot, intake: Intake, *, weight: float) -> Iterator[ForeignCheck]:
    for name, value in raw.items():
        if name in _OWN:
            continue
        if not isinstance(value, bool | int | float):
            intake.fault(spot, "TYPE_MISMATCH", f"the metric `{name}` is {kind_of(value)}", "write a number in 0..1, or leave the key out")
            continue
        score = intake.fraction(float(value), spot, f"`{name}`")
        yield ForeignCheck(id=name, type="generic", score=score, passed=score >= PASSING, threshold=PASSING, asked=name, metrics=(name,), weight=weight)
