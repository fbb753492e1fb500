"""What the environment says: provenance of a run and the secrets to keep out of everything. Read once, at the porch."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from evalaction.core.masking import Masker, looks_secret
from evalaction.github.event import Event, read_event, read_payload
from evalaction.store.checkouts import Checkout, checkouts, told_of
from evalaction.store.git import changed_files, said


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Where we run and who asks. `environment` never shows in the repr, for it holds secrets."""

    environment: Mapping[str, str] = dataclasses.field(repr=False)
    cwd: Path
    workspace: Path
    """The git root, else the runner's workspace, else the working directory: files of a suite may not lie outside."""
    event: Event = dataclasses.field(default_factory=Event)
    checkouts: tuple[Checkout, ...] = ()
    """What is checked out in the workspace; looked up only under the events of `with_secrets`."""
    commit: str | None = None
    """The commit that is measured; of a pull request its head, where that or a merge of it is checked out."""
    uncommitted: int = 0
    """Tracked files that differ from the commit checked out; looked up by `with_changes` alone, for it takes git a while in a large repository."""
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
        there = _checkouts(root, environment) if with_secrets(event) else ()
        commit = _measured(event, cwd, there) if with_secrets(event) else event.pull_head or event.head_sha or said(root, "rev-parse", "HEAD")
        return cls(
            environment=environment, cwd=cwd, workspace=root, event=event, checkouts=there, commit=commit,
            run_id=environment.get("GITHUB_RUN_ID") or None, base=event.base_sha, default_branch=event.default_branch,
            pull_request=event.pull.number if event.pull and commit in (event.pull_head, event.head_sha) else None, actor=event.actor,
            masker=Masker([*secrets(environment), *also_secret]),
        )  # fmt: skip

    def with_changes(self, without: Iterable[Path]) -> Settings:
        """The same, with the number of tracked files that are changed and not committed; what lies below the folders `without` is no part of a system."""
        return self if self.commit is None else dataclasses.replace(self, uncommitted=changed_files(self.workspace, [self.cwd / path for path in without]))

    def last_change(self, path: Path) -> tuple[str, str, str, str] | None:
        """Commit, author, time (ISO 8601) and subject of the last change of a path in git; None where git knows none."""
        line = said(self.workspace, "log", "-1", "--format=%H%x09%an%x09%aI%x09%s", "--", str(path.absolute()))
        found = line.split("\t", 3) if line else []
        return (found[0], found[1], found[2], found[3]) if len(found) == 4 else None

    def person(self) -> str:
        """Who accepts when nobody is named: the actor on GitHub, else git's user, else the login name."""
        named = self.actor or said(self.workspace, "config", "user.name") or self.environment.get("USER") or self.environment.get("LOGNAME")
        return named or "unknown"

    def unsafe_checkout(self) -> Checkout | None:
        """A checkout of a stranger's code, wherever in the workspace, under an event that has secrets at hand."""
        event, foreign = self.event, _foreign_head(self.event)
        if foreign is None:
            return None
        commits = [commit for commit in (foreign, event.pull_merge if event.name == "pull_request_target" else None) if commit]
        origin = (event.pull_repository if event.name == "pull_request_target" else event.upstream and event.upstream.head_repository) or event.repository
        stranger = {origin.lower()} - {event.repository.lower()}
        return next((one for one in self.checkouts if one.is_of_a_pull_request or one.repositories & stranger or any(map(one.holds, commits))), None)


def with_secrets(event: Event) -> bool:
    """Whether the event runs the default branch's code, with its secrets, because of a commit that may be a stranger's."""
    return event.name in ("pull_request_target", "workflow_run")


def _foreign_head(event: Event) -> str | None:
    """The head that must not be checked out: a pull request's under `pull_request_target`, a fork's under `workflow_run`. Empty where the payload hides it."""
    if event.name == "pull_request_target":
        return event.pull_head or ""
    upstream = event.upstream
    return upstream.head_sha if event.name == "workflow_run" and upstream is not None and upstream.head_repository_id != event.repository_id else None


def _checkouts(root: Path, environment: Mapping[str, str]) -> tuple[Checkout, ...]:
    """As git here tells it, and as the Action's scripts told: its image has no git, so `EVAL_GATE_CHECKOUT` holds what git said on the runner."""
    workspace = Path(environment.get("GITHUB_WORKSPACE") or root)
    places = [place for place in dict.fromkeys((workspace, root)) if place == workspace or not place.is_relative_to(workspace)]
    return (*told_of(environment.get("EVAL_GATE_CHECKOUT", "")), *(one for place in places for one in checkouts(place)))


def _measured(event: Event, cwd: Path, there: Iterable[Checkout]) -> str | None:
    """The event's head only where the innermost checkout round the working directory holds it; else what is there, else the default branch's tip."""
    around = sorted((one for one in there if one.head is not None and cwd.resolve().is_relative_to(one.folder.resolve())), key=lambda one: len(one.folder.resolve().parts))
    if not around:
        return event.sha
    head = event.pull_head or event.head_sha
    return head if head and around[-1].measures(head) else around[-1].head


def secrets(environment: Mapping[str, str]) -> Iterator[str]:
    """Values of the variables whose names say that they are secret."""
    return (value for name, value in environment.items() if looks_secret(name))


def _root(cwd: Path, environment: Mapping[str, str]) -> Path:
    for folder in (cwd, *cwd.parents):
        if (folder / ".git").exists():
            return folder
    workspace = environment.get("GITHUB_WORKSPACE")
    return Path(workspace) if workspace and cwd.is_relative_to(workspace) else cwd
