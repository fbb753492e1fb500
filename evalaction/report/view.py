"""The view of a verdict: everything rounded, sorted, chosen and worded, for renderers that only lay it out."""

from __future__ import annotations

import dataclasses
import shlex
from collections.abc import Mapping

from evalaction.core.verdict import EXIT_CODES, PRECEDENCE, SuiteVerdict, Verdict
from evalaction.errors import ExitCode
from evalaction.report.answers import AnswerView, answer_views, passing_table, why_lines
from evalaction.report.details import Details
from evalaction.report.extra_runs import extra_table
from evalaction.report.figures import dollars
from evalaction.report.headline import other_warnings, overall_sentence, suite_sentence
from evalaction.report.notes import anchor_line, baseline_line, notes_of, other_reasons, replayed_line, rule_lines, suite_line
from evalaction.report.said import Said, count, ours, say
from evalaction.report.tables import FOLDED_ROWS, NO_ROWS, Table, change_table, error_table, failing_table, fault_table, listing, metric_table, regressed_table, trend_table

FILE_LIMIT = 16 * 1024 * 1024
"""Bytes of a report in a file: all that browsers and editors still open; what is cut says so, and stands in verdict.json. Other places have limits of their own."""
_MARKS = {ExitCode.OK: "✅", ExitCode.REGRESSED: "❌", ExitCode.CONFIG: "⛔", ExitCode.NOT_MEASURED: "⚠️", ExitCode.INTERNAL: "💥"}
_ACCEPTABLE = ("passed", "no_baseline", "environment_drift", "regressed", "below_threshold", "not_comparable")
_NEUTRAL = ("no_baseline", "environment_drift", "not_run")


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Fold:
    """A folded section: a title of ours with a number, and a table or lines."""

    title: Said
    table: Table = NO_ROWS
    lines: tuple[Said, ...] = ()
    more: int = 0


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class SuiteView:
    """One suite. `answers_more` cases have answers that are not shown; `why` has a line for each red case, `passing` the answers of the others; `commands` is a short script."""

    name: str
    word: str
    mark: Said
    headline: Said
    notes: tuple[Said, ...] = ()
    compared: tuple[Said, ...] = ()
    metrics: Table = NO_ROWS
    regressed: Table = NO_ROWS
    failing: Table = NO_ROWS
    faults: Table = NO_ROWS
    folds: tuple[Fold, ...] = ()
    answers: tuple[AnswerView, ...] = ()
    answers_more: int = 0
    why: tuple[Said, ...] = ()
    passing: Table = NO_ROWS
    warnings: tuple[str, ...] = ()
    commands: str = ""
    pointer: str = ""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class ReportView:
    """A whole report, the worst suite first; `limit` is its largest size in bytes."""

    word: str
    mark: Said
    headline: Said
    notes: tuple[Said, ...] = ()
    faults: Table = NO_ROWS
    suites: tuple[SuiteView, ...] = ()
    more_suites: int = 0
    limit: int = FILE_LIMIT
    tool_version: str = ""
    footer: tuple[Said, ...] = ()


def build_view(verdict: Verdict, details: Mapping[str, Details] | None = None, *, limit: int = FILE_LIMIT, footer: tuple[Said, ...] = ()) -> ReportView:
    """The view of a verdict; `details` by suite key, where there are any. `limit` in bytes of the finished Markdown; `footer` stands in its last lines."""
    details = details or {}
    return ReportView(
        word=verdict.verdict, mark=_mark(verdict.verdict), headline=overall_sentence(verdict), notes=() if verdict.verdict == "config_error" else other_reasons(verdict.reasons),
        faults=fault_table(verdict.reasons) if verdict.verdict == "config_error" else NO_ROWS,
        suites=tuple(_suite(suite, details.get(suite.key) or Details()) for suite in _worst_first(verdict.suites)), limit=limit, tool_version=verdict.tool_version,
        footer=footer,
    )  # fmt: skip


def _worst_first(suites: tuple[SuiteVerdict, ...]) -> list[SuiteVerdict]:
    return sorted(suites, key=lambda suite: PRECEDENCE.index(suite.exit_code))


def _mark(word: str) -> Said:
    return ours("⚪" if word in _NEUTRAL else _MARKS[EXIT_CODES[word]])


