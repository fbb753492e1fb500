"""A runner of workflows: `act` on this machine, the Action from this checkout, and an upload that makes an artifact of the fake GitHub at once."""

import json
import os
import re
import shutil
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from tests.action.engine import ROOT
from tests.github.acting import Acting
from tests.github.fake import TOKEN

ACT = Path(sys.executable).parent / "act"
KEEP = """name: keep
description: makes an artifact of the run at once
inputs: { name: { required: true }, path: { required: true }, retention-days: {}, if-no-files-found: {}, include-hidden-files: {}, overwrite: {} }
runs:
  using: composite
  steps:
    - shell: bash
      env: { NAME: "${{ inputs.name }}", FOLDER: "${{ inputs.path }}" }
      run: |
        python3 -I - <<'END'
        import http.client, io, os, pathlib, zipfile
        folder, packed = pathlib.Path(os.environ["FOLDER"]), io.BytesIO()
        with zipfile.ZipFile(packed, "w") as archive:
            for path in sorted(folder.rglob("*")):
                archive.write(path, path.relative_to(folder))
        storage = http.client.HTTPConnection("127.0.0.1", int(os.environ["STORAGE_PORT"]))
        storage.request("POST", f"/{os.environ['GITHUB_RUN_ID']}/{os.environ['NAME']}", packed.getvalue())
        raise SystemExit(storage.getresponse().status != 200)
        END
"""
PYTHON = """#!/bin/sh
# An environment of the locked packages is the same each time: all but the first are copies of it.
[ "$1 $2 $3" = "-I -m venv" ] && exec cp -al '{environment}' "$4"
exec '{python}' "$@"
"""


def environment(folder):
    """A folder with the environment that the host runtime makes, made by its own script."""
    script = f'here={ROOT}/action root={ROOT}; source "$here/say.sh"; source "$here/host.sh"; make_environment "$(find_python)" "{folder}/environment"'
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    (folder / "environment" / "complete").unlink()
    return folder / "environment"


def checkout(into):
    """A copy of what makes the Action, and of its self-test, as a checkout holds it."""
    left_out = shutil.ignore_patterns("__pycache__")
    for name in ("action", "evalaction", "requirements", ".github"):
        shutil.copytree(ROOT / name, into / name, ignore=left_out)
    for name in ("action.yml", "entrypoint.py", "Dockerfile", "LICENSE"):
        shutil.copy(ROOT / name, into / name)
    return into


class Storage:
    """Takes what is uploaded; a name that a run has already is refused, as GitHub does."""

    def __init__(self, gh):
        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                _, run, name = self.path.split("/")
                data = self.rfile.read(int(self.headers["Content-Length"]))
                with gh.lock:
                    taken = any(row["name"] == name and row["workflow_run"]["id"] == int(run) for row in gh.artifacts.values())
                    if not taken:
                        gh.artifact(name, gh.runs[int(run)], data)
                self.send_response(409 if taken else 200)
                self.end_headers()

            def log_message(self, *args):
                """Keep the test's output clean."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()


class Workflows:
    """A repository with the example workflows. `environment` is what the host runtime's environments are copied from."""

    def __init__(self, gh, folder, environment):
        self.gh, self.folder, self.acting = gh, folder, Acting(gh, folder, lambda: "")
        self.storage = Storage(gh)
        self.workflows = self.acting.workspace / ".github" / "workflows"
        shutil.copytree(ROOT / "examples" / "workflows", self.workflows)
        # A copy, because act packs all that lies there several times a run, and breaks off where another test writes meanwhile.
        checkout(folder / "gate")
        for name in ("keep", "bin", "temp"):
            (folder / name).mkdir()
        (folder / "keep" / "action.yml").write_text(KEEP)
        program = folder / "bin" / "python3"
        program.write_text(PYTHON.format(environment=environment, python=sys.executable))
        program.chmod(0o755)

    def close(self):
        """Take no more uploads."""
        self.storage.server.shutdown()
        self.storage.server.server_close()

    def run(self, file, event, run, *words, root=None, token=TOKEN, **variables):
        """One run of a workflow, finished when it returns: (exit code of act, log). `words` go to act, `variables` to the job; `root` is what is checked out."""
        (self.folder / "event.json").write_text(json.dumps(event.payload))
        path = f".github/workflows/{file}"
        known = {
            "GITHUB_API_URL": self.gh.api_url, "GITHUB_SERVER_URL": "https://github.test", "GITHUB_REPOSITORY": "octo/demo", "GITHUB_REPOSITORY_ID": str(self.gh.repository.id),
            "GITHUB_RUN_ID": str(run["id"]), "GITHUB_RUN_ATTEMPT": "1", "GITHUB_SHA": event.sha, "GITHUB_REF": event.ref, "GITHUB_WORKFLOW_REF": f"octo/demo/{path}@{event.ref}",
            "STORAGE_PORT": str(self.storage.server.server_address[1]), "GITHUB_ACTOR": "alice", "GITHUB_TRIGGERING_ACTOR": "alice", **variables,
        }  # fmt: skip
        command = [str(ACT), event.name, "-P", "ubuntu-latest=-self-hosted", "-W", path, "-e", str(self.folder / "event.json"), "-s", f"GITHUB_TOKEN={token}", "-a", "alice"]
        there = (f"org/eval-gate@v1={self.folder / 'gate'}", f"actions/upload-artifact@{upload()}={self.folder / 'keep'}")
        command += ["--no-cache-server", *(word for place in there for word in ("--local-repository", place))]
        command += [word for name, value in known.items() for word in ("--env", f"{name}={value}")] + list(words)
        around = {"PATH": f"{self.folder / 'bin'}:{ACT.parent}:{os.environ['PATH']}", "HOME": str(self.folder), "XDG_CACHE_HOME": str(self.folder / "cache")}
        done = subprocess.run(command, cwd=root or self.acting.workspace, env=around, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300, check=False)
        run["status"], run["conclusion"] = "completed", "failure" if done.returncode else "success"
        # What is checked out here is no repository, which act says again and again.
        return done.returncode, "\n".join(line for line in (done.stdout + done.stderr).splitlines() if "repository" not in line)

    def begun(self, file, event, branch="main", **more):
        """A run that is under way, of a workflow in this repository."""
        return self.gh.run(event, branch, path=f".github/workflows/{file}", status="in_progress", conclusion=None, **more)


def upload():
    """The commit of actions/upload-artifact that action.yml names."""
    (commit,) = set(re.findall(r"actions/upload-artifact@(\w+)", (ROOT / "action.yml").read_text(encoding="utf-8")))
    return commit
