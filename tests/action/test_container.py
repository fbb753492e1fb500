"""The image, built and run for real in GitHub's shape: by the Action's own scripts, with podman standing in for docker."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.action.engine import ROOT, Step, missing
from tests.github import events
from tests.github.acting import Acting, read_outputs

LARGEST = 180_000_000
"""Bytes of the image, unpacked."""
LOOK = """
import importlib.util, pathlib, shutil
print([bool(importlib.util.find_spec(name)) for name in ("anthropic", "openai", "pip")], shutil.which("gcc"), shutil.which("git"), (pathlib.Path.home() / ".cache").exists())
"""


pytestmark = [pytest.mark.container, pytest.mark.timeout(900), pytest.mark.skipif(bool(missing()), reason=f"this machine lacks {missing()}")]


@pytest.fixture
def step(gh, tmp_path, image):
    """A step in a workspace of its own."""
    return Step(gh, tmp_path, image)


def check(gh, sha):
    """Conclusions of the checks on a commit."""
    return [row["conclusion"] for row in gh.checks.values() if row["head_sha"] == sha]


def test_image__is_small_and_holds_what_it_needs(image):
    """At most 180 MB unpacked, with both SDKs and git, without compiler, pip or their caches; Python starts in it."""
    size = subprocess.run(["podman", "image", "inspect", image, "--format", "{{.Size}}"], capture_output=True, text=True, check=True)
    command = ["podman", "run", "--rm", "--network", "none", "--read-only", "--entrypoint", "/opt/eval-gate/bin/python", image, "-c", LOOK]
    seen = subprocess.run(command, capture_output=True, text=True, check=True)
    assert int(size.stdout) <= LARGEST, size.stdout
    assert seen.stdout.strip() == "[True, True, False] None /usr/local/bin/git False"


@pytest.mark.parametrize(("bad", "ends"), [((), (0, "passed", "success")), ((2,), (1, "regressed", "failure"))])
def test_gate__in_the_container(step, gh, tmp_path, bad, ends):
    """The same verdicts, exit codes, check and comment as outside; the target's shell works, and nothing is left but the results."""
    other = tmp_path / "before"
    other.mkdir()
    before = Acting(gh, other, lambda: "")
    asks = {"target": {"exec": {"command": 'read q; n="${q##* }"; grep -q "^$n$" bad && echo wrong || echo "answer $n"', "protocol": "text"}}}
    (before.workspace / "bad").write_text("")
    here = Path.cwd()
    before.suite(**asks)
    try:
        run = before.upload(before.act(events.push(gh), PATH=os.environ["PATH"]))
        assert before.accepted(events.dispatch(gh), run=run).word == "accepted"
    finally:
        os.chdir(here)
    step.acting.suite(**asks)
    (step.acting.workspace / "bad").write_text("".join(f"{number}\n" for number in bad))
    ended = step.run()
    assert (ended.code, ended.word, *check(gh, step.pull["head"]["sha"])) == ends, ended.log
    assert len(gh.comments_on(step.pull["number"])) == 1
    assert ("case-2" in gh.comments_on(step.pull["number"])[0]["body"]) == bool(bad)
    assert {path.name for path in step.acting.workspace.iterdir()} == {"evals", "bad", "eval-results"}


def test_gate__broken_suite_in_the_container(step, gh):
    """A broken suite ends with exit 2 and `action_required`."""
    step.acting.suite().write_text("version: 1\nname: support\ncasez: []\n")
    ended = step.run()
    assert (ended.code, ended.word) == (2, "config_error"), ended.log
    assert check(gh, step.pull["head"]["sha"]) == ["action_required"]


def test_signal__reaches_the_program(step, gh):
    """The runner's SIGTERM to the step arrives in the container: the check is cancelled and what was measured is on disk (P109)."""
    slow = {"exec": {"command": 'read q; case "$q" in *1) echo early-bird;; *) touch started; exec sleep 100;; esac', "protocol": "text"}}
    step.acting.suite(cases=2, target=slow, limits={"max_concurrency": 2})
    process = step.start()
    end = time.monotonic() + 100
    while not (step.acting.workspace / "started").exists() and time.monotonic() < end:
        time.sleep(0.05)
    process.send_signal(signal.SIGTERM)
    log, _ = process.communicate(timeout=60)
    assert "runtime: host" not in log
    assert process.returncode == 3, log
    assert check(gh, step.pull["head"]["sha"]) == ["cancelled"]
    assert "early-bird" in "".join(path.read_text() for path in (step.acting.workspace / "eval-results").rglob("*.json*"))


