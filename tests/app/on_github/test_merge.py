"""The job that merges shards: which results it takes, and what becomes of those that are missing."""

from __future__ import annotations

import json
import shutil

import pytest

from tests.github import events
from tests.github.acting import NEEDS_A_SECRET
from tests.github.fake import EVAL, Repository


@pytest.fixture
def sharded(acting, gh):
    """A run of a push with the results of two shards, whose wrong cases are given by shard, and still going on."""

    def make(bad, change=None):
        event, run = events.push(gh), gh.run("push", path=EVAL, status="in_progress", conclusion=None)
        for number, wrong in bad.items():
            acting.suite(bad=wrong)
            ended = acting.act(event, run=run, inputs={"shard": f"{number}/{len(bad)}", "key": f"eval-{number - 1}"})
            if change:
                change(acting.workspace / "eval-results")
            acting.upload(ended)
            run["status"], run["conclusion"] = "in_progress", None
        return event, run

    return make


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


def test_merge__second_attempt_takes_the_shards_again(acting, gh, sharded):
    """A merge that runs again leaves out what it left itself the first time, and results of unsharded jobs of the same run beside it."""
    event, run = sharded({1: (), 2: ()})
    acting.suite("other")
    acting.upload(acting.act(event, run=run, inputs={"key": "unsharded"}))
    for attempt in (1, 2):
        run["status"], run["conclusion"], run["run_attempt"] = "in_progress", None, attempt
        ended = acting.act(event, run=run, inputs={"mode": "merge", "key": "join"})
        assert (ended.code, ended.word) == (0, "merged"), ended.log
        assert [suite["key"] for suite in ended.verdict["suites"]] == ["support"]
        assert "unsharded" in ended.log
        acting.upload(ended)


def test_merge__newest_attempt_of_each_shard(acting, gh, sharded, baseline):
    """After one failed shard ran again its new results stand in the place of its first ones, and those of the other shards stay."""
    baseline()
    event, run = sharded({1: (), 2: (2,)})
    run["run_attempt"] = 2
    acting.suite(bad=())
    acting.upload(acting.act(event, run=run, inputs={"shard": "2/2", "key": "eval-1"}))
    run["status"], run["conclusion"] = "in_progress", None
    ended = acting.act(event, run=run, inputs={"mode": "merge", "key": "join"})
    assert (ended.code, ended.word) == (0, "merged"), ended.log


def test_merge__only_records_of_this_run_are_judged(acting, gh, sharded):
    """What an earlier job left in the folder of results on a runner that keeps its workspace is replaced or not looked at."""
    event, run = sharded({1: (), 2: ()})
    for name in ("support", "stale"):
        acting.suite(name, bad=[1])
        acting.act(event, run=run, inputs={"key": "earlier"})
        (acting.workspace / "evals" / f"{name}.eval.yaml").unlink()
    ended = acting.act(event, run=run, inputs={"mode": "merge", "key": "join"})
    assert (ended.code, ended.word) == (0, "merged"), ended.log
    assert [(suite["key"], suite["counts"]["errors"], len(suite["cases"])) for suite in ended.verdict["suites"]] == [("support", 0, 4)]
    assert all(case["current"] == 1 for case in ended.suite["cases"])


def test_merge__run_without_shards_says_what_there_is(acting, gh):
    """A merge of a run whose jobs measured whole suites is a configuration error that says so."""
    event, run = events.push(gh), gh.run("push", path=EVAL, status="in_progress", conclusion=None)
    acting.suite()
    acting.upload(acting.act(event, run=run, inputs={"key": "whole"}))
    ended = acting.act(event, run=run, inputs={"mode": "merge", "key": "join"})
    assert (ended.code, ended.word) == (2, "config_error")
    assert "whole" in ended.log
    assert "shard: I/N" in ended.log


def test_merge__shards_of_a_fork_without_its_secret(acting, gh):
    """Where every shard of a fork's pull request was not_run, so is the whole: exit 0, and what is missing is named; stage two says the same."""
    pull = gh.pull("main", repo=gh.fork())
    event = events.pull_request(gh, pull)
    run = gh.run("pull_request", "main", repo=Repository(pull["head"]["repo"]["id"], "mallory", "demo"), path=EVAL, head_sha=pull["head"]["sha"])
    for number in (1, 2):
        acting.suite(**NEEDS_A_SECRET)
        acting.upload(acting.act(event, run=run, inputs={"shard": f"{number}/2", "key": f"eval-{number - 1}"}))
    ended = acting.act(event, run=run, inputs={"mode": "merge", "key": "join"})
    assert (ended.code, ended.word) == (0, "not_run"), ended.log
    assert "KEY_OF_MODEL" in ended.summary
    acting.upload(ended)
    second = acting.act(events.workflow_run(gh, run), inputs={"mode": "report", "run-id": run["id"], "key": "join"})
    assert (second.code, second.word) == (0, "published"), second.log
    assert "KEY_OF_MODEL" in gh.comments_on(pull["number"])[0]["body"]


def test_merge__shards_that_measured_nothing_say_why(acting, gh):
    """Shards that ended before they measured anything are named with what they said, and the merge is no pass."""
    event, run = events.push(gh), gh.run("push", path=EVAL, status="in_progress", conclusion=None)
    for number in (1, 2):
        acting.suite(**NEEDS_A_SECRET)
        acting.upload(acting.act(event, run=run, inputs={"shard": f"{number}/2", "key": f"eval-{number - 1}"}), conclusion="failure")
    ended = acting.act(event, run=run, inputs={"mode": "merge", "key": "join"})
    assert (ended.code, ended.word) == (2, "config_error")
    assert "eval-0" in ended.log
    assert "KEY_OF_MODEL" in ended.log


def test_merge__suite_that_no_shard_came_to(acting, gh, sharded):
    """A suite that every shard names and none measured, as after a signal, is missing from the whole and never silently left out."""

    def started_one_more(results):
        path = results / "verdict.json"
        document = json.loads(path.read_text())
        document["suites"].append({**document["suites"][0], "suite": "beta", "key": "beta", "verdict": "not_measured"})
        path.write_text(json.dumps(document))

    event, run = sharded({1: (), 2: ()}, change=started_one_more)
    ended = acting.act(event, run=run, inputs={"mode": "merge", "key": "join"})
    assert (ended.code, ended.word) == (2, "config_error")
    assert "beta" in ended.log


def test_merge__shards_of_another_commit_are_refused(acting, gh):
    """A run that is named and measured another commit lends its verdict to no pull request."""
    event = events.push(gh)
    other = gh.run("push", path=".github/workflows/eval.yml", status="in_progress", conclusion=None)
    acting.suite()
    acting.upload(acting.act(event, run=other, inputs={"shard": "1/1", "key": "eval-0"}))
    pull = gh.pull()
    ended = acting.act(events.pull_request(gh, pull), inputs={"mode": "merge", "run-id": other["id"]})
    assert (ended.code, ended.word) == (2, "config_error"), ended.log
    assert [row["conclusion"] for row in gh.checks.values() if row["head_sha"] == pull["head"]["sha"]] == ["action_required"]
