"""The audit of a judge: worded and laid out like every other report, and as JSON."""

from __future__ import annotations

import dataclasses
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from evalaction.core.agreement import Confusion, Correlation
from evalaction.core.audit import Agreement, Audit, Compared, Missing
from evalaction.core.checks.base import one_line
from evalaction.report.figures import NOTHING, number
from evalaction.report.said import Said, count, join, ours, say
from evalaction.report.tables import NO_ROWS, Row, Table
from evalaction.report.view import FILE_LIMIT, Fold, ReportView, SuiteView

SCHEMA_VERSION = 1
_EPSILON = 1e-9
_SHOWN = 200
"""Characters of an answer beside the judge's words."""
_KEPT = 2000
"""Characters of an answer in the JSON form."""
_WHOLE = "the JSON form (--format json)"
_MARKS = {"passed": "✅", "published": "⚪", "below_threshold": "❌", "not_comparable": "⚠️"}
_MISSING = {"judge_error": "the judge gave no verdict", "not_measured": "the run could not be measured", "not_judged": "the answer was empty, and no judge was asked"}

Word = Literal["passed", "published", "below_threshold", "not_comparable"]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """What an audit comes to: the verdict's word, and why in one line."""

    word: Word
    meaning: str


def judgement(audit: Audit, min_kappa: float | None) -> Judgement:
    """`below_threshold` when kappa is below what was asked for, `not_comparable` when there is nothing to compare or no kappa to ask it of."""
    kappa = audit.overall.confusion.kappa
    if not audit.compared:
        return Judgement(word="not_comparable", meaning=f"none of {count(len(audit.missing), 'label')} found a verdict: {_why_missing(audit.missing)}")
    if min_kappa is None:
        return Judgement(word="published", meaning=_summary(audit.overall.confusion))
    if kappa is None:
        one = "pass" if audit.overall.confusion.both_pass else "fail"
        return Judgement(word="not_comparable", meaning=f"kappa is not defined, since judge and people said {one} every time; label answers of the other kind as well")
    if kappa < min_kappa - _EPSILON:
        return Judgement(word="below_threshold", meaning=f"kappa {number(kappa)} is below --min-kappa {number(min_kappa)}")
    return Judgement(word="passed", meaning=f"kappa {number(kappa)} reaches --min-kappa {number(min_kappa)}")


def _why_missing(missing: Iterable[Missing]) -> str:
    reasons = Counter(one.why for one in missing)
    return "; ".join(f"{words}: {reasons[why]:,}" for why, words in _MISSING.items() if reasons[why])


def _summary(confusion: Confusion) -> str:
    return f"judge and people agree in {_share(confusion.agreement)} of {count(confusion.total, 'verdict')}, kappa {_kappa(confusion)}"


def _share(value: float | None) -> str:
    return number(value)


def _kappa(confusion: Confusion) -> str:
    interval = confusion.kappa_interval
    return "not defined" if interval is None else f"{number(confusion.kappa)} (95%: {number(interval[0])} to {number(interval[1])})"


def audit_view(audit: Audit, found: Judgement, judges: Sequence[Mapping[str, Any]], *, tool_version: str = "") -> ReportView:
    """The audit as a report: the false passes first, since a wrong pass is worse than a wrong fail. `judges` describe those of the record."""
    section = SuiteView(
        name="", word=found.word, mark=ours(_MARKS[found.word]), headline=ours(""), notes=tuple(_notes(audit, judges)), metrics=_criteria_table(audit),
        regressed=_wrong_table("false pass: people failed it", audit.false_passes), failing=_wrong_table("false fail: people passed it", audit.false_fails),
        folds=(_missing_fold(audit.missing),) if audit.missing else (), pointer=_WHOLE,
    )  # fmt: skip
    headline = say("{}: {}", ours(found.word), ours(found.meaning))
    return ReportView(word=found.word, mark=section.mark, headline=headline, suites=(section,), limit=FILE_LIMIT, tool_version=tool_version)


def _notes(audit: Audit, judges: Sequence[Mapping[str, Any]]) -> Iterable[Said]:
    if judges:
        yield say("Judge: {}", join(say("{}, prompt version {}", f"{one.get('provider')}:{one.get('model')}", str(one.get("prompt_version"))) for one in judges))
    overall = audit.overall
    yield ours(f"{count(len(audit.compared) + len(audit.missing), 'label')}, {len(audit.compared):,} of them beside a verdict of the judge")
    if audit.missing:
        yield ours(f"**Without a verdict**: {_why_missing(audit.missing)}")
    if audit.compared:
        yield ours(f"{_summary(overall.confusion)}; {_rates(overall.confusion)}")
        yield ours(f"Length: {_verbosity(overall)}")
    assumed = sum(one.labelled.is_assumed for one in audit.compared)
    if assumed:
        yield ours(f"{count(assumed, 'label')} named no run of several: compared with the first")


