"""The image, built and run for real in GitHub's shape: by the Action's own scripts, with podman standing in for docker."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.github import events
from tests.github.acting import Acting, Ended, read_outputs
from tests.github.fake import TOKEN, serving

ROOT = Path(__file__).resolve().parents[2]
IMAGE, BASE = "localhost/eval-gate:test", "localhost/eval-gate-base:test"
LARGEST = 180_000_000
"""Bytes of the image, unpacked."""
SHIM = """#!/bin/sh
# Both speak the same language but for one question.
case "$*" in "info --format {{.OSType}}") echo linux ;; *) exec podman "$@" ;; esac
"""
UNREACHABLE = re.compile(r"NewConnectionError|Temporary failure|Could not resolve|No matching distribution|Unable to locate package|Network is unreachable")
LIMITS = '[containers]\ndefault_ulimits = ["nofile=1024:1024", "nproc=1024:1024"]\n[engine]\nevents_logger = "file"\n'
"""Podman would raise limits, which a sandbox without that right refuses."""
LOOK = """
import importlib.util, pathlib, shutil
print([bool(importlib.util.find_spec(name)) for name in ("anthropic", "openai", "pip")], shutil.which("gcc"), (pathlib.Path.home() / ".cache").exists())
"""


def _missing() -> str:
    if os.geteuid() != 0:
        return "root, without which podman cannot map the runner's user"
    lacking = [name for name in ("podman", "buildah") if shutil.which(name) is None]
    return f"{' and '.join(lacking)} on the PATH" if lacking else ""


pytestmark = [pytest.mark.container, pytest.mark.timeout(900), pytest.mark.skipif(bool(_missing()), reason=f"this machine lacks {_missing()}")]


def _cpython() -> str:
    """A CPython whose folder stands for the official image's, where no registry answers: another release than this one is as good."""
    done = subprocess.run(["pyenv", "prefix", "3.12.1"], capture_output=True, text=True, check=False) if shutil.which("pyenv") else None
    return done.stdout.strip() if done and done.returncode == 0 else str(Path(sys.base_prefix).resolve())


@pytest.fixture(scope="session")
def image(tmp_path_factory):
    """The image of this checkout."""
    limits = tmp_path_factory.mktemp("podman") / "containers.conf"
    limits.write_text(LIMITS)
    os.environ["CONTAINERS_CONF"] = str(limits)
    there = subprocess.run(["podman", "image", "exists", BASE], check=False)
    if there.returncode != 0:
        made = subprocess.run([str(ROOT / ".ci" / "base-image.sh"), BASE, _cpython()], capture_output=True, text=True, check=False)
        if made.returncode != 0:
            pytest.skip(f"no base image can be had here: {made.stderr[-300:]}")
    works = subprocess.run(["podman", "run", "--rm", "--network", "none", BASE, "true"], capture_output=True, text=True, check=False)
    if works.returncode != 0:
        pytest.skip(f"podman cannot run a container here: {works.stderr[-300:]}")
    command = ["buildah", "bud", "--isolation", "chroot", "--pull-never", "-v", "/etc/ssl/certs:/etc/ssl/certs:ro", "--build-arg", f"BASE={BASE}", "-t", IMAGE, str(ROOT)]
    built = subprocess.run(command, capture_output=True, text=True, check=False)
    if built.returncode != 0 and UNREACHABLE.search(built.stderr):
        pytest.skip(f"a build cannot reach the package indexes here: {built.stderr[-300:]}")
    assert built.returncode == 0, built.stderr[-3000:]
    return IMAGE


@pytest.fixture
def gh():
    """A fake GitHub."""
    with serving() as fake:
        yield fake


