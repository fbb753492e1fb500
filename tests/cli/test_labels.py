"""ragbench's labels: a run is kept under a name, and a later one is compared with the newest of that name."""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing

import pytest

from evalaction.store.history import FILE, PastRun, add, labels, past_runs


@pytest.fixture
def rag(work):
    """One question with two relevant documents; a function that runs a command on an answer that found these."""
    (work.folder / "cases.jsonl").write_text(json.dumps({"id": "q1", "question": "q", "relevant_docs": ["d1", "d2"]}) + "\n")

    def run(command, *found, flags=(), dataset="cases.jsonl"):
        (work.folder / "a.jsonl").write_text(json.dumps({"id": "q1", "answer": "text", "retrieved": list(found)}) + "\n")
        return work.run(command, dataset, "--predictions", "a.jsonl", *flags)

    return run


def test_seed_session__recall_falls_from_one_to_a_half__exits_1_and_says_so(rag):
    """The seed's own words: recall@k fell 0.5000, from 1.0000 to 0.5000."""
    assert rag("run", "d1", "d2", flags=("--label", "main")).code == 0
    done = rag("gate", "d1", "x", flags=("--baseline-label", "main", "--threshold", "recall@k=0.8"))
    (metric,) = [one for one in done.suite["metrics"] if one["metric"] == "recall@k"]
    assert (done.code, metric["baseline"], metric["current"], metric["delta"]) == (1, 1.0, 0.5, -0.5)
    assert "x recall@k fell 0.5000, from 1.0000 to 0.5000" in done.err
    assert "not accepted" in done.suite["baseline"]["reason"]


def test_label__used_twice__means_its_newest_run(rag):
    """And a gate may keep its own run under the label it was compared with."""
    rag("run", "d1", "d2", flags=("--label", "main"))
    assert rag("gate", "d1", "x", flags=("--baseline-label", "main", "--label", "main")).code == 1
    assert rag("gate", "d1", "x", flags=("--baseline-label", "main")).code == 0


def test_run__after_a_labelled_one__leaves_it_as_it_was(rag):
    """The folder of results is measured anew each time; what a label names is a copy."""
    rag("run", "d1", "d2", flags=("--label", "main"))
    rag("run", "x", "y", flags=("--label", "feature/x y"))
    assert rag("gate", "d1", "x", flags=("--baseline-label", "main")).code == 1
    assert rag("gate", "d1", "x", flags=("--baseline-label", "feature/x y")).code == 0


def test_label__that_nobody_used__is_a_config_error_naming_those_there_are(rag):
    """The newest first, before anything is measured."""
    assert "no labels here yet" in rag("gate", "d1", flags=("--baseline-label", "main")).err
    rag("run", "d1", flags=("--label", "main"))
    rag("run", "d1", flags=("--label", "dev"))
    done = rag("gate", "d1", flags=("--baseline-label", "mian"))
    assert done.code == 2
    assert "INVALID_INPUT --baseline-label: no run in eval-results is labelled `mian`. Fix: name one of the labels there are: dev, main." in done.err


def test_suite__that_the_label_does_not_know__has_no_baseline(work, rag):
    """A suite that the branch adds is not held up by a label of the main branch."""
    rag("run", "d1", flags=("--label", "main"))
    (work.folder / "new.jsonl").write_text((work.folder / "cases.jsonl").read_text())
    done = rag("gate", "d1", flags=("--baseline-label", "main"), dataset="new.jsonl")
    assert (done.code, done.verdict["verdict"]) == (0, "no_baseline")


def test_label__whose_record_is_gone__is_a_config_error(work, rag):
    """The history knows the run, so comparing with nothing would hide the loss."""
    rag("run", "d1", "d2", flags=("--label", "main"))
    shutil.rmtree(work.folder / "eval-results/labels/main/cases")

    done = rag("gate", "x", flags=("--baseline-label", "main"))

    assert (done.code, "FILE_NOT_FOUND" in done.err, "labelled `main` is gone" in done.err) == (2, True, True), done.err


def test_label__of_a_run_killed_while_it_was_kept__means_the_one_before(work, rag):
    """Between setting the old record aside and putting the new one in its place there is still one; the next run tidies up."""
    rag("run", "d1", "d2", flags=("--label", "main"))
    place = work.folder / "eval-results/labels/main"
    (place / "cases").rename(place / ".cases.old")
    assert rag("gate", "d1", "x", flags=("--baseline-label", "main")).code == 1

    rag("run", "d1", "x", flags=("--label", "main"))

    assert [path.name for path in place.iterdir()] == ["cases"]
    assert rag("gate", "d1", "x", flags=("--baseline-label", "main")).code == 0


