"""The history of runs: one SQLite file beside the results, one row per suite and run."""

from __future__ import annotations

import dataclasses
import json
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

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
    metrics: Mapping[str, float]
    failing: Mapping[str, tuple[int, int]] = dataclasses.field(default_factory=dict)
    label: str | None = None


def add(root: Path, runs: Sequence[PastRun]) -> None:
    """Append runs. Raises ConfigError CANNOT_WRITE when the file cannot be used."""
    rows = [
        (run.started_at, run.key, run.suite, run.verdict, run.commit, run.cases, run.errors, json.dumps(dict(run.metrics)), json.dumps(dict(run.failing)), run.label)
        for run in runs
    ]  # fmt: skip
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


def labels(root: Path) -> tuple[str, ...]:
    """Every label that a run was given, the newest first."""
    if not (root / FILE).is_file():
        return ()
    try:
        with closing(_reader(root)) as database:
            rows = database.execute("SELECT label FROM runs WHERE label IS NOT NULL GROUP BY label ORDER BY max(id) DESC").fetchall() if _changes_in(database) >= 2 else []
        return tuple(str(row[0]) for row in rows)
    except sqlite3.Error as error:
        raise _unusable(root, error) from None


def _reader(root: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"{(root / FILE).absolute().as_uri()}?mode=ro", uri=True, timeout=10)


def past_runs(root: Path, key: str | None = None, *, most: int = 100) -> tuple[PastRun, ...]:
    """The newest runs, oldest first; of one suite when its key is given."""
    if not (root / FILE).is_file():
        return ()
    query = "SELECT started_at, key, suite, verdict, commit_id, cases, errors, metrics, {}, {} FROM runs WHERE ?1 IS NULL OR key = ?1 ORDER BY id DESC LIMIT ?2"
    try:
        with closing(_reader(root)) as database:
            known = _changes_in(database)
            rows = database.execute(query.format("failing" if known >= 1 else "'{}'", "label" if known >= 2 else "NULL"), (key, most)).fetchall()
        return tuple(_past_run(row) for row in reversed(rows))
    except (sqlite3.Error, ValueError) as error:
        raise _unusable(root, error) from None


def _past_run(row: Sequence[Any]) -> PastRun:
    failing = {name: (passed, measured) for name, (passed, measured) in json.loads(row[8]).items()}
    return PastRun(
        started_at=row[0], key=row[1], suite=row[2], verdict=row[3], commit=row[4], cases=row[5], errors=row[6], metrics=json.loads(row[7]), failing=failing,
        label=row[9],
    )  # fmt: skip


def _unusable(root: Path, error: Exception) -> ConfigError:
    return ConfigError.one("CANNOT_WRITE", f"the history cannot be used: {error}", "make the folder writable, or remove the file to start a new history", file=str(root / FILE))
