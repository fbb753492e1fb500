"""Results of other runs against the fake."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalaction.errors import ConfigError, GitHubError
from evalaction.github import results as results_module
from evalaction.github.names import results_name
from evalaction.github.results import Results
from tests.github.fake import EVAL, TOKEN, ago, zip_of


def _content(*suites, note=""):
    return zip_of({"verdict.json": note, **{f"{suite}/record.json": "{}" for suite in suites}})


@pytest.fixture
def results(github, tmp_path):
    """Results below a folder of the test."""
    return Results(github, tmp_path / "results")


@pytest.fixture
def store(gh):
    """Stores results of a run under a key."""

    def put(run, key="eval", attempt=1, data=None, **more):
        return gh.artifact(results_name(key, attempt), run, _content("lab", note=f"{key} {attempt}") if data is None else data, **more)

    return put


def _run(github, row):
    return github.run(row["id"])


def _notes(folders):
    return [(folder / "verdict.json").read_text() for folder in folders]


def _fault(code, do):
    with pytest.raises(ConfigError) as said:
        do()
    (fault,) = said.value.faults
    assert fault.code == code, str(fault)
    return str(fault)


@given(st.lists(st.text(max_size=40), min_size=2, max_size=5, unique=True), st.integers(1, 99))
def test_name__valid_and_distinct(keys, attempt):
    """Whatever the keys, names are distinct, of bounded length, and free of characters that artifacts refuse."""
    names = {results_name(key, attempt) for key in keys}
    assert len(names) == len(keys)
    assert not any(set(name) & set('":<>|*?\r\n\\/') or len(name) > 150 for name in names)


@pytest.mark.parametrize(("key", "name"), [("eval", "eval-gate-results-eval-2"), ("eval-0", "eval-gate-results-eval-0-2"), ("a.b_c", "eval-gate-results-a.b_c-2")])
def test_name__plain_keys_stay(key, name):
    """A key that is safe stands in the name as it is."""
    assert results_name(key, 2) == name


def test_of_run__one_folder(gh, github, results, store):
    """One key's results come as one folder with its verdict and its suites."""
    run = gh.run("pull_request", path=EVAL, conclusion="failure")
    store(run)
    (folder,) = results.of_run(_run(github, run))
    assert (folder / "lab/record.json").is_file()


def test_of_run__latest_attempt_of_each_key(gh, github, results, store):
    """Of each key only the latest attempt counts, also the tenth after the ninth; other artifacts of the run are left alone."""
    run = gh.run(path=EVAL)
    for key, attempt in (("a", 1), ("a", 10), ("a", 9), ("b", 1)):
        store(run, key, attempt, _content(f"suite-{key}", note=f"{key} {attempt}"))
    gh.artifact("coverage", run, b"no zip")
    assert _notes(results.of_run(_run(github, run))) == ["a 10", "b 1"]


def test_of_run__two_of_one_attempt(gh, github, results, store):
    """Two artifacts of one key and attempt: the later one counts."""
    run = gh.run(path=EVAL)
    store(run, data=_content("lab", note="first"))
    store(run, data=_content("lab", note="second"))
    assert _notes(results.of_run(_run(github, run))) == ["second"]


def test_of_run__key_chooses(gh, github, results, store):
    """A key takes its own results only, and nothing else is downloaded."""
    run = gh.run(path=EVAL)
    for key in ("a", "A b", "a-1"):
        store(run, key)
    assert _notes(results.of_run(_run(github, run), key="A b")) == ["A b 1"]
    assert len(gh.calls("GET", "/zip$")) == 1


def test_of_run__key_as_shown(gh, github, results, store):
    """A key that is given as our message shows it is understood."""
    run = gh.run(path=EVAL)
    store(run, "A b")
    said = _fault("INVALID_INPUT", lambda: results.of_run(_run(github, run), key="c"))
    shown = said.split('only of "')[1].split('"')[0]
    assert _notes(results.of_run(_run(github, run), key=shown)) == ["A b 1"]


def test_of_run__key_is_not_there(gh, github, results, store):
    """A key without results is a wrong input, and the keys that there are are named."""
    run = gh.run(path=EVAL)
    store(run, "model-a"), store(run, "model-b")
    said = _fault("INVALID_INPUT", lambda: results.of_run(_run(github, run), key="model-c"))
    assert all(key in said for key in ('"model-a"', '"model-b"', '"model-c"'))


def test_of_run__one_suite_under_two_keys(gh, github, results, store):
    """Two keys with one suite are an error naming both, unless the whole run is meant, as by shards."""
    run = gh.run(path=EVAL)
    store(run, "model-a"), store(run, "model-b")
    said = _fault("INVALID_INPUT", lambda: results.of_run(_run(github, run)))
    assert all(word in said for word in ('"lab"', '"model-a"', '"model-b"'))
    assert len(results.of_run(_run(github, run), whole_run=True)) == 2


def test_of_run__unfinished(gh, github, results, store):
    """The results of a run that is still going on are there for its merge."""
    run = gh.run(path=EVAL, status="in_progress", conclusion=None)
    store(run, "eval-0"), store(run, "eval-1")
    assert len(results.of_run(_run(github, run), whole_run=True)) == 2


