"""The history of runs: one SQLite file beside the results, one row per suite and run."""

from __future__ import annotations

import dataclasses
import functools
import json
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from pydantic import FiniteFloat, TypeAdapter

from evalaction.errors import ConfigError

FILE = "history.sqlite"
_SCHEMA = """
CREATE TABLE IF NOT EXISTS runs (
  id INTEGER PRIMARY KEY, started_at TEXT NOT NULL, key TEXT NOT NULL, suite TEXT NOT NULL,
  verdict TEXT NOT NULL, commit_id TEXT, cases INTEGER NOT NULL, errors INTEGER NOT NULL, metrics TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS runs_by_key ON runs (key, id);
"""
_CHANGES = ("ALTER TABLE runs ADD COLUMN failing TEXT NOT NULL DEFAULT '{}'", "ALTER TABLE runs ADD COLUMN label TEXT")
"""What was added to the first form, in its order: `PRAGMA user_version` says how many of these a file has."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class PastRun:
    """One run of one suite; `metrics` are means over the whole suite, `failing` has (passed, measured) runs of each case that did not always pass."""

    started_at: str
    key: str
    suite: str
    verdict: str
    commit: str | None
    cases: int
    errors: int
    metrics: Mapping[str, FiniteFloat]
    failing: Mapping[str, tuple[int, int]] = dataclasses.field(default_factory=dict)
    label: str | None = None


def add(root: Path, runs: Sequence[PastRun]) -> None:
    """Append runs. Raises ConfigError CANNOT_WRITE when the file cannot be used."""
    rows = [
        (run.started_at, run.key, run.suite, run.verdict, run.commit, run.cases, run.errors, json.dumps(dict(run.metrics)), json.dumps(dict(run.failing)), run.label)
        for run in runs
    ]  # fmt: skip
    _refuse_link(root)
    try:
        with closing(sqlite3.connect(root / FILE, timeout=10)) as database, database:
            database.executescript(_SCHEMA)
            _bring_up_to_date(database)
            columns = "started_at, key, suite, verdict, commit_id, cases, errors, metrics, failing, label"
            database.executemany(f"INSERT INTO runs ({columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)  # noqa: S608 - fixed words of ours
    except sqlite3.Error as error:
        raise _unusable(root, error) from None


def _bring_up_to_date(database: sqlite3.Connection) -> None:
    """Add what a file of an earlier version lacks. The lock is taken first, so that of two runs at once only one changes the file."""
    database.execute("BEGIN IMMEDIATE")
    known = _changes_in(database)
    for change in _CHANGES[known:]:
        database.execute(change)
    if known < len(_CHANGES):
        database.execute(f"PRAGMA user_version = {len(_CHANGES)}")


def _changes_in(database: sqlite3.Connection) -> int:
    return int(database.execute("PRAGMA user_version").fetchone()[0])


def labels(root: Path, key: str | None = None) -> tuple[str, ...]:
    """Every label that a run was given, the newest first; of one suite when its key is given."""
    if not _is_there(root):
        return ()
    query = "SELECT label FROM runs WHERE label IS NOT NULL AND (?1 IS NULL OR key = ?1) GROUP BY label ORDER BY max(id) DESC"
    try:
        with closing(_reader(root)) as database:
            rows = database.execute(query, (key,)).fetchall() if _has_runs(database) and _changes_in(database) >= 2 else []
        return tuple(str(row[0]) for row in rows)
    except sqlite3.Error as error:
        raise _unusable(root, error) from None


def _reader(root: Path) -> sqlite3.Connection:
    database = sqlite3.connect(f"{(root / FILE).absolute().as_uri()}?mode=ro", uri=True, timeout=10)
    database.text_factory = lambda text: text.decode("utf-8", "replace")  # one bad byte must not hide the other runs
    return database


def _is_there(root: Path) -> bool:
    _refuse_link(root)
    return (root / FILE).is_file()


def _refuse_link(root: Path) -> None:
    """A link would let whoever made the folder choose a file elsewhere."""
    if (root / FILE).is_symlink():
        raise ConfigError.one("CANNOT_WRITE", "the history is a link, and none is followed", "replace the link by the file itself, or remove it", file=str(root / FILE))


def _has_runs(database: sqlite3.Connection) -> bool:
    """Whether anything was ever written: a file of no bytes is an empty history."""
    return database.execute("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'runs'").fetchone() is not None


def past_runs(root: Path, key: str | None = None, *, most: int = 100, say: Callable[[str], None] | None = None) -> tuple[PastRun, ...]:
    """The newest runs, oldest first; of one suite when its key is given. A row that is damaged is passed over, and `say` is told which."""
    if not _is_there(root):
        return ()
    query = "SELECT started_at, key, suite, verdict, commit_id, cases, errors, metrics, {}, {}, id FROM runs WHERE ?1 IS NULL OR key = ?1 ORDER BY id DESC LIMIT ?2"
    try:
        with closing(_reader(root)) as database:
            known = _changes_in(database)
            asked = query.format("failing" if known >= 1 else "'{}'", "label" if known >= 2 else "NULL")
            rows = database.execute(asked, (key, most)).fetchall() if _has_runs(database) else []
    except sqlite3.Error as error:
        raise _unusable(root, error) from None
    return tuple(run for row in reversed(rows) if (run := _readable(root, row, say)) is not None)


def _readable(root: Path, row: Sequence[Any], say: Callable[[str], None] | None) -> PastRun | None:
    try:
        return _past_run(row)
    except (ValueError, RecursionError):  # pydantic's and json's errors are ValueErrors
        if say is not None:
            say(f"warning: row {row[10]} of {root / FILE} is damaged and passed over")
        return None


def _past_run(row: Sequence[Any]) -> PastRun:
    """A row as a run. Raises ValueError where a field is not what `add` writes there."""
    names = ("started_at", "key", "suite", "verdict", "commit", "cases", "errors")
    return _run_reader().validate_python({**dict(zip(names, row, strict=False)), "metrics": json.loads(str(row[7])), "failing": json.loads(str(row[8])), "label": row[9]})


@functools.cache
def _run_reader() -> TypeAdapter[PastRun]:
    return TypeAdapter(PastRun)


def _unusable(root: Path, error: sqlite3.Error) -> ConfigError:
    """What the system refuses can be permitted; what is no database, or a broken one, can only be replaced."""
    fix = "restore the file, or move it away to start a new history"
    if isinstance(error, sqlite3.OperationalError):
        fix = "make the folder and the file readable and writable, and let no other program lock it"
    return ConfigError.one("CANNOT_WRITE", f"the history cannot be used: {error}", fix, file=str(root / FILE))
