"""Labels that people gave to judged answers: a JSONL file, each line joined to a verdict of a record."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from evalaction.core.audit import Label, Labelled
from evalaction.core.record import CaseRecord, RunRecord
from evalaction.datasets.faults import Subject, clip, translate
from evalaction.datasets.intake import normal
from evalaction.datasets.known import suggestion
from evalaction.datasets.source import Source, read_bytes, shown
from evalaction.datasets.strict_json import lines
from evalaction.errors import ConfigError, Fault

MOST_FAULTS = 100
"""Faults of one file that are listed; a file of another kind would have one per line."""
_MOST_KNOWN = 5000
"""Names among which the nearest is looked for."""
_LABEL = TypeAdapter(Label)
_Line = tuple[Label, int]


def read_labels(path: Path, cwd: Path, records: Sequence[RunRecord]) -> tuple[Labelled, ...]:
    """The labels of a file, each with the verdict of `records` it speaks of; answers are not needed.

    A label that names no `repeat` speaks of the first run. Raises ConfigError with every fault of the file: FILE_NOT_FOUND, MALFORMED_JSON, what
    the keys of a label can do wrong, INVALID_VALUE for a suite, case, criterion or run that the record does not have or that is ambiguous,
    DUPLICATE_ID for two labels of one verdict, NO_CASES for a file without labels.
    """
    source = Source(path=cwd / path, name=shown(cwd / path, cwd))
    labels, faults = _parsed(source)
    joiner = _Joiner(source, records)
    found = [labelled for label, line in labels if (labelled := joiner.join(label, line)) is not None]
    faults += joiner.faults
    if faults:
        raise ConfigError(sorted(faults, key=lambda fault: fault.line or 0)[:MOST_FAULTS])
    if not found:
        raise source.refuse("NO_CASES", "the file has no label", 'write one JSON object a line: {"case": …, "criterion": …, "pass": true}')
    return tuple(found)


def _parsed(source: Source) -> tuple[list[_Line], list[Fault]]:
    labels: list[_Line] = []
    faults: list[Fault] = []
    for record in lines(source, read_bytes(source)):
        if isinstance(record, ConfigError):
            faults += record.faults
        else:
            labels += _label(source, *record, faults)
        if len(faults) >= MOST_FAULTS:
            break
    return labels, faults


def _label(source: Source, raw: Any, line: int, faults: list[Fault]) -> Iterator[_Line]:
    try:
        yield _LABEL.validate_python(raw), line
    except ValidationError as error:
        faults += translate(error, Subject(source=source, raw=raw, model=Label, place=lambda _steps: (line, 1)))


class _Joiner:
    """Finds the verdict of each label, and keeps what is wrong with those that have none."""

    def __init__(self, source: Source, records: Sequence[RunRecord]) -> None:
        self.faults: list[Fault] = []
        self._source, self._records = source, records
        self._ids = {record.header.key: {normal(name): name for name in record.cases} for record in records}
        self._seen: dict[tuple[str, str, str, int], int] = {}

    def join(self, label: Label, line: int) -> Labelled | None:
        """The label with its verdict, None where something is wrong with it."""
        try:
            return self._joined(label, line)
        except ConfigError as error:
            self.faults += error.faults
            return None

    def _joined(self, label: Label, line: int) -> Labelled:
        record, case = self._case(label, line)
        check = self._criterion(label, case, line)
        runs = [trial.repeat for trial in case.trials]
        repeat = label.repeat or 0
        if repeat not in runs:
            what = f"case `{clip(case.id)}` has no run {repeat}" + (f", only {min(runs)} to {max(runs)}" if runs else ", nor any other")
            raise self._source.refuse("INVALID_VALUE", what, "name a run of the record; the first is 0", line)
        place = (record.header.key, case.id, check, repeat)
        first = self._seen.setdefault(place, line)
        if first != line:
            what = f"line {first} labels the same verdict: case `{clip(case.id)}`, criterion `{clip(check)}`, run {repeat}"
            raise self._source.refuse("DUPLICATE_ID", what, "keep one of the two; where people disagree, settle it first", line)
        return Labelled(label=label, suite=place[0], case=case.id, check=check, repeat=repeat, is_assumed=label.repeat is None and len(runs) > 1)

    def _case(self, label: Label, line: int) -> tuple[RunRecord, CaseRecord]:
        records = [record for record in self._records if label.suite in (None, record.header.key, record.header.suite)]
        if not records:
            known = [record.header.suite for record in self._records]
            raise self._source.refuse("INVALID_VALUE", f"no suite `{clip(label.suite)}` is in the record", _fix(str(label.suite), known), line)
        found = [(record, record.cases[self._ids[record.header.key][normal(label.case)]]) for record in records if normal(label.case) in self._ids[record.header.key]]
        if len(found) == 1:
            return found[0]
        if not found:
            fix = _fix(label.case, [name for record in records for name in record.cases])
            raise self._source.refuse("INVALID_VALUE", f"no case `{clip(label.case)}` is in the record", fix, line)
        named = ", ".join(clip(record.header.suite) for record, _ in found)
        raise self._source.refuse("INVALID_VALUE", f"case `{clip(label.case)}` is in several suites: {named}", "name one of them with `suite`", line)

    def _criterion(self, label: Label, case: CaseRecord, line: int) -> str:
        judged = [check.id for check in case.checks if check.type == "rubric"]
        found = _meant(label.criterion, judged)
        if len(found) == 1:
            return found[0]
        if found:
            what = f"`{clip(label.criterion)}` may be any of {_listed(found)} of case `{clip(case.id)}`"
            raise self._source.refuse("INVALID_VALUE", what, "write the whole id", line)
        if not judged:
            raise self._source.refuse("INVALID_VALUE", f"case `{clip(case.id)}` has no criterion that a judge applied", "label only cases with a rubric", line)
        what = f"case `{clip(case.id)}` has no criterion `{clip(label.criterion)}`, only {_listed(judged)}"
        raise self._source.refuse("INVALID_VALUE", what, _fix(label.criterion, [*judged, *(name.partition(".")[2] for name in judged)]), line)


def _meant(criterion: str, judged: Sequence[str]) -> list[str]:
    """The check of this id, else those whose criterion has this name."""
    return [name for name in judged if name == criterion] or [name for name in judged if name.endswith(f".{criterion}")]


def _listed(names: Iterable[str]) -> str:
    shown_names = [clip(name, 60) for name in names]
    return ", ".join(shown_names[:10]) + (", …" if len(shown_names) > 10 else "")


def _fix(word: str, known: Sequence[str]) -> str:
    return clip(suggestion(word, known[:_MOST_KNOWN]), 600)


def wanted_cases(labels: Iterable[Labelled]) -> Mapping[str, tuple[str, ...]]:
    """Ids of the labelled cases, each once, by suite key."""
    wanted: dict[str, dict[str, None]] = {}
    for labelled in labels:
        wanted.setdefault(labelled.suite, {})[labelled.case] = None
    return {suite: tuple(cases) for suite, cases in wanted.items()}
