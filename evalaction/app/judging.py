"""Records and baselines → verdict, files, printed report. The order is the promise: written, compared, reported."""

from __future__ import annotations

import contextlib
import dataclasses
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Literal

from evalaction import __version__
from evalaction.app.parts import Outputs, Parts
from evalaction.core.acceptance import Baseline
from evalaction.core.compare import compare
from evalaction.core.comparison import Comparison, Rules
from evalaction.core.decide import decide
from evalaction.core.evidence import Evidence
from evalaction.core.masking import Masker
from evalaction.core.record import CaseRecord, RunRecord
from evalaction.core.verdict import EXIT_CODES, Reason, SuiteVerdict, Verdict, overall
from evalaction.errors import ConfigError, ExitCode
from evalaction.report.details import Details, TrendPoint, passing_cases, shown_cases
from evalaction.report.junit import render_junit
from evalaction.report.markdown import render_markdown
from evalaction.report.saiku import render_saiku
from evalaction.report.schema import OWN_WORDS, verdict_json, verdict_pieces
from evalaction.report.terminal import last_line, red_lines, render_text
from evalaction.report.view import ReportView, build_view
from evalaction.store import history, labels
from evalaction.store.files import write_atomic, write_named
from evalaction.store.records import read_cases

VERDICT_FILE = "verdict.json"
NoVerdict = Literal["config_error", "internal_error", "not_measured", "not_run"]
"""Words of a run that came to no verdict on the system."""
TREND = 10
_BASELINES = Path("eval-baselines")
"""Where baselines are looked for unless told."""
MOST_FAILING = 1000
"""Failing cases of one run that the history keeps."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """One suite with its verdict, and where its answers and those of its baseline lie."""

    verdict: SuiteVerdict
    record: RunRecord
    folder: Path
    baseline_folder: Path | None = None
    baseline_answers: Mapping[str, CaseRecord] | None = None
    """The baseline's cases with their answers where they are no record on disk."""

    @property
    def may_stand(self) -> bool:
        """Whether the record is a level that later runs may be compared with: it was measured, whatever came of it."""
        return self.verdict.exit_code in (ExitCode.OK, ExitCode.REGRESSED)


def judge(record: RunRecord, baseline: Baseline | None, rules: Rules, now: datetime, comparison: Comparison | None = None) -> SuiteVerdict:
    """The verdict on one record."""
    compared = comparison or compare(baseline.record if baseline else None, record, rules)
    return decide(Evidence(current=record, comparison=compared, baseline=baseline, age_days=age_days(baseline, now)))


def age_days(baseline: Baseline | None, now: datetime) -> float | None:
    """Days since a person accepted the baseline; None when the stored time is unreadable."""
    if baseline is None:
        return None
    try:
        return round((now - datetime.fromisoformat(baseline.acceptance.accepted_at)).total_seconds() / 86_400, 2)
    except (ValueError, TypeError):
        return None


def publish(parts: Parts, outputs: Outputs, judged: Sequence[Judged], skipped: Sequence[SuiteVerdict] = (), *, remember: bool = True, show: bool = True) -> Verdict:
    """Write verdict.json and the reports, print, remember the runs; returns the verdict of the whole run. `skipped` suites were never started.

    Without `show` the caller prints something else, and reports are not written.
    """
    judged = [remarked(one, outputs) for one in judged]
    verdicts = (*(one.verdict for one in judged), *skipped)
    verdict = overall(verdicts, report_only=outputs.report_only, tool_version=__version__)
    write_verdict(parts, outputs, verdict)
    if remember:
        _remember(parts, outputs, judged)
    if show:
        render(parts, outputs, verdict, judged)
        _point(parts, outputs, verdict, judged)
    _keep_labelled(parts, outputs, judged)
    for line in red_lines(verdict):
        parts.console.say(line)
    if outputs.sink is None:
        parts.console.say(last_line(verdict))
    return verdict


def _point(parts: Parts, outputs: Outputs, verdict: Verdict, judged: Sequence[Judged]) -> None:
    """Where the rest stands, for a reader of the log: the whole report, and what each case said."""
    if outputs.sink is not None:
        return
    if outputs.report is not None:
        parts.console.say(f"full report: {outputs.report}")
    elif verdict.would_exit == ExitCode.REGRESSED and outputs.baseline_label is None and (place := _place_to_report(outputs, judged)) is not None:
        baseline = "" if outputs.baseline == _BASELINES else f" --baseline {shlex.quote(str(outputs.baseline))}"
        parts.console.say(f"see the answers side by side: eval-gate report {shlex.quote(str(place))}{baseline} --format markdown")
    lost = next((one for one in judged if one.verdict.counts.errors), None)
    if lost is not None:
        parts.console.say(f"what was said in the cases that could not be measured: {lost.folder / 'cases'}")