def _rates(confusion: Confusion) -> str:
    wrong, missed = confusion.false_pass_rate, confusion.false_fail_rate
    return f"of what people failed the judge passed {_share(wrong)}, of what people passed it failed {_share(missed)}"


def _verbosity(found: Agreement) -> str:
    if found.verbosity is None:
        return "no correlation of the judge's score with the length of the answer can be computed: one of them never changes, or there are fewer than three answers"
    people = "" if found.verbosity_of_people is None else f"; people's verdicts {number(found.verbosity_of_people.value)}"
    return f"the judge's score and the length of the answer have the rank correlation {_correlation(found.verbosity)}{people}"


def _correlation(found: Correlation) -> str:
    p_value = "" if found.p_value is None else f", p = {number(found.p_value)}" if found.p_value >= 0.0001 else ", p < 0.0001"
    return f"{number(found.value)} ({found.pairs:,} answers{p_value})"


def _criteria_table(audit: Audit) -> Table:
    rows = [(say("{}", name), *map(ours, _criterion_cells(agreement))) for name, agreement in audit.criteria.items()]
    header = ("criterion", "both pass", "false pass", "false fail", "both fail", "agreement", "kappa", "length")
    return Table(header, tuple(rows), whole=_WHOLE)


def _criterion_cells(found: Agreement) -> tuple[str, ...]:
    counted = found.confusion
    counts = (f"{value:,}" for value in (counted.both_pass, counted.false_pass, counted.false_fail, counted.both_fail))
    return (*counts, _share(counted.agreement), _kappa(counted), number(found.verbosity.value) if found.verbosity else NOTHING)


def _wrong_table(title: str, wrong: Sequence[Compared]) -> Table:
    if not wrong:
        return NO_ROWS
    return Table((title, "criterion", "the judge said", "the answer", "note"), tuple(map(_wrong_row, wrong)), whole=_WHOLE)


def _wrong_row(one: Compared) -> Row:
    labelled = one.labelled
    case = say("{} run {}", labelled.case, labelled.repeat) if labelled.repeat else say("{}", labelled.case)
    score = ours(number(one.score)) if not one.words else say("{} {}", ours(number(one.score)), one.words)
    return case, say("{}", labelled.check), score, say("{}", one_line(one.answer, _SHOWN)), say("{}", labelled.label.note) if labelled.label.note else ours(NOTHING)


def _missing_fold(missing: Sequence[Missing]) -> Fold:
    rows = tuple((say("{}", one.labelled.case), say("{}", one.labelled.check), ours(_MISSING[one.why]), say("{}", one.message)) for one in missing)
    return Fold(title=ours(f"Labels without a verdict ({len(missing):,})"), table=Table(("case", "criterion", "why", "message"), rows, whole=_WHOLE))


def audit_json(audit: Audit, found: Judgement, judges: Sequence[Mapping[str, Any]], *, exit_code: int, min_kappa: float | None) -> str:
    """One strict JSON document; figures are not rounded, and what is not defined is null."""
    reasons = Counter(one.why for one in audit.missing)
    return json.dumps({
        "schema_version": SCHEMA_VERSION, "verdict": found.word, "exit_code": exit_code, "reason": found.meaning, "min_kappa": min_kappa, "judges": [dict(one) for one in judges],
        "labels": len(audit.compared) + len(audit.missing), "compared": len(audit.compared), "without_verdict": {why: reasons[why] for why in _MISSING},
        **_agreement(audit.overall), "criteria": [{"criterion": name, **_agreement(agreement)} for name, agreement in audit.criteria.items()],
        "false_passes": [_wrong(one) for one in audit.false_passes], "false_fails": [_wrong(one) for one in audit.false_fails],
        "missing": [{**_place(one), "why": one.why, "message": one.message} for one in audit.missing],
    }, indent=1, ensure_ascii=False, allow_nan=False)  # fmt: skip


def _agreement(found: Agreement) -> dict[str, Any]:
    counted = found.confusion
    return {
        "agreement": counted.agreement, "kappa": counted.kappa, "kappa_interval": counted.kappa_interval, "false_pass_rate": counted.false_pass_rate,
        "false_fail_rate": counted.false_fail_rate, "confusion": dataclasses.asdict(counted),
        "verbosity": {"judge": _plain(found.verbosity), "people": _plain(found.verbosity_of_people)},
    }  # fmt: skip


def _plain(found: Correlation | None) -> dict[str, Any] | None:
    return None if found is None else {"correlation": found.value, "pairs": found.pairs, "p_value": found.p_value}


def _place(one: Compared | Missing) -> dict[str, Any]:
    return {"suite": one.labelled.suite, "case": one.labelled.case, "criterion": one.labelled.check, "repeat": one.labelled.repeat}


def _wrong(one: Compared) -> dict[str, Any]:
    return {**_place(one), "score": one.score, "judge": one.words, "note": one.labelled.label.note, "length": one.length, "answer": one.answer[:_KEPT]}
