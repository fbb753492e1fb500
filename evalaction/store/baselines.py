"""The directory store: `eval-baselines/<suite key>/`, kept in git, one small file per case.

    record.json       the header of the accepted record
    cases/*.json      its cases with their answers
    anchor.json       the level that acceptances may not drift below
    acceptance.json   who, when, why, and the chain of earlier acceptances; its digest covers all the others

A baseline is replaced by renaming folders, so a full disk or a kill leaves the old one or the new one.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import os
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

from evalaction.core.acceptance import Acceptance, AcceptanceFile, Baseline
from evalaction.core.model import model
from evalaction.core.record import CaseRecord, RunHeader, RunRecord
from evalaction.errors import ConfigError
from evalaction.store.files import hold, read_bytes, remove_tree, translated
from evalaction.store.recorder import write_record
from evalaction.store.records import CASES, HEADER_FILE, case_names, dump, light, load, read_cases, read_header, read_record

ACCEPTANCE = "acceptance.json"
ANCHOR = "anchor.json"
SCORE = "baseline-score.txt"
"""A baseline of one number, until a record is accepted in its place."""


@model
class AnchorFile:
    """`anchor.json`: the header of the anchor, and those of its cases whose level is another one than the baseline's."""

    header: RunHeader
    cases: tuple[CaseRecord, ...]


class DirectoryStore:
    """Baselines below one folder."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def folder(self, key: str) -> Path:
        """Where the baseline of a suite stands; a replacement that was cut short leaves it under its old name."""
        usual, before = self.root / key, self.root / f".{key}.before"
        return before if before.is_dir() and not usual.is_dir() else usual

    def load(self, key: str) -> Baseline | None:
        """The baseline of a suite, None when there is none. Raises ConfigError when it is there and not right: never an older one in silence."""
        folder = self.folder(key)
        if not os.path.lexists(folder) or self.is_score(key):
            return None
        accepted, total = load(AcceptanceFile, folder / ACCEPTANCE), _Digest()
        record = read_record(folder, seen=total.add)
        anchor_data = read_bytes(folder / ANCHOR)
        total.add(ANCHOR, anchor_data)
        if total.text != accepted.current.digest:
            raise ConfigError.one(
                "BASELINE_UNTRUSTED", "the files are not those that were accepted", "restore the folder from git, or accept a measured record again", file=str(folder)
            )
        if record.header.key != key:
            what = f"this is the baseline of another suite, {record.header.key}"
            raise ConfigError.one("BASELINE_UNTRUSTED", what, "restore the folder from git, or accept a measured record", file=str(folder))
        anchor = load(AnchorFile, folder / ANCHOR, anchor_data)
        level = RunRecord(header=anchor.header, cases={**record.cases, **{case.id: case for case in anchor.cases}})
        return Baseline(record=record, acceptance=accepted.current, chain=accepted.chain, anchor=level)

    def headers(self, *, without: Collection[str]) -> Iterator[RunHeader]:
        """Headers of the accepted records of all suites but these, by key; hidden folders are what a cut-short replacement left. Raises ConfigError INVALID_RECORD."""
        known = set(without)
        for path in sorted(self.root.glob(f"*/{ACCEPTANCE}")):
            if path.parent.name not in known and not path.parent.name.startswith("."):
                header = read_header(path.parent)
                if header.key != path.parent.name:
                    what = f"this is the baseline of another suite, {header.key}"
                    raise ConfigError.one("BASELINE_UNTRUSTED", what, "restore the folder from git, or accept a measured record", file=str(path.parent))
                yield header

    def acceptances(self, key: str) -> tuple[Acceptance, ...]:
        """All acceptances of a suite, oldest first; none without a baseline. Raises ConfigError when the file cannot be read."""
        path = self.folder(key) / ACCEPTANCE
        if not path.is_file():
            return ()
        accepted = load(AcceptanceFile, path)
        return (*accepted.chain, accepted.current)

    def is_score(self, key: str) -> bool:
        """Whether the folder of a suite holds a score and no accepted record."""
        folder = self.folder(key)
        return (folder / SCORE).is_file() and not os.path.lexists(folder / ACCEPTANCE)

    def answers(self, key: str, case_ids: list[str]) -> Mapping[str, CaseRecord]:
        """Some cases with their answers."""
        return read_cases(self.folder(key), case_ids)

    def save(self, key: str, baseline: Baseline, answers: Mapping[str, CaseRecord]) -> Path:
        """Replace the baseline of a suite whole; `answers` are the cases with their texts."""
        with translated(self.root):
            self.root.mkdir(parents=True, exist_ok=True)
            return self._replace(key, baseline, answers)

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        """Keep other acceptances away from reading a baseline to replacing it: the second would not continue the first. Raises ConfigError CANNOT_WRITE."""
        with translated(self.root):
            self.root.mkdir(parents=True, exist_ok=True)
            handle = hold(self.root, "another acceptance is at work there", "wait for its end, and accept again")
        try:
            yield
        finally:
            os.close(handle)
            with contextlib.suppress(OSError):  # nothing was stored where nothing was before
                self.root.rmdir()

    def _replace(self, key: str, baseline: Baseline, answers: Mapping[str, CaseRecord]) -> Path:
        new, usual, before = self.root / f".{key}.new", self.root / key, self.root / f".{key}.before"
        if before.is_dir() and not usual.is_dir():
            before.replace(usual)
        remove_tree(new)
        try:
            self._write(new, baseline, answers)
        except BaseException:
            remove_tree(new)
            raise
        remove_tree(before)
        if usual.exists():
            usual.replace(before)
        new.replace(usual)
        remove_tree(before)
        return usual

    def _write(self, folder: Path, baseline: Baseline, answers: Mapping[str, CaseRecord]) -> None:
        files = {ANCHOR: dump(_anchor_file(baseline))}
        cases = {name: answers.get(name, case) for name, case in baseline.record.cases.items()}
        write_record(folder, RunRecord(header=baseline.record.header, cases=cases), files)
        acceptance = dataclasses.replace(baseline.acceptance, digest=_digest(folder))
        (folder / ACCEPTANCE).write_bytes(dump(AcceptanceFile(current=acceptance, chain=baseline.chain)))


def _anchor_file(baseline: Baseline) -> AnchorFile:
    anchor, cases = baseline.anchor or baseline.record, baseline.record.cases
    differing = (light(case) for name, case in anchor.cases.items() if case is not cases.get(name))
    return AnchorFile(header=anchor.header, cases=tuple(case for case in differing if case != light(cases[case.id])))


class _Digest:
    """SHA-256 over the names and bytes of everything in a baseline but its acceptance.

    Line ends are folded, so that a checkout on another system does not look forged.
    """

    def __init__(self) -> None:
        self._total = hashlib.sha256()

    def add(self, name: str, data: bytes) -> None:
        """The next file: header, cases by name, anchor."""
        for part in (name.encode(), data.replace(b"\r\n", b"\n")):
            self._total.update(part)
            self._total.update(b"\0")

    @property
    def text(self) -> str:
        """As an acceptance states it."""
        return f"sha256:{self._total.hexdigest()}"


def _digest(folder: Path) -> str:
    total = _Digest()
    for path in (folder / HEADER_FILE, *(folder / CASES / name for name in case_names(folder)), folder / ANCHOR):
        total.add(path.name, read_bytes(path))
    return total.text
