"""The example workflows, run as a runner runs them: `act` on this machine, the Action from this checkout, a GitHub on loopback."""

from __future__ import annotations

import io
import os
import shutil
import zipfile

import pytest

from tests.action.engine import shim
from tests.action.runner import ACT, Workflows, checkout, environment
from tests.github import events
from tests.github.fake import READ, Token

pytestmark = [pytest.mark.container, pytest.mark.timeout(600), pytest.mark.skipif(not ACT.is_file(), reason="this environment lacks act")]


@pytest.fixture(scope="session")
def packages(tmp_path_factory):
    """The environment of the host runtime, made once."""
    return environment(tmp_path_factory.mktemp("host"))


@pytest.fixture
def here(gh, tmp_path, packages):
    """A repository with the example workflows."""
    made = Workflows(gh, tmp_path, packages)
    yield made
    made.close()


@pytest.fixture
def accepted(here, gh, monkeypatch):
    """Make the answers of a suite the baseline, in this process."""
    monkeypatch.chdir(here.folder)

    def make(**suite):
        here.acting.suite(**suite)
        measured = here.acting.upload(here.acting.act(events.push(gh)))
        assert here.acting.accepted(events.dispatch(gh), run=measured, reason="reviewed by hand").word == "accepted"
        shutil.rmtree(here.acting.workspace / "eval-results", ignore_errors=True)

    return make


def conclusions(gh, pull):
    """Name and conclusion of the checks on a pull request's head."""
    return {row["name"]: row["conclusion"] for row in gh.checks.values() if row["head_sha"] == pull["head"]["sha"]}


def bodies(gh, pull):
    """The comments of a pull request."""
    return [row["body"] for row in gh.comments_on(pull["number"])]


def test_workflows__gate_accept_gate(here, gh):
    """The gate's workflow says `no_baseline`; accepted by dispatch with a reason, the next run is green and says who accepted what and why; a worse one is red."""
    here.acting.suite(bad=[3])
    code, log = here.run("eval-gate.yml", events.push(gh), here.begun("eval-gate.yml", "push"))
    assert code == 0, log[-4000:]
    assert "no_baseline (exit 0)" in log
    dispatched = here.begun("accept-baseline.yml", "workflow_dispatch")
    code, log = here.run("accept-baseline.yml", events.dispatch(gh, reason="case 3 is hopeless"), dispatched, "-j", "accept")
    assert code == 0, log[-4000:]
    for bad, ends in (([3], 0), ([1, 3], 1)):
        pull = gh.pull(f"feature-{ends}")
        here.acting.suite(bad=bad)
        code, log = here.run("eval-gate.yml", events.pull_request(gh, pull), here.begun("eval-gate.yml", "pull_request", f"feature-{ends}", head_sha=pull["head"]["sha"]))
        assert (code != 0) == bool(ends), log[-4000:]
        (body,) = bodies(gh, pull)
        assert "case 3 is hopeless" in body
        assert "alice" in body
        assert conclusions(gh, pull) == {"eval-gate (gate)": "failure" if ends else "success"}


def test_workflows__a_fork_is_reported_by_the_second_stage(here, gh, accepted):
    """A fork's run writes nothing and is red; the second stage, from an empty workspace, publishes check and comment on its pull request and is green itself."""
    accepted()
    gh.tokens["a-token-that-only-reads"] = Token(permissions=READ)
    fork = gh.fork()
    pull = gh.pull("main", repo=fork)
    here.acting.suite(bad=[2])
    first = here.begun("eval-gate.yml", "pull_request", "main", repo=fork, head_sha=pull["head"]["sha"])
    code, log = here.run("eval-gate.yml", events.pull_request(gh, pull), first, token="a-token-that-only-reads")
    assert (code, conclusions(gh, pull), bodies(gh, pull)) == (1, {}, []), log[-4000:]
    assert "regressed (exit 1)" in log

    code, log = here.run("eval-gate-report.yml", events.workflow_run(gh, first), here.begun("eval-gate-report.yml", "workflow_run"))
    assert code == 0, log[-4000:]
    assert "published (exit 0)" in log
    assert conclusions(gh, pull) == {"eval-gate (gate)": "failure"}
    (body,) = bodies(gh, pull)
    assert "case-2" in body