def _place_to_report(outputs: Outputs, judged: Sequence[Judged]) -> Path | None:
    """The path that `report` shows just these records for; None where no one path does, or where it would compare them with other baselines."""
    if any(one.baseline_folder is not None and not one.baseline_folder.is_relative_to(outputs.baseline) for one in judged):
        return None
    parents = {one.folder.parent for one in judged}
    if len(judged) == 1 and outputs.out not in parents:
        return judged[0].folder
    return parents.pop() if len(parents) == 1 else None


def _keep_labelled(parts: Parts, outputs: Outputs, judged: Sequence[Judged]) -> None:
    """Keep the records of a run under its label, after the report: the same label may have been compared with."""
    for one in judged if outputs.label is not None else ():
        if one.may_stand:
            labels.keep(outputs.out, outputs.label or "", one.verdict.key, one.folder)
        else:
            parts.console.say(f"suite {one.verdict.suite}: not kept under the label {outputs.label}: {one.verdict.verdict}")


def remarked(one: Judged, outputs: Outputs) -> Judged:
    """With what is to be said about the choice of its baseline."""
    verdict = one.verdict
    if outputs.source is not None:
        remarks = outputs.source.remarks(verdict.key)
        known = dataclasses.replace(verdict.baseline, passed_over=remarks.passed_over, behind_by=remarks.behind_by)
        verdict = dataclasses.replace(verdict, baseline=known, warnings=(*verdict.warnings, *remarks.warnings))
    return dataclasses.replace(one, verdict=verdict)


def _remember(parts: Parts, outputs: Outputs, judged: Sequence[Judged]) -> None:
    """Add to the history; one that cannot be used is a pity and no verdict."""
    try:
        runs = [past_run(one.record, one.verdict.verdict, parts.settings.masker) for one in judged]
        history.add(outputs.out, [dataclasses.replace(run, label=outputs.label if one.may_stand else None) for run, one in zip(runs, judged, strict=True)])
    except ConfigError as error:
        parts.console.say(f"warning: {error}")


def write_verdict(parts: Parts, outputs: Outputs, verdict: Verdict) -> None:
    """Replace verdict.json."""
    write_atomic(outputs.out / VERDICT_FILE, (_masked(parts, piece) for piece in verdict_pieces(verdict)))


def render(parts: Parts, outputs: Outputs, verdict: Verdict, judged: Sequence[Judged] = ()) -> None:
    """Print the verdict in the form asked for, and write the report files asked for."""
    accept = _how_to_accept(outputs, verdict)
    details = {one.verdict.key: _details(parts, outputs, one, accept) for one in judged}
    view = build_view(verdict, details)
    for path, text in _files(outputs, verdict, view, details):
        write_named(path, parts.settings.masker.text(text()).encode())
    if outputs.sink is not None:
        outputs.sink(verdict, details)
    _print(parts, outputs, verdict, view, judged)


def _how_to_accept(outputs: Outputs, verdict: Verdict) -> str | None:
    """Only what got worse where that can be: an acceptance of regressions alone refuses a suite without a baseline, and a run in which nothing got worse."""
    worse = any(suite.counts.regressed for suite in verdict.suites) and all(suite.baseline.found for suite in verdict.suites)
    return outputs.accept_regressions if worse and outputs.accept_regressions else outputs.accept


def _files(outputs: Outputs, verdict: Verdict, view: ReportView, details: Mapping[str, Details]) -> Iterator[tuple[Path, Callable[[], str]]]:
    """The report files asked for, each with what makes its text."""
    forms = ((outputs.report, lambda: render_markdown(view)), (outputs.html, lambda: _page(view)), (outputs.junit, lambda: render_junit(verdict, details)))
    return ((path, text) for path, text in forms if path is not None)


def _print(parts: Parts, outputs: Outputs, verdict: Verdict, view: ReportView, judged: Sequence[Judged] = ()) -> None:
    if outputs.format == "json":
        parts.console.document(verdict_json(verdict).decode(), keep=OWN_WORDS)
    elif outputs.format == "markdown":
        parts.console.result(render_markdown(view))
    elif verdict.suites:
        for one in judged:
            if one.record.header.dialect == "saiku":
                parts.console.result(_as_saiku(one))
        parts.console.result(render_text(view, width=parts.console.width, colour=parts.console.coloured))