def test_user__leaves_no_file_of_root(step, image):
    """As the hosted runner's user, without network and token: the directory store works, and every new file is that user's (P141, P150)."""
    step.acting.suite()
    workspace = step.acting.workspace
    for path in (workspace, *workspace.rglob("*"), step.temp, *step.temp.rglob("*")):
        os.chown(path, 1001, 1001)
    known = {"GITHUB_WORKSPACE": str(workspace), "GITHUB_OUTPUT": str(step.temp / "output"), "RUNNER_TEMP": str(step.temp), "INPUT_BASELINE-STORE": "directory"}
    options = [word for name, value in known.items() for word in ("-e", f"{name}={value}")]
    mounts = [word for folder in (workspace, step.temp) for word in ("--mount", f"type=bind,source={folder},target={folder}")]
    command = ["podman", "run", "--rm", "--network", "none", "--read-only", "--tmpfs", "/tmp", "--cap-drop", "ALL", "--user", "1001:1001", "--workdir", str(workspace)]
    done = subprocess.run([*command, *options, *mounts, image], capture_output=True, text=True, timeout=200, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert read_outputs((step.temp / "output").read_text())["verdict"] == "no_baseline"
    assert {path.lstat().st_uid for path in (*workspace.rglob("*"), *step.temp.rglob("*"))} == {1001}


def test_blame__base_in_the_container(step, gh):
    """`blame: { ref: base }` asks the base commit's files in the container: what the change broke is its own fault, what broke round both is not."""
    workspace, weather = step.acting.workspace, step.temp / "weather"
    asks = f'read q; n="${{q##* }}"; cat broken {weather} | grep -q "^$n$" && echo wrong || echo "answer $n"'
    step.acting.suite(target={"exec": {"command": asks, "protocol": "text"}}, deterministic=False, blame={"ref": "base"})
    (workspace / "broken").touch()
    weather.touch()
    git = ["git", "-C", str(workspace), "-c", "user.name=a", "-c", "user.email=a@example.com"]
    for words in (["init", "-q", "-b", "main"], ["add", "."], ["commit", "-qm", "base"]):
        subprocess.run([*git, *words], check=True)
    base = subprocess.run([*git, "rev-parse", "HEAD"], check=True, capture_output=True, text=True).stdout.strip()
    for words in (["run", "evals", "--out", "first"], ["accept", "first", "--reason", "first"]):
        subprocess.run([sys.executable, "-m", "evalaction", *words], cwd=workspace, check=True, capture_output=True)
    step.pull["base"]["sha"] = base
    (step.temp / "event.json").write_text(json.dumps(events.pull_request(gh, step.pull).payload))
    (workspace / "broken").write_text("2\n")
    subprocess.run([*git, "commit", "-qam", "change"], check=True)

    change = step.run(**{"INPUT_BASELINE-STORE": "directory"})
    (workspace / "broken").write_text("")
    weather.write_text("2\n")
    (step.temp / "output").write_text("")
    round_it = step.run(**{"INPUT_BASELINE-STORE": "directory"})

    assert (change.code, change.word, change.suite["blame"]["outcome"], change.suite["blame"]["commit"]) == (1, "regressed", "change", base), change.log
    assert (round_it.code, round_it.word, round_it.suite["blame"]["outcome"]) == (0, "environment_drift", "environment"), round_it.log


def test_benchmark__measures_the_action(image, tmp_path):
    """`make bench BENCH="--only action"` measures each figure in this image; calls and size, which no load changes, reach their targets."""
    assert image
    out = tmp_path / "bench.json"
    done = subprocess.run([sys.executable, "-m", "benchmarks.run", "--quick", "--only", "action", "--out", str(out)], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    rows = json.loads(out.read_text())["rows"]
    assert [row["unit"] for row in rows] == ["s", "s", "calls", "calls", "MB"]
    assert all(row["value"] > 0 for row in rows)
    assert [row["reached"] for row in rows[2:]] == [True, True, True]
    assert rows[2]["value"] == rows[3]["value"]
