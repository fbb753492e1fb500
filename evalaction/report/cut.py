"""Cutting a view to a size: answers first, then folded rows, and regressed rows last of all, always by whole rows."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from itertools import zip_longest

from evalaction.report.tables import Row, Table
from evalaction.report.view import Fold, ReportView, SuiteView


@dataclasses.dataclass(frozen=True, slots=True)
class Allowance:
    """What may be shown: cases with answers, characters of each text, rows of each folded table; None: all of them.

    `firm` rows of each table that stays to the last (regressed cases, faults), `notes` under each headline, `suites` with a section.
    """

    answers: int = 0
    characters: int = 0
    folded: int = 0
    firm: int | None = None
    notes: int | None = None
    suites: int | None = None


_STEPS = (
    *(Allowance(50, characters, 200) for characters in (4000, 2000, 1000, 500, 250)),
    *(Allowance(cases, 250, 200) for cases in (20, 10, 5, 2, 0)),
    *(Allowance(0, 0, rows) for rows in (100, 50, 20, 10, 5, 0)),
)
"""From generous to tight; each step shows no more than the one before."""
_LAST_RESORTS = (Allowance(), Allowance(notes=3), *(Allowance(notes=1, suites=suites) for suites in (64, 32, 16, 8, 4, 2, 1, 0)))
"""For reports whose unfolded part alone is too large; the last is one headline."""
_SMALLEST_ROW = 24
"""Bytes of a table row at least; a quick way to know that rows must go."""
_TABLE_MARGIN = 80
"""Bytes of a table's header and of its "n more"."""


def size(text: str) -> int:
    """Bytes in UTF-8, which is never less than characters, however they are counted."""
    return len(text.encode("utf-8", "replace"))


def fit(view: ReportView, render: Callable[[ReportView], str], row_text: Callable[[Row], str]) -> str:
    """The fullest rendering of at most `view.limit` bytes. `row_text` renders one row of a table, its line break included."""
    if sum(len(table.rows) for table in _firm(view)) * _SMALLEST_ROW < view.limit:
        text = render(trim(view, _STEPS[0]))
        if size(text) <= view.limit:
            return text
        low, high = 1, len(_STEPS) - 1
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if size(render(trim(view, _STEPS[middle]))) <= view.limit else (middle + 1, high)
        text = render(trim(view, _STEPS[low]))
        if size(text) <= view.limit:
            return text
    return _last_resort(view, render, row_text)


def _last_resort(view: ReportView, render: Callable[[ReportView], str], row_text: Callable[[Row], str]) -> str:
    """Everything that can be folded is gone; as many firm rows of each table as fit beside the rest; a lone headline when even that is too much."""
    text = ""
    for allowed in _LAST_RESORTS:
        text = render(trim(view, dataclasses.replace(allowed, firm=0)))
        if size(text) <= view.limit:
            rows = _rows_that_fit(trim(view, allowed), view.limit - size(text), row_text)
            full = render(trim(view, dataclasses.replace(allowed, firm=rows)))
            return full if size(full) <= view.limit else text
    return text


def _rows_that_fit(view: ReportView, room: int, row_text: Callable[[Row], str]) -> int:
    tables = _firm(view)
    used = _TABLE_MARGIN * len(tables)
    for rows, layer in enumerate(zip_longest(*(table.rows for table in tables))):
        used += sum(size(row_text(row)) for row in layer if row is not None)
        if used > room:
            return rows
    return max((len(table.rows) for table in tables), default=0)


def _firm(view: ReportView) -> list[Table]:
    tables = [view.faults, *(table for suite in view.suites for table in (suite.regressed, suite.faults))]
    return [table for table in tables if table.rows]


def trim(view: ReportView, allowed: Allowance) -> ReportView:
    """The view with no more than is allowed."""
    shown = view.suites[: allowed.suites]
    return dataclasses.replace(
        view, notes=view.notes[: allowed.notes], faults=view.faults.cut(allowed.firm),
        suites=tuple(_trim_suite(suite, allowed) for suite in shown), more_suites=len(view.suites) - len(shown),
    )  # fmt: skip


def _trim_suite(suite: SuiteView, allowed: Allowance) -> SuiteView:
    rows = max(allowed.folded, 20)
    return dataclasses.replace(
        suite, notes=suite.notes[: allowed.notes], metrics=suite.metrics.cut(rows), failing=suite.failing.cut(rows), passing=suite.passing.cut(allowed.folded),
        regressed=suite.regressed.cut(allowed.firm), faults=suite.faults.cut(allowed.firm),
        answers=tuple(answer.cut(allowed.characters) for answer in suite.answers[: allowed.answers]), answers_more=max(len(suite.answers) - allowed.answers, 0),
        folds=tuple(_trim_fold(fold, allowed.folded) for fold in suite.folds),
    )  # fmt: skip


def _trim_fold(fold: Fold, rows: int) -> Fold:
    return dataclasses.replace(fold, table=fold.table.cut(rows), lines=fold.lines[:rows], more=fold.more + max(len(fold.lines) - rows, 0))
