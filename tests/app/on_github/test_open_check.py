"""No check run stays open, and none hides another, whatever GitHub, targets and other workflows do."""

from __future__ import annotations

import json

import pytest

from tests.github import events

LIMITED = {"status": 403, "retry_after": "1800"}
"""A rate limit that nobody waits for: an outage that is over at once for the test."""


def on(gh, pull):
    """The check runs of a pull request's head, in order."""
    return [row for row in gh.checks.values() if row["head_sha"] == pull["head"]["sha"]]


@pytest.mark.parametrize(("bad", "conclusion"), [((), "success"), ((2,), "failure")])
def test_completion__that_failed_is_made_up_for(acting, gh, baseline, bad, conclusion):
    """A check run that an outage kept from being completed says so in the outputs, and gets its conclusion and title from the step after it (P109)."""
    baseline()
    pull = gh.pull()
    acting.suite(bad=bad)
    gh.fail("PATCH", "/check-runs/", times=2 if bad else 1, **LIMITED)
    ended = acting.act(events.pull_request(gh, pull))
    (check,) = on(gh, pull)
    assert (ended.outputs["check-open"], check["status"], acting.note.exists()) == ("true", "in_progress", True)
    acting.finish(EVAL_GATE_VERDICT=ended.word)
    assert (check["status"], check["conclusion"]) == ("completed", conclusion)
    assert ended.word in check["output"]["title"]
    assert not acting.note.exists()


def test_completion__leaves_nothing_to_do(acting, gh, baseline):
    """After a run that completed its check run the next step asks nothing."""
    baseline()
    ended = acting.act(events.pull_request(gh, gh.pull()))
    asked = len(gh.seen)
    acting.finish(EVAL_GATE_VERDICT=ended.word)
    assert (ended.outputs["check-open"], len(gh.seen)) == ("false", asked)


def test_finish__while_the_outage_lasts_says_what_to_do(acting, gh, baseline):
    """Where the check run cannot be completed by the next step either, the log says that a re-run takes its place."""
    baseline()
    gh.fail("PATCH", "/check-runs/", **LIMITED)
    acting.act(events.pull_request(gh, gh.pull()))
    assert "run the job again" in acting.finish(EVAL_GATE_VERDICT="passed")


HOSTILE = {
    "nested": "[" * 100_000, "null": "null", "no object": "[1]", "no text": '{"note": 1, "signature": 2}', "empty": "", "bytes": "\udcff", "gone": None,
    "unsigned": json.dumps({"note": json.dumps({"check_id": 1, "conclusion": "success", "name": "x", "head_sha": "y", "external_id": "z"}), "signature": "é"}),
}  # fmt: skip


@pytest.mark.parametrize("kind", HOSTILE)
def test_note__of_a_target_is_not_believed(acting, gh, baseline, kind):
    """Whatever a target writes in place of the note, the run's own check run is completed, as a failure, and no other is touched."""
    baseline()
    pull, other = gh.pull(), gh.pull("other")
    gh.fail("PATCH", "/check-runs/", times=1, **LIMITED)
    acting.act(events.pull_request(gh, other))
    gh.fail("PATCH", "/check-runs/", times=1, **LIMITED)
    acting.act(events.pull_request(gh, pull))
    (check,) = on(gh, pull)
    if HOSTILE[kind] is None:
        acting.note.unlink()
    else:
        acting.note.write_text(HOSTILE[kind].replace('"check_id": 1', f'"check_id": {on(gh, other)[0]["id"]}'), errors="surrogateescape")
    acting.finish()
    assert (check["status"], check["conclusion"]) == ("completed", "failure")
    assert [row["status"] for row in on(gh, other)] == ["in_progress"]


def test_note__with_a_changed_conclusion_is_not_believed(acting, gh, baseline):
    """A note of ours whose conclusion somebody made better is as good as none."""
    baseline()
    pull = gh.pull()
    acting.suite(bad=[1])
    gh.fail("PATCH", "/check-runs/", times=2, **LIMITED)
    acting.act(events.pull_request(gh, pull))
    acting.note.write_text(acting.note.read_text().replace("failure", "success"))
    acting.finish(EVAL_GATE_VERDICT="regressed")
    assert [row["conclusion"] for row in on(gh, pull)] == ["failure"]


