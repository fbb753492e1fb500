"""The tables of a report, row by row; every cell is a sentence."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence

from evalaction.core.metrics import lower_is_better
from evalaction.core.record import CaseRecord
from evalaction.core.spec_base import PASS_RATE, RAW
from evalaction.core.verdict import CaseVerdict, CheckVerdict, MetricVerdict, Reason, SuiteVerdict, Word
from evalaction.report.details import TrendPoint, failing, worst_first
from evalaction.report.figures import NOTHING, change, number, score
from evalaction.report.said import Said, listed, ours, say

Row = tuple[Said, ...]
_RED = ("regressed", "missing")
_MOVED: tuple[Word, ...] = ("removed", "added", "changed")
_ORDER = ("regressed", "missing", "within_noise", "inconclusive", "within_tolerance", "flaky")
"""Words of metrics, worst first; the others follow."""


@dataclasses.dataclass(frozen=True, slots=True)
class Table:
    """`header` is ours; `more` rows were left out, and stand in `whole`, words of ours."""

    header: tuple[str, ...] = ()
    rows: tuple[Row, ...] = ()
    more: int = 0
    whole: str = "verdict.json"

    def cut(self, rows: int | None) -> Table:
        """The first rows, and how many more there are; None for all of them."""
        return self if rows is None or len(self.rows) <= rows else dataclasses.replace(self, rows=self.rows[:rows], more=self.more + len(self.rows) - rows)

    @property
    def total(self) -> int:
        """All rows, those left out too."""
        return len(self.rows) + self.more


NO_ROWS = Table()
FOLDED_ROWS = 200
"""Rows of a folded table at most; more are not even made."""


SMALLEST_P = 0.0001
"""Smaller probabilities are not told apart."""

_NOTED = ("regressed", "inconclusive", "within_noise")
"""Words of a check over the whole suite that are worth a row beside the metrics."""


def metric_table(suite: SuiteVerdict) -> Table:
    """Metrics, worst first. `this run` is over the compared pairs; where the whole suite differs, it says so."""
    thresholds = {reason.metric: reason for reason in suite.reasons if reason.code == "BELOW_THRESHOLD" and reason.case is None}
    ordered = sorted(suite.metrics, key=lambda metric: (metric.verdict not in _RED and metric.metric not in thresholds, *_metric_key(metric)))
    rows = [_metric_row(metric, thresholds.get(metric.metric), compared=_is_compared(metric, suite)) for metric in ordered]
    families = sorted((check for check in suite.checks if check.verdict in _NOTED), key=_metric_key)
    rows += [(say("check {}", check.metric), *_metric_row(check, None, compared=True)[1:]) for check in families]
    return Table(("metric", "baseline", "this run", "change", "verdict"), tuple(rows))


def _metric_key(metric: MetricVerdict) -> tuple[int, float, bool, str]:
    rank = _ORDER.index(metric.verdict) if metric.verdict in _ORDER else len(_ORDER)
    delta = metric.delta or 0.0
    return rank, -delta if lower_is_better(metric.metric) else delta, metric.metric != PASS_RATE, metric.metric


def _metric_row(metric: MetricVerdict, threshold: Reason | None, *, compared: bool) -> Row:
    return (say("{}", metric.metric), ours(number(metric.baseline)), ours(_this_run(metric)), ours(change(metric.delta)), ours(_metric_word(metric, threshold, compared=compared)))


def _this_run(metric: MetricVerdict) -> str:
    if metric.current is None:
        return number(metric.current_all) if metric.verdict != "missing" else "not produced"
    if metric.current_all is not None and number(metric.current_all) != number(metric.current):
        return f"{number(metric.current)} ({number(metric.current_all)} over the whole suite)"
    return number(metric.current)


def _metric_word(metric: MetricVerdict, threshold: Reason | None, *, compared: bool) -> str:
    plain = "not gated" if metric.metric in RAW and metric.tolerance is None else metric.verdict
    words = [f"**{metric.verdict}**" if metric.verdict in _RED else plain if compared else "not compared"]
    if threshold is not None:
        words.append(f"**{'above' if lower_is_better(metric.metric) else 'below'} {number(threshold.baseline)}**")
    if metric.p_value is not None and metric.verdict in (*_RED, "within_noise", "improved"):
        words.append(f"p = {number(metric.p_value)}" if metric.p_value >= SMALLEST_P else f"p < {SMALLEST_P:g}")
    return ", ".join(words)


def regressed_table(suite: SuiteVerdict) -> Table:
    """Regressed cases with their regressed checks, the largest drop first."""
    cases = worst_first([case for case in suite.cases if case.verdict == "regressed"])
    return Table(("case", "check", "baseline", "now", "change"), tuple(row for case in cases for row in _regressed_rows(case)))


def _regressed_rows(case: CaseVerdict) -> Iterable[Row]:
    checks = sorted((check for check in case.checks if check.verdict == "regressed"), key=lambda check: (check.delta or 0.0, check.check))
    yield from (_check_row(case, check) for check in checks)
    if not checks or (len(case.checks) > 1 and case.delta is not None and case.delta < 0):
        yield (say("{}", case.case), ours("whole case"), *_both_sides(case))


def _check_row(case: CaseVerdict, check: CheckVerdict) -> Row:
    if len(case.checks) == 1:
        return (say("{}", case.case), say("{}", check.check), *_both_sides(case))
    return (say("{}", case.case), say("{}", check.check), ours(number(check.baseline)), ours(number(check.current)), ours(change(check.delta)))


def _both_sides(case: CaseVerdict) -> Row:
    return ours(score(case.baseline, case.baseline_runs)), ours(score(case.current, case.current_runs)), ours(change(case.delta))


def failing_table(suite: SuiteVerdict, answers: Mapping[str, tuple[CaseRecord | None, CaseRecord | None]]) -> Table:
    """Cases with a failed run, where no comparison speaks for them."""
    cases = failing(suite)
    rows = ((say("{}", case.case), _failed_checks(answers.get(case.case, (None, None))[1]), ours(score(case.current, case.current_runs))) for case in cases[:FOLDED_ROWS])
    return Table(("failing case", "failed checks", "now"), tuple(rows), more=max(len(cases) - FOLDED_ROWS, 0))


def _failed_checks(record: CaseRecord | None) -> Said:
    failed = dict.fromkeys(check.id for trial in (record.measured if record else ()) for check in trial.checks if not check.passed)
    return listed(failed, 5) or ours(NOTHING)


def change_table(suite: SuiteVerdict, words: Sequence[Word]) -> Table:
    """Cases with one of these words: in the order of the words, then by the size of the change."""
    found = {word: [case for case in suite.cases if case.verdict == word] for word in words}
    ordered = [case for word in words for case in worst_first(found[word])]
    rows = ((say("{}", case.case), _word_and_note(case), *_both_sides(case)) for case in ordered[:FOLDED_ROWS])
    return Table(("case", "verdict", "baseline", "now", "change"), tuple(rows), more=max(len(ordered) - FOLDED_ROWS, 0))


def _word_and_note(case: CaseVerdict) -> Said:
    return say(case.verdict + ": {}", case.note) if case.note else ours(case.verdict)


def error_table(suite: SuiteVerdict, answers: Mapping[str, tuple[CaseRecord | None, CaseRecord | None]]) -> Table:
    """Cases that could not be measured, each with its first failing reason."""
    errors = [case for case in suite.cases if case.verdict == "error"]
    rows = (_error_row(case, answers.get(case.case, (None, None))[1]) for case in errors[:FOLDED_ROWS])
    return Table(("case", "code", "message"), tuple(rows), more=max(len(errors) - FOLDED_ROWS, 0))


def _error_row(case: CaseVerdict, record: CaseRecord | None) -> Row:
    code, message = first_failure(case, record)
    return say("{}", case.case), say("{}", code) if code else ours(NOTHING), say("{}", message) if message else ours(NOTHING)


def first_failure(case: CaseVerdict, record: CaseRecord | None = None) -> tuple[str, str]:
    """Code and message of a case's first failed trial; from its note (`CODE: message`) where no record is at hand."""
    for trial in record.trials if record else ():
        if trial.error is not None:
            return trial.error.code, trial.error.message
    code, found, message = (case.note or "").partition(": ")
    return (code, message) if found else ("", code)


