"""The second stage for forks: found by proof, judged again, never believed."""

from __future__ import annotations

import json
import shutil

import pytest

from tests.github import events
from tests.github.fake import READ, Token


@pytest.fixture
def staged(acting, gh, baseline):
    """Stage one of a fork's pull request as it really ran, and what stage two then does in an empty workspace."""

    def make(bad=(1,), change=None, **suite):
        baseline(**suite)
        gh.tokens["reader-token"] = Token(permissions=READ)
        pull = gh.pull("main", repo=gh.fork())
        acting.suite(bad=bad, **suite)
        first = acting.act(events.pull_request(gh, pull), token="reader-token")
        if change:
            change(acting.workspace / "eval-results")
        run = acting.upload(first, conclusion="failure" if bad else "success")
        shutil.rmtree(acting.workspace / "evals")
        gh.seen.clear()
        return pull, run, lambda: acting.act(events.workflow_run(gh, run), inputs={"mode": "report", "run-id": run["id"]})

    return make


@pytest.mark.parametrize("bad", [(), (1,)])
def test_second_stage__publishes_on_the_forks_pull_request(gh, staged, bad):
    """Comment and check go to the pull request whose head the run measured; the stage's own word is `published` whatever the check says (P89)."""
    pull, _, report = staged(bad)
    other = gh.pull("main", repo=gh.fork("eve"))
    ended = report()
    assert (ended.code, ended.word) == (0, "published")
    assert len(gh.comments_on(pull["number"])) == 1
    assert not gh.comments_on(other["number"])
    check = next(row for row in gh.checks.values() if row["head_sha"] == pull["head"]["sha"])
    assert check["conclusion"] == ("failure" if bad else "success")


@pytest.mark.parametrize("lie", ["passed", "gone", "nonsense"])
def test_second_stage__never_believes_the_forks_verdict(gh, staged, lie):
    """A verdict.json that lies, is gone or is none changes nothing: the record is judged again (P159)."""

    def change(results):
        path = results / "verdict.json"
        document = json.loads(path.read_text())
        path.write_text("{" if lie == "nonsense" else json.dumps({**document, "verdict": "passed", "exit_code": 0, "suites": []}))
        if lie == "gone":
            path.unlink()

    pull, _, report = staged(change=change)
    assert report().word == "published"
    assert "case-1" in gh.comments_on(pull["number"])[0]["body"]


def test_second_stage__renders_itself(gh, staged):
    """Markdown that lies in the artifact is never published (P159)."""
    pull, _, report = staged(change=lambda results: [(results / name).write_text("POISONED") for name in ("report.md", "comment.md", "support/report.md")])
    assert "POISONED" not in report().summary
    assert "POISONED" not in gh.comments_on(pull["number"])[0]["body"]


@pytest.mark.parametrize("text", ["", "{", "[]", '{"schema_version": 9999}'])
def test_second_stage__damaged_record_is_never_green(gh, staged, text):
    """A record that is none is a configuration error, and no passing check is left behind (P158, P159)."""
    pull, _, report = staged(change=lambda results: [path.write_text(text) for path in results.rglob("*.json")])
    ended = report()
    assert (ended.code, ended.word) == (2, "config_error")
    assert [row["conclusion"] for row in gh.checks.values() if row["head_sha"] == pull["head"]["sha"]][-1] == "action_required"


@pytest.mark.parametrize("lie", ["another suite", "no folder's name"])
def test_second_stage__record_under_another_suites_name(gh, staged, lie):
    """A record that claims another key than its folder's is no record of ours: it must not choose what it is compared with (P159)."""

    def change(results):
        path = results / "support/record.json"
        path.write_text(json.dumps({**json.loads(path.read_text()), "key": "other" if lie == "another suite" else "../other"}))

    pull, _, report = staged(change=change)
    ended = report()
    assert (ended.code, "INVALID_RECORD" in ended.log) == (2, True)
    assert [row["conclusion"] for row in gh.checks.values() if row["head_sha"] == pull["head"]["sha"]][-1] == "action_required"


