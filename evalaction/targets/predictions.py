"""A file of answers, one JSON object a line: nothing is run, the answers are joined to the cases by id."""

from __future__ import annotations

import os
from array import array
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

from evalaction.core.answer import Answer, read_answer
from evalaction.core.excerpts import excerpt
from evalaction.core.scalars import kind_of
from evalaction.core.suite import Case, PredictionsTarget
from evalaction.errors import ConfigError, Fault, TargetError
from evalaction.targets.base import Request
from evalaction.targets.reading import OUTPUT_LIMIT, id_key, read_json

_FAULT_LIMIT = 100
"""Faults of one file that are listed; a file of another format would have one per line."""
_BOM = b"\xef\xbb\xbf"


class Predictions:
    """Answers read from a file. The index keeps places, not texts, so that a large file costs little memory.

    Blank lines, lines that begin with `//`, a byte order mark and CRLF are accepted. A line without
    `repeat` answers repeat 0. Raises ConfigError with every fault of the file: FILE_NOT_FOUND,
    MALFORMED_JSON, MISSING_FIELD, TYPE_MISMATCH, DUPLICATE_ID.
    """

    repeatable = False
    retries = 0

    def __init__(self, spec: PredictionsTarget, *, cwd: Path) -> None:
        self._name = _shown(cwd / spec.path, cwd)
        self._file = _opened(cwd / spec.path, self._name)
        try:
            index = _Index(self._name)
            index.read(self._file)
        except BaseException:
            self._file.close()
            raise
        self._places, self._starts, self._lengths = index.places, index.starts, index.lengths

    @property
    def description(self) -> Mapping[str, Any]:
        """Which file."""
        return {"kind": "predictions", "path": self._name}

    async def close(self) -> None:
        """Close the file."""
        self._file.close()

    async def ask(self, request: Request) -> Answer:
        """The answer on file; see `answer`."""
        return self.answer(request.case, request.repeat)

    def answer(self, case: Case, repeat: int = 0) -> Answer:
        """The answer of one trial; a case without any line was answered with nothing.

        Raises MeasureError INVALID_ANSWER when the line is no answer, or the case has lines but none for this repeat.
        """
        places = self._places.get(id_key(case.id))
        if places is None:
            return Answer()
        at = places.get(repeat) if isinstance(places, dict) else places if repeat == 0 else None
        if at is None:
            raise TargetError("INVALID_ANSWER", f"{self._name} has no line for repeat {repeat} of this case")
        line = os.pread(self._file.fileno(), self._lengths[at], self._starts[at])
        try:
            return read_answer(read_json(line.decode()))
        except ValueError:
            raise TargetError("INVALID_ANSWER", f"{self._name} changed while it was read") from None

    def repeats_of(self, case_id: str) -> tuple[int, ...]:
        """The repeats on file, ascending; (0,) for a case without a line, which is one trial answered with nothing."""
        places = self._places.get(id_key(case_id), 0)
        return tuple(sorted(places)) if isinstance(places, dict) else (0,)

    def note(self, case_ids: Iterable[str]) -> str | None:
        """A doubt in one line when the file answers cases that the suite does not have."""
        known = {id_key(case_id) for case_id in case_ids}
        strangers = [key for key in self._places if key not in known]
        if not strangers:
            return None
        named = ", ".join(excerpt(str(key), 60) for key in strangers[:3]) + (", …" if len(strangers) > 3 else "")
        return f"{self._name} answers {len(strangers)} {'id' if len(strangers) == 1 else 'ids'} that no case of the suite has: {named}"


def _shown(path: Path, cwd: Path) -> str:
    """Relative to the working directory where it lies in there: the same file is described the same way on every machine."""
    return str(path.relative_to(cwd)) if path.is_relative_to(cwd) else str(path)


class _Index:
    """Where each answer stands. `places` maps an id to its line's number in `starts`, or a map of such numbers by repeat."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.places: dict[str | None, int | dict[int, int]] = {}
        self.starts, self.lengths, self._line_numbers = array("q"), array("q"), array("q")
        self._faults: list[Fault] = []

    def read(self, file: BinaryIO) -> None:
        """Index every line, then raise all faults found."""
        for number, start, line in _lines(file):
            if line and not line.startswith(b"//"):
                self._line(number, start, line)
            if len(self._faults) >= _FAULT_LIMIT:
                self._fault(number, "MALFORMED_JSON", f"more than {_FAULT_LIMIT} faults; reading stopped here", "check that this is a file of JSON lines")
                break
        if self._faults:
            raise ConfigError(self._faults)

    def _line(self, number: int, start: int, line: bytes) -> None:
        try:
            fields = read_json(line.decode())
        except ValueError as error:
            self._fault(number, "MALFORMED_JSON", f"the line is not JSON: {excerpt(str(error), 120)}", "write one JSON object per line, in UTF-8")
            return
        if not isinstance(fields, dict):
            self._fault(number, "TYPE_MISMATCH", f"expected a JSON object, found {kind_of(fields)}", 'write {"id": …, "output": …}')
            return
        key, repeat = id_key(fields.get("id")), fields.get("repeat", 0)
        if key is None:
            self._fault(number, "MISSING_FIELD", "the line has no `id`", "name the case that is answered")
        elif isinstance(repeat, bool) or not isinstance(repeat, int) or repeat < 0:
            self._fault(number, "TYPE_MISMATCH", "`repeat` must be a whole number of at least 0", "count the runs of a case 0, 1, 2, …")
        else:
            self._place(key, repeat, number, (start, len(line)))

    def _place(self, key: str, repeat: int, number: int, place: tuple[int, int]) -> None:
        earlier = self._known(key, repeat)
        if earlier is not None:
            what = f"the id {excerpt(key, 80)} (repeat {repeat}) is answered twice, first on line {self._line_numbers[earlier]}"
            self._fault(number, "DUPLICATE_ID", what, "keep one line, or number the runs with `repeat`")
            return
        at, known = len(self.starts), self.places.get(key)
        self.starts.append(place[0])
        self.lengths.append(place[1])
        self._line_numbers.append(number)
        if isinstance(known, dict):
            known[repeat] = at
        elif known is not None:
            self.places[key] = {0: known, repeat: at}
        else:
            self.places[key] = at if repeat == 0 else {repeat: at}

    def _known(self, key: str, repeat: int) -> int | None:
        places = self.places.get(key)
        if isinstance(places, dict):
            return places.get(repeat)
        return places if repeat == 0 else None

    def _fault(self, line: int, code: str, what: str, fix: str) -> None:
        self._faults.append(Fault(code=code, what=what, fix=fix, file=self.name, line=line))


def _opened(path: Path, name: str) -> BinaryIO:
    try:
        return path.open("rb")
    except OSError as error:
        raise ConfigError.one("FILE_NOT_FOUND", f"the file of answers cannot be read: {error.strerror or error}", "name an existing file of JSON lines", file=name) from None


def _lines(file: BinaryIO) -> Iterator[tuple[int, int, bytes]]:
    """(line number from 1, offset of its text in bytes, text without outer blanks)."""
    offset = 0
    for number, raw in enumerate(iter(lambda: file.readline(OUTPUT_LIMIT), b""), 1):
        skipped = len(_BOM) if number == 1 and raw.startswith(_BOM) else 0
        text = raw[skipped:].lstrip()
        yield number, offset + len(raw) - len(text), text.rstrip()
        offset += len(raw)
