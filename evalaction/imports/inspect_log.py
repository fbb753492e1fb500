"""Inspect: an evaluation log as JSON (`inspect log dump`, or logs written with the format json). Epochs are runs of a sample."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any

from pydantic import Field

from evalaction.core.answer import LARGEST
from evalaction.core.foreign import PASSING, ForeignCase, ForeignCheck, ForeignTrial, distinct
from evalaction.core.scalars import Json, Number, Text, Whole, spell
from evalaction.imports.files import Place, Reader
from evalaction.imports.intake import Intake, Spot, failed, foreign_form, text_of

VERSIONS = (1, 2)
_GRADES = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
"""Inspect's grades: correct, partly correct, incorrect, no answer."""


@foreign_form
class Score:
    """What one scorer says of one sample."""

    value: Json
    answer: Text | None = None
    explanation: Text | None = None


@foreign_form
class Sample:
    """One sample in one epoch."""

    id: Json
    epoch: Annotated[Whole, Field(ge=1)] = 1
    input: Json = None
    output: dict[str, Json] | None = None
    scores: dict[str, Score] | None = None
    error: Json = None
    total_time: Number | None = None


@foreign_form
class Results:
    """What Inspect counted itself: samples times epochs."""

    total_samples: int | None = None
    completed_samples: int | None = None


@foreign_form
class Log:
    """A whole log."""

    version: Json = None
    status: Text = "success"
    samples: tuple[Json, ...] | None = None
    error: Json = None
    results: Results | None = None


def read(place: Place, intake: Intake) -> None:
    """Each sample is a case, each scorer a check. A log that did not end in success is an unfinished run."""
    file = place.file()
    log = intake.read(Log, Reader().json(file), Spot(file))
    if log is None:
        return
    intake.versioned(log.version, VERSIONS, "Inspect")
    if log.status != "success":
        intake.unfinished = f"the Inspect log has the status {log.status}: {_message(log.error)}".rstrip(": ")
    found = [(number, sample) for number, one in enumerate(log.samples or ()) if (sample := intake.read(Sample, one, Spot(file, path=f"samples[{number}]")))]
    if log.status == "success" and log.results is not None and log.samples:
        intake.complete(Spot(file, path="results.total_samples"), log.results.total_samples, len(log.samples), "samples")
        intake.complete(Spot(file, path="results.completed_samples"), log.results.completed_samples, len(log.samples), "completed samples")
    unusable = _beyond_range(sample for _, sample in found)
    intake.notes += [f"the scorer {name} is left out: its values are no grades and not all in 0..1" for name in sorted(unusable)]
    seen: set[tuple[str, int]] = set()
    for number, sample in found:
        name = spell(sample.id) if isinstance(sample.id, str | int | float) else ""
        spot = Spot(file, path=f"samples[{number}]", case=name)
        if (name, sample.epoch) in seen:
            intake.fault(spot, "DUPLICATE_ID", f"epoch {sample.epoch} of the sample is there twice", "keep one log of one run")
        else:
            seen.add((name, sample.epoch))
            intake.add(ForeignCase(id=name, input=text_of(sample.input), trials=(_trial(sample, unusable),), line=number + 1), spot, repeats=True)


def _message(error: Any) -> str:
    return text_of(error.get("message")) if isinstance(error, Mapping) else text_of(error)


def _values(score: Score, name: str) -> Iterator[tuple[str, float | None]]:
    """Each value of a scorer under a name of its own; None for one that is no score at all."""
    if isinstance(score.value, Mapping):
        for key, value in score.value.items():
            yield f"{name}.{key}", _number(value)
    else:
        yield name, _number(score.value)


def _number(value: Any) -> float | None:
    if isinstance(value, str):
        return _GRADES.get(value)
    return float(value) if isinstance(value, bool | int | float) and 0 <= value <= 1 else None


def _beyond_range(samples: Iterator[Sample]) -> set[str]:
    """Scorers with a value that is no fraction: Inspect allows any number and any text."""
    return {name for sample in samples for scorer, score in (sample.scores or {}).items() for name, value in _values(score, scorer) if value is None}


def _trial(sample: Sample, unusable: set[str]) -> ForeignTrial:
    answer = {"output": (sample.output or {}).get("completion")}
    latency = sample.total_time * 1000 if sample.total_time is not None and 0 <= sample.total_time * 1000 <= LARGEST["latency_ms"] else None
    if sample.error is not None:
        return failed(_message(sample.error), answer=answer, latency_ms=latency)
    checks = [
        ForeignCheck(id=name, type="inspect", score=value, passed=value >= PASSING, threshold=PASSING, detail=score.explanation or "", asked=name, metrics=(name,))
        for scorer, score in (sample.scores or {}).items() for name, value in _values(score, scorer) if value is not None and name not in unusable
    ]  # fmt: skip
    return ForeignTrial(checks=distinct(checks), answer=answer, latency_ms=latency) if checks else failed("no scorer gave a score", code="SCORER_FAILED", answer=answer)
