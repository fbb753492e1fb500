"""A working tree that is not its commit: the record says so, the report shows it, an acceptance warns of it."""

from __future__ import annotations

import json
import subprocess

import pytest


@pytest.fixture
def committed(work):
    """A workspace with everything committed, and a suite that passes."""
    suite = work.measured("a")

    def git(*words: str) -> None:
        subprocess.run(["git", "-c", "user.name=Ada", "-c", "user.email=ada@example.invalid", *words], cwd=work.folder, check=True, capture_output=True)

    for words in (("init", "-q"), ("add", "bot.sh", suite), ("commit", "-qm", "one")):
        git(*words)
    work.git = git
    return work, suite


def header(work):
    """The record's header."""
    return json.loads((work.folder / "eval-results/s/record.json").read_text())


def test_changed_files__are_counted_in_the_record_and_stand_beside_the_commit(committed):
    """A level measured with changed files is not that of the commit alone, and every report says so."""
    work, suite = committed
    (work.folder / "bot.sh").write_text((work.folder / "bot.sh").read_text() + "# changed\n")
    done = work.run("gate", suite, "--report", "report.md", "--html", "report.html")

    assert header(work)["counts"]["uncommitted"] == 1
    for shown in (done.out, (work.folder / "report.md").read_text(), (work.folder / "report.html").read_text()):
        assert "with uncommitted changes in 1 file" in shown


def test_changed_files__are_warned_of_by_accept_and_stay_in_the_baseline(committed):
    """Nobody else can measure such a level anew: the person who accepts hears it, and the baseline keeps it."""
    work, suite = committed
    (work.folder / "bot.sh").write_text((work.folder / "bot.sh").read_text() + "# changed\n")
    work.run("run", suite)
    done = work.run("accept", "eval-results", "--reason", "r", "--by", "Ada")

    assert "warning: suite s was measured with uncommitted changes in 1 file" in done.err
    assert json.loads((work.folder / "eval-baselines/s/record.json").read_text())["counts"] == {"cases": 1, "errors": 0, "trials": 1, "uncommitted": 1}


def test_changed_files__of_results_and_baselines__are_no_part_of_the_system(committed):
    """A run after an acceptance that is not committed yet is that of its commit, and so is one beside files that git does not know."""
    work, suite = committed
    work.run("gate", suite)
    work.run("accept", "eval-results", "--reason", "r", "--by", "Ada")
    work.git("add", "-f", "eval-results", "eval-baselines")
    work.git("commit", "-qm", "accepted")
    work.run("accept", "eval-results", "--reason", "again", "--by", "Ada")
    done = work.run("gate", suite)

    assert "uncommitted" not in header(work)["counts"]
    assert "uncommitted" not in done.out + done.err


def test_changed_files__of_imported_results__are_counted_too(committed):
    """Whoever ran the other tool had the same working tree."""
    work, _ = committed
    (work.folder / "results.jsonl").write_text('{"id": "a", "m": 1}\n')
    (work.folder / "bot.sh").write_text("changed\n")
    work.run("gate", "--import", "generic", "results.jsonl", "--name", "s")

    assert header(work)["counts"]["uncommitted"] == 1


def test_changed_files__of_any_shard__count_for_the_whole(committed):
    """A merged record is as far from its commit as the farthest of its parts."""
    work, _ = committed
    suite = work.measured("a", "b")
    work.git("add", "bot.sh", suite)
    work.git("commit", "-qm", "two")
    work.run("run", suite, "--shard", "1/2", "--out", "one")
    (work.folder / "bot.sh").write_text((work.folder / "bot.sh").read_text() + "# changed\n")
    work.run("run", suite, "--shard", "2/2", "--out", "two")
    done = work.run("merge", "one", "two", "--into", "whole")

    assert done.code == 0
    assert json.loads((work.folder / "whole/s/record.json").read_text())["counts"]["uncommitted"] == 1