def test_opening__whose_answer_is_lost_is_looked_for_at_the_end(acting, gh, baseline):
    """Where the answer to the opening and the look-up after it are lost, the check run is found at the end and completed, and nothing is left to warn of."""
    baseline()
    pull = gh.pull()
    gh.lose("POST", "/check-runs$")
    gh.fail("GET", "/check-runs$", times=1, **LIMITED)
    ended = acting.act(events.pull_request(gh, pull))
    assert [row["conclusion"] for row in on(gh, pull)] == ["success"]
    assert ended.outputs["check-url"] == on(gh, pull)[0]["html_url"]
    assert "could not publish" not in ended.log


def test_opening__that_stays_lost_is_looked_for_by_the_next_step(acting, gh, baseline):
    """Where the look-up at the end fails too, the step after it completes the check run."""
    baseline()
    pull = gh.pull()
    gh.lose("POST", "/check-runs$")
    gh.fail("GET", "/check-runs$", times=2, **LIMITED)
    ended = acting.act(events.pull_request(gh, pull))
    assert ended.outputs["check-open"] == "true"
    acting.finish(EVAL_GATE_VERDICT=ended.word)
    assert [row["status"] for row in on(gh, pull)] == ["completed"]


def test_opening__that_is_refused_leaves_no_note(acting, gh):
    """A token that may not open a check run leaves nothing for the next step."""
    acting.suite()
    gh.fail("POST", "/check-runs$", 403)
    assert acting.act(events.push(gh)).outputs["check-open"] == "false"


OTHER = "octo/demo/.github/workflows/nightly.yml@refs/heads/main"


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_two_workflows__with_one_job_id_hide_nothing(acting, gh, baseline, order):
    """Of two workflows whose jobs have the same id both keep a check run and a comment: the later green does not hide the red (P99)."""
    baseline("a")
    baseline("b")
    acting.suite("b", bad=[1])
    pull = gh.pull()
    workflows = ({}, {"GITHUB_WORKFLOW_REF": OTHER})
    for suite, number in zip(("b", "a"), order, strict=True):
        ended = acting.act(events.pull_request(gh, pull), inputs={"suite": f"evals/{suite}.eval.yaml"}, **workflows[number])
    second = ("eval.yml", "nightly.yml")[order[1]]
    assert {row["name"]: row["conclusion"] for row in on(gh, pull)} == {"eval-gate (eval)": "failure", f"eval-gate (eval, {second})": "success"}
    assert "Give each a key of its own" in ended.log
    assert sorted("regressed" in one["body"].split("\n")[1] for one in gh.comments_on(pull["number"])) == [False, True]


def test_two_workflows__the_next_run_edits_its_own(acting, gh, baseline):
    """Run after run each workflow keeps its comment and its check run's name."""
    baseline()
    pull = gh.pull()
    for more in ({}, {"GITHUB_WORKFLOW_REF": OTHER}) * 2:
        acting.act(events.pull_request(gh, pull), **more)
    assert [row["name"] for row in on(gh, pull)] == ["eval-gate (eval)", "eval-gate (eval, nightly.yml)"] * 2
    assert len(gh.comments_on(pull["number"])) == 2


@pytest.mark.parametrize("inputs", [{"key": "mine"}, {"check-name": "mine"}])
def test_two_workflows__a_chosen_name_stays(acting, gh, baseline, inputs):
    """A name or key that a person chose is kept as it is."""
    baseline()
    pull = gh.pull()
    for more in ({}, {"GITHUB_WORKFLOW_REF": OTHER}):
        acting.act(events.pull_request(gh, pull), inputs=inputs, **more)
    assert len({row["name"] for row in on(gh, pull)}) == 1


def test_two_workflows__that_cannot_be_seen_cost_nothing(acting, gh, baseline):
    """Where the other check runs cannot be listed, the run goes on under its usual name and says so."""
    baseline()
    pull = gh.pull()
    gh.fail("GET", "/check-runs$", 403)
    ended = acting.act(events.pull_request(gh, pull))
    assert (ended.word, [row["conclusion"] for row in on(gh, pull)]) == ("passed", ["success"])
    assert "could not be seen" in ended.log
