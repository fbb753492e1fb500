"""Hostile zips unpacked: streamed to disk under limits, only regular files at safe relative names. What is not surely harmless is refused whole."""

from __future__ import annotations

import hashlib
import shutil
import stat
import struct
import unicodedata
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from evalaction.core.checks.base import quoted
from evalaction.errors import ConfigError
from evalaction.github.facts import Artifact
from evalaction.github.storage import writing

PACKED_LIMIT = 100 * 1000 * 1000
UNPACKED_LIMIT = 500 * 1000 * 1000
MOST_MEMBERS = 200_000
_LARGEST_DIRECTORY = 48 * 1024 * 1024
"""Bytes of the list of members that are read at once."""
_ENTRY = b"PK\x01\x02"
_PIECE = 64 * 1024
_DEEPEST = 8
_LONGEST_NAME = 200
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_ENCRYPTED = 0x1 | 0x40 | 0x2000
_BROKEN = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError, KeyError, IndexError, OverflowError, struct.error, OSError)
"""What the library raises for a file that is no zip, or one that breaks off, and, as NotImplementedError, for one of a version or packing that it does not know.
UnicodeError and RecursionError are among their children.
Where writing fails, that has become a ConfigError before."""
_FIX = "measure and accept again; if it comes back, look at who could have uploaded it"


class _Refused(Exception):
    """A reason why an archive is not unpacked."""


class _Guarded:
    """A file whose list of members is counted before it becomes objects: each would cost a hundred times its bytes."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)

    def read(self, size: int = -1) -> bytes:
        """At most so many bytes, of a negative size all that are left; a list without end is refused."""
        data = self._file.read(min(size, _LARGEST_DIRECTORY + 1) if size >= 0 else _LARGEST_DIRECTORY + 1)
        if len(data) > _LARGEST_DIRECTORY:
            raise _Refused("its list of members is too long")
        if len(data) > 2 * _PIECE and data.count(_ENTRY) > MOST_MEMBERS:
            raise _Refused(f"it has more than {MOST_MEMBERS:,} members")
        return data


def unpack(archive: Path, folder: Path, *, code: str, what: str, packed_limit: int = PACKED_LIMIT, unpacked_limit: int = UNPACKED_LIMIT) -> None:
    """Unpack an archive into a new folder; nothing stays of one that is refused.

    Raises ConfigError with `code` for an archive that is broken, encrypted, too large or names a place outside; `what` says in the message whose it is.
    """
    try:
        with writing(folder):
            folder.mkdir(parents=True)
        _check_size(archive, packed_limit)
        with archive.open("rb") as file, zipfile.ZipFile(_Guarded(file)) as packed:
            _extract(packed, _checked(packed.infolist(), unpacked_limit), folder, unpacked_limit)
    except (_Refused, *_BROKEN) as error:
        shutil.rmtree(folder, ignore_errors=True)
        reason = str(error) if isinstance(error, _Refused) else f"it is no whole zip archive ({type(error).__name__})"
        raise ConfigError.one(code, f"{what} cannot be used: {reason}", _FIX) from None
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def _check_size(archive: Path, limit: int) -> None:
    if archive.stat().st_size > limit:
        raise _Refused(f"it is larger than {limit:,} bytes")


def _checked(members: list[zipfile.ZipInfo], limit: int) -> list[zipfile.ZipInfo]:
    """The files among the members, once all of them are harmless."""
    if len(members) > MOST_MEMBERS:
        raise _Refused(f"it has more than {MOST_MEMBERS:,} members")
    if sum(member.file_size for member in members) > limit:
        raise _Refused(f"it unpacks to more than {limit:,} bytes")
    names: set[str] = set()
    for member in members:
        _check_member(member)
        name = unicodedata.normalize("NFC", member.filename.removesuffix("/")).casefold()
        if name in names:
            raise _Refused(f"it has {quoted(member.filename)} twice")
        names.add(name)
    return [member for member in members if not member.is_dir()]


def _check_member(member: zipfile.ZipInfo) -> None:
    shown, mode = quoted(member.orig_filename), member.external_attr >> 16
    if member.orig_filename != member.filename or not is_safe(member.filename.removesuffix("/")):
        raise _Refused(f"a member is named {shown}")
    if stat.S_IFMT(mode) not in (0, stat.S_IFREG, stat.S_IFDIR):
        raise _Refused(f"{shown} is no regular file")
    if member.flag_bits & _ENCRYPTED:
        raise _Refused(f"{shown} is encrypted")
    if member.compress_type not in _METHODS:
        raise _Refused(f"{shown} is packed in an unusual way")


def is_safe(name: str) -> bool:
    """Whether a member's name is a plain relative path: no root, no drive, no step up, no character that some system reads otherwise."""
    parts = name.split("/")
    plain = name.isprintable() and not any(char in name for char in '\\:*?"<>|') and len(name) <= _LONGEST_NAME * 4
    return plain and len(parts) <= _DEEPEST and all(0 < len(part.encode()) <= _LONGEST_NAME and not part.startswith(("..", "~")) and part.strip(". ") for part in parts)


def _extract(packed: zipfile.ZipFile, members: list[zipfile.ZipInfo], folder: Path, limit: int) -> None:
    """Write the files; what they really unpack to counts, not what they say."""
    made: set[Path] = set()
    for member in members:
        place = folder.joinpath(*member.filename.split("/"))
        try:
            if place.parent not in made:
                place.parent.mkdir(parents=True, exist_ok=True)
                made.add(place.parent)
            file = place.open("xb")
        except (FileExistsError, NotADirectoryError, IsADirectoryError):
            raise _Refused(f"{quoted(member.filename)} is a file and a folder at once") from None
        except OSError as error:
            with writing(place):
                raise error from None
        with file:
            for piece in _pieces(packed, member):
                limit -= len(piece)
                if limit < 0:
                    raise _Refused("it unpacks to more than it says, and more than it may")
                with writing(place):
                    file.write(piece)


def _pieces(packed: zipfile.ZipFile, member: zipfile.ZipInfo) -> Iterator[bytes]:
    with packed.open(member) as data:
        while piece := data.read(_PIECE):
            yield piece


def check_digest(archive: Path, artifact: Artifact) -> None:
    """Raises ConfigError INVALID_RECORD when an archive is not what was uploaded. A server that gives no digest gives nothing to check."""
    if artifact.digest is None:
        return
    with archive.open("rb") as file:
        found = f"sha256:{hashlib.file_digest(file, 'sha256').hexdigest()}"
    if artifact.digest.lower() != found:
        raise ConfigError.one("INVALID_RECORD", f"artifact {artifact.id} of run {artifact.run_id} is not what was uploaded: its digest is another one", _FIX)
