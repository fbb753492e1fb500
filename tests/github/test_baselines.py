"""The artifact store against the fake: which baseline is found, and what a broken one says."""

from __future__ import annotations

import datetime
import io
import zipfile

import pytest

from evalaction.core.fingerprint import slug
from evalaction.errors import ConfigError, GitHubError
from evalaction.github.baselines import ArtifactBaselines
from evalaction.github.names import baseline_name
from evalaction.github.provenance import Trust
from tests.github.fake import ACCEPT, EVAL, TOKEN, Token, ago, sha, zip_of

NAME = "eval-gate-baseline-lab"
UNTRUSTED = [{"event": "pull_request"}, {"path": EVAL}, {"conclusion": "failure"}, {"branch": "feature"}, {"fork": True}, {"head_sha": sha("nobody's")}]


def _content(reason="ours"):
    return zip_of({"lab/record.json": "{}", "lab/acceptance.json": reason})


@pytest.fixture
def fetch(gh, github, tmp_path):
    """Looks for the baseline of suite `lab`."""

    def look(key="lab", own_run_id=None, run_id=None):
        trust = Trust(repository_id=gh.repository.id, default_branch="main", workflow="accept-baseline.yml", own_run_id=own_run_id)
        return ArtifactBaselines(github, trust, tmp_path / "baselines", run_id=run_id, now=lambda: datetime.datetime.now(datetime.UTC)).fetch(key)

    return look


@pytest.fixture
def store(gh):
    """Stores a baseline; `of` are fields of its run."""

    def put(reason="ours", of=None, data=None, **more):
        return gh.artifact(NAME, of if of is not None else gh.run(), _content(reason) if data is None else data, **more)

    return put


def _chosen(found):
    return (found.folder / "acceptance.json").read_text()


def _fault(fetch, code, **how):
    with pytest.raises(ConfigError) as said:
        fetch(**how)
    (fault,) = said.value.faults
    assert fault.code == code, str(fault)
    return str(fault)


def test_none__is_a_value(fetch):
    """A repository without any baseline is no error: found nothing, passed over nothing."""
    found = fetch()
    assert (found.artifact, found.folder, found.passed_over) == (None, None, ())


def test_found__on_disk_with_its_facts(gh, fetch, store):
    """A good baseline is unpacked as a directory store has it, with its run, its commit's place and the days it has left."""
    gh.push()
    run = gh.run(head_sha=gh.branches["main"][2])
    row = store(of=run, expires_at=ago(days=-5, hours=-12))
    found = fetch()
    assert _chosen(found) == "ours"
    assert (found.artifact.id, found.run.id, found.position.behind_by) == (row["id"], run["id"], 3)
    assert 5.4 < found.expires_in_days < 5.6
    assert [path.name for path in found.folder.parent.iterdir()] == ["lab"]


def test_newest__by_creation_then_id(gh, fetch, store):
    """The newest by creation time is taken, of two of one second the higher id, whatever the order of the list."""
    store("newest, low id", created_at=ago(days=1))
    store("newest", created_at=gh.artifacts[max(gh.artifacts)]["created_at"])
    store("older, higher id", created_at=ago(days=2))
    assert _chosen(fetch()) == "newest"


@pytest.mark.parametrize("event", ["push", "pull_request", "workflow_dispatch"])
@pytest.mark.parametrize("same_commit", [False, True])
def test_fork__branch_named_like_the_default(gh, fetch, store, event, same_commit):
    """A fork's newer artifact from a branch called main is ignored, even on a commit of ours, and named among those passed over."""
    store(created_at=ago(days=3))
    commit = {"head_sha": gh.tip()} if same_commit else {}
    theirs = store("theirs", of=gh.run(event, repo=gh.fork(), **commit))
    found = fetch()
    assert _chosen(found) == "ours"
    assert len(found.passed_over) == 1
    assert f"artifact {theirs['id']}" in found.passed_over[0]


@pytest.mark.parametrize(
    "of",
    [
        *({"event": event} for event in ("pull_request", "pull_request_target", "workflow_run", "issue_comment", "merge_group")),
        {"path": EVAL}, {"path": f"{ACCEPT}.bak"}, {"path": f"{ACCEPT}@other.yml"}, {"branch": "feature"}, {"conclusion": "failure"}, {"conclusion": "cancelled"},
        {"status": "in_progress", "conclusion": None},
    ],
    ids=lambda of: "-".join(str(value).rpartition("/")[2] for value in of.values()),
)  # fmt: skip
def test_run__untrusted(gh, fetch, store, of):
    """A newer artifact of a run that fails one condition is passed over for the older good one, with run and reason."""
    store(created_at=ago(days=3))
    run = gh.run(**of)
    store("theirs", of=run)
    found = fetch()
    assert _chosen(found) == "ours"
    assert f"run {run['id']}" in found.passed_over[0]


