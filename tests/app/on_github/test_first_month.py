"""What a team meets in its first month: every event, several suites and jobs, suites that go, baselines that expire, report-only."""

from __future__ import annotations

import pytest
import yaml

from tests.github import events
from tests.github.fake import EVAL


def happened(gh, name):
    """An event without a pull request, and the commit that its check belongs on."""
    event = getattr(events, name)(gh)
    return event, event.payload.get("merge_group", {}).get("head_sha", event.sha)


def checks_on(gh, sha):
    """Name and conclusion of each check run of a commit, oldest first."""
    return [(row["name"], row["conclusion"]) for row in gh.checks.values() if row["head_sha"] == sha]


EVENTS = ["push", "merge_group", "schedule", "dispatch"]


@pytest.mark.parametrize("name", EVENTS)
@pytest.mark.parametrize("bad", [(), (2,)])
def test_events__without_a_pull_request(acting, gh, baseline, name, bad):
    """Each ends with its verdict, one check on its own commit, a summary and no comment; the summary names no pull request's command."""
    baseline()
    gh.checks.clear()
    acting.suite(bad=bad)
    event, head = happened(gh, name)
    ended = acting.act(event)
    assert (ended.code, ended.outputs["comment-url"]) == (len(bad), ""), ended.log
    assert checks_on(gh, head) == [("eval-gate (eval)", "failure" if bad else "success")]
    assert not gh.comments
    assert not gh.calls("", "/comments")
    assert ended.summary
    assert "only=regressions" not in ended.summary


@pytest.mark.parametrize("name", EVENTS)
def test_events__broken_suite(acting, gh, name):
    """A broken suite is action_required on the event's commit and exit 2, whatever started the run."""
    acting.suite().write_text("version: 1\nname: support\ncasez: []\n")
    event, head = happened(gh, name)
    assert acting.act(event).code == 2
    assert checks_on(gh, head) == [("eval-gate (eval)", "action_required")]


def test_events__push_to_the_default_branch_moves_no_baseline(acting, gh, baseline):
    """Merged regressions do not become normal: a second push that is as bad as the first is red again (P72, P78)."""
    baseline()
    for _ in range(2):
        gh.push()
        acting.suite(bad=[1])
        ended = acting.act(events.push(gh))
        acting.upload(ended, conclusion="failure")
        assert (ended.code, ended.word) == (1, "regressed")


def test_suites__one_red_and_one_that_could_not_be_measured(acting, gh, baseline):
    """Of two suites in one job, one worse and one without answers, the exit is that of the worse one, both stand in the comment, and outputs count the red cases."""
    baseline("alpha")
    baseline("beta")
    acting.suite("alpha", bad=[2])
    acting.suite("beta", target={"exec": {"command": "exit 7", "protocol": "text"}})
    pull = gh.pull()
    ended = acting.act(events.pull_request(gh, pull))
    body = gh.comments_on(pull["number"])[0]["body"]
    assert (ended.code, ended.word, ended.outputs["regressed"], ended.outputs["baseline-found"]) == (1, "regressed", "1", "true"), ended.log
    assert {suite["key"]: suite["verdict"] for suite in ended.verdict["suites"]} == {"alpha": "regressed", "beta": "not_measured"}
    assert "### ❌ `alpha`" in body
    assert "### ⚠️ `beta`" in body
    assert checks_on(gh, pull["head"]["sha"])[-1][1] == "failure"


def test_suites__one_new_beside_an_old_one(acting, gh, baseline):
    """A suite that a pull request adds has no baseline yet: the old one is judged, the report says that nothing was compared in the new one, and nothing is red."""
    baseline("alpha")
    acting.suite("beta", bad=[1])
    ended = acting.act(events.pull_request(gh, gh.pull()))
    assert (ended.code, ended.word, ended.outputs["baseline-found"]) == (0, "no_baseline", "false")
    assert "nothing was compared" in ended.summary


def test_keys__two_jobs_on_one_pull_request(acting, gh, baseline):
    """Two jobs keep a comment and a check each; what runs again edits its own, and the newest check run of a name is the one that counts (P99)."""
    baseline("alpha")
    baseline("beta")
    pull = gh.pull()
    event = events.pull_request(gh, pull)
    for attempt, bad in ((1, [1]), (2, [])):
        for name in ("alpha", "beta"):
            acting.suite(name, bad=bad if name == "alpha" else [])
            acting.act(event, inputs={"suite": f"evals/{name}.eval.yaml"}, GITHUB_JOB=name, GITHUB_RUN_ATTEMPT=str(attempt))
    comments = [row["body"] for row in gh.comments_on(pull["number"])]
    assert [body.splitlines()[0] for body in comments] == ["<!-- eval-gate:alpha%3Aeval.yml -->", "<!-- eval-gate:beta%3Aeval.yml -->"]
    assert all("passed" in body.splitlines()[1] for body in comments)
    assert dict(checks_on(gh, pull["head"]["sha"])) == {"eval-gate (alpha)": "success", "eval-gate (beta)": "success"}


def test_pull_request__that_deletes_its_only_suite(acting, gh, baseline):
    """Without any suite the gate does not pass: a configuration error that names the pattern, and a check that blocks (P117)."""
    baseline()
    (acting.workspace / "evals" / "support.eval.yaml").unlink()
    pull = gh.pull()
    ended = acting.act(events.pull_request(gh, pull))
    assert (ended.code, ended.word) == (2, "config_error")
    assert "evals/**/*.eval.yaml" in gh.comments_on(pull["number"])[0]["body"]
    assert checks_on(gh, pull["head"]["sha"])[-1][1] == "action_required"


