"""Spring AI evaluations: a folder of JSON files, one `NoteEvalResult` or one aggregate of several grader runs per case. Scores are points, 0..100."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from evalaction.core.foreign import ForeignCase, ForeignCheck, ForeignTrial, distinct, overall
from evalaction.core.scalars import Flag, Number, Text, Whole, Word
from evalaction.errors import ConfigError
from evalaction.imports.files import Place, Reader
from evalaction.imports.intake import Intake, Spot, failed, foreign_form

POINTS = 100.0
_OF_AGGREGATES = frozenset({"graderRuns", "passingRuns", "averageScore", "runs"})
_ROUNDING = 0.051
"""Points by which a stated average may differ from that of the runs: one decimal, rounded."""
_MOST_RUNS = 1000
Pass = Annotated[Flag, Field(alias="pass")]


@foreign_form
class RubricCheck:
    """One line of the rubric, as the grader answered it."""

    id: Word
    passed: Pass
    notes: Text | None = None


@foreign_form
class Metadata:
    """What the grader returned beside its score."""

    checks: tuple[RubricCheck, ...] | None = None


@foreign_form
class GraderRun:
    """One run of the grader."""

    passed: Pass
    score: Number
    feedback: Text | None = None
    metadata: Metadata | None = None


@foreign_form
class Head:
    """What both kinds of file have."""

    id: Word
    prompt: Text
    minimumScore: Number | None = None  # noqa: N815 - the format's own names
    noteContent: Text | None = None  # noqa: N815 - as above


@foreign_form
class Aggregate:
    """What several grader runs came to."""

    graderRuns: Annotated[Whole, Field(ge=0, le=_MOST_RUNS)]  # noqa: N815 - the format's own names
    passingRuns: Annotated[Whole, Field(ge=0)]  # noqa: N815 - as above
    averageScore: Number  # noqa: N815 - as above
    runs: tuple[GraderRun, ...] | None = None


def read(place: Place, intake: Intake) -> None:
    """Every `*.json` right inside the folder is a case; a single file is one case."""
    reader = Reader()
    for file in place.files("*.json"):
        try:
            raw = reader.json(file)
        except ConfigError as error:
            intake.refused(error)
            continue
        _case(raw, Spot(file), intake)


def _case(raw: Any, spot: Spot, intake: Intake) -> None:
    before = len(intake.faults)
    head = intake.read(Head, raw, spot)
    is_aggregate = isinstance(raw, dict) and not _OF_AGGREGATES.isdisjoint(raw)
    spot = Spot(spot.place, case=head.id if head else None)
    trials = (_aggregate if is_aggregate else _single)(raw, head, spot, intake) if isinstance(raw, dict) else ()
    if head is None or len(intake.faults) > before:
        return
    floor = None if head.minimumScore is None else intake.fraction(head.minimumScore, spot, "minimumScore", POINTS)
    if len(intake.faults) == before:
        intake.add(ForeignCase(id=head.id, input=head.prompt, trials=trials, floor=floor), spot)


def _single(raw: dict[str, Any], head: Head | None, spot: Spot, intake: Intake) -> tuple[ForeignTrial, ...]:
    run = intake.read(GraderRun, raw, spot)
    return () if run is None else (_trial(run, head, spot, intake),)


def _trial(run: GraderRun, head: Head | None, spot: Spot, intake: Intake) -> ForeignTrial:
    score = intake.fraction(run.score, spot, "the score", POINTS)
    stated = (run.metadata.checks if run.metadata else None) or ()
    rubric = (
        ForeignCheck(id=check.id, type="rubric", score=float(check.passed), passed=check.passed, detail=check.notes or "", asked=check.id, metrics=("rubric",), weight=0)
        for check in stated
    )
    return ForeignTrial(
        checks=distinct([overall(score, passed=run.passed, kind="spring", detail=run.feedback or ""), *rubric]),
        answer={"output": (head.noteContent if head else None) or "", **({"feedback": run.feedback} if run.feedback else {})},
    )


def _aggregate(raw: dict[str, Any], head: Head | None, spot: Spot, intake: Intake) -> tuple[ForeignTrial, ...]:
    found = intake.read(Aggregate, raw, spot)
    if found is None:
        return ()
    if found.graderRuns == 0:
        return (failed("the grader was not run: graderRuns is 0"),)
    if found.passingRuns > found.graderRuns:
        intake.fault(spot, "INVALID_VALUE", f"{found.passingRuns} of {found.graderRuns} runs passed", "write the results anew")
        return ()
    if not found.runs:
        runs = [GraderRun(**{"pass": number < found.passingRuns, "score": found.averageScore}) for number in range(found.graderRuns)]  # type: ignore[arg-type]  # `pass` is no name in Python
        return tuple(_trial(run, head, spot, intake) for run in runs)
    _agree(found, found.runs, spot, intake)
    return tuple(_trial(run, head, spot, intake) for run in found.runs)


def _agree(found: Aggregate, runs: tuple[GraderRun, ...], spot: Spot, intake: Intake) -> None:
    """The aggregate must say what its runs say; otherwise nobody knows which is meant."""
    passing, average = sum(run.passed for run in runs), sum(run.score for run in runs) / len(runs)
    stated: tuple[tuple[str, float, float, float], ...] = (
        ("graderRuns", found.graderRuns, len(runs), 0), ("passingRuns", found.passingRuns, passing, 0), ("averageScore", found.averageScore, average, _ROUNDING),
    )  # fmt: skip
    for name, said, counted, slack in stated:
        if abs(said - counted) > slack:
            intake.fault(spot, "INVALID_VALUE", f"{name} is {said:g}, and its runs give {counted:g}", "write the results anew")
