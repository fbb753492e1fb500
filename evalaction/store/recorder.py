"""Writes a record while it is being measured: a journal line per trial, a file per finished case, the header last.

Folder `<out>/<suite key>/`: `trials.jsonl` grows as trials finish and goes when the record is complete; a
killed run keeps it, and `resume` starts from it.
"""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from evalaction.core.fingerprint import define, digest
from evalaction.core.masking import Masker
from evalaction.core.model import adapter, known_good
from evalaction.core.record import SCHEMA_VERSION, CaseRecord, RunHeader, RunRecord, Trial
from evalaction.core.shapes import RECORD
from evalaction.core.suite import Case, Suite
from evalaction.errors import ConfigError
from evalaction.store.behind import WriteBehind
from evalaction.store.files import hold, remove_tree, to_json, translated, write_all, write_atomic, write_new
from evalaction.store.records import CASES, HEADER_FILE, case_file, case_name, dump, light, load
from evalaction.store.seals import BESIDE, Seals

JOURNAL = "trials.jsonl"
SET_ASIDE = "trials.interrupted.jsonl"
LONGEST_INPUT = 16_384


class Asked(Protocol):
    """One trial that was asked for."""

    @property
    def case(self) -> Case:
        """The case."""

    @property
    def repeat(self) -> int:
        """Which run of it, from 0."""


@dataclasses.dataclass(slots=True)
class _Open:
    """A case whose trials are still coming in."""

    trials: dict[int, Trial]
    expected: int