def test_workflows__the_second_stage_leaves_our_own_branches_alone(here, gh):
    """After a run of a branch of this repository the second stage's job is skipped: that run has published itself."""
    pull = gh.pull("feature")
    run = gh.run("pull_request", "feature", path=".github/workflows/eval-gate.yml", head_sha=pull["head"]["sha"])
    code, log = here.run("eval-gate-report.yml", events.workflow_run(gh, run), here.begun("eval-gate-report.yml", "workflow_run"))
    assert (code, gh.seen) == (0, []), log[-4000:]


@pytest.mark.parametrize("bad", [(), (6,)])
def test_workflows__shards_are_joined(here, gh, accepted, bad):
    """Four jobs measure a part each; the last one joins them into one verdict on the whole, and is red with them."""
    accepted(cases=8)
    here.acting.suite(cases=8, bad=bad)
    workflow = here.workflows / "eval-gate-sharded.yml"
    shard = "          shard: ${{ matrix.shard }}/4\n"
    # act has no `strategy` context, from which the action makes this key.
    workflow.write_text(workflow.read_text().replace(shard, f"{shard}          key: shard-${{{{ matrix.shard }}}}\n"))
    pull = gh.pull("feature")
    run = here.begun(workflow.name, "pull_request", "feature", head_sha=pull["head"]["sha"])
    code, log = here.run(workflow.name, events.pull_request(gh, pull), run)

    assert code == bool(bad), log[-6000:]
    left = {row["name"]: row["id"] for row in gh.artifacts.values() if row["workflow_run"]["id"] == run["id"]}
    assert set(left) == {*(f"eval-gate-results-shard-{number}-1" for number in range(1, 5)), "eval-gate-results-joined-1"}
    with zipfile.ZipFile(io.BytesIO(gh.archives[left["eval-gate-results-joined-1"]].data)) as joined:
        assert sum(name.startswith("support/cases/") and name.endswith(".json") for name in joined.namelist()) == 8
    assert conclusions(gh, pull)["eval-gate (joined)"] == ("failure" if bad else "success")


def test_workflows__a_baseline_is_renewed_on_schedule(here, gh, accepted):
    """The scheduled run stores the same files again; when the first copy has expired the gate compares with the second, and names the one acceptance."""
    accepted(bad=[3])
    (first,) = (row for row in gh.artifacts.values() if row["name"] == "eval-gate-baseline-support")
    renewing = here.begun("accept-baseline.yml", "schedule")
    code, log = here.run("accept-baseline.yml", events.schedule(gh), renewing)
    assert code == 0, log[-4000:]
    assert "renewed (exit 0)" in log
    (second,) = (row for row in gh.artifacts.values() if row["name"] == first["name"] and row["workflow_run"]["id"] == renewing["id"])
    assert files_of(gh, second) == files_of(gh, first)

    first["expired"] = True
    pull = gh.pull("feature")
    code, log = here.run("eval-gate.yml", events.pull_request(gh, pull), here.begun("eval-gate.yml", "pull_request", "feature", head_sha=pull["head"]["sha"]))
    assert code == 0, log[-4000:]
    assert "reviewed by hand" in bodies(gh, pull)[0]


def files_of(gh, artifact):
    """Names and bytes of an artifact's files."""
    with zipfile.ZipFile(io.BytesIO(gh.archives[artifact["id"]].data)) as packed:
        return {name: packed.read(name) for name in packed.namelist() if not name.endswith("/")}


def self_test(here, gh, *words, **variables):
    """One run of .github/workflows/self-test.yml in a copy of this checkout."""
    pull = gh.pull("feature")
    run = here.begun("self-test.yml", "pull_request", "feature", head_sha=pull["head"]["sha"])
    return here.run("self-test.yml", events.pull_request(gh, pull), run, *words, root=checkout(here.folder / "checkout"), **variables)


def test_self_test__on_the_host(here, gh):
    """The self-test of the host runtime ends green: three suites, three exit codes."""
    code, log = self_test(here, gh, "--matrix", "runtime:host")
    assert code == 0, log[-6000:]
    assert log.count("runtime: host, as asked for") == 3


def test_self_test__in_the_container(here, gh, image):
    """The self-test of the container runtime ends green in the image of this checkout."""
    shutil.copy(shim(here.folder / "docker") / "docker", here.folder / "bin")
    code, log = self_test(here, gh, "--matrix", "runtime:container", EVAL_GATE_IMAGE=image, CONTAINERS_CONF=os.environ["CONTAINERS_CONF"])
    assert code == 0, log[-6000:]
    assert log.count(f"image: {image}") == 3
    assert "runtime: host" not in log
