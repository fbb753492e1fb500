"""Past runs, as a table of text or as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Protocol

from evalaction.core.excerpts import aligned
from evalaction.report.text import cell, plain

_HEADER = ("time", "suite", "verdict", "pass rate", "cases", "errors", "commit", "label")
"""The pass rate is that of the first pass over all cases: runs of suspicious cases alone would pull it down."""


class Run(Protocol):
    """One past run of one suite."""

    @property
    def started_at(self) -> str:
        """UTC, ISO 8601."""

    @property
    def key(self) -> str:
        """The suite's key."""

    @property
    def suite(self) -> str:
        """The suite's name."""

    @property
    def verdict(self) -> str:
        """The verdict's word."""

    @property
    def commit(self) -> str | None:
        """Commit that was measured."""

    @property
    def cases(self) -> int:
        """Cases in the record."""

    @property
    def errors(self) -> int:
        """Cases that could not be measured."""

    @property
    def metrics(self) -> Mapping[str, float]:
        """Means over the whole suite."""

    @property
    def label(self) -> str | None:
        """The name it was kept under."""


def render_history(runs: Sequence[Run], form: str) -> str:
    """Oldest first. `form` is text, markdown or json."""
    if form == "json":
        return json.dumps({"schema_version": 1, "runs": [_plain(run) for run in runs]}, indent=1, ensure_ascii=False)
    if not runs:
        return "no past run is known here"
    if form == "markdown":
        rows = [[cell(text) for text in _cells(run)] for run in runs]
        head = [f"| {' | '.join(_HEADER)} |", "|---|---|---|---|---|---|---|---|"]
        return "\n".join([*head, *(f"| {' | '.join(row)} |" for row in rows)])
    return "\n".join(aligned([_HEADER, *(tuple(map(plain, _cells(run))) for run in runs)]))


def _cells(run: Run) -> tuple[str, ...]:
    rate = run.metrics.get("pass_rate")
    return (run.started_at, run.suite, run.verdict, "" if rate is None else f"{rate:.4f}", str(run.cases), str(run.errors), (run.commit or "")[:12], run.label or "")


def _plain(run: Run) -> dict[str, object]:
    return {
        "started_at": run.started_at, "key": run.key, "suite": run.suite, "verdict": run.verdict, "commit": run.commit, "cases": run.cases, "errors": run.errors,
        "metrics": dict(run.metrics), "label": run.label,
    }  # fmt: skip