def test_run__gone(gh, fetch, store):
    """An artifact whose run was deleted is passed over, whether the list or the run says so."""
    store(created_at=ago(days=3))
    gone = gh.run()
    store("gone", of=gone)
    del gh.runs[gone["id"]]
    gh.artifact(NAME, None, _content("gone too"))
    found = fetch()
    assert _chosen(found) == "ours"
    assert "whose run is gone" in found.passed_over[0]


@pytest.mark.parametrize("kind", ["rewritten", "unknown", "tag"])
def test_commit__not_on_the_default_branch(gh, fetch, store, kind):
    """An artifact of a commit that the default branch does not contain is passed over, also where a tag of the branch's name holds it."""
    store(created_at=ago(days=3))
    commit = sha("nobody's") if kind == "unknown" else gh.push("feature")
    if kind == "tag":
        gh.tags["main"] = commit
    store("theirs", of=gh.run(head_sha=commit))
    found = fetch()
    assert _chosen(found) == "ours"
    assert "does not contain" in found.passed_over[0]


def test_own_run__excluded(gh, fetch, store):
    """The run that asks is never its own baseline, not even when an earlier attempt of it ended well."""
    store(created_at=ago(days=3))
    own = gh.run()
    store("own", of=own)
    assert _chosen(fetch(own_run_id=own["id"])) == "ours"


def test_bait__costs_no_calls(gh, fetch, store):
    """250 newer artifacts of forks' runs are turned down from the list itself, and reported in one line."""
    store(created_at=ago(days=9))
    bait = gh.run("pull_request", repo=gh.fork())
    for _ in range(250):
        gh.artifact(NAME, bait, b"x")
    found = fetch()
    assert _chosen(found) == "ours"
    assert len(gh.seen) == 3 + 1 + 1 + 2
    assert len(found.passed_over) == 1
    assert found.passed_over[0].startswith("250 artifacts")


def test_bait__in_our_own_runs(gh, fetch, store):
    """More untrusted runs than we ask about end in an error that names the remedy, never in "no baseline"."""
    store(created_at=ago(days=9))
    for _ in range(101):
        store("bait", of=gh.run("workflow_run"))
    assert "baseline-run-id" in _fault(fetch, "BASELINE_UNTRUSTED")


def test_bait__several_artifacts_of_one_run(gh, fetch, store):
    """A run is asked about once, however many artifacts of the name it has."""
    store(created_at=ago(days=9))
    bait = gh.run("workflow_run")
    for _ in range(30):
        store("bait", of=bait)
    assert _chosen(fetch()) == "ours"
    assert len(gh.calls("GET", f"/runs/{bait['id']}$")) == 1


def test_expired__older_valid_is_used(gh, fetch, store):
    """An expired newest artifact is passed over for the older valid one, and the day is said."""
    store(created_at=ago(days=40))
    store("expired", expired=True, expires_at="2026-05-06T00:00:00Z")
    found = fetch()
    assert _chosen(found) == "ours"
    assert "2026-05-06" in found.passed_over[0]


def test_expired__only_those_left(fetch, store):
    """Only expired baselines: an error with the newest one's day and what to do."""
    store(expired=True, created_at=ago(days=200), expires_at="2026-01-02T00:00:00Z")
    store(expired=True, created_at=ago(days=100), expires_at="2026-05-06T00:00:00Z")
    said = _fault(fetch, "BASELINE_EXPIRED")
    assert "2026-05-06" in said
    assert "accept" in said


@pytest.mark.parametrize("of", UNTRUSTED, ids=str)
def test_expired__a_strangers_does_not_matter(gh, fetch, store, of):
    """An expired artifact that would not be trusted anyway blocks nobody."""
    store(expired=True, of=gh.run("pull_request", repo=gh.fork()) if of.get("fork") else gh.run(**of))
    assert fetch().artifact is None


def test_expired__while_it_is_fetched(gh, fetch, store):
    """A baseline that expires between list and download is said to be expired; an older one does not stand in."""
    store("older", created_at=ago(days=9))
    row = store()
    gh.before("GET", "/zip$", lambda _: row.update(expired=True))
    _fault(fetch, "BASELINE_EXPIRED")


def test_deleted__while_it_is_fetched(gh, fetch, store):
    """A baseline that is deleted between list and download is an error; an older one does not stand in."""
    store("older", created_at=ago(days=9))
    row = store()
    gh.before("GET", "/zip$", lambda gh: gh.artifacts.pop(row["id"]))
    assert "deleted" in _fault(fetch, "INVALID_RECORD")


def _with_member(name):
    out = io.BytesIO(_content())
    with zipfile.ZipFile(out, "a") as packed:
        packed.writestr(name, "escaped")
    return out.getvalue()


