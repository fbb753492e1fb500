"""Digests of a record's files as they were written: what a system under test writes there while it is measured is found out."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path

from evalaction.errors import ConfigError
from evalaction.store.files import read_bytes, translated
from evalaction.store.records import CASES, HEADER_FILE, case_names

BESIDE = "blame"
"""Folder of what is measured beside a suite: the base system, and the head anew."""
_FIX = "keep the system under test, and everything else, from writing into the folder of the results"


class Seals:
    """The digests of one record, by its files' names. None are kept of a run in which no system is asked: nobody could touch it, and there may be a hundred thousand."""

    def __init__(self, folder: Path, *, kept: bool) -> None:
        self.folder, self.kept = folder, kept
        self._place, self._digests = str(folder), dict[str, bytes]()

    def put(self, name: str, data: bytes) -> None:
        """What is being written."""
        if self.kept:
            self._digests[name] = _digest(data)

    def drop(self, name: str) -> None:
        """A file that was taken away."""
        self._digests.pop(name, None)

    def read(self, name: str) -> bytes:
        """A file as it was written. Raises ConfigError INVALID_RECORD when somebody else has changed it: what it says now nobody measured."""
        try:
            data = read_bytes(f"{self._place}{os.sep}{name}")
        except ConfigError:
            raise forged(self.folder, name) from None
        if self.kept and _digest(data) != self._digests.get(name):
            raise forged(self.folder, name)
        return data

    def verify(self) -> None:
        """Raise ConfigError INVALID_RECORD when the files of a complete record are not those that were written."""
        if HEADER_FILE not in self._digests:
            return
        there = {HEADER_FILE, *(f"{CASES}/{name}" for name in case_names(self.folder))}
        for name in sorted(there | self._digests.keys()):
            self.read(name)


def verify(out: Path, sealed: Sequence[Seals]) -> None:
    """Hold the records of one run, those beside its suites too, against what was written.

    Raises ConfigError INVALID_RECORD also for a record where none of the run's can be: in the folder of the results itself, and beside a suite. Without its header, what is
    left is no record any more.
    """
    for seals in sealed:
        seals.verify()
    known = {seals.folder for seals in sealed}
    places = [out, *(place.parent for seals in sealed for place in sorted((seals.folder / BESIDE).glob(f"*/{HEADER_FILE}")))]
    for stranger in (place for place in places if place not in known and os.path.lexists(place / HEADER_FILE)):
        raise forged(stranger, HEADER_FILE)


def refuse_record(out: Path) -> None:
    """Raise ConfigError INVALID_INPUT where the folder of the results is a record itself: whoever named it later would get that one, and not what was measured."""
    if os.path.lexists(out / HEADER_FILE):
        fix = "choose another folder with --out, or take the record away"
        raise ConfigError.one("INVALID_INPUT", "the folder of the results is itself a record", fix, file=str(out / HEADER_FILE))


def forged(folder: Path, name: str) -> ConfigError:
    """The error for a file that is not what was measured; takes the record's header away, so that nobody can accept what is left."""
    with translated(folder):
        (folder / HEADER_FILE).unlink(missing_ok=True)
    return ConfigError.one("INVALID_RECORD", "the file was changed by somebody else while the run measured", _FIX, file=str(folder / name))


def _digest(data: bytes) -> bytes:
    return hashlib.sha256(data).digest()
