"""Bytes from disk: bounded, decoded strictly, and only from inside the workspace."""

from __future__ import annotations

import dataclasses
import os
from pathlib import Path

from evalaction.errors import ConfigError, Fault

MAX_BYTES = 256 * 1024 * 1024
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_BOM = b"\xef\xbb\xbf"


@dataclasses.dataclass(frozen=True, slots=True)
class Source:
    """A file to read: where it is, and the name under which messages speak of it."""

    path: Path
    name: str

    def fault(self, code: str, what: str, fix: str, line: int | None = None, column: int | None = None) -> Fault:
        """A fault of this file; line and column are 1-based."""
        return Fault(code=code, what=what, fix=fix, file=self.name, line=line, column=column)

    def refuse(self, code: str, what: str, fix: str, line: int | None = None, column: int | None = None) -> ConfigError:
        """The same as an error with this one fault."""
        return ConfigError([self.fault(code, what, fix, line, column)])


def shown(path: Path, cwd: Path) -> str:
    """A path as messages show it: relative to the working directory where that is shorter to read, with forward slashes."""
    plain = Path(os.path.normpath(path))
    return plain.relative_to(cwd).as_posix() if plain.is_relative_to(cwd) else plain.as_posix()


def is_file(path: Path) -> bool:
    """Whether a regular file stands there; a name that no file system takes is none."""
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def is_inside(path: Path, workspace: Path) -> bool:
    """Whether a path stays inside the workspace once links and `..` are resolved."""
    try:
        return path.resolve().is_relative_to(workspace.resolve())
    except (OSError, ValueError, RuntimeError):  # a name too long, with a NUL, or a ring of links
        return False


def read_bytes(source: Source) -> bytes:
    """The content of a regular file without its byte-order mark.

    Raises ConfigError FILE_NOT_FOUND when it cannot be read, INVALID_VALUE when it is over 256 MB.
    """
    if not is_file(source.path):
        raise source.refuse("FILE_NOT_FOUND", "there is no such file", "correct the path, or create the file")
    try:
        if source.path.stat().st_size > MAX_BYTES:
            raise source.refuse("INVALID_VALUE", f"the file is larger than {MAX_BYTES // 1024**2} MB", "split it into several files")
        return source.path.read_bytes().removeprefix(_BOM)
    except OSError as error:
        raise source.refuse("FILE_NOT_FOUND", f"the file cannot be read ({error.strerror})", "make the file readable") from None


def decode(source: Source, raw: bytes, code: str, first_line: int = 1) -> str:
    """Strict UTF-8. Raises ConfigError with `code` and the place of the first wrong byte."""
    if raw[:2] in _UTF16:
        raise source.refuse(code, "the file is UTF-16", "save it as UTF-8", first_line, 1)
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        line = first_line + raw.count(b"\n", 0, error.start)
        column = len(raw[raw.rfind(b"\n", 0, error.start) + 1 : error.start].decode("utf-8", "replace")) + 1
        raise source.refuse(code, f"byte 0x{raw[error.start]:02x} is not UTF-8", "save the file as UTF-8", line, column) from None
