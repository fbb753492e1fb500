"""Results of other runs: the artifacts `eval-gate-results-<key>-<attempt>`, brought to disk as folders. What they hold is data, and nothing in them is believed here."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Mapping
from pathlib import Path

from evalaction.core.checks.base import quoted
from evalaction.errors import ConfigError, GitHubError
from evalaction.github.archive import UNPACKED_LIMIT
from evalaction.github.client import GitHub
from evalaction.github.facts import Artifact, Run
from evalaction.github.fetching import bring, expired, permitted
from evalaction.github.names import RESULTS, clean
from evalaction.github.provenance import CONCLUDED, EVENTS

MOST_RUNS = 50
"""Runs whose artifacts are looked at for results."""
_MOST_LISTED = 500
UNPACKED_TOTAL = 4 * UNPACKED_LIMIT
"""Bytes that all results of one run may unpack to."""
_NAME = re.compile(rf"{RESULTS}(.+)-([0-9]{{1,9}})")
_SHOWN = 10


def _key_and_attempt(name: str) -> tuple[str, int] | None:
    found = _NAME.fullmatch(name)
    return (found[1], int(found[2])) if found else None


class Results:
    """Brings the results of runs below `folder`, which is ours to fill."""

    def __init__(self, github: GitHub, folder: Path) -> None:
        self._github, self._folder = github, folder

    def of_run(self, run: Run, *, key: str | None = None, whole_run: bool = False, without: str | None = None) -> dict[str, Path]:
        """One folder for each key, sorted by key as its artifact's name has it: the latest attempt's results.

        `key` takes only its own, `without` leaves out one; `whole_run` lets several keys hold one suite, as shards do.

        Raises ConfigError: INVALID_RECORD when there is none, one is broken, gone or expired, INVALID_INPUT naming the keys when `key` is not among them or two hold
        one suite, MISSING_PERMISSION; GitHubError on an outage.
        """
        latest = {name: artifact for name, artifact in self._latest(run).items() if without is None or name != clean(without)}
        if not latest:
            fix = "name a run of the gate that has finished measuring and uploaded its results"
            raise ConfigError.one("INVALID_RECORD", f"run {run.id} has no results: no artifact `{RESULTS}…`", fix)
        chosen = _chosen(latest, key, run)
        left, folders = UNPACKED_TOTAL, {}
        for one, artifact in sorted(chosen.items()):
            folders[one] = self._brought(artifact, left)
            left -= _size(folders[one])
        if not whole_run:
            _refuse_shared(folders, run)
        return folders

    def newest_on(self, branch: str, repository_id: int, *, own_run_id: int | None, key: str | None = None) -> Run:
        """The newest finished run of a branch of ours that has results (of `key`, where given), whether its gate passed or not.

        A fork's branch of that name is another one. Raises ConfigError INVALID_RECORD when none of the newest runs has any, MISSING_PERMISSION; GitHubError on an outage.
        """
        looked = 0
        with permitted("actions: read", hidden=True):
            for run in self._github.runs_on(branch, most=_MOST_LISTED):
                if not _is_ours(run, branch, repository_id) or run.id == own_run_id:
                    continue
                found = {one[0] for artifact in self._github.run_artifacts(run.id) if (one := _key_and_attempt(artifact.name))}
                if found and (key is None or _as_named(key, found) is not None):
                    return run
                looked += 1
                if looked >= MOST_RUNS:
                    break
        whose = f" of key {quoted(key)}" if key is not None else ""
        raise ConfigError.one(
            "INVALID_RECORD", f"none of the {looked} newest finished runs on branch {quoted(branch)} has results{whose}", "run the gate there first, or name a run with `run-id`"
        )

    def _latest(self, run: Run) -> Mapping[str, Artifact]:
        """For each key the artifact of the latest attempt; of two in one attempt, the later one."""
        try:
            with permitted("actions: read"):
                listed = self._github.run_artifacts(run.id)
        except GitHubError as error:
            if error.kind != "missing":
                raise
            raise ConfigError.one("INVALID_RECORD", f"run {run.id} is gone, and its results with it", "name another run with `run-id`") from None
        ranked = sorted((known[1], artifact.id, known[0], artifact) for artifact in listed if (known := _key_and_attempt(artifact.name)))
        return {key: artifact for _, _, key, artifact in ranked}

    def _brought(self, artifact: Artifact, left: int) -> Path:
        what = f"results artifact {artifact.id} of run {artifact.run_id}"
        if artifact.expired:
            raise expired(artifact, what)
        folder = self._folder / f"results-{artifact.id}"
        bring(self._github, artifact, folder, what=what, unpacked_limit=min(UNPACKED_LIMIT, left))
        return folder


def _is_ours(run: Run, branch: str, repository_id: int) -> bool:
    finished = run.status == "completed" and run.conclusion in CONCLUDED
    return finished and run.event in EVENTS and run.head_branch == branch and run.repository_id == run.head_repository_id == repository_id


def _chosen(latest: Mapping[str, Artifact], key: str | None, run: Run) -> Mapping[str, Artifact]:
    if key is None:
        return latest
    named = _as_named(key, latest)
    if named is None:
        raise ConfigError.one("INVALID_INPUT", f"run {run.id} has no results of key {quoted(key)}, only of {_listed(latest)}", "give one of these as `key`, or leave `key` out")
    return {named: latest[named]}


def _as_named(key: str, names: Container[str]) -> str | None:
    """A key as the artifact's name has it: cleaned, or already in the form that our messages show."""
    return next((name for name in (clean(key), key) if name in names), None)


def _refuse_shared(folders: Mapping[str, Path], run: Run) -> None:
    """Two records of one suite from one run: nobody could say which is meant."""
    holders: dict[str, list[str]] = {}
    for key, folder in folders.items():
        for record in folder.glob("*/record.json"):
            holders.setdefault(record.parent.name, []).append(key)
    for suite, keys in sorted(holders.items()):
        if len(keys) > 1:
            raise ConfigError.one("INVALID_INPUT", f"run {run.id} has results of suite {quoted(suite)} under several keys: {_listed(keys)}", "choose one of them with `key`")


def _listed(keys: Iterable[str]) -> str:
    found = sorted(keys)
    more = f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
    return ", ".join(map(quoted, found[:_SHOWN])) + more


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