def _is_compared(metric: MetricVerdict, suite: SuiteVerdict) -> bool:
    """Whether there was anything to compare a metric with: a baseline of one number has the pass rate alone."""
    return suite.baseline.found and (not suite.baseline.suite_level_only or metric.baseline is not None)


def listing(suite: SuiteVerdict) -> Table:
    """Cases and checks that were not compared because one side lacks them or defines them differently."""
    if not suite.baseline.found or suite.baseline.suite_level_only:
        return NO_ROWS
    cases = [(case.case, None, case.verdict, case.current) for word in _MOVED for case in suite.cases if case.verdict == word]
    checks = [(case.case, check.check, check.verdict, check.current) for case in suite.cases if case.verdict not in _MOVED for check in case.checks if check.verdict in _MOVED]
    found = [*cases, *checks]
    rows = ((say("{}", case), say("{}", check) if check else ours("whole case"), ours(word), ours(number(now))) for case, check, word, now in found[:FOLDED_ROWS])
    return Table(("case", "check", "what", "now"), tuple(rows), more=max(len(found) - FOLDED_ROWS, 0))


def trend_table(trend: Sequence[TrendPoint], limit: int = 20) -> Table:
    """Past runs, the newest first."""
    rows = ((say("{}", point.time), say("{}", point.verdict), ours(number(point.pass_rate))) for point in reversed(trend))
    return Table(("when", "verdict", "pass rate"), tuple(rows)).cut(limit)


def fault_table(reasons: Iterable[Reason]) -> Table:
    """Configuration errors: where, code, what, fix."""
    rows = []
    for reason in reasons:
        what, _, fix = reason.message.rpartition(". Fix: ") if ". Fix: " in reason.message else (reason.message, "", "")
        place = ":".join(str(part) for part in (reason.file, reason.line, reason.column) if part is not None)
        rows.append((say("{}", place) if place else ours(NOTHING), say("{}", reason.code), say("{}", what), say("{}", fix.removesuffix(".")) if fix else ours(NOTHING)))
    return Table(("where", "code", "what", "fix"), tuple(rows))
