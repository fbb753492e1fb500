"""Acceptance and renewal on GitHub: who may move the baseline, and what is kept of it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.github import events
from tests.github.fake import EVAL, Token, ago


def uploaded(ended):
    """The acceptance in the folder that the workflow uploads."""
    return json.loads((Path(ended.outputs["baseline-1-path"]) / "support" / "acceptance.json").read_text())


def measured(acting, gh, event=None, **suite):
    """A finished gate with its results in an artifact and nowhere else."""
    acting.suite(**suite)
    return acting.upload(acting.act(event or events.push(gh)))


def test_accept__next_run_is_green_and_says_who_and_why(acting, gh):
    """An acceptance by dispatch turns the next run green, and its comment says who accepted what and why."""
    run = measured(acting, gh, bad=[2])
    ended = acting.accepted(events.dispatch(gh), run=run, reason="case 2 is hopeless")
    assert (ended.code, ended.word, ended.outputs["baseline-1-artifact"]) == (0, "accepted", "eval-gate-baseline-support")
    pull = gh.pull()
    after = acting.act(events.pull_request(gh, pull))
    assert after.word == "passed"
    body = gh.comments_on(pull["number"])[0]["body"]
    assert "alice" in body
    assert "case 2 is hopeless" in body


def test_accept__origin_is_what_github_says(acting, gh):
    """Run, commit and acceptance are GitHub's own, whatever the record says of itself; who ran it again is kept."""
    run = measured(acting, gh)
    ended = acting.act(events.dispatch(gh), inputs={"mode": "accept", "run-id": run["id"], "reason": "fine"}, GITHUB_TRIGGERING_ACTOR="bob")
    stored = uploaded(ended)["current"]
    assert (stored["run_id"], stored["commit"], stored["accepted_in"]) == (str(run["id"]), run["head_sha"], str(ended.run["id"]))
    assert (stored["accepted_by"], stored["triggered_by"]) == ("alice", "bob")


@pytest.mark.parametrize("branch", ["feature", "main2", "Main"])
def test_accept__other_branch_is_refused(acting, gh, branch):
    """From any branch but the default one nothing is accepted into the artifact store (P79)."""
    run = measured(acting, gh)
    gh.push(branch)
    ended = acting.act(events.dispatch(gh, branch), inputs={"mode": "accept", "run-id": run["id"], "reason": "fine"})
    assert (ended.code, "NOT_DEFAULT_BRANCH" in ended.log) == (2, True)
    assert not any(name.startswith("baseline-1") for name in ended.outputs)


def test_accept__pull_request_event_is_refused(acting, gh):
    """A pull request's own run cannot accept itself."""
    run = measured(acting, gh)
    ended = acting.act(events.pull_request(gh, gh.pull()), inputs={"mode": "accept", "run-id": run["id"], "reason": "fine"})
    assert (ended.code, "NOT_DEFAULT_BRANCH" in ended.log) == (2, True)


def test_accept__workflow_that_nobody_trusts_is_refused(acting, gh):
    """An acceptance from a workflow file whose baselines the gate would pass over says so at once."""
    run = measured(acting, gh)
    other = "octo/demo/.github/workflows/other.yml@refs/heads/main"
    ended = acting.act(events.dispatch(gh), inputs={"mode": "accept", "run-id": run["id"], "reason": "fine"}, GITHUB_WORKFLOW_REF=other)
    assert (ended.code, "baseline-workflow" in ended.log) == (2, True)


@pytest.mark.parametrize("reason", ["", "  ", "\n\t", "\u00a0\u2003", "\u200b"])
def test_accept__blank_reason_is_refused(acting, gh, reason):
    """A reason that nobody can see is none."""
    run = measured(acting, gh)
    ended = acting.act(events.dispatch(gh), inputs={"mode": "accept", "run-id": run["id"], "reason": reason})
    assert (ended.code, "REASON_REQUIRED" in ended.log) == (2, True)


