"""Events that have secrets at hand: a stranger's code does not run, and a commit that was not measured is not judged."""

from __future__ import annotations

import json

import pytest

from tests.github import events


def checks_on(gh, commit):
    """Conclusions of the check runs of a commit, oldest first."""
    return [row["conclusion"] for row in gh.checks.values() if row["head_sha"] == commit]


def told(place, *facts):
    """What the Action's scripts tell the image of one checkout."""
    return {"EVAL_GATE_CHECKOUT": f"{place}\t{' '.join(facts)}\n"}


@pytest.mark.parametrize("inputs", [{}, {"no-baseline": "success"}, {"report-only": "true"}])
@pytest.mark.parametrize("accepted", [True, False])
def test_target_event__own_code_never_concludes_on_the_head(acting, gh, baseline, accepted, inputs):
    """Under pull_request_target the default branch's own code says nothing of the pull request: whatever the verdict, the head's check blocks and says why."""
    if accepted:
        baseline()
    pull = gh.pull("main", repo=gh.fork())
    acting.suite()
    ended = acting.act(events.pull_request(gh, pull, name="pull_request_target"), inputs=inputs)
    assert (ended.code, ended.word) == (0, "passed" if accepted else "no_baseline")
    assert checks_on(gh, pull["head"]["sha"]) == ["action_required"]
    (check,) = (row for row in gh.checks.values() if row["head_sha"] == pull["head"]["sha"])
    assert check["output"]["title"].startswith(f"this commit was not measured; of {gh.tip()[:12]}")
    for text in (gh.comments_on(pull["number"])[0]["body"], ended.summary):
        assert "Not this change" in text
        assert f"Commit `{gh.tip()[:12]}`" in text
    record = json.loads((acting.workspace / "eval-results/support/record.json").read_text())
    assert (record["commit"], record["pull_request"]) == (gh.tip(), None)


def test_workflow_run__the_check_is_on_the_commit_that_was_measured(acting, gh, baseline):
    """After a fork's run the gate measures the default branch: its check is on that commit, and none on the fork's head."""
    baseline()
    acting.suite(bad=[1])
    upstream = gh.run("pull_request", "main", repo=gh.fork(), path=".github/workflows/build.yml")
    ended = acting.act(events.workflow_run(gh, upstream))
    assert ended.word == "regressed"
    assert (checks_on(gh, gh.tip())[-1], checks_on(gh, upstream["head_sha"])) == ("failure", [])


@pytest.mark.parametrize("merged", [False, True])
def test_workflow_run__head_of_ours_that_is_checked_out_is_judged(acting, gh, baseline, merged):
    """A head of this repository, or its test merge, that the workflow checked out is what was measured, and gets the check."""
    baseline()
    pull = gh.pull()
    head = pull["head"]["sha"]
    upstream = gh.run("pull_request", "feature", path=".github/workflows/build.yml", head_sha=head)
    acting.suite()
    facts = ("e" * 40, gh.tip(), head) if merged else (head,)
    ended = acting.act(events.workflow_run(gh, upstream), **told(acting.workspace, *facts))
    assert (ended.word, checks_on(gh, head)) == ("passed", ["success"])


@pytest.mark.parametrize("event", ["pull_request_target", "workflow_run"])
@pytest.mark.parametrize("place", [".", "pr", "a/b/pr"])
@pytest.mark.parametrize("how", ["head", "shallow merge", "newer head by its ref", "newer head by its remote"])
def test_unsafe_checkout__wherever_it_lies(acting, gh, event, place, how):
    """A stranger's head, a merge of it, or what else came from its ref or repository is refused wherever it is checked out; nothing of it runs."""
    fork = gh.fork()
    pull = gh.pull("main", repo=fork)
    head = pull["head"]["sha"]
    upstream = gh.run("pull_request", "main", repo=fork, path=".github/workflows/build.yml", head_sha=head)
    acting.suite(target={"exec": {"command": f"touch {acting.folder}/ran; echo x", "protocol": "text"}})
    facts = {
        "head": (head,), "shallow merge": ("e" * 40, gh.tip(), head), "newer head by its ref": ("f" * 40, "refs/remotes/pull/7/head"),
        "newer head by its remote": ("f" * 40, f"https://github.test/{fork.full_name}.git"),
    }[how]  # fmt: skip
    happened = events.pull_request(gh, pull, name=event) if event == "pull_request_target" else events.workflow_run(gh, upstream)
    ended = acting.act(happened, **told(acting.workspace / place, *facts))
    assert (ended.code, "UNSAFE_CHECKOUT" in ended.log) == (2, True)
    assert not (acting.folder / "ran").exists()
    assert checks_on(gh, head) in ([], ["action_required"])


def test_unsafe_checkout__test_merge_that_only_the_event_names(acting, gh):
    """A merge whose parents nobody knows is refused where the event names it as the pull request's test merge."""
    pull = gh.pull("main", repo=gh.fork())
    pull["merge_commit_sha"] = "e" * 40
    acting.suite()
    ended = acting.act(events.pull_request(gh, pull, name="pull_request_target"), **told(acting.workspace, "e" * 40))
    assert (ended.code, "UNSAFE_CHECKOUT" in ended.log) == (2, True)


def test_unsafe_checkout__default_branch_with_a_tool_of_anothers_is_fine(acting, gh):
    """The default branch's own checkout, and one of a third repository beside it, are no stranger's code."""
    pull = gh.pull("main", repo=gh.fork())
    acting.suite()
    own = f"{acting.workspace}\t{gh.tip()} {gh.tip('main')} refs/remotes/origin/main https://github.test/octo/demo"
    tool = f"{acting.workspace}/tool\t{'d' * 40} refs/tags/v1 https://github.test/octo/tool"
    ended = acting.act(events.pull_request(gh, pull, name="pull_request_target"), EVAL_GATE_CHECKOUT=f"{own}\n{tool}\n")
    assert ended.word == "no_baseline"
