"""The second stage for forks: found by proof, judged again, never believed."""

from __future__ import annotations

import json
import re
import shutil

import pytest

from tests.github import events
from tests.github.acting import NEEDS_A_SECRET
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


@pytest.fixture
def unmeasured(acting, gh):
    """Stage one of a pull request that came to no record, and stage two of it."""

    def make(pull, change=None, broken=False, **inputs):
        gh.tokens["reader-token"] = Token(permissions=READ)
        path = acting.suite(**NEEDS_A_SECRET)
        if broken:
            path.write_text("version: 1\nname: support\ncasez: []\n")
        first = acting.act(events.pull_request(gh, pull), token="reader-token")
        if change:
            change(acting.workspace / "eval-results" / "verdict.json")
        run = acting.upload(first, conclusion="success" if first.code == 0 else "failure")
        shutil.rmtree(acting.workspace / "evals")
        gh.seen.clear()
        return first, acting.act(events.workflow_run(gh, run), inputs={"mode": "report", "run-id": run["id"], **inputs})

    return make


@pytest.mark.parametrize(("wish", "conclusion"), [("neutral", "neutral"), ("failure", "failure")])
@pytest.mark.parametrize("who", ["fork", "dependabot"])
def test_second_stage__not_run_is_published(gh, unmeasured, who, wish, conclusion):
    """An outsider's run without its secret is published as not_run: the comment names the secret, the check concludes as for nothing compared, the stage ends with 0 (P123)."""
    pull = gh.pull("main", repo=gh.fork()) if who == "fork" else gh.pull("dependabot/pip/x", author="dependabot[bot]")
    first, ended = unmeasured(pull, **{"no-baseline": wish})
    (comment,) = gh.comments_on(pull["number"])
    (check,) = (row for row in gh.checks.values() if row["head_sha"] == pull["head"]["sha"])
    assert (first.word, ended.code, ended.word) == ("not_run", 0, "published"), ended.log
    assert "not_run" in comment["body"].splitlines()[1]
    assert "KEY_OF_MODEL" in comment["body"]
    assert (check["status"], check["conclusion"]) == ("completed", conclusion)
    assert "not_run" in ended.summary


def test_second_stage__broken_suite_of_a_fork_is_action_required(gh, unmeasured):
    """A fork's run that ended in a configuration error is published as one, with its faults; the stage itself worked."""
    pull = gh.pull("main", repo=gh.fork())
    first, ended = unmeasured(pull, broken=True)
    assert (first.word, ended.code, ended.word) == ("config_error", 0, "published"), ended.log
    assert "UNKNOWN_FIELD" in gh.comments_on(pull["number"])[0]["body"]
    assert [row["conclusion"] for row in gh.checks.values()] == ["action_required"]


@pytest.mark.parametrize("lie", ["passed", "no_baseline", "environment_drift", "merged", "published"])
def test_second_stage__nothing_measured_is_never_a_pass(gh, unmeasured, lie):
    """Results without any record that claim a verdict on it are a configuration error (P159)."""
    ended = unmeasured(gh.pull("main", repo=gh.fork()), change=lambda path: path.write_text(json.dumps({**json.loads(path.read_text()), "verdict": lie})))[1]
    assert (ended.code, ended.word) == (2, "config_error")
    assert [row["conclusion"] for row in gh.checks.values()] == ["action_required"]


def test_second_stage__own_pull_request_cannot_be_not_run(acting, gh, unmeasured):
    """A branch of ours has its secrets: results of it that claim not_run are a configuration error."""
    pull = gh.pull()
    claim = {"verdict": "not_run", "exit_code": 0, "would_exit": 0}
    ended = unmeasured(pull, change=lambda path: path.write_text(json.dumps({**json.loads(path.read_text()), **claim})))[1]
    assert (ended.code, ended.word) == (2, "config_error")