def test_accept__takes_the_newest_finished_run_of_the_default_branch(acting, gh):
    """Without run-id the newest finished run of the default branch with results is taken, a red one too; forks, branches, pull requests and running ones are not."""
    wanted = measured(acting, gh, bad=[3])
    wanted["conclusion"] = "failure"
    data = next(iter(gh.archives.values())).data
    running = {"status": "in_progress", "conclusion": None}
    for event, branch, more in (("push", "main", {"repo": gh.fork()}), ("push", "feature", {}), ("pull_request", "feature", {}), ("push", "main", running)):
        gh.push("feature")
        gh.artifact("eval-gate-results-eval-1", gh.run(event, branch, path=EVAL, **more), data)
    gh.run("push", "main", path=EVAL)
    ended = acting.act(events.dispatch(gh), inputs={"mode": "accept", "reason": "fine"})
    assert ended.word == "accepted", ended.log
    assert uploaded(ended)["current"]["run_id"] == str(wanted["id"])


@pytest.mark.parametrize("mode", ["accept", "report", "merge"])
def test_run_id__that_is_none_is_a_wrong_input(acting, gh, mode):
    """A run id that this repository does not have is a configuration error in every mode that takes one, and no outage."""
    event = events.dispatch(gh) if mode == "accept" else events.push(gh)
    ended = acting.act(event, inputs={"mode": mode, "run-id": "999999", "reason": "fine"})
    assert (ended.code, ended.word) == (2, "config_error")
    assert "999999" in ended.log
    assert "run-id" in ended.log


def test_accept__only_regressions_of_a_pull_request(acting, gh):
    """A pull request's run is accepted for its regressions before the merge; what improved keeps its accepted state."""
    acting.accepted(events.dispatch(gh), run=measured(acting, gh, bad=[3]))
    pull = gh.pull()
    run = measured(acting, gh, events.pull_request(gh, pull), bad=[1])
    ended = acting.accepted(events.dispatch(gh), run=run, only="regressions", **{"move-anchor": "true"})
    assert uploaded(ended)["current"]["cases"] == ["case-1"]
    acting.suite(bad=[1, 3])
    assert acting.act(events.push(gh)).word == "passed"


def test_accept__drift_below_the_anchor_stores_nothing(acting, gh):
    """A level below the anchor is `drifted`, exit 1, with the metric in the summary and nothing to upload; `move-anchor` accepts it."""
    acting.accepted(events.dispatch(gh), run=measured(acting, gh))
    run = measured(acting, gh, bad=[1, 2])
    ended = acting.accepted(events.dispatch(gh), run=run, reason="worse")
    assert (ended.code, ended.word) == (1, "drifted")
    assert "baseline-1-artifact" not in ended.outputs
    assert "pass_rate" in ended.summary
    assert acting.accepted(events.dispatch(gh), run=run, reason="worse", **{"move-anchor": "true"}).word == "accepted"


def test_accept__summary_lists_every_value_it_moves(acting, gh):
    """The summary names every case whose score moves, lowered first, and the reason as text that does nothing."""
    acting.accepted(events.dispatch(gh), run=measured(acting, gh, cases=60, bad=range(1, 31)))
    run = measured(acting, gh, cases=60, bad=range(31, 61))
    ended = acting.accepted(events.dispatch(gh), run=run, reason="swap <img src=x> @octo | `id`")
    assert all(f"`case-{number}`" in ended.summary for number in range(1, 61))
    assert ended.summary.index("case-45") < ended.summary.index("`case-5`")
    assert "<img" not in ended.summary


def test_accept__keeps_the_chain_of_the_artifact(acting, gh):
    """The acceptance before is continued: its who, when and why stay in the chain."""
    acting.accepted(events.dispatch(gh), run=measured(acting, gh), reason="the first")
    ended = acting.accepted(events.dispatch(gh), run=measured(acting, gh), reason="the second")
    stored = uploaded(ended)
    assert [one["reason"] for one in stored["chain"]] == ["the first"]
    assert stored["current"]["reason"] == "the second"


