"""The one place that writes files: whole or not at all, and every refusal of the system said in our words."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import json
import os
import re
import shutil
import stat
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from evalaction.errors import ConfigError

LARGEST = 64 * 1024 * 1024
"""Bytes of one stored file that are read; a larger one is no record of ours."""
_PIECE = 64 * 1024
_MOST_LINKS = 40
_STREAMS = {"stdout": "1", "stderr": "2"}
_OWN_STREAM = re.compile(r"/dev/(stdout|stderr)|/(?:dev|proc/self)/fd/([0-9]{1,9})")


@contextlib.contextmanager
def translated(path: Path) -> Iterator[None]:
    """Turn the system's refusal to write into a configuration error that names the place."""
    try:
        yield
    except OSError as error:
        raise _refusal(path, error) from None


def _refusal(path: Path | str, error: OSError) -> ConfigError:
    full = error.errno in (errno.ENOSPC, errno.EDQUOT)
    fix = "free some space, or choose another folder" if full else "make the folder writable, or choose another one"
    return ConfigError.one("CANNOT_WRITE", f"cannot write: {error.strerror or error}", fix, file=str(path))


def write_atomic(path: Path, data: bytes | Iterable[bytes]) -> None:
    """Replace a file whole, by bytes or by pieces of them: a reader sees the old text or the new, never a part. The folder is made when it is missing."""
    with translated(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        beside = path.with_name(f".{path.name}.{os.getpid()}.tmp")
        try:
            with beside.open("wb") as file:
                file.writelines((data,) if isinstance(data, bytes) else data)
                file.flush()
                os.fsync(file.fileno())
            beside.replace(path)
        except BaseException:
            beside.unlink(missing_ok=True)
            raise


def write_named(path: Path, data: bytes) -> None:
    """Write a file where a person asked for it: a link keeps pointing where it does, and a pipe, terminal or device is written into, not replaced."""
    with translated(path):
        place = _followed(path)
        own = _OWN_STREAM.fullmatch(str(place))
        if own:
            _fill(os.dup(int(_STREAMS.get(own[1]) or own[2])), data)
        elif place.exists() and not (place.is_file() or place.is_dir()):
            handle = os.open(place, os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY)  # a pipe that nobody reads is an error, not a wait without end
            os.set_blocking(handle, True)
            _fill(handle, data)
        else:
            write_atomic(place, data)


def _followed(path: Path) -> Path:
    """Where links lead, but not beyond a name of one of our own streams: behind that may be a file that the shell has open."""
    for _ in range(_MOST_LINKS):
        if _OWN_STREAM.fullmatch(str(path)) or not path.is_symlink():
            return path
        path = path.parent / path.readlink()
    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))


def _fill(handle: int, data: bytes) -> None:
    try:
        write_all(handle, data)
    finally:
        os.close(handle)


def write_new(path: str, data: bytes) -> None:
    """Write a file that nobody reads yet, in three calls of the system; one that is there already is replaced whole.

    The path is text: to join and to open a `Path` costs as much as the writing, and there are a hundred thousand.
    """
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
    except FileExistsError:
        write_atomic(Path(path), data)
        return
    except OSError as error:
        raise _refusal(path, error) from None
    try:
        write_all(handle, data)
    except OSError as error:
        raise _refusal(path, error) from None
    finally:
        os.close(handle)


def write_all(handle: int, data: bytes) -> None:
    """Write every byte: a nearly full disk takes a part and says so only when asked for the rest."""
    while data:
        data = data[os.write(handle, data) :]


def remove_tree(path: Path) -> None:
    """Remove a folder of ours, if it is there."""
    with translated(path):
        if path.is_symlink():
            path.unlink()
        elif path.exists():
            shutil.rmtree(path)


def read_bytes(path: Path | str, limit: int = LARGEST) -> bytes:
    """A file's bytes, with a bound. Raises ConfigError INVALID_RECORD when it is no regular file, is too large or cannot be read."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK)  # a pipe without a writer must not hold us up
        try:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                raise ConfigError.one("INVALID_RECORD", "not a regular file", "restore the file, or measure again", file=str(path))
            data = _up_to(handle, limit + 1)
        finally:
            os.close(handle)
    except OSError as error:
        raise ConfigError.one("INVALID_RECORD", f"cannot be read: {error.strerror or error}", "restore the file, or measure again", file=str(path)) from None
    if len(data) > limit:
        raise ConfigError.one("INVALID_RECORD", f"larger than {limit // 1024 // 1024} MiB", "this is no file that eval-gate wrote; measure again", file=str(path))
    return data


def _up_to(handle: int, most: int) -> bytes:
    """The bytes of an open file, at most so many; a usual case file comes in one piece, and no buffer of Python's is made for it."""
    data = os.read(handle, min(most, _PIECE))
    while len(data) < most and (more := os.read(handle, min(most - len(data), max(len(data), _PIECE)))):
        data += more
    return data


def to_json(value: Any, indent: int | None = 1) -> bytes:
    """Strict JSON of plain values, keys in their order, one key a line."""
    return (json.dumps(value, ensure_ascii=False, allow_nan=False, indent=indent) + "\n").encode("utf-8", "replace")


def hold(folder: Path, what: str, fix: str) -> int:
    """Keep other processes out of a folder until the handle is closed, which a kill does as well. Raises ConfigError CANNOT_WRITE with these words when one is at work there."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        raise ConfigError.one("CANNOT_WRITE", what, fix, file=str(folder)) from None
    except OSError:  # a file system without locks: nobody can be kept out, and nothing else is wrong
        return handle
    return handle


def hold_in_turn(folder: Path, what: str, fix: str, *, seconds: float = 60.0) -> int:
    """The same for work of a moment, such as replacing one file: waits until the others are done, but not for ever."""
    end = time.monotonic() + seconds
    while True:
        try:
            return hold(folder, what, fix)
        except ConfigError:
            if time.monotonic() >= end:
                raise
            time.sleep(0.05)