def _as_saiku(one: Judged) -> str:
    """What Saiku's own runner would have printed of a record."""
    header, found = one.record.header, read_cases(one.folder, one.record.cases)
    return render_saiku(header, [found.get(name, case) for name, case in one.record.cases.items()]) + "\n"


def _page(view: ReportView) -> str:
    from evalaction.report.html import render_html  # noqa: PLC0415 - only runs that ask for a page pay for it

    return render_html(view)


def publish_failure(parts: Parts, outputs: Outputs, word: NoVerdict, reasons: tuple[Reason, ...]) -> Verdict:
    """The same for a run that came to no verdict: whoever reads verdict.json or a report must not find that of an earlier run.

    A folder that cannot be written is one such failure; what can be said elsewhere is.
    """
    verdict = failure(outputs, word, reasons)
    refused, view = {reason.file for reason in reasons if reason.code == "INVALID_INPUT"}, build_view(verdict, {})
    with contextlib.suppress(ConfigError):
        write_verdict(parts, outputs, verdict)
    for path, text in _files(outputs, verdict, view, {}):
        if str(path) not in refused:
            with contextlib.suppress(ConfigError):
                write_named(path, parts.settings.masker.text(text()).encode())
    with contextlib.suppress(ConfigError):
        _print(parts, outputs, verdict, view)
    if outputs.sink is not None:
        outputs.sink(verdict, {})
    return verdict


def failure(outputs: Outputs, word: NoVerdict, reasons: tuple[Reason, ...]) -> Verdict:
    """The verdict of a run that came to none."""
    code = int(EXIT_CODES[word])
    return Verdict(verdict=word, exit_code=code, would_exit=code, report_only=outputs.report_only, reasons=reasons, tool_version=__version__)


def _masked(parts: Parts, data: bytes) -> bytes:
    masker = parts.settings.masker
    return masker.serialised(data.decode(), keep=OWN_WORDS).encode() if masker.finds(data) else data


def _details(parts: Parts, outputs: Outputs, one: Judged, accept: str | None) -> Details:
    shown = (*shown_cases(one.verdict), *passing_cases(one.verdict))
    now, before = read_cases(one.folder, shown), read_cases(one.baseline_folder, shown) if one.baseline_folder else one.baseline_answers or {}
    command = outputs.command or f"eval-gate report {shlex.quote(str(one.folder))}"
    return Details(
        answers=_side_by_side(shown, before, now), trend=_trend(parts, outputs.out, one.record.header.key), command=command, accept=accept, results_path=str(one.folder),
        lines=_lines(one), uncommitted=one.record.header.uncommitted,
    )  # fmt: skip


def _lines(one: Judged) -> dict[str, int]:
    """Lines of the cases that got worse, for remarks in the suite's file."""
    known = ((case.case, one.record.cases.get(case.case)) for case in one.verdict.cases if case.verdict in ("regressed", "error"))
    return {name: case.line for name, case in known if case is not None and case.line is not None}


def _side_by_side(shown: Sequence[str], before: Mapping[str, CaseRecord], now: Mapping[str, CaseRecord]) -> dict[str, tuple[CaseRecord | None, CaseRecord | None]]:
    return {case_id: (before.get(case_id), now.get(case_id)) for case_id in shown}


def _trend(parts: Parts, out: Path, key: str) -> tuple[TrendPoint, ...]:
    with contextlib.suppress(ConfigError):  # said when the run was to be remembered
        runs = history.past_runs(out, key, most=TREND, say=parts.console.say)
        return tuple(TrendPoint(time=run.started_at, verdict=run.verdict, pass_rate=run.metrics.get("pass_rate")) for run in runs)
    return ()


def past_run(record: RunRecord, verdict: str, masker: Masker) -> history.PastRun:
    """One row of the history."""
    header = record.header
    errors = sum(case.is_error for case in record.cases.values())
    return history.PastRun(
        started_at=header.started_at, key=header.key, suite=masker.text(header.suite), verdict=verdict, commit=header.commit, cases=len(record.cases), errors=errors,
        metrics=header.metrics, failing={masker.text(name): runs for name, runs in _not_always_passing(record)},
    )  # fmt: skip


def _not_always_passing(record: RunRecord) -> Iterator[tuple[str, tuple[int, int]]]:
    """Passed and measured runs of the cases that did not always pass; the others need no place in the history."""
    found = ((case.id, (sum(bool(trial.passed) for trial in case.measured), len(case.measured))) for case in record.cases.values())
    return islice(((name, runs) for name, runs in found if runs[0] < runs[1]), MOST_FAILING)