def test_accept__two_suites_upload_a_folder_each(acting, gh):
    """Each suite's baseline is an artifact of its own that holds `<suite key>/`."""
    acting.suite("alpha")
    acting.suite("beta")
    run = acting.upload(acting.act(events.push(gh)))
    ended = acting.accepted(events.dispatch(gh), run=run)
    names = {ended.outputs[f"baseline-{number}-artifact"]: Path(ended.outputs[f"baseline-{number}-path"]) for number in (1, 2)}
    assert set(names) == {"eval-gate-baseline-alpha", "eval-gate-baseline-beta"}
    assert all([path.name for path in folder.iterdir()] == [name.removeprefix("eval-gate-baseline-")] for name, folder in names.items())


def test_accept__nine_suites_are_refused_before_anything_is_said(acting, gh):
    """More suites than one run can store are refused as a whole: no summary says accepted, nothing is left to upload, and the remedy is one that works."""
    for number in range(9):
        acting.suite(f"suite-{number}")
    run = acting.upload(acting.act(events.push(gh)))
    ended = acting.act(events.dispatch(gh), inputs={"mode": "accept", "run-id": run["id"], "reason": "fine"})
    assert (ended.code, ended.word) == (2, "config_error")
    assert "accepted" not in ended.summary
    assert "accepted by" not in ended.log
    assert not any(name.startswith("baseline-1") for name in ended.outputs)
    kept = acting.act(events.dispatch(gh), inputs={"mode": "accept", "run-id": run["id"], "reason": "fine", "baseline-store": "directory"})
    assert kept.word == "accepted"


def test_accept__two_records_under_one_key(acting, gh):
    """Two records that claim one key are a configuration error in either store, and neither is stored."""
    for name in ("alpha", "beta"):
        acting.suite(name)
    ended = acting.act(events.push(gh))
    path = acting.workspace / "eval-results" / "beta" / "record.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "key": "alpha"}))
    run = acting.upload(ended)
    for store in ("artifact", "directory"):
        refused = acting.act(events.dispatch(gh), inputs={"mode": "accept", "run-id": run["id"], "reason": "fine", "baseline-store": store})
        assert (refused.code, "INVALID_RECORD" in refused.log) == (2, True), refused.log
        assert "accepted" not in refused.summary
    assert not (acting.workspace / "eval-baselines").exists()


def test_accept__directory_store_on_any_branch(acting, gh):
    """With the directory store the baseline is written into the working tree, on any branch, for a reviewed pull request."""
    run = measured(acting, gh)
    gh.push("feature")
    ended = acting.act(events.dispatch(gh, "feature"), inputs={"mode": "accept", "run-id": run["id"], "reason": "fine", "baseline-store": "directory"})
    assert (ended.word, ended.outputs["baseline-path"]) == ("accepted", "eval-baselines")
    assert (acting.workspace / "eval-baselines" / "support" / "acceptance.json").is_file()


def test_accept__records_of_earlier_runs_stay_out(acting, gh):
    """What another run measured is not accepted with this one's results, whatever a verdict.json in the artifact says of it."""
    acting.suite()
    ended = acting.act(events.push(gh))
    results = acting.workspace / "eval-results"
    shutil.copytree(results / "support", results / "old")
    header = json.loads((results / "old/record.json").read_text())
    (results / "old/record.json").write_text(json.dumps({**header, "key": "old", "suite": "old", "run_id": "1"}))
    document = json.loads((results / "verdict.json").read_text())
    (results / "verdict.json").write_text(json.dumps({**document, "suites": [{**document["suites"][0], "key": "old", "suite": "old"}]}))
    done = acting.accepted(events.dispatch(gh), run=acting.upload(ended))
    assert (done.word, done.outputs["baseline-1-artifact"]) == ("accepted", "eval-gate-baseline-support")
    assert "baseline-2-artifact" not in done.outputs


def two_suites(acting, gh, change):
    """A finished run of two suites whose artifact was changed."""
    acting.suite("alpha")
    acting.suite("beta")
    ended = acting.act(events.push(gh))
    change(acting.workspace / "eval-results")
    return acting.upload(ended)


def altered(path, **fields):
    """A JSON file with other fields."""
    path.write_text(json.dumps({**json.loads(path.read_text()), **fields}))


def without_beta(results):
    """The verdict as if only one suite had been measured."""
    path = results / "verdict.json"
    altered(path, suites=[suite for suite in json.loads(path.read_text())["suites"] if suite["key"] != "beta"])