def _suite(suite: SuiteVerdict, details: Details) -> SuiteView:
    pointer = details.results_path or f"eval-results/{suite.key}"
    answers = answer_views(suite, details)
    return SuiteView(
        name=suite.suite, word=suite.verdict, mark=_mark(suite.verdict), headline=suite_sentence(suite), notes=tuple(notes_of(suite)), compared=_compared(suite, details),
        metrics=metric_table(suite), regressed=regressed_table(suite), failing=failing_table(suite, details.answers),
        faults=fault_table(suite.reasons) if suite.verdict == "config_error" else NO_ROWS, folds=tuple(fold for fold in _folds(suite, details) if fold.table.rows or fold.lines),
        answers=answers, why=why_lines(suite, details), passing=passing_table(suite, details), warnings=other_warnings(suite),
        commands=_commands(suite, details, pointer), pointer=pointer,
    )  # fmt: skip


def _compared(suite: SuiteVerdict, details: Details) -> tuple[Said, ...]:
    if suite.verdict == "config_error":
        return ()
    return tuple(line for line in (suite_line(suite, details.uncommitted), baseline_line(suite), anchor_line(suite), replayed_line(suite.calls), *rule_lines(suite)) if line)


def _folds(suite: SuiteVerdict, details: Details) -> list[Fold]:
    warnings = other_warnings(suite)
    watched = change_table(suite, ("flaky", "within_noise", "inconclusive", "within_tolerance"))
    improved, errors, moved = change_table(suite, ("improved",)), error_table(suite, details.answers), listing(suite)
    trend = trend_table(details.trend) if len(details.trend) > 1 else NO_ROWS  # one point is this run itself
    return [
        Fold(title=ours(f"Warnings ({len(warnings):,})"), lines=tuple(say("{}", warning) for warning in warnings[:FOLDED_ROWS]), more=max(len(warnings) - FOLDED_ROWS, 0)),
        _table_fold("Errors", errors),
        _table_fold("Flaky, or worse within noise or tolerance", watched),
        _table_fold("Improved", improved),
        _table_fold("Added, removed, changed", moved),
        Fold(title=ours("Baseline candidates passed over"), lines=tuple(say("{}", reason) for reason in suite.baseline.passed_over[:FOLDED_ROWS])),
        _table_fold("Run again, and why", extra_table(suite)),
        Fold(title=ours("Trend"), table=trend),
        Fold(title=ours("Calls and cost"), lines=tuple(_spent(suite))),
    ]


def _table_fold(title: str, table: Table) -> Fold:
    return Fold(title=ours(f"{title} ({table.total:,})"), table=table)


def _spent(suite: SuiteVerdict) -> list[Said]:
    calls = suite.calls
    if suite.verdict == "config_error":
        return []
    before = "" if calls.baseline_made is None else f" (baseline: {calls.baseline_made:,})"
    lines = [ours(f"{count(calls.made, 'call')} of the target, {calls.planned:,} planned{before}")]
    if calls.judge_made or calls.judge_planned:
        lines.append(ours(f"{count(calls.judge_made, 'call')} of the judge, {calls.judge_planned:,} planned"))
    if suite.blame is not None and suite.blame.calls:
        judge = f" and {count(suite.blame.judge_calls, 'call')} of the judge" if suite.blame.judge_calls else ""
        lines.append(ours(f"{count(suite.blame.calls, 'further call')} to assign blame{judge}"))
    if suite.cost_usd is not None:
        accepted = "" if suite.baseline_cost_usd is None else f" (baseline: {dollars(suite.baseline_cost_usd)})"
        lines.append(ours(f"Cost: {dollars(suite.cost_usd)}{accepted}"))
    return lines


def _commands(suite: SuiteVerdict, details: Details, pointer: str) -> str:
    """What a person types to see it again, and to accept it where `accept` would not refuse. The path is quoted: it holds a name from the suite."""
    lines = ["# measure and compare again", details.command] if details.command else []
    if suite.is_gone:
        return ""  # there is no record of it
    if suite.verdict in _ACCEPTABLE and not suite.counts.errors and suite.selection is None:
        lines += ["# accept this run as the baseline", details.accept or f'eval-gate accept {shlex.quote(pointer)} --reason "why this is right"']
    return "\n".join(lines)
