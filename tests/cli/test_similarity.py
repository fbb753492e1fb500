"""Similarity checks, from the suite to the exit code."""

import json
import sys

import pytest

from evalaction.embedding.embedder import load_embedder

CHECK = {"type": "similarity", "value": "You can return hardware within thirty days."}


@pytest.fixture
def suite(work):
    """A suite with one such check."""
    pytest.importorskip("wordllama", reason="the extra `similarity` (package wordllama) is not installed")
    work.answers(a="Hardware can be returned within 30 days.")
    return work.suite("a", case_keys={"a": {"checks": [CHECK]}})


def stored(work):
    """The stored case."""
    return json.loads((work.folder / "eval-results/s/cases/a.json").read_text())


def test_answer__on_another_subject_is_red(work, suite):
    """A paraphrase is accepted; an answer about something else fails the check and the gate, with the likeness in the report."""
    assert work.run("run", suite).code == 0
    assert 0.5 < stored(work)["trials"][0]["checks"][0]["score"] < 1
    assert work.run("accept", "eval-results", "--reason", "read").code == 0
    work.answers(a="Bananas are yellow and grow in bunches.")
    done = work.run("gate", suite, "--report", "report.md")
    assert (done.code, {metric["metric"] for metric in done.suite["metrics"]} >= {"similarity"}) == (1, True)
    assert 'to "You can return' in (work.folder / "report.md").read_text()


def test_empty__answer_is_nothing_alike(work, suite):
    """An empty answer scores 0 and fails."""
    work.answers(a="")
    work.run("run", suite)
    assert stored(work)["trials"][0]["score"] == 0


def test_fingerprint__holds_model_and_version(work, suite):
    """Under another model the check counts as changed: its fingerprint is not that of its parameters alone."""
    from evalaction.core.fingerprint import check_fingerprint, digest
    from evalaction.core.specs import Similarity

    assert work.run("run", suite).code == 0
    check = Similarity(value=CHECK["value"])
    assert stored(work)["checks"][0]["fingerprint"] == digest([check_fingerprint(check), load_embedder().name])
    assert "l2_supercat_256" in load_embedder().name


def test_extra__missing_stops_before_the_first_call(work, suite, monkeypatch):
    """Without the package nothing is asked: exit 2 and the command that installs it; a suite without such checks runs."""
    load_embedder.cache_clear()
    monkeypatch.setitem(sys.modules, "wordllama", None)
    done = work.run("gate", suite)
    assert (done.code, "pip install 'eval-gate[similarity]'" in done.err, work.calls("a")) == (2, True, 0)
    assert work.run("validate", suite).code == 0
    work.answers(a="yes")
    assert work.run("run", work.suite("a", name="plain")).code == 0


def test_batches_and_files__are_scored_as_well(work, suite):
    """Answers of a file have the same score as those of a command."""
    assert work.run("run", suite).code == 0
    before = stored(work)["trials"][0]["score"]
    (work.folder / "answers.jsonl").write_text('{"id": "a", "output": "Hardware can be returned within 30 days."}\n')
    assert work.run("run", suite, "--predictions", "answers.jsonl").code == 0
    assert stored(work)["trials"][0]["score"] == before
