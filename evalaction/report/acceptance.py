"""What an acceptance moves, as Markdown for a job summary: every value, the lowered ones first."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence

from evalaction.core.verdict import CaseVerdict, MetricVerdict
from evalaction.report.cut import size
from evalaction.report.details import worst_first
from evalaction.report.figures import change, number, score
from evalaction.report.markdown import said_markdown, table_markdown
from evalaction.report.said import Said, join, listed, ours, say
from evalaction.report.tables import Table

_IDS = 100
_ROWS = (10_000, 2_000, 500, 100, 20, 0)
"""Rows of a table, from generous to tight."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class AcceptedSuite:
    """One suite's acceptance: who, why, from where, and what it moves. `drifted` metrics are the reason why nothing was stored."""

    suite: str
    reason: str
    accepted_by: str
    triggered_by: str | None = None
    commit: str | None = None
    run_id: str | None = None
    pull_request: int | None = None
    cases: int = 0
    moved: Sequence[CaseVerdict] = ()
    added: Sequence[str] = ()
    removed: Sequence[str] = ()
    drifted: Sequence[MetricVerdict] = ()


def render_acceptance(headline: str, suites: Sequence[AcceptedSuite], *, limit: int) -> str:
    """Markdown of at most `limit` bytes; tables are cut by whole rows."""
    for rows in _ROWS:
        text = "\n\n".join([f"## {headline}", *(part for suite in suites for part in _suite(suite, rows))]) + "\n"
        if size(text) <= limit:
            return text
    return f"## {headline}\n\n{len(suites):,} suites; the log names what each acceptance moves.\n"


def _suite(suite: AcceptedSuite, rows: int) -> Iterable[str]:
    yield said_markdown(say("### {}", suite.suite))
    yield said_markdown(_who(suite))
    if suite.drifted:
        yield "Worse than the anchor by more than its tolerance; nothing was stored. Raise the quality, or accept with `move-anchor: true` and say in the reason why."
        yield table_markdown(Table(("metric", "anchor", "this run", "tolerance"), tuple(map(_drift_row, suite.drifted))).cut(rows))
    if suite.moved:
        yield table_markdown(Table(("case", "baseline", "now", "change"), tuple(_row(case) for case in worst_first(list(suite.moved)))).cut(rows))
    else:
        yield "No case's score moves."
    for word, names in (("Added", suite.added), ("Removed", suite.removed)):
        if names:
            yield said_markdown(say(f"**{word}** ({len(names):,}): {{}}", listed(names, _IDS)))


def _who(suite: AcceptedSuite) -> Said:
    again = [say("run again by {}", suite.triggered_by)] if suite.triggered_by else []
    where = [say("run {}", suite.run_id)] if suite.run_id else []
    where += [say("commit {}", suite.commit[:12])] if suite.commit else []
    where += [ours(f"pull request {suite.pull_request}")] if suite.pull_request else []
    return say("{}: {}, {}", say("By {}", join([say("{}", suite.accepted_by), *again])), say("{}", suite.reason), join([ours(f"{suite.cases:,} cases"), *where]))


def _row(case: CaseVerdict) -> tuple[Said, ...]:
    return say("{}", case.case), ours(score(case.baseline, case.baseline_runs)), ours(score(case.current, case.current_runs)), ours(change(case.delta))


def _drift_row(metric: MetricVerdict) -> tuple[Said, ...]:
    return say("{}", metric.metric), ours(number(metric.baseline)), ours(number(metric.current)), ours(number(metric.tolerance))