def test_second_stage__reasons_of_a_fork_are_text(gh, unmeasured):
    """What a fork's run says of itself is bounded text in the comment: no mark-up, no mention, no workflow command, no path of its choice."""

    def change(path):
        hostile = "@octo-team <img src=x> ::error::x\n::warning::y " + "z" * 2_000
        document = json.loads(path.read_text())
        reasons = [{"code": hostile, "message": hostile, "file": "../../../etc/passwd", "line": 1}] * 300
        path.write_text(json.dumps({**document, "reasons": reasons}))

    pull = gh.pull("main", repo=gh.fork())
    ended = unmeasured(pull, change=change)[1]
    body = gh.comments_on(pull["number"])[0]["body"]
    assert (ended.code, ended.word) == (0, "published")
    assert len(body) < 65_536
    assert not re.findall(r"<img|@octo", re.sub(r"`[^`]*`", "", body))
    assert not [line for line in ended.log.splitlines() if line.lstrip().startswith(("::error::x", "::warning::y"))]


def test_second_stage__one_job_measured_and_one_not(acting, gh, unmeasured, baseline):
    """Of a fork's two jobs, one measured and one without its secret, both stand in the report, and the whole is no pass."""
    baseline()
    pull = gh.pull("main", repo=gh.fork())
    event = events.pull_request(gh, pull)
    first = acting.act(event, inputs={"key": "plain"})
    run = acting.upload(first)
    acting.suite("secret", **NEEDS_A_SECRET)
    (acting.workspace / "evals" / "support.eval.yaml").unlink()
    acting.upload(acting.act(event, run=run, inputs={"key": "judged"}))
    gh.checks.clear(), gh.comments.clear()
    ended = acting.act(events.workflow_run(gh, run), inputs={"mode": "report", "run-id": run["id"]})
    body = gh.comments_on(pull["number"])[0]["body"]
    assert (ended.code, ended.word) == (0, "published"), ended.log
    assert "KEY_OF_MODEL" in body
    assert "judged" in body
    assert "not_run" in body.splitlines()[1]
    assert [row["conclusion"] for row in gh.checks.values()] == ["neutral"]


def renamed(results, *, key="support", folder="support"):
    """The record of `support` under another key, in another folder, or both."""
    path = results / "support" / "record.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "key": key}))
    if folder != "support":
        shutil.rmtree(results / folder, ignore_errors=True)
        (results / "support").rename(results / folder)


@pytest.mark.parametrize("lie", [{"key": "other"}, {"folder": "other"}, {"folder": "."}])
def test_second_stage__record_cannot_choose_another_suites_baseline(acting, gh, baseline, staged, lie):
    """A record under another suite's key, in another's folder or in none is refused, and the check stays red."""
    baseline("other", cases=1)

    def change(results):
        if lie.get("folder") == ".":
            for path in (results / "support").iterdir():
                path.rename(results / path.name)
        else:
            renamed(results, **lie)

    pull, _, report = staged(change=change)
    ended = report()
    assert (ended.code, "INVALID_RECORD" in ended.log) == (2, True)
    assert [row["conclusion"] for row in gh.checks.values() if row["head_sha"] == pull["head"]["sha"]][-1] == "action_required"


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


def says(word):
    """A command that answers every question with one word."""
    return {"exec": {"command": f"cat > /dev/null; echo {word}", "protocol": "text"}}


def test_second_stage__believes_nothing_of_a_base_system(acting, gh, baseline):
    """A red record of a fork that brings records of a base system which fell as well stays red, and the report says why."""
    asked = {"cases": 1, "deterministic": False, "blame": {"command": says("wrong")["exec"]["command"]}}
    baseline(target={"exec": {"command": "cat > /dev/null; echo answer 1", "protocol": "text"}}, **asked)
    pull = gh.pull("main", repo=gh.fork())
    acting.suite(target=says("wrong"), **asked)
    first = acting.act(events.pull_request(gh, pull))
    assert first.word == "environment_drift", first.log
    run = acting.upload(first)
    assert acting.act(events.workflow_run(gh, run), inputs={"mode": "report"}).word == "published"
    check = [row for row in gh.checks.values() if row["head_sha"] == pull["head"]["sha"]][-1]
    assert check["conclusion"] == "failure"
    assert "base system was asked by the run that is judged" in gh.comments_on(pull["number"])[0]["body"]