def test_gate__beside_a_damaged_history__keeps_its_verdict(work, rag):
    """A row that cannot be read is a pity and no verdict: it is said, and `history` says which."""
    rag("run", "d1", "d2")
    with closing(sqlite3.connect(work.folder / "eval-results/history.sqlite")) as database, database:
        database.execute("UPDATE runs SET metrics = '[1]'")

    done, shown = rag("gate", "d1", "d2"), work.run("history")

    assert (done.code, done.verdict["verdict"], "row 1 of" in done.err) == (0, "no_baseline", True), done.err
    assert (shown.code, "row 1 of" in shown.err) == (0, True)


@pytest.mark.parametrize("flags", [("--filter", "q*"), ("--tag", "t"), ("--shard", "1/2")])
def test_label__for_a_part_of_a_suite__is_refused(rag, flags):
    """What the part lacks would never be compared."""
    done = rag("run", "d1", flags=("--label", "main", *flags))
    assert done.code == 2
    assert "--label" in done.err


def test_run__that_was_not_measured__gets_no_label(work, rag):
    """A system that is down is no level to compare with; the log says so."""
    done = work.run("run", "cases.jsonl", "--exec", "exit 7", "--label", "main")
    assert done.code == 3
    assert "not kept under the label main" in done.err
    assert rag("gate", "d1", flags=("--baseline-label", "main")).code == 2


@pytest.mark.parametrize("label", ["", "  ", "a\nb", "x" * 201])
def test_label__that_is_no_name__is_a_config_error(rag, label):
    """One line that can be read and typed again."""
    assert rag("run", "d1", flags=("--label", label)).code == 2


@pytest.mark.parametrize("label", ["../../out", "/etc", "a/b", "."])
def test_label__that_looks_like_a_path__chooses_none(work, rag, label):
    """Copies stay below the folder of labels."""
    assert rag("run", "d1", flags=("--label", label)).code == 0
    assert rag("gate", "d1", flags=("--baseline-label", label)).code == 0
    assert len(list((work.folder / "eval-results/labels").glob("*/cases/record.json"))) == 1
    assert sorted(path.name for path in work.folder.iterdir() if path.is_dir()) == ["eval-results"]


def test_labels_folder__is_no_record_to_accept(work, rag):
    """Accepting the folder of results means the last run alone."""
    rag("run", "d1", "d2", flags=("--label", "main"))
    assert work.run("accept", "eval-results", "--reason", "read", "--by", "Ada").code == 0
    assert [path.name for path in (work.folder / "eval-baselines").iterdir()] == ["cases"]


def test_history__shows_the_labels(work, rag):
    """In the table and as data."""
    rag("run", "d1", flags=("--label", "main"))
    rag("run", "d1")
    assert work.run("history").out.splitlines()[1].endswith("main")
    assert [run["label"] for run in json.loads(work.run("history", "--format", "json").out)["runs"]] == ["main", None]


def test_threshold__on_a_metric_that_was_not_produced__fails_in_the_seeds_words(work):
    """The relevance labels are lost from the dataset: the check that never ran is no success."""
    (work.folder / "c.jsonl").write_text(json.dumps({"id": "q1", "question": "q", "expected_answer": "text"}) + "\n")
    (work.folder / "a.jsonl").write_text(json.dumps({"id": "q1", "answer": "text"}) + "\n")
    done = work.run("gate", "c.jsonl", "--predictions", "a.jsonl", "--threshold", "recall@k=0.8")
    assert done.code == 1
    assert "recall@k has a threshold of 0.8 but was not produced by this run" in done.err


def test_history_file__of_the_version_before_labels__is_read_and_brought_up(tmp_path):
    """Runs of before keep their rows, and the next run adds the column."""
    with sqlite3.connect(tmp_path / FILE) as database:
        database.execute(
            "CREATE TABLE runs (id INTEGER PRIMARY KEY, started_at TEXT NOT NULL, key TEXT NOT NULL, suite TEXT NOT NULL, verdict TEXT NOT NULL, commit_id TEXT, "
            "cases INTEGER NOT NULL, errors INTEGER NOT NULL, metrics TEXT NOT NULL)"
        )
        database.execute("INSERT INTO runs VALUES (1, 't0', 'a', 'a', 'passed', NULL, 1, 0, '{}')")
    database.close()
    assert ([run.label for run in past_runs(tmp_path)], labels(tmp_path)) == ([None], ())
    new = PastRun(started_at="t1", key="a", suite="a", verdict="measured", commit=None, cases=1, errors=0, metrics={}, label="main")
    add(tmp_path, [new])
    add(tmp_path, [new])
    assert ([run.label for run in past_runs(tmp_path)], labels(tmp_path)) == ([None, "main", "main"], ("main",))