def test_accept__the_artifacts_verdict_does_not_choose(acting, gh):
    """A verdict.json in the artifact that leaves a suite out changes nothing: all records of the run are accepted."""
    ended = acting.accepted(events.dispatch(gh), run=two_suites(acting, gh, without_beta))
    assert {ended.outputs.get(f"baseline-{number}-artifact") for number in (1, 2)} == {"eval-gate-baseline-alpha", "eval-gate-baseline-beta"}


@pytest.mark.parametrize("key", ["beta", "alpha2"])
def test_accept__record_cannot_become_another_suites_baseline(acting, gh, key):
    """A record that names another key than its folder's is refused, and nothing is stored."""
    run = two_suites(acting, gh, lambda results: altered(results / "alpha" / "record.json", key=key))
    ended = acting.accepted(events.dispatch(gh), run=run)
    assert (ended.code, "INVALID_RECORD" in ended.log) == (2, True)
    assert "baseline-1-artifact" not in ended.outputs


def test_renew__same_baseline_with_its_provenance(acting, gh, baseline):
    """Renewal stores the same files again: who accepted, when and why stays as it is, and the next gate takes the newer artifact (P77)."""
    first = baseline()
    ended = acting.act(events.schedule(gh), inputs={"mode": "renew"})
    assert (ended.code, ended.word, ended.outputs["baseline-1-artifact"]) == (0, "renewed", "eval-gate-baseline-support")
    assert uploaded(ended) == uploaded(first)


def test_renew__needs_no_secret_of_the_suite(acting, gh, baseline):
    """A renewal reads the suites for their names only: variables of their templates need not be set."""
    baseline()
    acting.suite(target={"http": {"url": "http://127.0.0.1:9/", "headers": {"X": "{{ env.KEY_OF_MODEL }}"}, "extract": {"output": "a"}}})
    assert acting.act(events.schedule(gh), inputs={"mode": "renew"}).word == "renewed"


@pytest.mark.parametrize("gone", ["results", "predictions"])
def test_renew__needs_no_results_or_answers(acting, gh, baseline, gone):
    """A renewal reads no results of another tool and no file of answers: in its job nobody has made them."""
    if gone == "results":
        path = acting.imported()
        acting.accepted(events.dispatch(gh), run=acting.upload(acting.act(events.push(gh))))
    else:
        baseline()
        path = acting.workspace / "evals" / "support.jsonl"
    path.unlink()
    ended = acting.act(events.schedule(gh), inputs={"mode": "renew"})
    assert (ended.code, ended.word) == (0, "renewed"), ended.log


def test_accept__imported_results(acting, gh):
    """Another tool's results are accepted and compared with like measured ones, on GitHub too."""
    acting.imported()
    ended = acting.accepted(events.dispatch(gh), run=acting.upload(acting.act(events.push(gh))))
    assert (ended.word, ended.outputs["baseline-1-artifact"]) == ("accepted", "eval-gate-baseline-foreign"), ended.log
    acting.imported(bad=[2])
    after = acting.act(events.pull_request(gh, gh.pull()))
    assert (after.code, after.word, after.outputs["regressed"]) == (1, "regressed", "1"), after.log


def test_renew__nine_suites_are_refused_before_anything_is_said(acting, gh):
    """A renewal of more suites than one run can store names an input that it uses, and says nothing was renewed."""
    for numbers in (range(5), range(5, 9)):
        for number in numbers:
            acting.suite(f"suite-{number}")
        acting.accepted(events.dispatch(gh), run=acting.upload(acting.act(events.push(gh), inputs={"suite": "\n".join(f"evals/suite-{n}.eval.yaml" for n in numbers)})))
    ended = acting.act(events.schedule(gh), inputs={"mode": "renew"})
    assert (ended.code, ended.word) == (2, "config_error"), ended.log
    assert "renewed" not in ended.summary
    assert "`suite`" in ended.log
    half = acting.act(events.schedule(gh), inputs={"mode": "renew", "suite": "evals/suite-[0-4].eval.yaml"})
    assert (half.word, "baseline-5-artifact" in half.outputs, "baseline-6-artifact" in half.outputs) == ("renewed", True, False)