class Step:
    """A step that uses the Action, by its scripts, on a pull request."""

    def __init__(self, gh, folder, image):
        self.gh, self.acting, self.pull = gh, Acting(gh, folder, lambda: ""), gh.pull()
        self.temp = folder / "temp"
        (folder / "bin").mkdir()
        shim = folder / "bin" / "docker"
        shim.write_text(SHIM)
        shim.chmod(0o755)
        self.environment = events.environment(gh, events.pull_request(gh, self.pull), self.temp)
        self.environment |= {
            "PATH": f"{folder / 'bin'}:{os.environ['PATH']}", "GITHUB_WORKSPACE": str(self.acting.workspace), "INPUT_GITHUB-TOKEN": TOKEN, "INPUT_MODE": "gate",
            "INPUT_RUNTIME": "container", "EVAL_GATE_IMAGE": image, "EVAL_GATE_KEY": "eval",
        }  # fmt: skip

    def start(self, *words, **more):
        """The process of the step."""
        command = ["bash", str(ROOT / "action" / "run.sh"), *words]
        streams = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
        return subprocess.Popen(command, cwd=self.acting.workspace, env={**self.environment, **more}, start_new_session=True, **streams)

    def run(self, *words, **more):
        """The step, run to its end."""
        process = self.start(*words, **more)
        log, _ = process.communicate(timeout=200)
        verdict = self.acting.workspace / "eval-results" / "verdict.json"
        found = json.loads(verdict.read_text()) if verdict.is_file() else None
        return Ended(process.returncode, read_outputs((self.temp / "output").read_text()), log, (self.temp / "summary").read_text(), found, {})


@pytest.fixture
def step(gh, tmp_path, image):
    """A step in a workspace of its own."""
    return Step(gh, tmp_path, image)


def check(gh, sha):
    """Conclusions of the checks on a commit."""
    return [row["conclusion"] for row in gh.checks.values() if row["head_sha"] == sha]


def test_image__is_small_and_holds_what_it_needs(image):
    """At most 180 MB unpacked, with both SDKs, without compiler, pip or their caches; Python starts in it."""
    size = subprocess.run(["podman", "image", "inspect", image, "--format", "{{.Size}}"], capture_output=True, text=True, check=True)
    command = ["podman", "run", "--rm", "--network", "none", "--read-only", "--entrypoint", "/opt/eval-gate/bin/python", image, "-c", LOOK]
    seen = subprocess.run(command, capture_output=True, text=True, check=True)
    assert int(size.stdout) <= LARGEST, size.stdout
    assert seen.stdout.strip() == "[True, True, False] None False"


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
    assert process.returncode == 3, log
    assert check(gh, step.pull["head"]["sha"]) == ["cancelled"]
    assert "early-bird" in "".join(path.read_text() for path in (step.acting.workspace / "eval-results").rglob("*.json*"))


def test_user__leaves_no_file_of_root(step):
    """As the hosted runner's user, without network and token: the directory store works, and every new file is that user's (P141, P150)."""
    step.acting.suite()
    workspace = step.acting.workspace
    for path in (workspace, *workspace.rglob("*"), step.temp, *step.temp.rglob("*")):
        os.chown(path, 1001, 1001)
    known = {"GITHUB_WORKSPACE": str(workspace), "GITHUB_OUTPUT": str(step.temp / "output"), "RUNNER_TEMP": str(step.temp), "INPUT_BASELINE-STORE": "directory"}
    options = [word for name, value in known.items() for word in ("-e", f"{name}={value}")]
    mounts = [word for folder in (workspace, step.temp) for word in ("--mount", f"type=bind,source={folder},target={folder}")]
    command = ["podman", "run", "--rm", "--network", "none", "--read-only", "--tmpfs", "/tmp", "--cap-drop", "ALL", "--user", "1001:1001", "--workdir", str(workspace)]
    done = subprocess.run([*command, *options, *mounts, IMAGE], capture_output=True, text=True, timeout=200, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert read_outputs((step.temp / "output").read_text())["verdict"] == "no_baseline"
    assert {path.lstat().st_uid for path in (*workspace.rglob("*"), *step.temp.rglob("*"))} == {1001}