def test_second_stage__base_system_of_the_fork_is_not_heard(gh, staged):
    """What a fork's artifact says of the base system does not move the blame to the provider: red stays red, and the comment says why."""

    def change(results):
        path = results / "support/record.json"
        header = json.loads(path.read_text())
        path.write_text(json.dumps({**header, "blame": {"command": "cat", "ref": None}}))
        shutil.copytree(results / "support", results.parent / "copy")
        for name in ("base", "head"):
            shutil.copytree(results.parent / "copy", results / "support/blame" / name)
            (results / f"support/blame/{name}/record.json").write_text(json.dumps({**header, "key": name}))

    pull, _, report = staged(change=change, deterministic=False)
    ended = report()
    assert ended.word == "published"
    assert [row["conclusion"] for row in gh.checks.values() if row["head_sha"] == pull["head"]["sha"]][-1] == "failure"
    assert "blame could not be assigned" in gh.comments_on(pull["number"])[0]["body"]


def test_second_stage__record_does_not_name_its_baseline(acting, gh):
    """With a directory store a fork's header cannot name files of its own that it is compared with: without an accepted baseline nothing is compared."""
    gh.tokens["reader-token"] = Token(permissions=READ)
    pull = gh.pull("main", repo=gh.fork())
    acting.suite(bad=(1,))
    first = acting.act(events.pull_request(gh, pull), token="reader-token", inputs={"baseline-store": "directory"})
    path = acting.workspace / "eval-results/support/record.json"
    target = {"kind": "import", "format": "junit", "path": "theirs.xml", "baseline": "theirs.xml", "options": {}}
    path.write_text(json.dumps({**json.loads(path.read_text()), "target": target}))
    (acting.workspace / "theirs.xml").write_text('<testsuite name="s"><testcase classname="a" name="case-1"/></testsuite>')
    run = acting.upload(first)
    ended = acting.act(events.workflow_run(gh, run), inputs={"mode": "report", "baseline-store": "directory"})
    assert ended.outputs["baseline-found"] == "false"
    assert "nothing was compared" in gh.comments_on(pull["number"])[0]["body"]


def test_second_stage__records_of_earlier_runs_stay_out(gh, staged):
    """Records that another run measured, as a runner that keeps its folders uploads them, are passed over and named in the log."""

    def change(results):
        shutil.copytree(results / "support", results / "stale")
        header = json.loads((results / "stale/record.json").read_text())
        (results / "stale/record.json").write_text(json.dumps({**header, "key": "stale", "suite": "stale", "run_id": "1"}))

    pull, _, report = staged(change=change)
    ended = report()
    assert ended.word == "published"
    assert "passed over the record of suite stale" in ended.log
    assert "stale" not in gh.comments_on(pull["number"])[0]["body"]


@pytest.mark.parametrize(("suite", "word", "expected"), [("secret", "not_run", "neutral"), ("broken", "published", "action_required"), ("gone", "published", "failure")])
def test_second_stage__first_stage_without_a_record(acting, gh, suite, word, expected):
    """A fork that had no secrets is shown as not_run; one whose run came to nothing for another reason, or whose word is gone, never passes in silence."""
    gh.tokens["reader-token"] = Token(permissions=READ)
    pull = gh.pull("main", repo=gh.fork())
    path = acting.suite(target={"http": {"url": "http://127.0.0.1:9/", "headers": {"X": "{{ env.KEY_OF_MODEL }}"}, "extract": {"output": "a"}}})
    if suite == "broken":
        path.write_text("version: 1\ncasez: []\n")
    first = acting.act(events.pull_request(gh, pull), token="reader-token")
    if suite == "gone":
        (acting.workspace / "eval-results/verdict.json").write_text("{}")
    run = acting.upload(first)
    ended = acting.act(events.workflow_run(gh, run), inputs={"mode": "report"})
    assert (ended.code, ended.word) == (0, word), ended.log
    assert [row["conclusion"] for row in gh.checks.values() if row["head_sha"] == pull["head"]["sha"]][-1] == expected
    assert str(run["id"]) in gh.comments_on(pull["number"])[0]["body"]


