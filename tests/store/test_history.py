"""The history's file: what it keeps, and files of earlier versions."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest

from evalaction.errors import ConfigError
from evalaction.store.history import FILE, PastRun, add, labels, past_runs

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


@pytest.mark.parametrize(
    "change",
    [
        "metrics = '[1]'", "failing = '[]'", """metrics = '{"pass_rate": "x"}'""", """metrics = '{"pass_rate": NaN}'""", """failing = '{"a": [1]}'""", "metrics = '{'",
        "started_at = x'ff'", "cases = 'many'", "metrics = x'ff'",
    ],
)  # fmt: skip
def test_past_runs__a_damaged_row__is_passed_over_and_named(tmp_path, change):
    """The other runs are shown, and whoever asks is told which row is lost."""
    add(tmp_path, [run(), run(verdict="regressed")])
    with closing(sqlite3.connect(tmp_path / FILE)) as database, database:
        database.execute(f"UPDATE runs SET {change} WHERE id = 1")
    said = []

    assert [one.verdict for one in past_runs(tmp_path, say=said.append)] == ["regressed"]
    assert len(said) == 1
    assert "row 1 of" in said[0]


def test_history__of_no_bytes__is_an_empty_one(tmp_path):
    """It is read as such, and the next run is added to it."""
    (tmp_path / FILE).touch()
    assert (past_runs(tmp_path), labels(tmp_path)) == ((), ())

    add(tmp_path, [run()])

    assert past_runs(tmp_path) == (run(),)


def test_history__that_is_a_link__is_not_followed(tmp_path):
    """Neither read nor written: the file it leads to may be anybody's."""
    (tmp_path / "away").mkdir()
    add(tmp_path / "away", [run()])
    (tmp_path / FILE).symlink_to(tmp_path / "away" / FILE)

    for use in (past_runs, labels, lambda root: add(root, [run()])):
        with pytest.raises(ConfigError, match="is a link"):
            use(tmp_path)
    assert past_runs(tmp_path / "away") == (run(),)


def test_history__that_cannot_be_opened_and_one_that_is_damaged__have_remedies_of_their_own(tmp_path):
    """Permissions for the one, another file for the other."""
    (tmp_path / FILE).mkdir()
    with pytest.raises(ConfigError) as refused:
        add(tmp_path, [run()])
    (tmp_path / FILE).rmdir()
    (tmp_path / FILE).write_text("no database " * 100)
    with pytest.raises(ConfigError) as damaged:
        past_runs(tmp_path)

    assert "readable and writable" in refused.value.faults[0].fix
    assert "start a new history" in damaged.value.faults[0].fix
