"""What the environment says: provenance of a run and the secrets to keep out of everything. Read once, at the porch."""

from __future__ import annotations

import dataclasses
import json
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from evalaction.core.masking import Masker, looks_secret


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Where we run and who asks. `environment` never shows in the repr, for it holds secrets."""

    environment: Mapping[str, str] = dataclasses.field(repr=False)
    cwd: Path
    workspace: Path
    """The git root, else the working directory: files of a suite may not lie outside."""
    commit: str | None = None
    run_id: str | None = None
    pull_request: int | None = None
    head: str | None = None
    """Head commit of the pull request that triggered the run."""
    actor: str | None = None
    masker: Masker = dataclasses.field(default_factory=Masker)

    @classmethod
    def read(cls, environment: Mapping[str, str], cwd: Path) -> Settings:
        """Settings from the environment, the event file and git."""
        pull, root = _pull_request(_event(environment)), _git_root(cwd)
        number = pull.get("number")
        return cls(
            environment=environment, cwd=cwd, workspace=root, commit=_head(pull) or environment.get("GITHUB_SHA") or _git(root, "rev-parse", "HEAD"), head=_head(pull),
            run_id=environment.get("GITHUB_RUN_ID") or None,
            pull_request=number if isinstance(number, int) else None, actor=environment.get("GITHUB_TRIGGERING_ACTOR") or environment.get("GITHUB_ACTOR") or None,
            masker=Masker(secrets(environment)),
        )  # fmt: skip

    def person(self) -> str:
        """Who accepts when nobody is named: the actor on GitHub, else git's user, else the login name."""
        named = self.actor or _git(self.workspace, "config", "user.name") or self.environment.get("USER") or self.environment.get("LOGNAME")
        return named or "unknown"

    def unsafe_checkout(self) -> str | None:
        """The head commit when it, or a merge of it, is checked out under `pull_request_target`, where secrets are at hand.

        The Action's image has no git: there `EVAL_GATE_CHECKOUT` holds what git said on the runner.
        """
        if self.environment.get("GITHUB_EVENT_NAME") != "pull_request_target":
            return None
        checked_out = (_git(self.workspace, "rev-list", "--parents", "-1", "HEAD") or self.environment.get("EVAL_GATE_CHECKOUT") or "").split()
        return self.head if self.head in checked_out else None


def secrets(environment: Mapping[str, str]) -> Iterator[str]:
    """Values of the variables whose names say that they are secret."""
    return (value for name, value in environment.items() if looks_secret(name))


def _event(environment: Mapping[str, str]) -> dict[str, Any]:
    """GitHub's event file, empty when there is none or it is not what GitHub writes."""
    path = environment.get("GITHUB_EVENT_PATH")
    if not path:
        return {}
    try:
        event = json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return event if isinstance(event, dict) else {}


def _pull_request(event: Mapping[str, Any]) -> Mapping[str, Any]:
    pull = event.get("pull_request")
    return pull if isinstance(pull, dict) else {}


def _head(pull: Mapping[str, Any]) -> str | None:
    """The pull request's head: the merge commit that is checked out has no name that people know."""
    head = pull.get("head")
    sha = head.get("sha") if isinstance(head, dict) else None
    return sha if isinstance(sha, str) else None


def _git_root(cwd: Path) -> Path:
    for folder in (cwd, *cwd.parents):
        if (folder / ".git").exists():
            return folder
    return cwd


def _git(cwd: Path, *args: str) -> str | None:
    """One word from git, None when there is no git or no repository. The owner of the workspace does not matter for reading."""
    try:
        done = subprocess.run(["git", "-c", f"safe.directory={cwd}", *args], cwd=cwd, capture_output=True, text=True, timeout=10, check=False)  # noqa: S603, S607 - fixed words, git from PATH
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() or None if done.returncode == 0 else None
