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
    """The commit whose code is measured. Of a pull request it is the head, though GitHub checks out a merge of it."""
    checkouts: tuple[frozenset[str], ...] = ()
    """Under events with secrets at hand: for each checkout in the workspace the commit and what it merges."""
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
        checkouts = _checkouts(root, environment) if event.name in _PRIVILEGED else ()
        return cls(
            environment=environment, cwd=cwd, workspace=root, event=event, commit=_measured(event, root, checkouts), checkouts=checkouts,
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
        """The foreign head commit when it, or a merge of it, is checked out anywhere in the workspace under an event that has secrets at hand."""
        foreign = _foreign_head(self.event)
        return foreign if any(foreign in commits for commits in self.checkouts) else None

    @property
    def is_head_measured(self) -> bool:
        """Whether what is measured is the head that the event is about: `pull_request_target` and `workflow_run` check out the default branch by themselves."""
        return self.event.name not in _PRIVILEGED or self.commit == self.event.head_sha


_PRIVILEGED = ("pull_request_target", "workflow_run")
"""Events whose runs have secrets and a token that writes, whoever caused them."""
_DEPTH = 3
"""Folders below the workspace in which checkouts are looked for; `action/run.sh` looks as deep."""


def _checkouts(root: Path, environment: Mapping[str, str]) -> tuple[frozenset[str], ...]:
    """What git knows of each checkout. In the image a repository with parts elsewhere is unreadable: there `EVAL_GATE_CHECKOUTS` holds what the runner's git said."""
    said = environment.get("EVAL_GATE_CHECKOUTS")
    found = said.splitlines() if said is not None else [_heads(folder) for folder in _repositories(Path(environment.get("GITHUB_WORKSPACE") or root))]
    return tuple(frozenset(line.split()) for line in found if line.strip())


def _repositories(top: Path) -> list[Path]:
    patterns = ["/".join(["*"] * depth + [".git"]) for depth in range(_DEPTH + 1)]
    return [found.parent for pattern in patterns for found in sorted(top.glob(pattern))]


def _heads(folder: Path) -> str:
    """The commit that is checked out and its parents, which the commit itself names even where a shallow clone does not have them."""
    head, commit = _git(folder, "rev-parse", "HEAD"), _git(folder, "cat-file", "commit", "HEAD")
    header = (commit or "").partition("\n\n")[0].splitlines()
    return " ".join([head or "", *(line.removeprefix("parent ") for line in header if line.startswith("parent "))])


def _measured(event: Event, root: Path, checkouts: tuple[frozenset[str], ...]) -> str | None:
    """A head that is not checked out is not what is measured, whatever the event is about."""
    head = event.pull_head or event.head_sha
    if event.name in _PRIVILEGED and not any(head in commits for commits in checkouts):
        return event.sha or _git(root, "rev-parse", "HEAD")
    return head or _git(root, "rev-parse", "HEAD")


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
