"""What the environment says: provenance of a run and the secrets to keep out of everything. Read once, at the porch."""

from __future__ import annotations

import dataclasses
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from evalaction.core.masking import Masker, looks_secret
from evalaction.github.event import Event, read_event, read_payload


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Where we run and who asks. `environment` never shows in the repr, for it holds secrets."""

    environment: Mapping[str, str] = dataclasses.field(repr=False)
    cwd: Path
    workspace: Path
    """The git root, else the runner's workspace, else the working directory: files of a suite may not lie outside."""
    event: Event = dataclasses.field(default_factory=Event)
    commit: str | None = None
    run_id: str | None = None
    pull_request: int | None = None
    base: str | None = None
    """Commit that the change under test starts from, as the event says: the base of a pull request or merge group, or what a push was onto."""
    default_branch: str | None = None
    actor: str | None = None
    masker: Masker = dataclasses.field(default_factory=Masker)

    @classmethod
    def read(cls, environment: Mapping[str, str], cwd: Path, *, also_secret: Iterable[str] = ()) -> Settings:
        """Settings from the environment, the event file and git."""
        event, root = read_event(read_payload(environment.get("GITHUB_EVENT_PATH")), environment), _root(cwd, environment)
        return cls(
            environment=environment, cwd=cwd, workspace=root, event=event, commit=event.pull_head or event.head_sha or _git(root, "rev-parse", "HEAD"),
            run_id=environment.get("GITHUB_RUN_ID") or None, base=event.base_sha, default_branch=event.default_branch,
            pull_request=event.pull.number if event.pull else None, actor=event.actor,
            masker=Masker([*secrets(environment), *also_secret]),
        )  # fmt: skip

    def last_change(self, path: Path) -> tuple[str, str, str, str] | None:
        """Commit, author, time (ISO 8601) and subject of the last change of a path in git; None where git knows none."""
        said = _git(self.workspace, "log", "-1", "--format=%H%x09%an%x09%aI%x09%s", "--", str(path.absolute()))
        found = said.split("\t", 3) if said else []
        return (found[0], found[1], found[2], found[3]) if len(found) == len("four") else None

    def person(self) -> str:
        """Who accepts when nobody is named: the actor on GitHub, else git's user, else the login name."""
        named = self.actor or _git(self.workspace, "config", "user.name") or self.environment.get("USER") or self.environment.get("LOGNAME")
        return named or "unknown"

    def unsafe_checkout(self) -> str | None:
        """The foreign head commit when it, or a merge of it, is checked out under an event that has secrets at hand.

        In the Action's image a repository with parts elsewhere is unreadable: `EVAL_GATE_CHECKOUT` holds what git said on the runner.
        """
        foreign = _foreign_head(self.event)
        if foreign is None:
            return None
        checked_out = (_git(self.workspace, "rev-list", "--parents", "-1", "HEAD") or self.environment.get("EVAL_GATE_CHECKOUT") or "").split()
        return foreign if foreign in checked_out else None


def _foreign_head(event: Event) -> str | None:
    """The head that must not be checked out: a pull request's under `pull_request_target`, a fork's under `workflow_run`."""
    if event.name == "pull_request_target":
        return event.pull_head
    upstream = event.upstream
    return upstream.head_sha if event.name == "workflow_run" and upstream is not None and upstream.head_repository_id != event.repository_id else None


def secrets(environment: Mapping[str, str]) -> Iterator[str]:
    """Values of the variables whose names say that they are secret."""
    return (value for name, value in environment.items() if looks_secret(name))


def _root(cwd: Path, environment: Mapping[str, str]) -> Path:
    for folder in (cwd, *cwd.parents):
        if (folder / ".git").exists():
            return folder
    workspace = environment.get("GITHUB_WORKSPACE")
    return Path(workspace) if workspace and cwd.is_relative_to(workspace) else cwd


def _git(cwd: Path, *args: str) -> str | None:
    """One word from git, None when there is no git or no repository. The owner of the workspace does not matter for reading."""
    try:
        done = subprocess.run(["git", "-c", f"safe.directory={cwd}", *args], cwd=cwd, capture_output=True, text=True, timeout=10, check=False)  # noqa: S603, S607 - fixed words, git from PATH
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() or None if done.returncode == 0 else None
