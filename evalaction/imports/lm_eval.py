"""lm-evaluation-harness: `samples_<task>_<time>.jsonl`, written with `--log_samples`. A case per document and filter, a check per metric."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any

from pydantic import Field

from evalaction.core.foreign import PASSING, ForeignCase, ForeignCheck, ForeignTrial
from evalaction.core.scalars import Json, Text, Whole, Word
from evalaction.errors import ConfigError
from evalaction.imports.files import Place, Reader
from evalaction.imports.intake import Intake, Spot, foreign_form, text_of

_NAME = re.compile(r"samples_(?P<task>.+?)(?P<time>_\d{4}-\d\d-\d\dT[\d.:-]+)?\.jsonl")


@foreign_form
class Line:
    """One document's result; its metrics stand beside these fields under their own names."""

    doc_id: Annotated[Whole, Field(ge=0)]
    metrics: tuple[Word, ...] | None = None
    filter: Text = "none"
    doc: Json = None
    filtered_resps: Json = None
    target: Json = None


_OWN = frozenset({
    "doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics", "doc_hash", "prompt_hash", "target_hash", "task_name", "schema_version",
})  # fmt: skip


def read(place: Place, intake: Intake) -> None:
    """Every `samples_*.jsonl` of a folder, or one such file."""
    reader, left_out, found = Reader(), dict[str, set[str]](), list[tuple[Spot, str, Line, dict[str, Any]]]()
    for file in place.files("samples_*.jsonl"):
        task = _task(file)
        try:
            for raw, number in intake.readable(reader.lines(file)):
                spot = Spot(file, number)
                line = intake.read(Line, raw, spot)
                if line is not None:
                    values = _values(line, raw, spot, intake)
                    left_out.setdefault(task, set()).update(name for name, value in values.items() if _fraction(value) is None)
                    found.append((spot, task, line, values))
        except ConfigError as error:
            intake.refused(error)
    _whole(place, reader, [(spot.place, line) for spot, _, line, _ in found], intake)
    intake.notes += [f"the metric {name} of {task} is left out: its values are not all in 0..1" for task, names in left_out.items() for name in sorted(names)]
    for spot, task, line, values in found:
        _case(spot, task, line, {name: value for name, value in values.items() if name not in left_out[task]}, intake)


def _whole(place: Place, reader: Reader, found: Sequence[tuple[Place, Line]], intake: Intake) -> None:
    """Hold the documents that were read against `n-samples` of the results file that the same run wrote beside its samples, where there is one."""
    documents: dict[str, dict[str, dict[str, set[int]]]] = {}
    for file, line in found:
        documents.setdefault(_time(file), {}).setdefault(_task(file), {}).setdefault(line.filter, set()).add(line.doc_id)
    for time, tasks in documents.items():
        name = f"results{time}.json"
        results = dataclasses.replace(place, path=place.path / name, name=f"{place.name.rstrip('/')}/{name}") if place.path.is_dir() else _beside(place, name)
        for task, stated in _stated(results, reader, intake).items():
            if task in tasks or place.path.is_dir():
                held = min((len(ids) for ids in tasks.get(task, {}).values()), default=0)
                what = f"documents of `{task[:80]}`"
                intake.complete(Spot(results), stated, held, what, "write samples and results anew; of a run of chosen samples (--samples) leave the results file out")


def _beside(place: Place, name: str) -> Place:
    return dataclasses.replace(place, path=place.path.parent / name, name="/".join([*place.name.split("/")[:-1], name]))


def _stated(results: Place, reader: Reader, intake: Intake) -> dict[str, int]:
    """How many documents of each task the run says that it asked; nothing of a version that does not say it."""
    if not results.path.is_file():
        return {}
    try:
        document = reader.json(results.file())
    except ConfigError as error:
        intake.refused(error)
        return {}
    stated = document.get("n-samples") if isinstance(document, dict) else None
    known = {task: counts.get("effective") for task, counts in stated.items() if isinstance(counts, dict)} if isinstance(stated, dict) else {}
    return {task: number for task, number in known.items() if type(number) is int and "/" not in task}


def _time(file: Place) -> str:
    """The end of the names of all files of one run."""
    named = _NAME.fullmatch(file.path.name)
    return named["time"] or "" if named else ""


def _task(file: Place) -> str:
    named = _NAME.fullmatch(file.path.name)
    return named["task"] if named else file.path.stem


def _values(line: Line, raw: Mapping[str, Any], spot: Spot, intake: Intake) -> dict[str, Any]:
    """Metrics by name: those that the line lists, in older versions every number beside the fields of its own."""
    if line.metrics is None:
        return {name: value for name, value in raw.items() if name not in _OWN and isinstance(value, bool | int | float)}
    for name in line.metrics:
        if name not in raw:
            intake.fault(spot, "MISSING_FIELD", f"the metric `{name}` is listed and not there", "write the samples anew")
    return {name: raw[name] for name in line.metrics if name in raw}


def _fraction(value: Any) -> float | None:
    return float(value) if isinstance(value, bool | int | float) and 0 <= value <= 1 else None


def _case(spot: Spot, task: str, line: Line, values: Mapping[str, Any], intake: Intake) -> None:
    name = f"{task}/{line.doc_id}" + ("" if line.filter == "none" else f"/{line.filter}")
    spot = Spot(spot.place, spot.line, case=name)
    checks = tuple(_checks(values))
    if not checks:
        intake.fault(spot, "NOTHING_TO_CHECK", "the document has no metric in 0..1", "log a metric such as acc or exact_match")
        return
    answer = {"output": _first(line.filtered_resps), "target": line.target}
    trial = ForeignTrial(checks=checks, answer={part: value for part, value in answer.items() if value is not None})
    intake.add(ForeignCase(id=name, input=text_of(line.doc), category=task, trials=(trial,), line=spot.line or 1), spot)


def _checks(values: Mapping[str, Any]) -> Iterator[ForeignCheck]:
    for name, value in values.items():
        score = _fraction(value)
        if score is not None:
            yield ForeignCheck(id=name, type="lm-eval", score=score, passed=score >= PASSING, threshold=PASSING, asked=name, metrics=(name,))


def _first(responses: Any) -> Any:
    return responses[0] if isinstance(responses, list) and len(responses) == 1 else responses