class Recorder:
    """Takes trials and keeps them safe. The answers of finished cases are on disk only; scores stay in memory."""

    def __init__(self, folder: Path, suite: Suite, masker: Masker, *, journaled: bool = True) -> None:
        self.folder, self._cases_folder = folder, str(folder / CASES)
        self.cases: dict[str, CaseRecord] = {}
        self._suite, self._masker, self._journaled = suite, masker, journaled
        self._open: dict[str, _Open] = {}
        self._definitions = {case.id: case for case in suite.cases}
        self._journal: int | None = None
        # Without a journal nothing is called that would wait for the disk, and two busy threads are slower than one.
        self._behind = WriteBehind() if journaled else None
        self._held: int | None = None
        self.seals = Seals(folder, kept=journaled)

    def start(self, identity: Mapping[str, object], *, resume: bool = False) -> dict[str, dict[int, Trial]]:
        """Open the folder; with `resume` return the trials that an interrupted run of the same `identity` measured.

        An earlier record in the folder is removed; the journal of an earlier interrupted run is set aside.
        """
        if self.folder.is_symlink():
            raise ConfigError.one("CANNOT_WRITE", "the folder of the record is a link", "remove the link, or choose another folder with --out", file=str(self.folder))
        stamp = digest(dict(identity))
        found = self._resumable(stamp) if resume else None
        with translated(self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)
            self._held = hold(self.folder, "another run is writing its results there", "wait for its end, or choose another folder with --out")
            (self.folder / HEADER_FILE).unlink(missing_ok=True)
            remove_tree(self.folder / CASES)
            remove_tree(self.folder / BESIDE)
            (self.folder / CASES).mkdir()
            journal = self.folder / JOURNAL
            if found is None and journal.exists():
                journal.replace(self.folder / SET_ASIDE)
            elif journal.exists():
                _cut_torn_line(journal)
            if self._journaled:
                self._journal = os.open(journal, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
                if found is None:
                    write_all(self._journal, to_json({"identity": stamp}, indent=None))
        return found or {}

    def _resumable(self, stamp: str) -> dict[str, dict[int, Trial]] | None:
        """Measured trials of a journal; the line that was being written when the run died is dropped."""
        journal = self.folder / JOURNAL
        if not journal.is_file():
            return None
        lines = iter(_whole_lines(journal))
        if next(lines, {}).get("identity") != stamp:
            return None
        found: dict[str, dict[int, Trial]] = {}
        for line in lines:
            case = self._definitions.get(str(line.get("case")))
            if case is not None and line.get("definition") == _definition(case):
                trial = load(Trial, journal, to_json(line.get("trial"), indent=None))
                found.setdefault(case.id, {})[trial.repeat] = trial
        return {case_id: good for case_id, trials in found.items() if (good := {n: trial for n, trial in trials.items() if trial.measured})}

    def expect(self, case: Case, trials: int) -> None:
        """Announce that so many further trials of a case will be settled. Until the header is written anew the record counts as unfinished."""
        known = self.cases.pop(case.id, None)
        if known:
            self.flush()
            with translated(self.folder):
                (self.folder / HEADER_FILE).unlink(missing_ok=True)
            self.seals.drop(HEADER_FILE)
        earlier = {trial.repeat: trial for trial in self._read_back(case.id)} if known else {}
        self._open[case.id] = _Open(earlier, len(earlier) + trials)

    def _read_back(self, case_id: str) -> Sequence[Trial]:
        """The trials of a case as they were written. Raises ConfigError INVALID_RECORD."""
        return load(CaseRecord, case_file(self.folder, case_id), self.seals.read(f"{CASES}/{case_name(case_id)}")).trials

    def journal(self, request: Asked, trial: Trial) -> None:
        """Write one trial to the journal, at once, so that a kill loses at most the trial in flight."""
        if self._journal is None:
            return
        line = {"case": request.case.id, "definition": _definition(request.case), "trial": adapter(Trial).dump_python(trial, mode="json")}
        data = _line(line)
        if self._masker.finds(data):
            data = _line(self._masker.json(line, RECORD))
        with translated(self.folder / JOURNAL):
            write_all(self._journal, data)

    def settle(self, request: Asked, trial: Trial) -> None:
        """Take a final trial; with the last expected one the case's file is written."""
        waiting = self._open[request.case.id]
        waiting.trials[trial.repeat] = trial
        if len(waiting.trials) >= waiting.expected:
            self._write(request.case, waiting.trials)

    def _write(self, case: Case, trials: Mapping[int, Trial]) -> None:
        self._open.pop(case.id, None)
        record = case_record(case, [trials[number] for number in sorted(trials)], self._suite.planned(case))
        name, data = case_name(case.id), dump(record)
        if self._masker.finds(data):
            data = to_json(self._masker.json(json.loads(data), RECORD))
        self.seals.put(f"{CASES}/{name}", data)
        # Nothing reads the folder before the header is there, so a new file needs no detour.
        (self._behind.write if self._behind else write_new)(f"{self._cases_folder}{os.sep}{name}", data)
        self.cases[case.id] = light(record, record.checks)

    def abandon(self, failure: Trial) -> None:
        """Close every case that still waits for trials: the missing ones get this failure."""
        for case_id, waiting in list(self._open.items()):
            case = self._definitions[case_id]
            for repeat in range(waiting.expected):
                waiting.trials.setdefault(repeat, dataclasses.replace(failure, repeat=repeat))
            self._write(case, waiting.trials)

    def record(self, header: RunHeader) -> RunRecord:
        """The record so far, cases in the suite's order."""
        return RunRecord(header=header, cases={case.id: self.cases[case.id] for case in self._suite.cases if case.id in self.cases})

    def flush(self) -> None:
        """Wait until the files of all finished cases are on disk. Raises ConfigError CANNOT_WRITE when one is not."""
        if self._behind is not None:
            self._behind.flush()

    def write_header(self, header: RunHeader) -> None:
        """Complete the record: from now on it can be read."""
        self.flush()
        data = self._masked(header)
        self.seals.put(HEADER_FILE, data)
        write_atomic(self.folder / HEADER_FILE, data)

    def close(self, *, keep_journal: bool = False) -> None:
        """Close the journal, which a complete record does not need, and let the folder go."""
        if self._behind is not None:
            self._behind.close()
        if self._held is not None:
            os.close(self._held)
            self._held = None
        if self._journal is not None:
            os.close(self._journal)
            self._journal = None
            if not keep_journal:
                (self.folder / JOURNAL).unlink(missing_ok=True)

    def _masked(self, header: RunHeader) -> bytes:
        data = dump(header)
        return to_json(self._masker.json(json.loads(data), RECORD)) if self._masker.finds(data) else data


def case_record(case: Case, trials: Sequence[Trial], repeats: int) -> CaseRecord:
    """A case with its trials as it is stored."""
    known = define(case)
    text = case.input if len(case.input) <= LONGEST_INPUT else f"{case.input[:LONGEST_INPUT]}… [cut: {len(case.input):,} characters in all]"
    return known_good(CaseRecord, SCHEMA_VERSION, case.id, known.fingerprint, text, case.category, case.tags, case.line, case.floor, repeats, known.checks, tuple(trials))


_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode


def _line(value: Mapping[str, object]) -> bytes:
    """A line of the journal: what `to_json` makes, by an encoder that is made once."""
    return f"{_encode(value)}\n".encode("utf-8", "replace")


def _definition(case: Case) -> str:
    known = define(case)
    return digest([known.fingerprint, [[check.id, check.fingerprint] for check in known.checks]])


def _cut_torn_line(journal: Path) -> None:
    """Drop what a kill left of the last line, so that the next one does not grow out of it."""
    data = journal.read_bytes()
    whole = data.rfind(b"\n") + 1
    if whole < len(data):
        os.truncate(journal, whole)


def _whole_lines(journal: Path) -> Iterator[dict[str, object]]:
    with journal.open("rb") as file:
        for raw in file:
            if not raw.endswith(b"\n"):
                return
            try:
                line = json.loads(raw)
            except ValueError:
                raise ConfigError.one("INVALID_RECORD", "the journal is damaged", f"remove {JOURNAL} and measure again without --resume", file=str(journal)) from None
            if isinstance(line, dict):
                yield line


def write_record(folder: Path, record: RunRecord, files: Mapping[str, bytes] | None = None) -> None:
    """Write a whole record: its cases, further files, and the header last."""
    with translated(folder):
        (folder / CASES).mkdir(parents=True, exist_ok=True)
        for case in record.cases.values():
            write_new(str(case_file(folder, case.id)), dump(case))
        for name, data in (files or {}).items():
            (folder / name).write_bytes(data)
        (folder / HEADER_FILE).write_bytes(dump(record.header))
