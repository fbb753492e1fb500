"""A verdict with what the base system said: reasons that do not stand fall, and the word follows from those that are left."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Sequence

from evalaction.core.blame import fallen
from evalaction.core.evidence import say
from evalaction.core.verdict import BlameFinding, BlameInfo, CaseVerdict, CheckVerdict, Counts, MetricVerdict, Reason, SuiteVerdict, VerdictWord

_NOTE_MOVED = "the base system, run now, fell as well"
_NOTE_NOISE = "not worse than baseline and base system together"


def outcome_of(findings: Sequence[BlameFinding]) -> BlameInfo:
    """What the findings say together; system, commit and calls are to be filled in."""
    standing, moved = [one for one in findings if one.stands], [one for one in findings if one.moved]
    if standing:
        more = f"; {len(findings) - len(standing)} of {len(findings)} findings do not hold against it" if len(standing) < len(findings) else ""
        return BlameInfo(outcome="change", findings=tuple(findings), message=f"this change is worse than the base system as it answers now ({_sides(_plainest(standing))}){more}")
    if moved:
        worse = f"the base system, run now, is itself worse than the stored baseline ({_sides(moved[0])})"
        message = f"{worse}, and this change is no worse than it: accept again if the new level is right"
        return BlameInfo(outcome="environment", findings=tuple(findings), message=message)
    message = "together with the runs of the base system made now, the drop is no larger than noise explains"
    return BlameInfo(outcome="noise", findings=tuple(findings), message=message)


def _plainest(findings: Sequence[BlameFinding]) -> BlameFinding:
    """One that speaks of a case, where there is one."""
    return next((one for one in findings if one.case is not None), findings[0])


def _sides(one: BlameFinding) -> str:
    subject = " of ".join(part for part in (one.check, f"case {one.case}" if one.case else None) if part) or one.metric
    return f"{subject}: baseline {say(one.baseline)}, base now {say(one.base_now)}, this run {say(one.current)}"


def blamed(verdict: SuiteVerdict, info: BlameInfo) -> SuiteVerdict:
    """The verdict after blame was assigned, or could not be: then it stands, and says so."""
    if info.outcome == "unassigned":
        return dataclasses.replace(verdict, blame=info, warnings=(info.message, *verdict.warnings))
    reasons = fallen(info.findings, verdict.reasons)
    gone = {(one.case, one.check, one.metric): one for one in info.findings if not one.stands}
    cases = tuple(_case(case, gone, reasons) for case in verdict.cases)
    word: VerdictWord = "regressed" if any(reason.code.endswith("_REGRESSED") for reason in reasons) else _cleared_word(verdict, info)
    return dataclasses.replace(
        verdict, verdict=word, reasons=reasons, blame=info, cases=cases, counts=_counts(verdict.counts, cases),
        metrics=tuple(_series(one, gone.get((None, None, one.metric))) for one in verdict.metrics),
        checks=tuple(_series(one, gone.get((None, one.metric, None))) for one in verdict.checks),
        warnings=verdict.warnings if word == "regressed" else (info.message, *verdict.warnings),
    )  # fmt: skip


def _cleared_word(verdict: SuiteVerdict, info: BlameInfo) -> VerdictWord:
    if any(reason.code == "TOO_FEW_COMPARABLE" for reason in verdict.reasons):
        return "not_comparable"
    return "environment_drift" if info.outcome == "environment" else "passed"


Gone = dict[tuple[str | None, str | None, str | None], BlameFinding]


def _case(case: CaseVerdict, gone: Gone, reasons: Sequence[Reason]) -> CaseVerdict:
    own = [one for key, one in gone.items() if key[0] == case.case]
    if case.verdict != "regressed" or not own:
        return case
    checks = tuple(_check(check, gone.get((case.case, check.check, None))) for check in case.checks)
    if any(reason.case == case.case for reason in reasons):
        return dataclasses.replace(case, checks=checks)
    note = _NOTE_MOVED if any(one.moved for one in own) else _NOTE_NOISE
    checks = tuple(dataclasses.replace(check, verdict="within_noise") if check.verdict == "regressed" else check for check in checks)
    return dataclasses.replace(case, verdict="within_noise", note=note, checks=checks)


def _check(check: CheckVerdict, finding: BlameFinding | None) -> CheckVerdict:
    return check if finding is None else dataclasses.replace(check, verdict="within_noise")


def _series(series: MetricVerdict, finding: BlameFinding | None) -> MetricVerdict:
    return series if finding is None else dataclasses.replace(series, verdict="within_noise")


def _counts(counts: Counts, cases: Sequence[CaseVerdict]) -> Counts:
    words = Counter(case.verdict for case in cases)
    return dataclasses.replace(counts, regressed=words["regressed"], within_noise=words["within_noise"])
