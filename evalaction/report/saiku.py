"""The outcome of a suite of Saiku's as its own runner words it: one line a case, its mismatches below, a tally above."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, Literal

from evalaction.core.record import CaseRecord, RunHeader, Trial
from evalaction.report.text import guard, plain

MOST_CASES = 500
"""Cases that are listed; the tally counts all of them."""
_LEFT_OUT = frozenset({"INTERRUPTED", "BUDGET_EXHAUSTED"})
"""Codes of trials that were never asked for, or not to their end."""
_NEXT_CELL = re.compile(r"; (?=rows\[[0-9]+\]\.|and [0-9]+ more$)")
Status = Literal["PASS", "FAIL", "DEGRADED", "SKIPPED"]


def render_saiku(header: RunHeader, cases: Sequence[CaseRecord]) -> str:
    """The listing of one suite; `cases` in its order, with their answers. Every line is harmless in any log."""
    tally = Counter(status_of(case) for case in cases)
    counts = f"{tally['FAIL']} failed, {tally['DEGRADED']} degraded, {tally['SKIPPED']} skipped (elapsed {_elapsed_ms(header)}ms)"
    head = [f"Suite: {plain(header.suite)}", *([f"Description: {plain(header.description)}"] if header.description else []), f"{tally['PASS']}/{len(cases)} passed, {counts}", ""]
    lines = [line for case in cases[:MOST_CASES] for line in _case(case)]
    more = [f"{len(cases) - MOST_CASES:,} more cases in the record"] if len(cases) > MOST_CASES else []
    return guard("\n".join([*head, *lines, *more]))


def status_of(case: CaseRecord) -> Status:
    """PASS when every measured run passed, DEGRADED when the server gave no answer to judge, SKIPPED when it was not asked to the end."""
    if not case.is_error:
        return "PASS" if all(trial.passed for trial in case.measured) else "FAIL"
    codes = {trial.error.code for trial in case.trials if trial.error is not None}
    return "SKIPPED" if not codes or codes <= _LEFT_OUT else "DEGRADED"


def _case(case: CaseRecord) -> Iterable[str]:
    status, trial = status_of(case), _telling(case)
    answer: Any = trial.answer if trial is not None and isinstance(trial.answer, dict) else {}
    spent = 0 if trial is None or trial.latency_ms is None else round(trial.latency_ms)
    runs = f", {sum(bool(one.passed) for one in case.measured)}/{len(case.trials)} runs passed" if len(case.trials) > 1 else ""
    yield f"{status}: {plain(case.id, 200)} ({spent}ms, intent={plain(str(answer.get('intent') or 'null'), 60)}, model={plain(str(answer.get('model') or 'null'), 60)}{runs})"
    yield from (f"  {line}" for line in _mismatches(trial))


def _telling(case: CaseRecord) -> Trial | None:
    """The run that decided: the first that failed, else the first."""
    if case.is_error:
        return next((trial for trial in case.trials if trial.error is not None), None)
    return next((trial for trial in case.measured if not trial.passed), case.measured[0])


def _mismatches(trial: Trial | None) -> Iterable[str]:
    if trial is None:
        return
    if trial.error is not None:
        yield f"provider: {plain(trial.error.code)} {plain(trial.error.message)}"
    for check in trial.checks:
        if not check.passed:
            yield from map(plain, _NEXT_CELL.split(check.detail) if check.detail.startswith("rows") else [f"{check.id}: {check.detail}"])


def _elapsed_ms(header: RunHeader) -> int:
    """Between the stamps of a record, which are whole seconds; 0 when they cannot be read."""
    try:
        return round((datetime.fromisoformat(header.finished_at) - datetime.fromisoformat(header.started_at)).total_seconds() * 1000)
    except (ValueError, TypeError):
        return 0