def test_of_run__none(gh, github, results):
    """A run without results is an error that names the run."""
    run = gh.run(path=EVAL)
    gh.artifact("eval-gate-results-", run, b"")
    assert str(run["id"]) in _fault("INVALID_RECORD", lambda: results.of_run(_run(github, run)))


def test_of_run__latest_attempt_expired(gh, github, results, store):
    """Expired results are an error with their day; an older attempt does not stand in."""
    run = gh.run(path=EVAL)
    store(run, attempt=1)
    store(run, attempt=2, expired=True, expires_at="2026-05-06T00:00:00Z")
    assert "2026-05-06" in _fault("INVALID_RECORD", lambda: results.of_run(_run(github, run)))


@pytest.mark.parametrize(
    "broken", [{"data": b"no zip"}, {"digest": "sha256:" + "0" * 64}, {"data": zip_of({"../x": ""})}, {"data": b"<", "content_type": "text/html"}, {"size_in_bytes": 10**9}]
)
def test_of_run__broken(gh, github, results, store, broken):
    """Results that are broken or too large are an error naming artifact and run."""
    run = gh.run(path=EVAL)
    row = store(run, **broken)
    assert f"artifact {row['id']} of run {run['id']}" in _fault("INVALID_RECORD", lambda: results.of_run(_run(github, run)))


def test_of_run__too_much_in_all(gh, github, results, store, monkeypatch):
    """Many artifacts that are each within their limit are refused once they unpack to too much together."""
    monkeypatch.setattr(results_module, "UNPACKED_TOTAL", 2500)
    run = gh.run(path=EVAL)
    for number in range(3):
        store(run, f"k{number}", data=zip_of({f"suite-{number}/record.json": "1" * 1000}))
    assert "unpacks to more than" in _fault("INVALID_RECORD", lambda: results.of_run(_run(github, run)))


def test_of_run__run_is_gone(gh, github, results, store):
    """A run that was deleted meanwhile is an error that says so."""
    run = gh.run(path=EVAL)
    known = _run(github, run)
    del gh.runs[run["id"]]
    assert "gone" in _fault("INVALID_RECORD", lambda: results.of_run(known))


def test_of_run__permission(gh, github, results, store):
    """A token that may not look is told which line is missing."""
    known = _run(github, gh.run(path=EVAL))
    gh.tokens[TOKEN].permissions.pop("actions")
    assert "actions: read" in _fault("MISSING_PERMISSION", lambda: results.of_run(known))


def test_newest_on__finished_runs_of_ours(gh, github, results, store):
    """The newest finished run of our branch that has results, whether it passed: no fork's, no pull request's, no cancelled one, not our own."""
    fork, good = gh.fork(), gh.run("push", path=EVAL, conclusion="failure", created_at=ago(hours=9))
    store(good)
    store(gh.run("push", path=EVAL, created_at=ago(hours=20)))
    others = [
        gh.run("push", repo=fork, path=EVAL), gh.run("pull_request", path=EVAL), gh.run("workflow_run", path=EVAL), gh.run("push", path=EVAL, conclusion="cancelled"),
        gh.run("push", path=EVAL, status="in_progress", conclusion=None), gh.run("push", "feature", path=EVAL),
    ]  # fmt: skip
    own = gh.run("schedule", path=EVAL)
    for run in (*others, own):
        store(run)
    gh.run("push", path=".github/workflows/lint.yml")
    assert results.newest_on("main", gh.repository.id, own_run_id=own["id"]).id == good["id"]


def test_newest_on__of_a_key(gh, github, results, store):
    """With a key, the newest run that has results of this key."""
    older = gh.run("push", path=EVAL, created_at=ago(hours=9))
    store(older, "nightly")
    store(gh.run("push", path=EVAL), "eval")
    assert results.newest_on("main", gh.repository.id, own_run_id=None, key="nightly").id == older["id"]


@pytest.mark.parametrize("runs", [0, 60])
def test_newest_on__none(gh, github, results, runs):
    """Without any results among the newest runs it is an error, after a bounded number of calls."""
    for _ in range(runs):
        gh.run("push", path=".github/workflows/lint.yml")
    _fault("INVALID_RECORD", lambda: results.newest_on("main", gh.repository.id, own_run_id=None))
    assert len(gh.seen) <= 51


@pytest.mark.parametrize("path", ["/actions/runs$", "/artifacts$"])
def test_newest_on__outage(gh, github, results, store, path):
    """An outage is an outage, not "no results"."""
    store(gh.run("push", path=EVAL))
    gh.fail("GET", path, 502)
    with pytest.raises(GitHubError) as said:
        results.newest_on("main", gh.repository.id, own_run_id=None)
    assert said.value.kind == "unavailable"


def test_of_run__record_at_the_root_is_refused(gh, github, results, store):
    """A record that lies under no key could be taken for any suite's."""
    run = gh.run("pull_request", "feature", path=EVAL)
    store(run, data=zip_of({"verdict.json": "", "record.json": "{}"}))
    assert "root" in _fault("INVALID_RECORD", lambda: results.of_run(_run(github, run)))
