"""Podman in the place of docker, the image of this checkout, and a step that runs in it; where that cannot be had, `Unavailable` says why."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from tests.github import events
from tests.github.acting import Acting, Ended, read_outputs
from tests.github.fake import TOKEN, FakeGitHub

ROOT = Path(__file__).resolve().parents[2]
IMAGE, BASE = "localhost/eval-gate:test", "localhost/eval-gate-base:test"
SHIM = """#!/usr/bin/env bash
# Both speak the same language but for one question. In bash, because sh would drop the names with dashes.
case "$*" in "info --format {{.OSType}}") echo linux ;; *) exec podman "$@" ;; esac
"""
UNREACHABLE = re.compile(r"NewConnectionError|Temporary failure|Could not resolve|No matching distribution|Unable to locate package|Network is unreachable")
LIMITS = '[containers]\ndefault_ulimits = ["nofile=1024:1024", "nproc=1024:1024"]\n[engine]\nevents_logger = "file"\n'
"""Podman would raise limits, which a sandbox without that right refuses."""


class Unavailable(Exception):
    """The image cannot be built or run on this machine, for the reason given."""


def missing() -> str:
    """What this machine lacks for containers; empty when it has all."""
    if os.geteuid() != 0:
        return "root, without which podman cannot map the runner's user"
    lacking = [name for name in ("podman", "buildah") if shutil.which(name) is None]
    return f"{' and '.join(lacking)} on the PATH" if lacking else ""


def built(folder: Path) -> str:
    """The id of the image of this checkout; podman's settings go into `folder` and the environment. Raises Unavailable, and AssertionError when the Dockerfile is at fault."""
    if lacking := missing():
        raise Unavailable(f"this machine lacks {lacking}")
    (folder / "containers.conf").write_text(LIMITS)
    os.environ["CONTAINERS_CONF"] = str(folder / "containers.conf")
    _base()
    options = ["--layers", "--isolation", "chroot", "--pull-never", "-v", "/etc/ssl/certs:/etc/ssl/certs:ro", "--build-arg", f"BASE={BASE}", "-t", IMAGE]
    done = _said("buildah", "bud", *options, str(ROOT))
    if done.returncode != 0 and UNREACHABLE.search(done.stderr):
        raise Unavailable(f"a build cannot reach the package indexes here: {done.stderr[-300:]}")
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout.split()[-1]


def shim(folder: Path) -> Path:
    """A folder for the front of the PATH, with a `docker` that is podman."""
    folder.mkdir()
    (folder / "docker").write_text(SHIM)
    (folder / "docker").chmod(0o755)
    return folder


class Step:
    """A step that uses the Action, by its scripts, on a pull request."""

    def __init__(self, gh: FakeGitHub, folder: Path, image: str) -> None:
        self.gh, self.acting, self.pull = gh, Acting(gh, folder, lambda: ""), gh.pull()
        self.temp = folder / "temp"
        self.environment = events.environment(gh, events.pull_request(gh, self.pull), self.temp)
        self.environment |= {
            "PATH": f"{shim(folder / 'bin')}:{os.environ['PATH']}", "GITHUB_WORKSPACE": str(self.acting.workspace), "INPUT_GITHUB-TOKEN": TOKEN, "INPUT_MODE": "gate",
            "INPUT_RUNTIME": "container", "EVAL_GATE_IMAGE": image, "EVAL_GATE_KEY": "eval", "CONTAINERS_CONF": os.environ["CONTAINERS_CONF"],
        }  # fmt: skip

    def start(self, *words: str, **more: str) -> subprocess.Popen[str]:
        """The process of the step."""
        command = ["bash", str(ROOT / "action" / "run.sh"), *words]
        around = {**self.environment, **more}
        return subprocess.Popen(command, cwd=self.acting.workspace, env=around, start_new_session=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def run(self, *words: str, **more: str) -> Ended:
        """The step, run to its end."""
        process = self.start(*words, **more)
        log, _ = process.communicate(timeout=200)
        assert "runtime: host" not in log, log
        verdict = self.acting.workspace / "eval-results" / "verdict.json"
        found = json.loads(verdict.read_text()) if verdict.is_file() else None
        return Ended(process.returncode, read_outputs((self.temp / "output").read_text()), log, (self.temp / "summary").read_text(), found, {})


def _base() -> None:
    if _said("podman", "image", "exists", BASE).returncode != 0:
        made = _said(str(ROOT / ".ci" / "base-image.sh"), BASE, _cpython())
        if made.returncode != 0:
            raise Unavailable(f"no base image can be had here: {made.stderr[-300:]}")
    works = _said("podman", "run", "--rm", "--network", "none", BASE, "true")
    if works.returncode != 0:
        raise Unavailable(f"podman cannot run a container here: {works.stderr[-300:]}")


def _cpython() -> str:
    """A CPython whose folder stands for the official image's, where no registry answers: another release than this one is as good."""
    done = _said("pyenv", "prefix", "3.12.1") if shutil.which("pyenv") else None
    return done.stdout.strip() if done and done.returncode == 0 else str(Path(sys.base_prefix).resolve())


def _said(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, check=False)