BROKEN = {
    "no zip": {"data": b"hello" * 99},
    "truncated": {"data": _content()[:100]},
    "another digest": {"digest": "sha256:" + "0" * 64},
    "a page": {"data": b"<html>", "content_type": "text/html"},
    "packed size": {"size_in_bytes": 100_000_001},
    "zip slip": {"data": _with_member("../../escape.txt")},
    "no folder": {"data": zip_of({"record.json": "{}"})},
    "nested": {"data": zip_of({"eval-baselines/lab/record.json": "{}"})},
    "another suite": {"data": zip_of({"other/record.json": "{}"})},
    "a file for a folder": {"data": zip_of({"lab": "{}"})},
    "empty": {"data": zip_of({})},
}


@pytest.mark.parametrize("kind", BROKEN)
def test_chosen__broken(fetch, store, tmp_path, kind):
    """A chosen baseline that is broken is an error that names artifact and run; an older good one never stands in, and nothing escapes."""
    store("older", created_at=ago(days=9))
    row = store(**BROKEN[kind])
    said = _fault(fetch, "INVALID_RECORD")
    assert f"artifact {row['id']} of run {row['workflow_run']['id']}" in said
    assert not list(tmp_path.rglob("*escape*"))
    assert not list(tmp_path.rglob("*.zip"))


def test_digest__none_on_an_older_server(fetch, store):
    """A server that gives no digest gives nothing to check."""
    store(digest=None)
    assert _chosen(fetch()) == "ours"


def test_named_run__wins_over_newer(gh, fetch, store):
    """A run named by its id is taken though a newer baseline is there."""
    eleven = gh.run()
    store("eleven", of=eleven, created_at=ago(days=5))
    store("twelve")
    found = fetch(run_id=eleven["id"])
    assert (_chosen(found), found.run.id) == ("eleven", eleven["id"])


@pytest.mark.parametrize("of", UNTRUSTED, ids=str)
def test_named_run__must_be_trusted_too(gh, fetch, store, of):
    """A named run that fails a condition is refused by its number, though a good baseline is there."""
    store()
    run = gh.run("pull_request", repo=gh.fork()) if of.get("fork") else gh.run(**of)
    store("bad", of=run)
    assert f"`baseline-run-id` {run['id']}" in _fault(fetch, "BASELINE_UNTRUSTED", run_id=run["id"])


def test_named_run__expired(gh, fetch, store):
    """A named run whose baseline expired says so with the day."""
    run = gh.run()
    store(of=run, expired=True, expires_at="2026-05-06T00:00:00Z")
    assert "2026-05-06" in _fault(fetch, "BASELINE_EXPIRED", run_id=run["id"])


@pytest.mark.parametrize("kind", ["no such run", "no such artifact"])
def test_named_run__without_it(gh, fetch, store, kind):
    """A named run that is not there, or has no baseline of this suite, is a wrong input."""
    store()
    run = gh.run()["id"] if kind == "no such artifact" else 1
    assert str(run) in _fault(fetch, "INVALID_INPUT", run_id=run)


@pytest.mark.parametrize(("lacking", "line"), [("actions", "actions: read"), ("contents", "contents: read")])
def test_permission__named(gh, fetch, store, lacking, line):
    """A token that may not look is told which line of the workflow is missing."""
    store()
    gh.tokens[TOKEN].permissions.pop(lacking)
    assert line in _fault(fetch, "MISSING_PERMISSION")


@pytest.mark.parametrize("status", [401, 404])
def test_permission__a_token_that_sees_nothing(gh, fetch, status):
    """A list that is refused or hidden is never taken for an empty one."""
    gh.fail("GET", "/actions/artifacts$", status)
    assert "actions: read" in _fault(fetch, "MISSING_PERMISSION")


@pytest.mark.parametrize("path", ["/actions/artifacts$", "/actions/runs/[0-9]+$", "/compare/", "/zip$", "^/archives/"])
@pytest.mark.parametrize("trouble", ["5xx", "no answer", "rate limit"])
def test_outage__is_no_verdict(gh, fetch, store, path, trouble):
    """An outage anywhere on the way is an outage: neither "no baseline" nor a person's fault."""
    store()
    if trouble == "no answer":
        gh.drop("GET", path, times=99)
    else:
        gh.fail("GET", path, 503 if trouble == "5xx" else 429, retry_after="999")
    with pytest.raises(GitHubError) as said:
        fetch()
    assert said.value.kind == "unavailable"


def test_rate_limit__waited_for(gh, fetch, store, slept):
    """A short rate limit on the list is waited for, and the baseline found."""
    store()
    gh.fail("GET", "/actions/artifacts$", 403, times=1, retry_after="2")
    assert _chosen(fetch()) == "ours"
    assert slept == [2]


def test_two_suites__two_names():
    """Suites whose names clean to one text have two artifact names."""
    names = {baseline_name(slug(name)) for name in ("rag/prod", "rag-prod", "RAG prod")}
    assert len(names) == 3
    assert not any(set(name) & set('":<>|*?\r\n\\/') for name in names)


def test_user_token__finds_as_well(gh, fetch, store):
    """A person's token finds the same baseline."""
    gh.tokens[TOKEN] = Token(login="bob", is_user=True)
    store()
    assert _chosen(fetch()) == "ours"
