"""The one place that writes files: whole or not at all, and every refusal of the system said in our words."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from evalaction.errors import ConfigError

LARGEST = 64 * 1024 * 1024
"""Bytes of one stored file that are read; a larger one is no record of ours."""


@contextlib.contextmanager
def translated(path: Path) -> Iterator[None]:
    """Turn the system's refusal to write into a configuration error that names the place."""
    try:
        yield
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        fix = "free some space, or choose another folder" if full else "make the folder writable, or choose another one"
        raise ConfigError.one("CANNOT_WRITE", f"cannot write: {error.strerror or error}", fix, file=str(path)) from None


def write_atomic(path: Path, data: bytes) -> None:
    """Replace a file whole: a reader sees the old text or the new, never a part. The folder is made when it is missing."""
    with translated(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        beside = path.with_name(f".{path.name}.{os.getpid()}.tmp")
        try:
            with beside.open("wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            beside.replace(path)
        except BaseException:
            beside.unlink(missing_ok=True)
            raise


def write_new(path: Path, data: bytes) -> None:
    """Write a file that nobody reads yet, in three calls of the system."""
    with translated(path):
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
        try:
            while data:
                data = data[os.write(handle, data) :]
        finally:
            os.close(handle)


def remove_tree(path: Path) -> None:
    """Remove a folder of ours, if it is there."""
    with translated(path):
        if path.is_symlink():
            path.unlink()
        elif path.exists():
            shutil.rmtree(path)


def read_bytes(path: Path, limit: int = LARGEST) -> bytes:
    """A file's bytes, with a bound. Raises ConfigError INVALID_RECORD when it is too large or cannot be read."""
    try:
        with path.open("rb") as file:
            data = file.read(limit + 1)
    except OSError as error:
        raise ConfigError.one("INVALID_RECORD", f"cannot be read: {error.strerror or error}", "restore the file, or measure again", file=str(path)) from None
    if len(data) > limit:
        raise ConfigError.one("INVALID_RECORD", f"larger than {limit // 1024 // 1024} MiB", "this is no file that eval-gate wrote; measure again", file=str(path))
    return data


def to_json(value: Any, indent: int | None = 1) -> bytes:
    """Strict JSON of plain values, keys in their order, one key a line."""
    return (json.dumps(value, ensure_ascii=False, allow_nan=False, indent=indent) + "\n").encode("utf-8", "replace")
