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
    actor: str | None = None
    masker: Masker = dataclasses.field(default_factory=Masker)

    @classmethod
    def read(cls, environment: Mapping[str, str], cwd: Path) -> Settings:
        """Settings from the environment, the event file and git."""
        event = _event(environment)
        number = (event.get("pull_request") or {}).get("number")
        return cls(
            environment=environment, cwd=cwd, workspace=_git_root(cwd), commit=_commit(environment, event, cwd), run_id=environment.get("GITHUB_RUN_ID") or None,
            pull_request=number if isinstance(number, int) else None, actor=environment.get("GITHUB_TRIGGERING_ACTOR") or environment.get("GITHUB_ACTOR") or None,
            masker=Masker(secrets(environment)),
        )  # fmt: skip

    def person(self) -> str:
        """Who accepts when nobody is named: the actor on GitHub, else git's user, else the login name."""
        named = self.actor or _git(self.cwd, "config", "user.name") or self.environment.get("USER") or self.environment.get("LOGNAME")
        return named or "unknown"

    def unsafe_checkout(self) -> str | None:
        """The head commit when code of a pull request is checked out under `pull_request_target`, where secrets are at hand."""
        if self.environment.get("GITHUB_EVENT_NAME") != "pull_request_target":
            return None
        head = ((_event(self.environment).get("pull_request") or {}).get("head") or {}).get("sha")
        here = _git(self.cwd, "rev-parse", "HEAD")
        return here if here is not None and here == head else None


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


def _commit(environment: Mapping[str, str], event: Mapping[str, Any], cwd: Path) -> str | None:
    """The pull request's head on GitHub (the checked-out merge commit has no name people know), else git's HEAD."""
    head = ((event.get("pull_request") or {}).get("head") or {}).get("sha")
    return head or environment.get("GITHUB_SHA") or _git(cwd, "rev-parse", "HEAD")


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
