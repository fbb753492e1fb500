"""One dataset file into the cases of a suite: its container by extension, its kind by format or by shape."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from evalaction.datasets import strict_json, table
from evalaction.datasets.dialects import RAGBENCH, RECORDS, SPRING, TABLE, Dialect, recognise
from evalaction.datasets.intake import Intake, Record
from evalaction.datasets.saiku import is_saiku, read_saiku
from evalaction.datasets.source import Source, read_bytes
from evalaction.datasets.yaml_tree import Document, read_yaml
from evalaction.errors import ConfigError

MAX_FAULTS = 1000
_TABLES = {"csv": None, "tsv": "\t", "psv": "|"}
_YAML = ("yaml", "yml")


def read_dataset(source: Source, intake: Intake, form: str | None = None, *, live: bool = False) -> Dialect:
    """Read all cases of a file, or its faults, into the intake; returns the kind of the records.

    A file without a case is NO_CASES. Reading stops after a thousand faults. `live`: a server of Saiku's can be asked.
    """
    raw = read_bytes(source)
    container = _container(source, raw, form)
    if container in _YAML:
        document, faults = read_yaml(source, raw)
        intake.faults += faults
        if document is not None and (is_saiku(document.value) or (form == "saiku" and isinstance(document.value, dict))):
            return read_saiku(source, document, intake, live=live)
        return read_document(source, document, intake, form) if document is not None else RAGBENCH
    if container in _TABLES:
        return _take(source, table.rows(source, raw, _TABLES[container]), intake, TABLE)
    return _take(source, (strict_json.items if container == "json" else strict_json.lines)(source, raw), intake, RECORDS.get(form or ""))


def read_document(source: Source, document: Document, intake: Intake, form: str | None = None) -> Dialect:
    """The same for a YAML file that has been parsed: a list of records."""
    if not isinstance(document.value, list):
        raise source.refuse("INVALID_VALUE", "the dataset is not a list of cases", "write a list of cases; name a suite file on the command line instead", *document.place(()))
    dialect = RECORDS.get(form or "") or recognise(next(iter(document.value), None))
    before = intake.seen
    for index, value in enumerate(document.value):
        intake.take(Record(source, value, document.place((index,))[0], (index,), document), dialect)
    _something(source, intake, before)
    return dialect


def _container(source: Source, raw: bytes, form: str | None) -> str:
    """`csv`, `tsv`, `psv`, `yaml`, `json` (one list) or `jsonl`."""
    if form in _TABLES:
        return form
    extension = source.path.suffix.lower().lstrip(".")
    if extension in _TABLES or extension in _YAML:
        return extension
    head = raw[:4096].lstrip()
    if extension in ("jsonl", "ndjson") or head[:1] == b"{" or head.startswith(b"//"):
        return "jsonl"
    if extension == "json" or head[:1] == b"[":
        return "json"
    raise source.refuse("INVALID_VALUE", "the file's name and shape do not tell what kind of dataset it is", "name it .jsonl, .json, .csv, .tsv or .yaml, or give its `format`")


def _take(source: Source, records: Iterable[tuple[Any, int] | ConfigError], intake: Intake, dialect: Dialect | None) -> Dialect:
    before, faults = intake.seen, len(intake.faults)
    for found in _bounded(source, records, intake, faults):
        raw, line = found
        if dialect is None:
            dialect = recognise(raw)
        if dialect is TABLE and raw.keys() >= table.SPRING and "input" not in raw:
            dialect = SPRING
        intake.take(Record(source, _row(raw, dialect) if dialect in (TABLE, SPRING) else raw, line), dialect)
    if len(intake.faults) == faults:
        _something(source, intake, before)
    return dialect or RAGBENCH


def _bounded(source: Source, records: Iterable[tuple[Any, int] | ConfigError], intake: Intake, faults: int) -> Iterator[tuple[Any, int]]:
    """Records that could be read; what could not goes to the intake's faults."""
    for found in records:
        if isinstance(found, ConfigError):
            intake.faults += found.faults
        else:
            yield found
        if len(intake.faults) - faults >= MAX_FAULTS:
            fix = "correct the ones shown, or give the right `format`"
            intake.faults.append(source.fault("INVALID_VALUE", f"reading stopped after {MAX_FAULTS} faults in this file", fix))
            return


def _row(cells: dict[str, str], dialect: Dialect) -> dict[str, Any]:
    """A table's row as a record: columns without a meaning of their own are variables."""
    own: dict[str, Any] = {name: cells[name] for name in sorted(dialect.fields - {"vars"}) if name in cells}
    return {**own, "vars": {name: cell for name, cell in cells.items() if name not in own}}


def _something(source: Source, intake: Intake, before: int) -> None:
    if intake.seen == before:
        intake.faults.append(source.fault("NO_CASES", "the dataset has no case", "add a case, or leave the file out", 1, 1))
