"""The example workflows, run as a runner runs them: `act` on this machine, the Action from this checkout, a GitHub on loopback."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.github import events
from tests.github.acting import Acting
from tests.github.fake import TOKEN, serving

ROOT = Path(__file__).resolve().parents[2]
ACT = Path(sys.executable).parent / "act"
UPLOAD = "043fb46d1a93c77aae656e7c1c64a875d1fc6a0a"
"""Commit of actions/upload-artifact that action.yml names."""
KEEP = """name: keep
description: keeps what is uploaded in a folder
inputs: { name: { required: true }, path: { required: true }, retention-days: {}, if-no-files-found: {}, include-hidden-files: {}, overwrite: {} }
runs:
  using: composite
  steps:
    - shell: bash
      run: mkdir -p "$UPLOADS/$NAME" && cp -r "$FOLDER/." "$UPLOADS/$NAME/"
      env: { NAME: "${{ inputs.name }}", FOLDER: "${{ inputs.path }}" }
"""

pytestmark = [pytest.mark.container, pytest.mark.timeout(600), pytest.mark.skipif(not ACT.is_file(), reason="this environment lacks act")]


@pytest.fixture
def gh():
    """A fake GitHub."""
    with serving() as fake:
        yield fake


class Workflows:
    """A repository with the example workflows, and what their runs left."""

    def __init__(self, gh, folder):
        self.gh, self.folder, self.acting = gh, folder, Acting(gh, folder, lambda: "")
        self.uploads, self.steps = folder / "uploads", 0
        shutil.copytree(ROOT / "examples" / "workflows", self.acting.workspace / ".github" / "workflows")
        (folder / "keep").mkdir()
        (folder / "keep" / "action.yml").write_text(KEEP)
        (folder / "temp").mkdir()

    def run(self, file, event, run, job=None):
        """One run of a workflow: (exit code of act, log)."""
        self.steps += 1
        shutil.rmtree(self.uploads, ignore_errors=True)
        (self.folder / "event.json").write_text(json.dumps(event.payload))
        path = f".github/workflows/{file}"
        known = {
            "GITHUB_API_URL": self.gh.api_url, "GITHUB_SERVER_URL": "https://github.test", "GITHUB_REPOSITORY": "octo/demo", "GITHUB_REPOSITORY_ID": str(self.gh.repository.id),
            "GITHUB_RUN_ID": str(run["id"]), "GITHUB_RUN_ATTEMPT": "1", "GITHUB_SHA": event.sha, "GITHUB_REF": event.ref, "GITHUB_WORKFLOW_REF": f"octo/demo/{path}@{event.ref}",
            "UPLOADS": str(self.uploads), "RUNNER_TEMP": str(self.folder / "temp"), "GITHUB_ACTOR": "alice", "GITHUB_TRIGGERING_ACTOR": "alice",
        }  # fmt: skip
        command = [str(ACT), event.name, "-P", "ubuntu-latest=-self-hosted", "-W", path, "-e", str(self.folder / "event.json"), "-s", f"GITHUB_TOKEN={TOKEN}"]
        command += ["-a", "alice", "--no-cache-server"]
        command += ["--local-repository", f"org/eval-gate@v1={ROOT}", "--local-repository", f"actions/upload-artifact@{UPLOAD}={self.folder / 'keep'}"]
        command += [word for name, value in known.items() for word in ("--env", f"{name}={value}")] + (["-j", job] if job else [])
        around = {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "HOME": str(self.folder), "XDG_CACHE_HOME": str(self.folder / "cache")}
        done = subprocess.run(command, cwd=self.acting.workspace, env=around, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300, check=False)
        return done.returncode, done.stdout + done.stderr

    def stored(self, run, conclusion):
        """What GitHub does when the run ends: its uploads are artifacts."""
        for folder in sorted(self.uploads.iterdir()) if self.uploads.is_dir() else []:
            self.gh.artifact(folder.name, run, folder)
        run["status"], run["conclusion"] = "completed", conclusion
        shutil.rmtree(self.acting.workspace / "eval-results", ignore_errors=True)


def test_workflows__gate_accept_gate(gh, tmp_path):
    """The gate's workflow says `no_baseline`; accepted by dispatch with a reason, the next run is green and says who accepted what and why; a worse one is red."""
    here = Workflows(gh, tmp_path)
    here.acting.suite(bad=[3])
    pushed = gh.run("push", path=".github/workflows/eval-gate.yml", status="in_progress", conclusion=None)
    code, log = here.run("eval-gate.yml", events.push(gh), pushed)
    assert code == 0, log[-4000:]
    assert "no_baseline (exit 0)" in log
    here.stored(pushed, "success")
    dispatched = gh.run("workflow_dispatch", status="in_progress", conclusion=None)
    code, log = here.run("accept-baseline.yml", events.dispatch(gh, reason="case 3 is hopeless"), dispatched, job="accept")
    assert code == 0, log[-4000:]
    here.stored(dispatched, "success")
    for bad, ends in (([3], 0), ([1, 3], 1)):
        pull = gh.pull(f"feature-{ends}")
        here.acting.suite(bad=bad)
        asked = gh.run("pull_request", f"feature-{ends}", path=".github/workflows/eval-gate.yml", status="in_progress", conclusion=None, head_sha=pull["head"]["sha"])
        code, log = here.run("eval-gate.yml", events.pull_request(gh, pull), asked)
        assert (code != 0) == bool(ends), log[-4000:]
        body = gh.comments_on(pull["number"])[0]["body"]
        assert "case 3 is hopeless" in body
        assert "alice" in body
        assert [row["conclusion"] for row in gh.checks.values() if row["head_sha"] == pull["head"]["sha"]] == ["failure" if ends else "success"]
        here.stored(asked, "failure" if ends else "success")
