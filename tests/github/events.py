"""What a runner tells an action about the event that started it: name, payload and the GITHUB_* variables."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

from tests.github.fake import EVAL, FakeGitHub, described, sha, user


@dataclasses.dataclass(frozen=True)
class Event:
    """An event: its name, payload, and the commit and ref that GITHUB_SHA and GITHUB_REF name."""

    name: str
    payload: dict[str, Any]
    sha: str
    ref: str


def _common(gh: FakeGitHub, login: str = "alice") -> dict[str, Any]:
    return {"repository": described(gh.repository), "sender": user(login)}


def pull_request(gh: FakeGitHub, pull: dict[str, Any], action: str = "synchronize", name: str = "pull_request") -> Event:
    """A push to a pull request; GITHUB_SHA is a merge commit that nobody else knows. With another `name`: `pull_request_target`."""
    target = name == "pull_request_target"
    commit, ref = (gh.tip(), "refs/heads/main") if target else (sha(f"merge of {pull['head']['sha']}"), f"refs/pull/{pull['number']}/merge")
    return Event(name, {**_common(gh), "action": action, "number": pull["number"], "pull_request": json.loads(json.dumps(pull))}, commit, ref)


def push(gh: FakeGitHub, branch: str = "main") -> Event:
    """A push to a branch of ours."""
    line = gh.branches[branch]
    return Event("push", {**_common(gh), "ref": f"refs/heads/{branch}", "before": line[-2], "after": line[-1], "deleted": False}, line[-1], f"refs/heads/{branch}")


def merge_group(gh: FakeGitHub) -> Event:
    """A merge queue asks for its checks."""
    head = sha(f"group on {gh.tip()}")
    ref = f"refs/heads/gh-readonly-queue/main/pr-7-{gh.tip()}"
    group = {"head_sha": head, "head_ref": ref, "base_sha": gh.tip(), "base_ref": "refs/heads/main"}
    return Event("merge_group", {**_common(gh), "action": "checks_requested", "merge_group": group}, head, ref)


def schedule(gh: FakeGitHub) -> Event:
    """The clock."""
    return Event("schedule", {**_common(gh), "schedule": "0 5 * * 1"}, gh.tip(), "refs/heads/main")


def dispatch(gh: FakeGitHub, branch: str = "main", **inputs: str) -> Event:
    """A person starts a workflow on a branch."""
    return Event("workflow_dispatch", {**_common(gh), "inputs": inputs, "ref": f"refs/heads/{branch}"}, gh.tip(branch), f"refs/heads/{branch}")


def workflow_run(gh: FakeGitHub, run: dict[str, Any]) -> Event:
    """Another workflow's run ended."""
    return Event("workflow_run", {**_common(gh), "action": "completed", "workflow_run": json.loads(json.dumps(run))}, gh.tip(), "refs/heads/main")


def environment(gh: FakeGitHub, event: Event, folder: Path, *, run: dict[str, Any] | None = None, job: str = "eval") -> dict[str, str]:
    """The variables of a step: event file, output and summary files below `folder`, hosts, run and commit. No token: an input brings it."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "event.json").write_text(json.dumps(event.payload), encoding="utf-8")
    for name in ("output", "summary", "env", "path", "state"):
        (folder / name).touch()
    number, attempt = (run["id"], run["run_attempt"]) if run else (gh.number(), 1)
    pull = event.payload.get("pull_request") or {}
    return {
        "CI": "true", "GITHUB_ACTIONS": "true", "GITHUB_API_URL": gh.api_url, "GITHUB_SERVER_URL": "https://github.test", "GITHUB_EVENT_NAME": event.name,
        "GITHUB_EVENT_PATH": str(folder / "event.json"), "GITHUB_OUTPUT": str(folder / "output"), "GITHUB_STEP_SUMMARY": str(folder / "summary"),
        "GITHUB_ENV": str(folder / "env"), "GITHUB_PATH": str(folder / "path"), "GITHUB_STATE": str(folder / "state"), "GITHUB_REPOSITORY": gh.repository.full_name,
        "GITHUB_REPOSITORY_ID": str(gh.repository.id), "GITHUB_REPOSITORY_OWNER": gh.repository.owner, "GITHUB_RUN_ID": str(number), "GITHUB_RUN_NUMBER": "1",
        "GITHUB_RUN_ATTEMPT": str(attempt), "GITHUB_SHA": event.sha, "GITHUB_REF": event.ref, "GITHUB_REF_NAME": event.ref.removeprefix("refs/heads/"),
        "GITHUB_REF_TYPE": "branch", "GITHUB_JOB": job, "GITHUB_ACTOR": "alice", "GITHUB_TRIGGERING_ACTOR": "alice", "GITHUB_WORKFLOW": "eval",
        "GITHUB_WORKFLOW_REF": f"{gh.repository.full_name}/{EVAL}@{event.ref}", "GITHUB_HEAD_REF": pull.get("head", {}).get("ref", ""),
        "GITHUB_BASE_REF": pull.get("base", {}).get("ref", ""), "RUNNER_OS": "Linux", "RUNNER_TEMP": str(folder),
    }  # fmt: skip
