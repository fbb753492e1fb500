"""Files of an import: bounded, decoded strictly, never from outside the folder that may be read."""

from __future__ import annotations

import dataclasses
import io
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from evalaction.core.checks.base import visible
from evalaction.core.strict_json import parse_strict_json
from evalaction.errors import ConfigError

MOST_BYTES = 256 * 1024 * 1024
"""Bytes of one import, all of its files together."""
MOST_JSON = 128 * 1024 * 1024
"""Bytes of one JSON document, which is read as a whole."""
MOST_FILES = 100_000
_BOM = b"\xef\xbb\xbf"


@dataclasses.dataclass(frozen=True, slots=True)
class Place:
    """Where the results lie: a file or a folder, the name under which messages speak of it, and the folder it may not lead out of (None: anywhere)."""

    path: Path
    name: str
    within: Path | None = None

    def refuse(self, code: str, what: str, fix: str, line: int | None = None) -> ConfigError:
        """An error with one fault about this place."""
        return ConfigError.one(code, visible(what[:400]), fix, file=self.name, line=line)

    def files(self, *patterns: str) -> tuple[Place, ...]:
        """The file itself, or the files right inside the folder that match one of the patterns, by name.

        Raises ConfigError FILE_NOT_FOUND when nothing is there, OUTSIDE_WORKSPACE when it leads outside, NO_CASES for a folder without such a file.
        """
        self._must_be_inside()
        if self.path.is_file():
            return (self,)
        if not self.path.is_dir():
            raise self.refuse("FILE_NOT_FOUND", "there is no such file or folder", "correct the path, or run the other tool first")
        found = sorted({path for pattern in patterns for path in self.path.glob(pattern) if path.is_file() and not path.name.startswith(".")})
        if not found:
            raise self.refuse("NO_CASES", f"the folder holds no file like {' or '.join(patterns)}", "name the folder or file with the results")
        if len(found) > MOST_FILES:
            raise self.refuse("INVALID_VALUE", f"the folder holds more than {MOST_FILES:,} such files", "import a part of them at a time")
        places = tuple(Place(path, f"{self.name.rstrip('/')}/{path.name}", self.within) for path in found)
        for place in places:
            place._must_be_inside()  # noqa: SLF001 - of the same class
        return places

    def file(self) -> Place:
        """The one file. Raises ConfigError when it is a folder or nothing."""
        self._must_be_inside()
        if not self.path.is_file():
            what = "this format is one file, and a folder is named" if self.path.is_dir() else "there is no such file"
            raise self.refuse("FILE_NOT_FOUND", what, "name the file with the results")
        return self

    def _must_be_inside(self) -> None:
        if self.within is not None and not _is_inside(self.path, self.within):
            raise self.refuse("OUTSIDE_WORKSPACE", "the path leads outside the workspace", "keep the results inside the repository, or name them on the command line")


def _is_inside(path: Path, folder: Path) -> bool:
    try:
        return path.resolve().is_relative_to(folder.resolve())
    except (OSError, ValueError, RuntimeError):  # a name too long, with a NUL, or a ring of links
        return False


class Reader:
    """Reads the files of one import and keeps count of their bytes."""

    def __init__(self) -> None:
        self._left = MOST_BYTES

    def data(self, place: Place) -> bytes:
        """The bytes of a regular file. Raises ConfigError INVALID_VALUE beyond all bounds, FILE_NOT_FOUND when it cannot be read."""
        try:
            if place.path.stat().st_size > self._left:
                raise place.refuse("INVALID_VALUE", f"the results are larger than {MOST_BYTES // 1024**2} MB", "import a part of them at a time")
            with place.path.open("rb") as file:
                data = file.read(self._left + 1)
        except OSError as error:
            raise place.refuse("FILE_NOT_FOUND", f"the file cannot be read ({error.strerror})", "make the file readable") from None
        self._left -= len(data)
        return data.removeprefix(_BOM)

    def text(self, place: Place, code: str = "MALFORMED_JSON") -> str:
        """The text of a file. Raises ConfigError with `code` when it is not UTF-8."""
        return _decoded(place, self.data(place), code)

    def json(self, place: Place) -> Any:
        """One JSON document. Raises ConfigError MALFORMED_JSON with the reason; NaN and a key given twice are refused."""
        text = self.text(place)
        if len(text) > MOST_JSON:
            raise place.refuse("INVALID_VALUE", f"the document is larger than {MOST_JSON // 1024**2} MB", "import a part of the results at a time")
        return _parsed(place, text, 1)

    def lines(self, place: Place) -> Iterator[tuple[Any, int] | ConfigError]:
        """Each line of a JSONL file with its number, or what is wrong with it; blank lines are passed over."""
        for number, line in enumerate(io.BytesIO(self.data(place)), 1):
            if line.strip():
                try:
                    yield _parsed(place, _decoded(place, line.strip(), "MALFORMED_JSON", number), number), number
                except ConfigError as error:
                    yield error


def _decoded(place: Place, data: bytes, code: str, line: int | None = None) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise place.refuse(code, f"byte 0x{data[error.start]:02x} is not UTF-8", "save the file as UTF-8", line or 1 + data.count(b"\n", 0, error.start)) from None


def _parsed(place: Place, text: str, first_line: int) -> Any:
    try:
        value = parse_strict_json(text)
        if "\\u" in text:
            _refuse_half_characters(value)
    except ValueError as error:
        line = first_line - 1 + getattr(error, "lineno", 1)
        raise place.refuse("MALFORMED_JSON", f"not JSON that can be read: {getattr(error, 'msg', error)}", "write the results anew; NaN and Infinity are not JSON", line) from None
    return value


def _refuse_half_characters(value: Any) -> None:
    """An escape of half a character alone is no character; nothing that holds one could be stored."""
    level = [value]
    while level:
        node = level.pop()
        if isinstance(node, str):
            node.encode("utf-8")
        elif isinstance(node, dict):
            level += [*node, *node.values()]
        elif isinstance(node, list):
            level += node


def shown(path: Path, cwd: Path) -> str:
    """A path as messages show it: relative to the working directory where it lies inside, with forward slashes."""
    plain = Path(os.path.normpath(path))
    return plain.relative_to(cwd).as_posix() if plain.is_relative_to(cwd) else plain.as_posix()
