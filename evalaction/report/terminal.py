"""The view for a terminal, and the last line of the log."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from evalaction.core.verdict import Verdict
from evalaction.errors import ExitCode
from evalaction.report.headline import meaning
from evalaction.report.said import Said
from evalaction.report.tables import Row, Table
from evalaction.report.text import guard, plain
from evalaction.report.view import ReportView, SuiteView

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

_OF_A_SUITE = frozenset({"METRIC_REGRESSED", "METRIC_MISSING", "BELOW_THRESHOLD"})
_ROWS = 50
_LINES = 20
_WORDS = 200
"""Characters of a foreign word."""
_STYLES = {"✅": "green", "❌": "bold red", "⛔": "bold red", "⚠️": "bold yellow", "💥": "bold red", "⚪": "bold yellow"}


def render_text(view: ReportView, *, width: int = 100, colour: bool = False) -> str:
    """Headline, notes, metric table, regressed cases and why, answers where nothing was compared, warnings; every line harmless in any log. `width` in columns."""
    from rich.console import Console  # noqa: PLC0415 - only runs that render pay for the import

    out = io.StringIO()
    console = Console(
        file=out, width=max(width, 40), force_terminal=colour, color_system="standard" if colour else None, no_color=not colour,
        highlight=False, markup=False, emoji=False, legacy_windows=False,
    )  # fmt: skip
    _head(console, view)
    for suite in view.suites:
        _suite(console, suite, alone=len(view.suites) == 1)
    return guard("\n".join(line.rstrip() for line in out.getvalue().split("\n")))


def last_line(verdict: Verdict) -> str:
    """The verdict, its exit code and what they mean, on one line."""
    code = ExitCode(verdict.exit_code)
    if verdict.report_only and verdict.would_exit != verdict.exit_code:
        return f"eval-gate: {verdict.verdict}, would fail with exit {verdict.would_exit}; report-only (exit {code:d}): {ExitCode(verdict.would_exit).meaning}"
    words = (meaning(verdict.verdict) if code is ExitCode.OK else None) or code.meaning
    return f"eval-gate: {verdict.verdict} (exit {code:d}): {words}"


def red_lines(verdict: Verdict) -> list[str]:
    """What whole suites are red for, one line each, for a log that is read before any report."""
    told = [reason.message for suite in verdict.suites for reason in suite.reasons if reason.code in _OF_A_SUITE and reason.case is None]
    return [f"x {message}" for message in told[:_LINES]]


def _head(console: Console, view: ReportView) -> None:
    console.print(_text(view.headline, _STYLES.get("".join(map(str, view.mark.parts)), "")))
    _lines(console, view.notes)
    _table(console, view.faults)


def _suite(console: Console, suite: SuiteView, *, alone: bool) -> None:
    if not alone:
        console.print()
        console.print(_text(Said((f"{plain(suite.name)}: ", *suite.headline.parts)), "bold"))
    _lines(console, (*suite.notes, *suite.compared))
    for table in (suite.faults, suite.metrics, suite.regressed, suite.failing):
        _table(console, table)
    _why(console, suite.why)
    _table(console, suite.passing.cut(_LINES))
    errors = [fold for fold in suite.folds if fold.table.header[:2] == ("case", "code")]
    for fold in errors:
        _table(console, fold.table.cut(_LINES))
    for warning in suite.warnings[:_LINES]:
        console.print(_text(Said((f"warning: {plain(warning)}",)), "yellow"))
    if len(suite.warnings) > _LINES:
        console.print(f"{len(suite.warnings) - _LINES:,} more warnings in verdict.json")


def _why(console: Console, lines: tuple[Said, ...]) -> None:
    if lines:
        console.print()
    _lines(console, lines[:_LINES])
    if len(lines) > _LINES:
        console.print(f"{len(lines) - _LINES:,} more in the record")


def _lines(console: Console, lines: tuple[Said, ...]) -> None:
    for line in lines:
        console.print(_text(Said(("- ", *line.parts))))


def _table(console: Console, table: Table) -> None:
    from rich import box  # noqa: PLC0415 - as above
    from rich.table import Table as Grid  # noqa: PLC0415 - as above

    if not table.rows:
        return
    grid = Grid(*table.header, box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    shown = table.cut(_ROWS)
    for row in shown.rows:
        grid.add_row(*_cells(row))
    console.print()
    console.print(grid)
    if shown.more:
        console.print(f"{shown.more:,} more in {shown.whole}")


def _cells(row: Row) -> list[Text]:
    return [_text(part) for part in row]


def _text(said: Said, style: str = "") -> Text:
    """Text of ours without its Markdown marks, foreign words made plain; never read as markup."""
    from rich.text import Text as Plain  # noqa: PLC0415 - as above

    words = (part.replace("**", "").replace("`", "") if isinstance(part, str) else plain(part.text, _WORDS) for part in said.parts)
    return Plain("".join(words), style=style)