def test_pull_request__that_empties_its_suite(acting, gh, baseline):
    """A suite without a case is a configuration error, never a pass."""
    baseline()
    path = acting.workspace / "evals" / "support.eval.yaml"
    path.write_text(yaml.safe_dump({**yaml.safe_load(path.read_text()), "cases": []}))
    ended = acting.act(events.pull_request(gh, gh.pull()))
    assert (ended.code, ended.word) == (2, "config_error")
    assert "NO_CASES" in ended.log or "NOTHING_TO_CHECK" in ended.log


def test_pull_request__that_moves_its_suite_file(acting, gh, baseline):
    """The name decides, not the file: a suite that was moved is compared with its baseline."""
    baseline()
    folder = acting.workspace / "evals"
    (folder / "support.eval.yaml").rename(folder / "moved.eval.yaml")
    ended = acting.act(events.pull_request(gh, gh.pull()))
    assert (ended.word, ended.outputs["baseline-found"]) == ("passed", "true")


def test_pull_request__that_renames_its_suite(acting, gh, baseline):
    """A suite of another name has no baseline: that is said first, and the check is what `no-baseline` says, so that a rename hides nothing where it may not."""
    baseline()
    path = acting.suite(bad=[1])
    path.write_text(path.read_text().replace("name: support", "name: helpdesk"))
    pull = gh.pull()
    ended = acting.act(events.pull_request(gh, pull), inputs={"no-baseline": "failure"})
    assert (ended.code, ended.word) == (0, "no_baseline")
    assert "nothing was compared" in gh.comments_on(pull["number"])[0]["body"].splitlines()[1]
    assert checks_on(gh, pull["head"]["sha"])[-1][1] == "failure"


def test_baseline__that_expired_and_is_accepted_again(acting, gh, baseline):
    """After its expiry the gate is a configuration error with the remedy; the acceptance by hand that it names works, and the next pull request is compared (P77)."""
    baseline()
    for row in gh.artifacts.values():
        if row["name"].startswith("eval-gate-baseline-"):
            row["expired"] = True
    ended = acting.act(events.pull_request(gh, gh.pull()))
    assert (ended.code, "BASELINE_EXPIRED" in ended.log) == (2, True)
    run = next(row for row in gh.runs.values() if row["event"] == "push" and row["path"] == EVAL)
    partial = acting.act(events.dispatch(gh), inputs={"mode": "accept", "run-id": run["id"], "reason": "part", "cases": "case-1"})
    assert (partial.code, "BASELINE_EXPIRED" in partial.log) == (2, True)
    again = acting.accepted(events.dispatch(gh), run=run, reason="expired")
    assert (again.code, again.word) == (0, "accepted"), again.log
    assert "begins anew" in again.log
    assert acting.act(events.pull_request(gh, gh.pull("later"))).word == "passed"


def test_baseline__that_is_broken_and_is_accepted_again(acting, gh, baseline):
    """A stored baseline that cannot be unpacked stops the gate and no acceptance: the remedy that the fault names works."""
    baseline()
    next(row for row in gh.artifacts.values() if row["name"].startswith("eval-gate-baseline-"))["digest"] = "sha256:" + "0" * 64
    run = acting.upload(acting.act(events.push(gh), inputs={"baseline-store": "directory"}))
    assert acting.act(events.push(gh)).code == 2
    assert acting.accepted(events.dispatch(gh), run=run, reason="again").word == "accepted"
    assert acting.act(events.push(gh)).word == "passed"


@pytest.mark.parametrize(
    ("what", "expected"), [("worse", (0, "regressed", "neutral")), ("broken", (2, "config_error", "action_required")), ("silent", (3, "not_measured", "failure"))]
)
def test_report_only__excuses_a_no_and_nothing_else(acting, gh, baseline, what, expected):
    """Report-only lets a worse change through and says so; a broken suite or an outage stays red (P119, P121)."""
    baseline()
    path = acting.suite(bad=[1], **({"target": {"exec": {"command": "exit 7", "protocol": "text"}}} if what == "silent" else {}))
    if what == "broken":
        path.write_text("version: 1\nname: support\ncasez: []\n")
    pull = gh.pull()
    ended = acting.act(events.pull_request(gh, pull), inputs={"report-only": "true"})
    assert (ended.code, ended.word, checks_on(gh, pull["head"]["sha"])[-1][1]) == expected
    assert ended.outputs["exit-code"] == str(ended.code)
    assert ("would fail" in gh.comments_on(pull["number"])[0]["body"]) == (what == "worse")


def test_second_stage__directory_store_with_the_default_branch_checked_out(acting, gh):
    """With the baseline in git the second stage compares with what its checkout of the default branch holds."""
    acting.suite()
    run = acting.upload(acting.act(events.push(gh)))
    assert acting.act(events.dispatch(gh), inputs={"mode": "accept", "run-id": run["id"], "reason": "fine", "baseline-store": "directory"}).word == "accepted"
    pull = gh.pull("main", repo=gh.fork())
    acting.suite(bad=[1])
    first = acting.upload(acting.act(events.pull_request(gh, pull), inputs={"baseline-store": "directory"}), conclusion="failure")
    gh.comments.clear(), gh.checks.clear()
    ended = acting.act(events.workflow_run(gh, first), inputs={"mode": "report", "baseline-store": "directory"})
    assert (ended.code, ended.word) == (0, "published")
    assert "case-1" in gh.comments_on(pull["number"])[0]["body"]
    assert checks_on(gh, pull["head"]["sha"])[-1][1] == "failure"
