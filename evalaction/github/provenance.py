"""Which artifact may be a baseline, as pure functions over what GitHub says. Anyone who can open a pull request can put an artifact of any name into the list."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

from evalaction.core.checks.base import quoted
from evalaction.github.facts import Artifact, Position, Run

EVENTS = frozenset({"push", "schedule", "workflow_dispatch"})
"""Events that run the default branch's own code; all others may run, or be started by, a stranger's."""

CONCLUDED = ("success", "failure")
"""Conclusions of runs that came to their end: the gate's own no is a failure. A cancelled or timed out one may have measured a part."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Trust:
    """Whose artifacts count: those of this repository's default branch, made by one workflow file. `own_run_id` is the run that asks."""

    repository_id: int
    default_branch: str
    workflow: str
    own_run_id: int | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class Doubt:
    """Why an artifact does not count: in words that fit several of them, and with the value that failed."""

    kind: str
    said: str


@dataclasses.dataclass(frozen=True, slots=True)
class Passed:
    """An artifact that was passed over; `reason` is one line that names artifact, run and the failing value, `kind` what it shares with others."""

    artifact: Artifact
    reason: str
    kind: str = ""

    @classmethod
    def over(cls, artifact: Artifact, doubt: Doubt) -> Passed:
        """The artifact with its doubt."""
        return cls(artifact, f"{_named(artifact)}: {doubt.said}", doubt.kind)


def listed_doubt(artifact: Artifact, trust: Trust) -> Doubt | None:
    """What the list alone says. That it expired comes last, so that only an artifact that would else count is called expired."""
    if artifact.run_id is None:
        return Doubt("whose run is gone", "its run is gone")
    if not artifact.repository_id == artifact.head_repository_id == trust.repository_id:
        head = artifact.repository_id if artifact.repository_id != trust.repository_id else artifact.head_repository_id
        return Doubt("of other repositories' runs", f"its run belongs to another repository (id {head})")
    if artifact.head_branch != trust.default_branch:
        return Doubt("of other branches", f"its run was on branch {_value(artifact.head_branch)}")
    if artifact.run_id == trust.own_run_id:
        return Doubt("of this run itself", "this is the run that asks")
    if artifact.expired:
        return Doubt("that expired", f"it expired on {expiry(artifact)}")
    return None


def run_doubt(run: Run, artifact: Artifact, trust: Trust) -> Doubt | None:
    """What the run says: another repository, branch, commit, event or workflow file than trusted, or no success."""
    path = f".github/workflows/{trust.workflow}"
    if run.id != artifact.run_id or run.id == trust.own_run_id:
        return Doubt("of another run", f"run {run.id} is not its run, or is the one that asks")
    if not run.repository_id == run.head_repository_id == trust.repository_id:
        return Doubt("of other repositories' runs", f"its run belongs to another repository ({_value(run.head_repository)})")
    if run.event not in EVENTS:
        return Doubt("of runs by untrusted events", f"its run was started by {_value(run.event)}")
    if run.path != path:
        return Doubt("of other workflow files", f"its run is of {_value(run.path)}, not of {_value(path)}")
    if run.head_branch != trust.default_branch:
        return Doubt("of other branches", f"its run was on branch {_value(run.head_branch)}")
    if run.head_sha != artifact.head_sha:
        return Doubt("of other commits than their runs", f"its run was of commit {_value(run.head_sha)}, not of {_value(artifact.head_sha)}")
    if run.status != "completed" or run.conclusion != "success":
        return Doubt("of runs without success", f"its run ended as {_value(run.conclusion or run.status)}")
    return None


def position_doubt(run: Run, position: Position | None, trust: Trust) -> Doubt | None:
    """Whether the default branch contains the run's commit; None for a commit that nobody knows."""
    if position is not None and position.is_contained:
        return None
    how = "is unknown" if position is None else f"is {position.status}"
    return Doubt("of commits that the default branch does not contain", f"its commit {_value(run.head_sha)} {how}: branch {_value(trust.default_branch)} does not contain it")


def grouped(passed: Iterable[Passed]) -> tuple[str, ...]:
    """One line for each kind of reason; of several artifacts their number and the newest, which comes first."""
    kinds: dict[str, list[Passed]] = {}
    for one in passed:
        kinds.setdefault(one.kind, []).append(one)
    return tuple(same[0].reason if len(same) == 1 else f"{len(same)} artifacts {kind}, newest {same[0].reason}" for kind, same in kinds.items())


def expiry(artifact: Artifact) -> str:
    """The day on which an artifact expires or expired."""
    return artifact.expires_at[:10] if artifact.expires_at else "a day that GitHub does not name"


def _named(artifact: Artifact) -> str:
    return f"artifact {artifact.id} of {'a run that is gone' if artifact.run_id is None else f'run {artifact.run_id}'}"


def _value(found: str | None) -> str:
    return "no name" if found is None else quoted(found, 100)
