"""Records on disk: `record.json` and one file per case. One reader for records and baselines, strict, for a file may come from a stranger."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from evalaction.core import sharing
from evalaction.core.checks.base import quoted
from evalaction.core.fingerprint import slug
from evalaction.core.model import adapter, copy_of, json_bytes
from evalaction.core.record import SCHEMA_VERSION, CaseRecord, CheckInfo, RunHeader, RunRecord
from evalaction.core.suite import Policy
from evalaction.errors import ConfigError
from evalaction.store.files import read_bytes

T = TypeVar("T")
HEADER_FILE = "record.json"
CASES = "cases"
MOST_CASES = 1_000_000


def dump(value: object, *, indent: int | None = 1) -> bytes:
    """A stored type as strict JSON with its keys in their fixed order."""
    return json_bytes(type(value), value, indent) + b"\n"


def load(kind: type[T], path: Path | str, data: bytes | None = None) -> T:
    """Read one stored type. Raises ConfigError INVALID_RECORD with the first thing that is wrong."""
    content = read_bytes(path) if data is None else data
    try:
        value = adapter(kind).validate_json(content, strict=True)
        if isinstance(value, RunHeader):  # the policy is kept as a map, for `core.record` knows no suites
            adapter(Policy).validate_python(value.policy)
    except ValidationError as error:
        raise ConfigError.one("INVALID_RECORD", _why(error, content), "restore the file, or measure and accept again", file=str(path)) from None
    return value


def _why(error: ValidationError, content: bytes) -> str:
    newer = _newer_version(content)
    if newer is not None:
        return f"written in version {newer} of the format, which this eval-gate (version {SCHEMA_VERSION}) cannot read"
    first = error.errors(include_url=False, include_input=False)[0]
    place = ".".join(map(str, first["loc"]))[:200]
    return f"not a valid record{f' at {place}' if place else ''}: {first['msg'][:300]}"


def _newer_version(content: bytes) -> int | None:
    try:
        version = json.loads(content).get("schema_version")
    except (ValueError, AttributeError, RecursionError):
        return None
    return version if isinstance(version, int) and version > SCHEMA_VERSION else None


def case_file(folder: Path, case_id: str) -> Path:
    """Where a case's file stands; the id never chooses a path."""
    return folder / CASES / case_name(case_id)


def case_name(case_id: str) -> str:
    """The name of a case's file in the folder of cases."""
    return f"{slug(case_id)}.json"


Seen = Callable[[str, bytes], None]
"""Told the name and the bytes of every file that is read."""


_KEY = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._~-]{0,199}")
"""What a suite's key can be: it names folders, and a stranger's record must not choose one outside."""


def read_record(folder: Path, *, whole: bool = False, seen: Seen | None = None) -> RunRecord:
    """A record. Answers and inputs are left on disk unless `whole` is asked for. `seen` is told of the header, then of the cases by name."""
    header = read_header(folder, seen=seen)
    cases: dict[str, CaseRecord] = {}
    within = str(folder / CASES)
    for name in case_names(folder):
        case = _read(CaseRecord, within, name, seen)
        if name != case_name(case.id):
            raise ConfigError.one("INVALID_RECORD", "the file's name does not belong to the case in it", "restore the file, or measure again", file=str(folder / CASES / name))
        cases[case.id] = case if whole else light(case)
    if len(cases) != header.counts.get("cases", len(cases)):
        raise ConfigError.one("INVALID_RECORD", f"{header.counts['cases']} cases were written and {len(cases)} are there", "restore the files, or measure again", file=str(folder))
    return RunRecord(header=header, cases=cases)


def read_header(folder: Path, *, seen: Seen | None = None) -> RunHeader:
    """The header of a record. Raises ConfigError INVALID_RECORD."""
    header = _read(RunHeader, str(folder), HEADER_FILE, seen)
    if not _KEY.fullmatch(header.key):
        raise ConfigError.one("INVALID_RECORD", "the record's key is no name of a folder", "this is no record that eval-gate wrote", file=str(folder / HEADER_FILE))
    return header


