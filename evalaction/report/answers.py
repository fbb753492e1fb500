"""Answers side by side: for a case that needs a person's eye, what the system said then and now, and what the checks say."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from evalaction.core.record import CaseRecord, Trial
from evalaction.core.verdict import CaseVerdict, SuiteVerdict
from evalaction.report.details import Details, passing_cases, shown_cases
from evalaction.report.figures import number, score
from evalaction.report.said import Said, count, ours, say
from evalaction.report.tables import Table
from evalaction.report.text import bare

_UNSAID = ("cost_usd", "tokens", "latency_ms")
"""Parts of an answer that are no words of the system."""
_ASKED = 100
"""Characters of an input beside its answer."""
_QUOTED = 3
"""Red cases of which a terminal shows the answer."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class AnswerView:
    """One case: foreign texts of several lines. `limit` is how many characters of each may be shown."""

    case: str
    word: Said
    question: str
    baseline: str
    now: str
    checks: str
    limit: int = 4000

    def cut(self, limit: int) -> AnswerView:
        """The same with shorter texts."""
        return dataclasses.replace(self, limit=limit)


def answer_views(suite: SuiteVerdict, details: Details) -> tuple[AnswerView, ...]:
    """The cases that `shown_cases` names and that have a record, worst first."""
    words = {case.case: case.verdict for case in suite.cases}
    found = ((case_id, *details.answers[case_id]) for case_id in shown_cases(suite) if case_id in details.answers)
    return tuple(_view(case_id, ours(words[case_id]), baseline, current) for case_id, baseline, current in found)


def passing_table(suite: SuiteVerdict, details: Details) -> Table:
    """What came back in passing cases, one row each; those without an answer, as of imported results, are left out."""
    cases = {case.case: case for case in suite.cases}
    found = ((cases[name], details.answers.get(name, (None, None))[1]) for name in passing_cases(suite))
    rows = [
        (say("{}", case.case), say("{}", bare(record.input, _ASKED)), say("{}", answer), ours(score(case.current, case.current_runs)))
        for case, record in found if record is not None and (answer := _answered(record))
    ]  # fmt: skip
    total = len(passing_cases(suite, len(suite.cases)))
    return Table(("case", "asked", "answer", "now"), tuple(rows), more=total - len(rows) if rows else 0, whole="the record")


def _answered(record: CaseRecord) -> str:
    trial = _telling(record, failing=False)
    return answer_text(trial.answer) if trial is not None else ""


def why_lines(suite: SuiteVerdict, details: Details) -> tuple[Said, ...]:
    """Why each red or failing case is so, on one line: its first failed check, else the one that got worse, and what that says of the answer.

    The first few end with the answer itself.
    """
    cases = {case.case: case for case in suite.cases if case.verdict not in ("flaky", "error")}
    found = ((cases[name], details.answers[name][1]) for name in shown_cases(suite) if name in details.answers and name in cases)
    told = [(line, record) for case, record in found if (line := _why(case, record))]
    return tuple(_with_answer(line, record) if place < _QUOTED else line for place, (line, record) in enumerate(told))


def _with_answer(line: Said, record: CaseRecord | None) -> Said:
    """The line and what the system answered, unless the check's own words quote that."""
    trial = _telling(record, failing=True)
    answer = answer_text(trial.answer).strip() if trial is not None and trial.error is None else ""
    return line if not answer or f'"{answer}"' in line.render(str) else say("{}; the answer now: {}", line, answer)


def _why(case: CaseVerdict, record: CaseRecord | None) -> Said | None:
    trial = _telling(record, failing=True)
    checks = trial.checks if trial is not None else ()
    worse = {check.check for check in case.checks if check.verdict == "regressed"}
    failed = [check for check in checks if not check.passed] or [check for check in checks if check.id in worse]
    if not failed:
        return None
    first, word = failed[0], "got worse in" if failed[0].passed else "failed"
    more = f" and {count(len(failed) - 1, 'more check')}" if len(failed) > 1 else ""
    return say("{} {} {}{}{}", case.case, ours(word), first.id, ours(more), say(": {}", first.detail) if first.detail else ours(""))


def _view(case_id: str, word: Said, baseline: CaseRecord | None, current: CaseRecord | None) -> AnswerView:
    before, now = _telling(baseline, failing=False), _telling(current, failing=True)
    asked = current or baseline
    return AnswerView(
        case=case_id, word=word, question=asked.input if asked else "", baseline=_said(before), now=_said(now), checks="\n".join(_check_lines(current, now))
    )


def _telling(record: CaseRecord | None, *, failing: bool) -> Trial | None:
    """The trial that tells most: now one that fails, of the baseline one that passed; else the first."""
    if record is None or not record.trials:
        return None
    measured = record.measured
    wanted = (trial for trial in measured if bool(trial.passed) is not failing)
    return next(wanted, measured[0] if measured else record.trials[0])


def _said(trial: Trial | None) -> str:
    if trial is None:
        return "(no run)"
    if trial.error is not None:
        return f"{trial.error.code}: {trial.error.message}\n{trial.error.detail}".rstrip()
    return answer_text(trial.answer) or "(nothing)"


def answer_text(answer: Any) -> str:
    """An answer as a person reads it: its output, then its other parts one a line."""
    if not isinstance(answer, Mapping):
        return _text(answer)
    others = (f"{name}: {_text(value)}" for name, value in answer.items() if name != "output" and name not in _UNSAID)
    return "\n".join(part for part in (_text(answer.get("output")), *others) if part)


def _text(value: Any) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    return json.dumps(value, ensure_ascii=False, indent=1 if isinstance(value, Mapping) else None)


def _check_lines(record: CaseRecord | None, trial: Trial | None) -> Iterable[str]:
    """Failed checks first, each with its score and its own words; then how many runs failed to run."""
    checks: Sequence[Any] = trial.checks if trial else ()
    for check in sorted(checks, key=lambda result: result.passed):
        yield f"{'passed' if check.passed else 'failed'} {check.id} ({number(check.score)}){f': {check.detail}' if check.detail else ''}"
    errors = [failed.error for failed in (record.trials if record else ()) if failed.error is not None]
    if errors and record is not None:
        yield f"{len(errors)} of {len(record.trials)} runs could not be measured: {errors[0].code}: {errors[0].message}"
