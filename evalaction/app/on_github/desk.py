"""What every mode of the Action has at hand, made once at the porch."""

from __future__ import annotations

import dataclasses
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from evalaction.app.on_github.baselines import ArtifactSource
from evalaction.app.parts import BaselineSource, Outputs, Parts, Sink
from evalaction.core.checks.base import quoted
from evalaction.errors import ConfigError, GitHubError
from evalaction.github.commands import Quiet, Runner
from evalaction.github.event import Event
from evalaction.github.facts import Run
from evalaction.github.provenance import CONCLUDED, Trust
from evalaction.inputs import Inputs

if TYPE_CHECKING:
    from evalaction.github.client import GitHub

REPORT = "report.md"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """`github` is None without a token; `folder` is a place of our own outside the workspace; `results` is absolute."""

    parts: Parts
    inputs: Inputs
    runner: Runner
    quiet: Quiet
    folder: Path
    results: Path
    github: GitHub | None = None

    @property
    def event(self) -> Event:
        """What started the run."""
        return self.parts.settings.event

    @property
    def baselines(self) -> Path:
        """Where accepted baselines lie, or are put before they are read."""
        return self.parts.settings.cwd / self.inputs.baseline_dir if self.inputs.baseline_store == "directory" else self.folder / "baselines"

    def client(self) -> GitHub:
        """The client. Raises ConfigError when there is no token, or no repository to ask about."""
        if self.github is None:
            what = "GitHub cannot be asked: the input github-token is empty, or GITHUB_REPOSITORY is not set"
            raise ConfigError.one("MISSING_PERMISSION", what, "leave github-token at its default, or use baseline-store: directory", path="github-token")
        return self.github

    def run(self, run_id: int) -> Run:
        """One workflow run. Raises ConfigError MISSING_PERMISSION, or INVALID_INPUT where there is none of this number; GitHubError on an outage."""
        from evalaction.github.fetching import permitted  # noqa: PLC0415 - the client is loaded only when it is asked

        github = self.client()
        try:
            with permitted("actions: read"):
                return github.run(run_id)
        except GitHubError as error:
            if error.kind != "missing":
                raise
            what, fix = f"this repository has no run {run_id}, or the token may not see it", "correct the number; the job needs `actions: read`"
            raise ConfigError.one("INVALID_INPUT", what, fix, path="run-id") from None

    def finished_run(self, run_id: int, *, judged: bool = False) -> Run:
        """One workflow run that is over, and with `judged` not by being cancelled: what it left may be a part. Raises what `run` does, and INVALID_INPUT."""
        run = self.run(run_id)
        if run.status != "completed":
            raise ConfigError.one("INVALID_INPUT", f"run {run_id} has not finished, it is {quoted(run.status, 40)}", "wait for its end, or name a finished run", path="run-id")
        if judged and run.conclusion not in CONCLUDED:
            what = f"run {run_id} ended as {quoted(run.conclusion or 'nothing', 40)}: its results may be a part of what it was to measure"
            raise ConfigError.one("INVALID_INPUT", what, "name a run that ended with success or failure, or run the gate again", path="run-id")
        return run

    def trust(self) -> Trust:
        """Whose baselines are believed. Raises ConfigError when the event does not say which repository and branch this is."""
        event = self.event
        if event.repository_id is None or event.default_branch is None:
            what = "the event's payload names no repository with a default branch, so no baseline can be proven to be yours"
            raise ConfigError.one("INVALID_INPUT", what, "run on an event of GitHub, or use baseline-store: directory", path="baseline-store")
        return Trust(repository_id=event.repository_id, default_branch=event.default_branch, workflow=self.inputs.baseline_workflow, own_run_id=event.run_id)

    def source(self, *, anew: bool = False) -> BaselineSource | None:
        """Where baselines are fetched from; None when they lie in the repository. `anew` as `ArtifactSource` has it."""
        return ArtifactSource(self, anew=anew) if self.inputs.baseline_store == "artifact" else None

    def outputs(self, sink: Sink | None = None, *, source: BaselineSource | None = None, foreign: bool = False) -> Outputs:
        """Where results go. `foreign` records come from a stage that others could change."""
        return Outputs(
            out=self.results, baseline=self.baselines, report=self.results / REPORT, report_only=self.inputs.report_only, command=self._again(), accept=self._accept(),
            accept_regressions=self._accept(regressions=True) if self.event.pull is not None else None,
            source=source, sink=sink, foreign=foreign,
        )  # fmt: skip

    def say(self, message: str) -> None:
        """One line of the log."""
        self.parts.console.say(message)

    def warn(self, title: str, message: str) -> None:
        """A line of the log that stands out on the run's page too."""
        self.quiet.command("warning", self.parts.settings.masker.text(message), title=title)

    def _again(self) -> str:
        folder = [f"cd {shlex.quote(self.inputs.working_directory)} &&"] if self.inputs.working_directory != "." else []
        return " ".join([*folder, "eval-gate gate", *map(shlex.quote, self.inputs.suite)])

    def _accept(self, *, regressions: bool = False) -> str | None:
        if self.inputs.baseline_store == "directory":
            return None
        run = f" -f run-id={self.event.run_id}" if self.event.run_id else ""
        key = f" -f key={shlex.quote(self.inputs.key)}" if self.inputs.mode == "merge" else ""  # the shards left results of their own
        return f'gh workflow run {self.inputs.baseline_workflow}{run}{" -f only=regressions" if regressions else ""}{key} -f reason="why this is right"'
