"""The artifact store: finds the one baseline that is provably ours, and brings it to disk."""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from evalaction.errors import ConfigError, GitHubError
from evalaction.github.client import GitHub
from evalaction.github.facts import Artifact, Position, Run
from evalaction.github.fetching import bring, expired, permitted
from evalaction.github.names import BASELINE, baseline_name, clean
from evalaction.github.provenance import EVENTS, Doubt, Passed, Trust, grouped, listed_doubt, position_doubt, run_doubt

T = TypeVar("T")
MOST_RUNS = 100
"""Runs that are asked about for one suite."""
_MOST_EXPIRED = 10
_SECONDS_A_DAY = 86_400


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What the search came to. `folder` is named by the suite's key, as in a directory store; all but `passed_over` are None where there is no baseline."""

    artifact: Artifact | None = None
    run: Run | None = None
    position: Position | None = None
    passed_over: tuple[str, ...] = ()
    expires_in_days: float | None = None
    folder: Path | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class _Origin:
    """Where an artifact comes from, and what speaks against it."""

    doubt: Doubt | None
    run: Run | None = None
    position: Position | None = None


class ArtifactBaselines:
    """Baselines in artifacts of trusted runs. `run_id` names the run to take it from, which must meet every condition as well; `folder` is ours to fill."""

    def __init__(self, github: GitHub, trust: Trust, folder: Path, *, run_id: int | None = None, now: Callable[[], datetime.datetime]) -> None:
        self._github, self._trust, self._folder, self._run_id, self._now = github, trust, folder, run_id, now
        self._runs: dict[int, Run | None] = {}
        self._positions: dict[str, Position | None] = {}

    def fetch(self, key: str) -> Found:
        """The newest baseline of a suite that meets every condition, on disk; Found without artifact when there is none.

        Raises ConfigError: MISSING_PERMISSION, BASELINE_EXPIRED when only expired ones are left, BASELINE_UNTRUSTED or INVALID_INPUT for a named run,
        INVALID_RECORD when the chosen one is broken. An older one never stands in for it. GitHubError on an outage.
        """
        if self._run_id is not None:
            return self._of_run(key, self._run_id)
        with permitted("actions: read", hidden=True):
            listed = self._github.artifacts(baseline_name(key))
        passed: list[Passed] = []
        for artifact in listed:
            origin = self._origin(artifact)
            if origin.doubt is None:
                return self._brought(key, artifact, origin, grouped(passed))
            passed.append(Passed.over(artifact, origin.doubt))
        self._refuse_expired(key, listed)
        return Found(passed_over=grouped(passed))

    def beside(self, run_id: int) -> list[str]:
        """Keys, as artifact names have them, of all baselines that a run stored. Raises ConfigError MISSING_PERMISSION; GitHubError on an outage."""
        with permitted("actions: read"):
            listed = self._github.run_artifacts(run_id)
        return sorted({one.name.removeprefix(BASELINE) for one in listed if one.name.startswith(BASELINE) and not one.expired})

    def acceptances(self, most: int) -> list[int]:
        """The newest runs of the trusted workflow that may have stored baselines, at most so many, for suites whose keys nobody names. Raises as `beside`."""
        trust = self._trust
        with permitted("actions: read"):
            listed = self._github.runs_of(trust.workflow, trust.default_branch, most=MOST_RUNS)
        mine = [run.id for run in listed if run.repository_id == run.head_repository_id == trust.repository_id and run.event in EVENTS and run.id != trust.own_run_id]
        return mine[:most]

    def _of_run(self, key: str, run_id: int) -> Found:
        name = baseline_name(key)
        try:
            with permitted("actions: read"):
                listed = [one for one in self._github.run_artifacts(run_id) if one.name == name]
        except GitHubError as error:
            if error.kind != "missing":
                raise
            raise ConfigError.one("INVALID_INPUT", f"`baseline-run-id`: this repository has no run {run_id}", "name a run of the acceptance workflow") from None
        if not listed:
            raise ConfigError.one("INVALID_INPUT", f"`baseline-run-id`: run {run_id} has no artifact `{name}`", "name a run of the acceptance workflow that stored it")
        origin = self._origin(listed[0])
        if origin.doubt is None:
            return self._brought(key, listed[0], origin, ())
        if self._is_only_expired(listed[0]) and self._origin(_fresh(listed[0])).doubt is None:
            raise expired(listed[0], _what(listed[0]))
        what = f"`baseline-run-id` {run_id}: {Passed.over(listed[0], origin.doubt).reason}"
        raise ConfigError.one("BASELINE_UNTRUSTED", what, "name a successful run of the acceptance workflow on the default branch, or leave the input out")

    def _origin(self, artifact: Artifact) -> _Origin:
        """List first, for it costs nothing; then the run, then its commit."""
        doubt = listed_doubt(artifact, self._trust)
        if doubt or artifact.run_id is None:
            return _Origin(doubt)
        run = self._run(artifact.run_id)
        if run is None:
            return _Origin(Doubt("whose run is gone", "its run is gone"))
        doubt = run_doubt(run, artifact, self._trust)
        if doubt:
            return _Origin(doubt, run)
        position = self._position(run.head_sha)
        return _Origin(position_doubt(run, position, self._trust), run, position)

    def _run(self, run_id: int) -> Run | None:
        if run_id not in self._runs:
            if len(self._runs) >= MOST_RUNS:
                what = f"none of the {MOST_RUNS} newest runs that stored a baseline of this name on the default branch may do so"
                raise ConfigError.one("BASELINE_UNTRUSTED", what, "name a good run with `baseline-run-id`, and find out which workflow stores artifacts of our names")
            with permitted("actions: read"):
                self._runs[run_id] = _or_none(lambda: self._github.run(run_id))
        return self._runs[run_id]

    def _position(self, sha: str) -> Position | None:
        if sha not in self._positions:
            with permitted("contents: read"):
                self._positions[sha] = _or_none(lambda: self._github.position(sha, self._trust.default_branch))
        return self._positions[sha]

    def _is_only_expired(self, artifact: Artifact) -> bool:
        """Whether the list says nothing else against it: a stranger's expired artifact must not stop anybody."""
        return artifact.expired and listed_doubt(_fresh(artifact), self._trust) is None

    def _refuse_expired(self, key: str, listed: Sequence[Artifact]) -> None:
        for artifact in [one for one in listed if self._is_only_expired(one)][:_MOST_EXPIRED]:
            if self._origin(_fresh(artifact)).doubt is None:
                raise expired(artifact, f"the newest baseline of suite `{key}`, artifact {artifact.id} of run {artifact.run_id},")

    def _brought(self, key: str, artifact: Artifact, origin: _Origin, passed_over: tuple[str, ...]) -> Found:
        folder, what = self._folder / f"{key}-{artifact.id}", _what(artifact)
        bring(self._github, artifact, folder, what=what)
        inside = _inside(folder, key)
        if inside is None:
            raise ConfigError.one("INVALID_RECORD", f"{what} cannot be used: it has no folder `{key}/`", "accept again, and upload the folder that `baseline-path` names")
        days = self._days_left(artifact)
        return Found(artifact=artifact, run=origin.run, position=origin.position, passed_over=passed_over, expires_in_days=days, folder=folder / inside)

    def _days_left(self, artifact: Artifact) -> float | None:
        try:
            expires = datetime.datetime.fromisoformat(artifact.expires_at or "")
            return (expires - self._now()).total_seconds() / _SECONDS_A_DAY
        except (ValueError, TypeError):
            return None


def _inside(folder: Path, key: str) -> str | None:
    """The folder of a suite in its artifact, by its key, or by the key in the form that artifact names have."""
    if (folder / key).is_dir():
        return key
    return next((path.name for path in sorted(folder.iterdir()) if path.is_dir() and clean(path.name) == key), None)


def _what(artifact: Artifact) -> str:
    return f"baseline artifact {artifact.id} of run {artifact.run_id}"


def _fresh(artifact: Artifact) -> Artifact:
    return dataclasses.replace(artifact, expired=False)


def _or_none(ask: Callable[[], T]) -> T | None:
    """What is not there is None."""
    try:
        return ask()
    except GitHubError as error:
        if error.kind != "missing":
            raise
    return None