@pytest.mark.parametrize("store", ["artifact", "directory"])
def test_second_stage__record_names_no_baseline_of_its_own(acting, gh, store):
    """A record that claims to be imported, and names files of the workspace as its baseline, is compared with nothing."""
    pull = gh.pull("main", repo=gh.fork())
    acting.suite(bad=[1])
    first = acting.act(events.pull_request(gh, pull))
    path = acting.workspace / "eval-results" / "support" / "record.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "target": {"kind": "import", "format": "generic", "path": "now.jsonl", "baseline": "low.jsonl"}}))
    run = acting.upload(first)
    (acting.workspace / "low.jsonl").write_text("".join(json.dumps({"id": f"case-{number}", "equals": 0.0}) + "\n" for number in range(1, 5)))
    ended = acting.act(events.workflow_run(gh, run), inputs={"mode": "report", "baseline-store": store})
    assert (ended.word, ended.suite["verdict"], ended.suite["baseline"]["found"]) == ("published", "no_baseline", False)


@pytest.mark.parametrize(
    ("trouble", "word", "code", "reason"), [({"status": 403}, "config_error", 2, "MISSING_PERMISSION"), ({"status": 404}, "not_measured", 3, "GITHUB_UNAVAILABLE")]
)
def test_second_stage__that_could_publish_nothing_says_so(gh, staged, trouble, word, code, reason):
    """Where neither comment nor check run can be written, nothing was published, and the exit code says so; one of them is enough."""
    pull, _, act = staged()
    gh.fail("POST", "/comments$", **trouble)
    assert act().word == "published"
    gh.fail("POST", "/check-runs$", **trouble)
    ended = act()
    assert (ended.code, ended.word, ended.verdict["verdict"]) == (code, word, word)
    assert ended.verdict["reasons"][-1]["code"] == reason
    assert ended.verdict["suites"]
    assert not gh.comments_on(pull["number"])


def test_second_stage__a_result_of_an_undeclared_check__is_an_invalid_record(staged):
    """A stranger's record whose trial names a check that its case does not have is refused when it is read, and is no bug of ours."""

    def change(results):
        path = results / "support/cases/case-1.json"
        document = json.loads(path.read_text())
        document["trials"][0]["checks"][0]["id"] = "y"
        path.write_text(json.dumps(document))

    _, _, report = staged(change=change)
    ended = report()
    assert (ended.code, ended.word) == (2, "config_error")
    assert "INVALID_RECORD" in ended.log


def test_second_stage__another_commit_than_the_runs__is_not_shown(gh, staged):
    """The commit that a report names is the one that GitHub says the run was of, whatever the record claims."""

    def change(results):
        path = results / "support/record.json"
        path.write_text(json.dumps({**json.loads(path.read_text()), "commit": "0" * 40}))

    pull, run, report = staged(change=change)
    ended = report()
    assert ended.word == "published"
    assert ended.suite["commit"] == run["head_sha"]
    assert "000000000000" not in gh.comments_on(pull["number"])[0]["body"] + ended.summary


def test_second_stage__a_run_that_has_not_finished__is_refused(gh, staged):
    """A run that still writes results is no finished first stage: nothing is published of it."""
    _, run, report = staged()
    run["status"], run["conclusion"] = "in_progress", None
    checks = dict(gh.checks)
    ended = report()
    assert (ended.code, ended.word) == (2, "config_error")
    assert "has not finished" in ended.log
    assert gh.checks == checks


@pytest.mark.parametrize("store", ["artifact", "directory"])
def test_second_stage__a_suite_that_the_results_dropped_is_not_measured(acting, gh, store):
    """A fork cannot hide its red suite by leaving it out of its results: the accepted suite is named, and the check is no success."""
    acting.suite("a")
    acting.suite("b")
    pushed = acting.upload(acting.act(events.push(gh)))
    acting.accepted(events.dispatch(gh), run=pushed, **{"baseline-store": store})
    pull = gh.pull("main", repo=gh.fork())
    acting.suite("b", bad=[1, 2, 3])
    first = acting.act(events.pull_request(gh, pull), inputs={"baseline-store": store})
    shutil.rmtree(acting.workspace / "eval-results/b")
    run = acting.upload(first, conclusion="failure")
    ended = acting.act(events.workflow_run(gh, run), inputs={"mode": "report", "run-id": run["id"], "baseline-store": store})
    check = list(gh.checks.values())[-1]
    assert (ended.word, check["conclusion"]) == ("published", "failure")
    assert "not there any more: b" in check["output"]["title"]
    assert [suite["verdict"] for suite in ended.verdict["suites"]] == ["passed", "not_measured"]