def case_names(folder: Path) -> list[str]:
    """Names of a record's case files, sorted. Raises ConfigError INVALID_RECORD when they are too many to be ours."""
    try:
        names = sorted(name for name in os.listdir(folder / CASES) if name.endswith(".json"))  # noqa: PTH208 - plain names sort ten times faster than paths
    except OSError:
        return []
    if len(names) > MOST_CASES:
        raise ConfigError.one("INVALID_RECORD", f"more than {MOST_CASES} cases", "this is no record that eval-gate wrote", file=str(folder))
    return names


def _read(kind: type[T], folder: str, name: str, seen: Seen | None) -> T:
    path = f"{folder}{os.sep}{name}"  # text, since a hundred thousand `Path`s would cost seconds
    data = read_bytes(path)
    if seen is not None:
        seen(name, data)
    return load(kind, path, data)


def light(case: CaseRecord, checks: tuple[CheckInfo, ...] | None = None) -> CaseRecord:
    """A case without input, answers and details: small enough to keep in memory by the hundred thousand. `checks` are its own where they are shared already."""
    return copy_of(case, input="", checks=checks or sharing.checks(case.checks), trials=tuple([sharing.without_texts(trial) for trial in case.trials]))


def read_cases(folder: Path, case_ids: Iterable[str]) -> Mapping[str, CaseRecord]:
    """Some cases with their answers, for a report; those that cannot be read are left out."""
    found = {}
    for case_id in case_ids:
        path = case_file(folder, case_id)
        if path.is_file():
            found[case_id] = load(CaseRecord, path)
    return found


def found_records(root: Path) -> tuple[Path, ...]:
    """The records at a place, none where there is none: the folder itself, or those right below it; hidden folders are what a cut-short replacement left."""
    return (root,) if (root / HEADER_FILE).is_file() else records_below(root)


def records_below(root: Path) -> tuple[Path, ...]:
    """The records right below a folder."""
    return tuple(sorted(path.parent for path in root.glob(f"*/{HEADER_FILE}") if not path.parent.name.startswith(".")))


def record_folders(root: Path) -> tuple[Path, ...]:
    """The records at a place: the folder itself, or those right below it. Raises ConfigError FILE_NOT_FOUND when there is none."""
    found = found_records(root)
    if not found:
        beside = [path.parent.name for path in sorted(root.parent.glob(f"*/{HEADER_FILE}"))[:5]]
        fix = f"name one of {', '.join(beside)}" if beside else "name a folder with a record.json, or the folder above several"
        raise ConfigError.one("FILE_NOT_FOUND", "no record is there", fix, file=str(root))
    return found


def read_records(*places: Path) -> list[tuple[Path, RunRecord]]:
    """All records at some places with their folders, no two of one suite. Raises ConfigError, also for what `read_below` refuses."""
    records = [(folder, read_below(place, folder)) for place in places for folder in record_folders(place)]
    refuse_shared_keys(records)
    return records


def read_below(place: Path, folder: Path, *, whole: bool = False) -> RunRecord:
    """The record in a folder that `record_folders` found at a place. Among several each must lie under its own key: else a record could pass for another suite's."""
    record = read_record(folder, whole=whole)
    if folder != place and record.header.key != folder.name:
        what = f"the record in the folder {quoted(folder.name, 100)} is that of the suite {record.header.key}"
        raise ConfigError.one("INVALID_RECORD", what, "name the folder of the one record that is meant, or measure again", file=str(folder / HEADER_FILE))
    return record


def refuse_shared_keys(records: Iterable[tuple[Path, RunRecord]]) -> None:
    """Raise ConfigError INVALID_RECORD when two records are of one suite: nobody could say which is meant."""
    first: dict[str, Path] = {}
    for folder, record in records:
        other = first.setdefault(record.header.key, folder)
        if other != folder:
            what = f"the suite {record.header.key} has a record in {other} too"
            raise ConfigError.one("INVALID_RECORD", what, "name the folder of the one that is meant", file=str(folder / HEADER_FILE))