def test_renew__nothing_to_renew_is_said(acting, gh):
    """Without a baseline a renewal ends green, says that there is none, and invents nothing."""
    acting.suite()
    ended = acting.act(events.schedule(gh), inputs={"mode": "renew"})
    assert (ended.code, ended.word) == (0, "no_baseline")
    assert "nothing to renew" in ended.summary
    assert "baseline-1-artifact" not in ended.outputs


def test_renew__names_the_suites_that_had_nothing_to_renew(acting, gh, baseline):
    """Of two suites the one without a baseline is not called renewed."""
    baseline()
    acting.suite("other")
    ended = acting.act(events.schedule(gh), inputs={"mode": "renew"})
    document = json.loads((acting.workspace / "eval-results" / "verdict.json").read_text())
    assert ended.word == "renewed"
    assert {suite["key"]: suite["verdict"] for suite in document["suites"]} == {"support": "renewed", "other": "no_baseline"}


def test_renew__expired_baseline_is_a_configuration_error(acting, gh, baseline):
    """What has expired cannot be renewed: the error names date and remedy."""
    baseline()
    next(row for row in gh.artifacts.values() if row["name"] == "eval-gate-baseline-support")["expired"] = True
    ended = acting.act(events.schedule(gh), inputs={"mode": "renew"})
    assert (ended.code, "BASELINE_EXPIRED" in ended.log) == (2, True)


def test_gate__baseline_near_its_end_is_announced(acting, gh, baseline):
    """A baseline whose artifact expires within two weeks is announced in the report."""
    baseline()
    row = next(row for row in gh.artifacts.values() if row["name"] == "eval-gate-baseline-support")
    row["expires_at"] = ago(days=-5)
    ended = acting.act(events.push(gh))
    assert ended.word == "passed"
    assert "expires in" in ended.summary


@pytest.mark.parametrize("key", ["../../../escaped", "..", "/escaped", "a/b", ""])
def test_accept__record_cannot_choose_a_folder(acting, gh, key):
    """A record whose key is a path is refused, and nothing is written outside the workspace (P158, P159)."""
    acting.suite()
    ended = acting.act(events.push(gh))
    path = acting.workspace / "eval-results" / "support" / "record.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "key": key}))
    run = acting.upload(ended)
    for store in ("artifact", "directory"):
        refused = acting.act(events.dispatch(gh), inputs={"mode": "accept", "run-id": run["id"], "reason": "fine", "baseline-store": store})
        assert (refused.code, "INVALID_RECORD" in refused.log) == (2, True)
    assert not list(acting.folder.parent.rglob("escaped"))


@pytest.mark.parametrize("mode", ["accept", "report", "merge"])
def test_run__that_the_token_may_not_read(acting, gh, mode):
    """Without `actions: read` every mode that needs a finished run is a configuration error that names the line."""
    acting.suite()
    run = acting.upload(acting.act(events.push(gh)))
    gh.tokens["weak-token"] = Token(permissions={"contents": "read"})
    ended = acting.act(events.dispatch(gh), inputs={"mode": mode, "run-id": run["id"], "reason": "reviewed"}, token="weak-token")
    assert (ended.code, ended.word, ended.verdict["reasons"][0]["code"]) == (2, "config_error", "MISSING_PERMISSION")
    assert "actions: read" in ended.log


@pytest.mark.parametrize(("status", "conclusion"), [("in_progress", None), ("completed", "cancelled"), ("completed", "timed_out")])
def test_accept__a_run_that_did_not_come_to_its_end__is_refused(acting, gh, status, conclusion):
    """A run that is named must have ended with success or failure, as one that is chosen must: else a part would pass for the whole."""
    acting.suite()
    run = acting.upload(acting.act(events.push(gh)))
    run["status"], run["conclusion"] = status, conclusion
    ended = acting.act(events.dispatch(gh), inputs={"mode": "accept", "run-id": run["id"], "reason": "reviewed"})
    assert (ended.code, ended.word) == (2, "config_error")
    assert "INVALID_INPUT" in ended.log
    assert not ended.outputs["baseline-path"]
