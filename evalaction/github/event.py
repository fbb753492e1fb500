"""What started the run: a pure reading of the event payload and the runner's variables. The payload is data; what is odd in it is as good as missing."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from evalaction.github.facts import PullRequest, Run

_LARGEST = 32 * 1024 * 1024
"""Bytes of an event file that are read; GitHub's own largest is 25 MB."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One event. `head_sha` is the commit that a check belongs on; `upstream` is the finished run of a `workflow_run`."""

    name: str = ""
    repository: str = ""
    repository_id: int | None = None
    default_branch: str | None = None
    ref: str = ""
    sha: str | None = None
    head_sha: str | None = None
    pull: PullRequest | None = None
    pull_head: str | None = None
    """Head commit of the pull request, also where the payload is too odd for `pull`: what must not be checked out depends on it."""
    pull_merge: str | None = None
    """GitHub's test merge of an open pull request, None where there is none."""
    pull_repository: str | None = None
    """Full name of the repository that the pull request comes from."""
    base_sha: str | None = None
    """Commit that the change starts from: the base of a pull request or merge group, or what a push was onto; None for other events and for a branch's first push."""
    upstream: Run | None = None
    run_id: int | None = None
    attempt: int = 1
    actor: str | None = None
    triggering_actor: str | None = None
    workflow: str | None = None
    """File name of the workflow that runs."""
    server_url: str = ""

    @property
    def is_outsider(self) -> bool:
        """Whether the pull request comes from a fork or from Dependabot, and so has no secrets and a token that may only read."""
        return self.pull is not None and self.pull.is_outsider

    @property
    def is_on_default_branch(self) -> bool:
        """Whether the run is one of the default branch itself."""
        return self.default_branch is not None and self.ref == f"refs/heads/{self.default_branch}"

    @property
    def run_url(self) -> str:
        """The page of the run, empty when nobody runs it on GitHub."""
        return f"{self.server_url}/{self.repository}/actions/runs/{self.run_id}" if self.server_url and self.repository and self.run_id else ""


def read_payload(path: str | None) -> dict[str, Any]:
    """The event file as an object, empty when there is none or it is not what GitHub writes."""
    if not path:
        return {}
    try:
        file = Path(path)
        payload = json.loads(file.read_text(encoding="utf-8")) if file.stat().st_size <= _LARGEST else {}
    except (OSError, ValueError, RecursionError):
        return {}
    return payload if isinstance(payload, dict) else {}


def read_event(payload: Mapping[str, Any], environment: Mapping[str, str]) -> Event:
    """The event that the runner's variables and the payload describe."""
    repository, upstream = _part(payload, "repository"), _upstream(_part(payload, "workflow_run"))
    pull = _pull(_part(payload, "pull_request"))
    name, ref, sha = environment.get("GITHUB_EVENT_NAME", ""), environment.get("GITHUB_REF", ""), environment.get("GITHUB_SHA") or None
    return Event(
        name=name, repository=environment.get("GITHUB_REPOSITORY", ""), repository_id=_number(repository.get("id")) or _digits(environment.get("GITHUB_REPOSITORY_ID")),
        default_branch=_text(repository.get("default_branch")) or _branch_of_schedule(name, ref), ref=ref, sha=sha, head_sha=_head(payload, pull, upstream) or sha, pull=pull,
        pull_head=_text(_part(_part(payload, "pull_request"), "head").get("sha")), base_sha=_base(payload),
        pull_merge=_test_merge(_part(payload, "pull_request")), pull_repository=_text(_part(_part(_part(payload, "pull_request"), "head"), "repo").get("full_name")),
        upstream=upstream,
        run_id=_digits(environment.get("GITHUB_RUN_ID")), attempt=_digits(environment.get("GITHUB_RUN_ATTEMPT")) or 1,
        actor=environment.get("GITHUB_ACTOR") or None, triggering_actor=environment.get("GITHUB_TRIGGERING_ACTOR") or None,
        workflow=_workflow(environment.get("GITHUB_WORKFLOW_REF", "")), server_url=environment.get("GITHUB_SERVER_URL", "").rstrip("/"),
    )  # fmt: skip


def _head(payload: Mapping[str, Any], pull: PullRequest | None, upstream: Run | None) -> str | None:
    """A pull request's head rather than the merge commit that is checked out; the group's head in a merge queue; the finished run's head in a second stage."""
    if pull is not None:
        return pull.head_sha
    if upstream is not None:
        return upstream.head_sha
    return _text(_part(payload, "merge_group").get("head_sha"))


def _base(payload: Mapping[str, Any]) -> str | None:
    stated = _text(_part(_part(payload, "pull_request"), "base").get("sha")) or _text(_part(payload, "merge_group").get("base_sha")) or _text(payload.get("before"))
    return stated if stated and stated.strip("0") else None


def _test_merge(pull: Mapping[str, Any]) -> str | None:
    """Of a merged pull request it is the merge itself, which is in the base branch."""
    return None if pull.get("merged") is True else _text(pull.get("merge_commit_sha"))


def _branch_of_schedule(name: str, ref: str) -> str | None:
    """A schedule runs on the default branch only, and its payload does not always name it."""
    return ref.removeprefix("refs/heads/") if name == "schedule" and ref.startswith("refs/heads/") else None


def _workflow(ref: str) -> str | None:
    """`octo/demo/.github/workflows/eval.yml@refs/heads/main` → `eval.yml`."""
    return ref.partition("@")[0].rpartition("/")[2] or None


def _pull(pull: Mapping[str, Any]) -> PullRequest | None:
    number, head, base = _number(pull.get("number")), _part(pull, "head"), _part(pull, "base")
    sha, base_sha, base_id = _text(head.get("sha")), _text(base.get("sha")), _number(_part(base, "repo").get("id"))
    if number is None or sha is None or base_sha is None or base_id is None:
        return None
    return PullRequest(
        number=number, head_sha=sha, head_ref=_text(head.get("ref")) or "", base_ref=_text(base.get("ref")) or "", base_sha=base_sha,
        head_repository_id=_number(_part(head, "repo").get("id")), base_repository_id=base_id, author=_text(_part(pull, "user").get("login")),
        state=_text(pull.get("state")) or "open",
    )  # fmt: skip


def _upstream(run: Mapping[str, Any]) -> Run | None:
    number, sha, head = _number(run.get("id")), _text(run.get("head_sha")), _part(run, "head_repository")
    if number is None or sha is None:
        return None
    return Run(
        id=number, event=_text(run.get("event")) or "", path=(_text(run.get("path")) or "").partition("@")[0], head_branch=_text(run.get("head_branch")), head_sha=sha,
        status=_text(run.get("status")) or "", conclusion=_text(run.get("conclusion")), attempt=_number(run.get("run_attempt")) or 1, created_at=_text(run.get("created_at")) or "",
        repository_id=_number(_part(run, "repository").get("id")), head_repository_id=_number(head.get("id")), head_repository=_text(head.get("full_name")),
        head_owner=_text(_part(head, "owner").get("login")), actor=_text(_part(run, "actor").get("login")), url=_text(run.get("html_url")) or "",
    )  # fmt: skip


def _part(mapping: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = mapping.get(name)
    return found if isinstance(found, dict) else {}


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


def _number(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _digits(text: str | None) -> int | None:
    return int(text) if text and text.isascii() and text.isdigit() and len(text) < 19 else None
