"""What was run again, at which stage and why, and why it stopped, as a table."""

from __future__ import annotations

from evalaction.core.reruns import ExtraRuns
from evalaction.core.verdict import SuiteVerdict
from evalaction.report.figures import number
from evalaction.report.said import Said, ours, say
from evalaction.report.tables import FOLDED_ROWS, Row, Table

_STOPPED = {
    "next_stage": "the next stage began", "last_stage": "the last stage is over", "suite_no_worse": "the suite looked no worse", "proven": "proven worse", "cleared": "cleared",
    "unproven": "could not be proven worse", "error": "could not be measured", "budget": "a limit was reached", "interrupted": "a signal ended the run",
}  # fmt: skip


def extra_table(suite: SuiteVerdict) -> Table:
    """What was run again, at which stage and why, and why it stopped."""
    rows = map(_row, suite.extra_runs[:FOLDED_ROWS])
    return Table(("case", "stage", "runs", "why", "ended"), tuple(rows), more=max(len(suite.extra_runs) - FOLDED_ROWS, 0))


def _row(extra: ExtraRuns) -> Row:
    who = ours(f"all {extra.cases:,} cases") if extra.case is None else say("{}", extra.case)
    return who, ours(extra.stage), ours(f"{extra.runs} after {extra.after}"), _cause(extra), ours(_STOPPED[extra.stopped])


def _cause(extra: ExtraRuns) -> Said:
    if extra.cause == "suite_worse":
        return say("{} of the suite looked worse{}", extra.subject or "a metric", ours(f" (p = {number(extra.p)})" if extra.p is not None else ""))
    if extra.cause == "case_worse":
        by = ours(f" by {extra.z:.1f} standard errors" if extra.z is not None else "")
        return say("check {} looked worse{}", extra.subject, by) if extra.subject else say("looked worse{}", by)
    return ours("a drop to be confirmed" if extra.cause == "points" else "the profile starts with several passes")
