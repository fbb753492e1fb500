"""Past runs as one self-contained HTML page: a chart per metric, the last runs, the flakiest cases, acceptances marked."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Protocol

from markupsafe import Markup

from evalaction.core.acceptance import Acceptance
from evalaction.core.spec_base import PASS_RATE, RAW
from evalaction.report.charts import Point, trend_chart
from evalaction.report.figures import number
from evalaction.report.history import Run
from evalaction.report.html import environment
from evalaction.report.text import bare

MOST_CHARTS, MOST_ROWS, MOST_FLAKY = 24, 50, 20


class Remembered(Run, Protocol):
    """A past run with the cases that did not always pass."""

    @property
    def failing(self) -> Mapping[str, tuple[int, int]]:
        """(passed, measured) runs by case id."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class FlakyCase:
    """How often a case's outcome changed from run to run, in how many runs it both passed and failed, and in how many it always passed."""

    case: str
    changes: int
    mixed: int
    passing: str


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Trend:
    """A chart with its caption."""

    metric: str
    now: str
    chart: Markup


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class SuiteHistory:
    """One suite: charts, rows of its newest runs, its flakiest cases, its acceptances newest first."""

    name: str
    runs: int
    trends: tuple[Trend, ...]
    charts_more: int
    rows: tuple[tuple[str, ...], ...]
    flaky: tuple[FlakyCase, ...]
    accepted: tuple[tuple[str, str, str], ...]


def render_history_page(runs: Sequence[Remembered], accepted: Mapping[str, Sequence[Acceptance]]) -> str:
    """The page of these runs, oldest first; `accepted` are the acceptances by suite key, oldest first."""
    by_key: dict[str, list[Remembered]] = {}
    for run in runs:
        by_key.setdefault(run.key, []).append(run)
    suites = [_suite(number_of, found, accepted.get(key, ())) for number_of, (key, found) in enumerate(sorted(by_key.items()))]
    return environment().get_template("history.html.j2").render(suites=suites)


def _suite(number_of: int, runs: Sequence[Remembered], accepted: Sequence[Acceptance]) -> SuiteHistory:
    names = sorted({name for run in runs for name in run.metrics}, key=lambda name: (name != PASS_RATE, name in RAW, name))
    marks = _marks(runs, accepted)
    trends = tuple(_trend(f"chart-{number_of}-{index}", name, runs, marks) for index, name in enumerate(names[:MOST_CHARTS]))
    return SuiteHistory(
        name=runs[-1].suite, runs=len(runs), trends=trends, charts_more=max(len(names) - MOST_CHARTS, 0), rows=tuple(map(_row, reversed(runs[-MOST_ROWS:]))),
        flaky=tuple(flakiest(runs))[:MOST_FLAKY], accepted=tuple((one.accepted_at, one.accepted_by, one.reason) for one in reversed(accepted[-MOST_ROWS:])),
    )  # fmt: skip


def _marks(runs: Sequence[Remembered], accepted: Sequence[Acceptance]) -> set[int]:
    """Places of the runs after which a baseline was accepted: for each acceptance the newest run that had started by then."""
    before = ([place for place, run in enumerate(runs) if run.started_at <= one.accepted_at] for one in accepted)
    return {places[-1] for places in before if places}


def _trend(name: str, metric: str, runs: Sequence[Remembered], marks: set[int]) -> Trend:
    points = [_point(run, metric, accepted=place in marks) for place, run in enumerate(runs)]
    return Trend(metric=metric, now=number(points[-1].value), chart=trend_chart(name, points, fraction=metric not in RAW))


def _point(run: Remembered, metric: str, *, accepted: bool) -> Point:
    value = run.metrics.get(metric)
    text = ", ".join(part for part in (number(value), run.verdict, run.started_at, (run.commit or "")[:12], "accepted" if accepted else "") if part)
    return Point(time=run.started_at, value=value, text=bare(text), accepted=accepted)


def _row(run: Remembered) -> tuple[str, ...]:
    return (run.started_at, run.verdict, number(run.metrics.get(PASS_RATE)), str(run.cases), str(run.errors), (run.commit or "")[:12])


def flakiest(runs: Sequence[Remembered]) -> Iterator[FlakyCase]:
    """Cases whose outcome moves without an end, the worst first. A case that always fails is not flaky; one that no run names as failing passed."""
    found = [_flaky(name, [run.failing.get(name) for run in runs]) for name in dict.fromkeys(name for run in runs for name in run.failing)]
    yield from sorted((case for case in found if case.changes > 1 or case.mixed), key=lambda case: (-case.changes - case.mixed, case.case))


def _flaky(name: str, outcomes: Sequence[tuple[int, int] | None]) -> FlakyCase:
    passed = [outcome is None for outcome in outcomes]
    return FlakyCase(
        case=name, changes=sum(before != now for before, now in pairwise(passed)), mixed=sum(outcome is not None and outcome[0] > 0 for outcome in outcomes),
        passing=f"{sum(passed)} of {len(passed)}",
    )  # fmt: skip
