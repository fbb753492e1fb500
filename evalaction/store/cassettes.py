"""Cassettes on disk: `DIR/<suite key>.jsonl`, one exchange a line. They lie in repositories and come with pull requests, so reading is strict and bounded."""

from __future__ import annotations

import codecs
import contextlib
import dataclasses
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, Literal, TypeVar

from pydantic import TypeAdapter, ValidationError

from evalaction.core.cassette import Exchange
from evalaction.core.checks.base import visible
from evalaction.core.model import model
from evalaction.core.strict_json import parse_strict_json
from evalaction.errors import ConfigError, Fault, MeasureError
from evalaction.store.files import hold_in_turn, read_bytes, translated, write_atomic

LARGEST_CASSETTE = 256 * 1024 * 1024
"""Bytes of one cassette."""
MOST_FAULTS = 20
"""Faults of one file that are told."""
T = TypeVar("T")
_FIX = "restore the file, or record it again with --record-to"
_UNSEEN = re.compile("[\x7f-\x9f\xad\u0600-\u0605\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff\ufff9-\ufffb]")
"""Signs that turn, hide or break the text round them, where a person reads the difference of two cassettes."""


@model
class _Head:
    """The first line."""

    cassette: Literal[1]
    suite: str


def cassette_file(folder: Path, key: str) -> Path:
    """Where the cassette of a suite lies."""
    return folder / f"{key}.jsonl"


def read_cassette(path: Path, suite: str, check: Callable[[Exchange], None]) -> list[Exchange] | None:
    """The exchanges of a suite's file, None when there is no such file.

    `check` looks at what only the reader of a reply can judge, and raises ValueError or MeasureError. Raises ConfigError
    INVALID_RECORD with the lines that are damaged, and when the file is too large, no cassette, or
    another suite's.
    """
    if not path.exists() and not path.is_symlink():
        return None
    head, *lines = read_bytes(path, LARGEST_CASSETTE).removeprefix(codecs.BOM_UTF8).removesuffix(b"\n").split(b"\n")
    faults: list[Fault] = []
    found: dict[Any, Exchange] = {}
    for fault, exchange in _read(path, (suite, head), lines, check):
        if fault is not None:
            faults.append(fault)
        if exchange is not None and found.setdefault((exchange.slot, exchange.key), exchange) is not exchange:
            faults.append(_fault(path, None, f"one exchange of case {exchange.case[:80]} stands there twice"))
        if len(faults) >= MOST_FAULTS:
            break
    if faults:
        raise ConfigError(faults)
    return list(found.values())


def _read(path: Path, of: tuple[str, bytes], lines: Iterable[bytes], check: Callable[[Exchange], None]) -> Iterator[tuple[Fault | None, Exchange | None]]:
    suite, head = of
    try:
        stated = _parsed(TypeAdapter(_Head), head).suite
    except ValueError as error:
        yield _fault(path, 1, f"not a cassette: {_said(error)}"), None
        return
    if stated != suite:
        what = f"the cassette of the suite {visible(stated[:80])}, not of {suite}"
        yield dataclasses.replace(_fault(path, 1, what), fix="name this suite in its first line if it was renamed, or remove the file and record again"), None
        return
    adapter = TypeAdapter(Exchange)
    for number, line in enumerate(lines, 2):
        try:
            exchange = _parsed(adapter, line)
            check(exchange)
        except (ValueError, MeasureError) as error:
            yield _fault(path, number, f"a damaged exchange: {_said(error)}"), None
        else:
            yield None, exchange


def _parsed(adapter: TypeAdapter[T], line: bytes) -> T:
    """Our own reader comes first: it refuses keys given twice and bottomless nesting, which the other takes."""
    parse_strict_json(line.decode("utf-8"))
    return adapter.validate_json(line, strict=True)


def _said(error: ValueError | MeasureError) -> str:
    if isinstance(error, ValidationError):
        first = error.errors(include_url=False, include_input=False)[0]
        return f"{'.'.join(map(str, first['loc']))[:200]}: {first['msg'][:200]}".removeprefix(": ")
    return str(error)[:300]


def _fault(path: Path, line: int | None, what: str) -> Fault:
    return Fault(code="INVALID_RECORD", what=what, fix=_FIX, file=str(path), line=line)


def write_cassette(path: Path, suite: str, exchanges: Iterable[Exchange]) -> None:
    """Replace the file whole; the exchanges come sorted. Raises ConfigError CANNOT_WRITE, also for more than could be read again."""
    adapter = TypeAdapter(Exchange)
    lines = [_line({"cassette": 1, "suite": suite}), *(_line(adapter.dump_python(one)) for one in exchanges)]
    size = sum(map(len, lines))
    if size > LARGEST_CASSETTE:
        what = f"the cassette would have {size // 1024 // 1024:,} MiB, and {LARGEST_CASSETTE // 1024 // 1024} are read at the most"
        raise ConfigError.one("CANNOT_WRITE", what, "record fewer cases at a time, or remove what is no longer used with --prune", file=str(path))
    write_atomic(path, lines)


@contextlib.contextmanager
def held(folder: Path) -> Iterator[None]:
    """Keep other recordings out from reading a cassette again to replacing it, waiting for their end. Raises ConfigError CANNOT_WRITE."""
    with translated(folder):
        folder.mkdir(parents=True, exist_ok=True)
        handle = hold_in_turn(folder, "another run is writing its cassette there", "wait for its end, or choose another folder with --record-to")
    try:
        yield
    finally:
        os.close(handle)


def _line(value: Any) -> bytes:
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    return (_UNSEEN.sub(lambda sign: f"\\u{ord(sign[0]):04x}", text) + "\n").encode()
