"""The history's file: what it keeps, and files of earlier versions."""

from __future__ import annotations

import sqlite3
from contextlib import closing

from evalaction.store.history import FILE, PastRun, add, past_runs

FIRST_FORM = """
CREATE TABLE runs (
  id INTEGER PRIMARY KEY, started_at TEXT NOT NULL, key TEXT NOT NULL, suite TEXT NOT NULL,
  verdict TEXT NOT NULL, commit_id TEXT, cases INTEGER NOT NULL, errors INTEGER NOT NULL, metrics TEXT NOT NULL
);
INSERT INTO runs (started_at, key, suite, verdict, commit_id, cases, errors, metrics) VALUES ('2026-01-01T00:00:00Z', 's', 's', 'passed', NULL, 1, 0, '{"pass_rate": 1.0}');
"""


def run(**fields):
    return PastRun(**{"started_at": "2026-01-02T00:00:00Z", "key": "s", "suite": "s", "verdict": "passed", "commit": "c0ffee", "cases": 2, "errors": 0, "metrics": {}, **fields})


def test_add__keeps_runs_of_failing_cases(tmp_path):
    """What is added comes back: metrics, and passed and measured runs of the cases that did not always pass."""
    stored = run(metrics={"pass_rate": 0.5}, failing={"a": (1, 3)})
    add(tmp_path, [stored])

    assert past_runs(tmp_path) == (stored,)


def test_first_form__is_read_as_it_is_and_brought_up_to_date_when_written(tmp_path):
    """A file of the first version is readable before and after a run is added, and no run is lost."""
    with closing(sqlite3.connect(tmp_path / FILE)) as database:
        database.executescript(FIRST_FORM)

    before = past_runs(tmp_path)
    add(tmp_path, [run(failing={"a": (0, 1)})])
    add(tmp_path, [run()])

    assert [one.failing for one in before] == [{}]
    assert [one.failing for one in past_runs(tmp_path)] == [{}, {"a": (0, 1)}, {}]
