"""The history of runs: one SQLite file beside the results, one row per suite and run."""

from __future__ import annotations

import dataclasses
import json
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path

from evalaction.errors import ConfigError

FILE = "history.sqlite"
_SCHEMA = """
CREATE TABLE IF NOT EXISTS runs (
  id INTEGER PRIMARY KEY, started_at TEXT NOT NULL, key TEXT NOT NULL, suite TEXT NOT NULL,
  verdict TEXT NOT NULL, commit_id TEXT, cases INTEGER NOT NULL, errors INTEGER NOT NULL, metrics TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS runs_by_key ON runs (key, id);
"""
_STEPS = ("ALTER TABLE runs ADD COLUMN label TEXT",)
"""What each version of the file adds to the one before; `PRAGMA user_version` counts them."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class PastRun:
    """One run of one suite; `metrics` are means over the whole suite."""

    started_at: str
    key: str
    suite: str
    verdict: str
    commit: str | None
    cases: int
    errors: int
    metrics: Mapping[str, float]
    label: str | None = None


def add(root: Path, runs: Sequence[PastRun]) -> None:
    """Append runs. Raises ConfigError CANNOT_WRITE when the file cannot be used."""
    rows = [(run.started_at, run.key, run.suite, run.verdict, run.commit, run.cases, run.errors, json.dumps(dict(run.metrics)), run.label) for run in runs]
    try:
        with closing(sqlite3.connect(root / FILE, timeout=10)) as database, database:
            _bring_up(database)
            database.executemany("INSERT INTO runs (started_at, key, suite, verdict, commit_id, cases, errors, metrics, label) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)
    except sqlite3.Error as error:
        raise _unusable(root, error) from None


def _bring_up(database: sqlite3.Connection) -> None:
    """Make the table, or add what an older version lacks, as one step: two runs may begin at once."""
    database.executescript(_SCHEMA)
    database.execute("BEGIN IMMEDIATE")
    for number, step in enumerate(_STEPS[_version(database) :], _version(database) + 1):
        database.execute(step)
        database.execute(f"PRAGMA user_version = {number}")


def _version(database: sqlite3.Connection) -> int:
    return int(database.execute("PRAGMA user_version").fetchone()[0])


def labels(root: Path) -> tuple[str, ...]:
    """Every label that a run was given, the newest first."""
    if not (root / FILE).is_file():
        return ()
    try:
        with closing(_reader(root)) as database:
            rows = database.execute("SELECT label FROM runs WHERE label IS NOT NULL GROUP BY label ORDER BY max(id) DESC").fetchall() if _version(database) else []
        return tuple(str(row[0]) for row in rows)
    except sqlite3.Error as error:
        raise _unusable(root, error) from None


def _reader(root: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"{(root / FILE).absolute().as_uri()}?mode=ro", uri=True, timeout=10)


def past_runs(root: Path, key: str | None = None, *, most: int = 100) -> tuple[PastRun, ...]:
    """The newest runs, oldest first; of one suite when its key is given."""
    if not (root / FILE).is_file():
        return ()
    query = "SELECT started_at, key, suite, verdict, commit_id, cases, errors, metrics, {label} FROM runs WHERE ?1 IS NULL OR key = ?1 ORDER BY id DESC LIMIT ?2"
    try:
        with closing(_reader(root)) as database:
            rows = database.execute(query.format(label="label" if _version(database) else "NULL"), (key, most)).fetchall()
        return tuple(
            PastRun(started_at=row[0], key=row[1], suite=row[2], verdict=row[3], commit=row[4], cases=row[5], errors=row[6], metrics=json.loads(row[7]), label=row[8])
            for row in reversed(rows)
        )
    except (sqlite3.Error, ValueError) as error:
        raise _unusable(root, error) from None


def _unusable(root: Path, error: Exception) -> ConfigError:
    return ConfigError.one("CANNOT_WRITE", f"the history cannot be used: {error}", "make the folder writable, or remove the file to start a new history", file=str(root / FILE))