@pytest.mark.parametrize("why", ["newer push", "closed", "two"])
def test_second_stage__without_one_provable_pull_request_nothing_is_shown(gh, staged, why):
    """A newer head, a closed pull request or two candidates: nothing is shown, and the stage says so without failing."""
    pull, _, report = staged()
    if why == "newer push":
        pull["head"]["sha"] = "f" * 40
    elif why == "closed":
        pull["state"] = "closed"
    else:
        twin = gh.pull("main", repo=gh.fork("mallory"))
        twin["head"] = pull["head"]
    ended = report()
    assert (ended.code, ended.word) == (0, "not_run")
    assert not gh.writes()


def test_second_stage__push_run_is_not_reported(acting, gh, baseline):
    """A run that a push started belongs to no pull request."""
    baseline()
    run = acting.upload(acting.act(events.push(gh)))
    gh.seen.clear()
    ended = acting.act(events.workflow_run(gh, run), inputs={"mode": "report"})
    assert ended.word == "not_run"
    assert not gh.writes()


def test_merge__joins_the_shards_of_its_own_run(acting, gh, baseline):
    """The merge job fetches every shard of the run that it is part of, judges the whole, publishes, and is red for a regression in one shard."""
    baseline()
    for bad, (code, word) in (([], (0, "merged")), ([2], (1, "regressed"))):
        pull = gh.pull(f"feature-{len(bad)}")
        event = events.pull_request(gh, pull)
        run = gh.run("pull_request", f"feature-{len(bad)}", path=".github/workflows/eval.yml", status="in_progress", conclusion=None, head_sha=pull["head"]["sha"])
        for number in (1, 2):
            acting.suite(bad=bad)
            acting.upload(acting.act(event, run=run, inputs={"shard": f"{number}/2", "key": f"eval-{number - 1}"}))
            run["status"], run["conclusion"] = "in_progress", None
        ended = acting.act(event, run=run, inputs={"mode": "merge"})
        assert (ended.code, ended.word) == (code, word), ended.log
        assert len(list((acting.workspace / "eval-results" / "support" / "cases").glob("*.json"))) == 4
        assert len(gh.comments_on(pull["number"])) == 1
        shutil.rmtree(acting.workspace / "eval-results")


def test_merge__again_takes_shards_only(acting, gh, baseline):
    """A second attempt of the merging job takes neither what its first one left nor the results of jobs that are no shards, and of a shard the newest attempt."""
    baseline()
    event = events.push(gh)
    run = gh.run("push", path=".github/workflows/eval.yml", status="in_progress", conclusion=None)

    def step(bad=(), attempt="1", **inputs):
        acting.suite(bad=bad)
        ended = acting.act(event, run=run, inputs=inputs, GITHUB_RUN_ATTEMPT=attempt)
        acting.upload(ended)
        run["status"], run["conclusion"] = "in_progress", None
        return ended

    step(key="whole", bad=[1])
    step(shard="1/2", key="eval-0", bad=[1, 2, 3, 4])
    step(shard="2/2", key="eval-1")
    assert step(mode="merge", key="joined").word == "regressed"
    step(shard="1/2", key="eval-0", attempt="2")
    ended = step(mode="merge", key="joined", attempt="2")
    assert (ended.code, ended.word) == (0, "merged"), ended.log
    assert "is no shard" in ended.log


@pytest.mark.parametrize("which", [(1,), (2,)])
def test_merge__missing_shard_is_an_error(acting, gh, which):
    """A shard that is not there makes a configuration error, never a smaller record."""
    event = events.push(gh)
    run = gh.run("push", path=".github/workflows/eval.yml", status="in_progress", conclusion=None)
    for number in which:
        acting.suite()
        acting.upload(acting.act(event, run=run, inputs={"shard": f"{number}/2", "key": f"eval-{number - 1}"}))
        run["status"], run["conclusion"] = "in_progress", None
    ended = acting.act(event, run=run, inputs={"mode": "merge"})
    assert ended.code == 2, ended.log
