"""What GitHub says, as plain frozen types: only the fields that decide something, read once at the client."""

from __future__ import annotations

import dataclasses
from typing import Literal

DEPENDABOT = "dependabot[bot]"
Conclusion = Literal["success", "neutral", "failure", "action_required", "cancelled"]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Artifact:
    """One artifact of a workflow run. Times are ISO 8601; `digest` is `sha256:…`, None where the server gives none; run facts are None when the run is gone."""

    id: int
    name: str
    size_in_bytes: int
    expired: bool
    created_at: str
    expires_at: str | None = None
    digest: str | None = None
    run_id: int | None = None
    repository_id: int | None = None
    head_repository_id: int | None = None
    head_branch: str | None = None
    head_sha: str | None = None


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One workflow run. `path` is the workflow file's, without `@ref`; repositories are ids."""

    id: int
    event: str
    path: str
    head_branch: str | None
    head_sha: str
    status: str
    conclusion: str | None
    attempt: int
    created_at: str
    repository_id: int | None = None
    head_repository_id: int | None = None
    head_repository: str | None = None
    head_owner: str | None = None
    actor: str | None = None
    url: str = ""
    pull_requests: tuple[int, ...] = ()
    """Open pull requests that share head commit or branch; empty for forks."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class PullRequest:
    """One pull request. `head_repository_id` is None when the fork is gone."""

    number: int
    head_sha: str
    head_ref: str
    base_ref: str
    base_sha: str
    head_repository_id: int | None
    base_repository_id: int
    author: str | None = None
    state: str = "open"

    @property
    def is_fork(self) -> bool:
        """Whether the head lives in another repository, or in one that is gone."""
        return self.head_repository_id != self.base_repository_id

    @property
    def is_outsider(self) -> bool:
        """Whether it comes from a fork or from Dependabot, whose runs have no secrets and a token that may only read."""
        return self.is_fork or self.author == DEPENDABOT


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Comment:
    """One comment of a pull request."""

    id: int
    body: str
    author: str
    author_is_bot: bool
    url: str


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class CheckRun:
    """One check run; `app` is the slug of the app that may edit it."""

    id: int
    name: str
    status: str
    url: str
    app: str | None = None
    external_id: str | None = None
    annotations: int = 0
    """How many it has."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Position:
    """How a commit stands to a branch: `behind` or `identical` means that the branch contains it; `behind_by` commits came after it."""

    status: Literal["ahead", "behind", "diverged", "identical"]
    behind_by: int

    @property
    def is_contained(self) -> bool:
        """Whether the branch contains the commit."""
        return self.status in ("behind", "identical")


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Annotation:
    """A remark on a line of a file of the repository. `path` is relative to the repository's root."""

    path: str
    line: int
    level: Literal["notice", "warning", "failure"]
    title: str
    message: str


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class CheckOutput:
    """What a check run shows. `summary` and `text` are Markdown of at most 65,535 characters, `title` of at most 255."""

    title: str
    summary: str
    text: str = ""
    annotations: tuple[Annotation, ...] = ()
