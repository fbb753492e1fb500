"""The headline: the verdict's word and the reason in one sentence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable

from evalaction.core.metrics import lower_is_better
from evalaction.core.verdict import GONE, Reason, SuiteVerdict, Verdict
from evalaction.report.figures import number
from evalaction.report.said import Said, count, join, listed, ours, say
from evalaction.report.tables import first_failure

NOTHING_COMPARED = "nothing was compared, there is no accepted baseline"
SUITE_LEVEL_ONLY = "suite level only: the baseline is one number, no case was compared"
_PLAIN = {
    "passed": "nothing got worse",
    "environment_drift": "the provider moved, not this change; accept again if the new level is right",
    "not_run": "nothing was measured",
    "accepted": "the baseline was accepted",
    "renewed": "the baseline was renewed",
    "merged": "the shards were joined",
    "published": "the report was written",
    "measured": "nothing was compared, as asked",
    "not_measured": "this could not be measured",
    "not_comparable": "too little is left to compare",
    "drifted": "the new baseline would drift below its anchor",
    "config_error": "a person must change something before this can be judged",
    "internal_error": "a bug in eval-gate; this is no verdict on the change",
}
_SHOWN = 3
"""Names in a headline at most."""


def overall_sentence(verdict: Verdict) -> Said:
    """The headline of the whole report: one suite's own, or how many suites are what."""
    if len(verdict.suites) == 1:
        suite = verdict.suites[0]
        return _headline(verdict.verdict, say("{} (suite {})", _why(suite), suite.suite), would_fail=_would_fail(verdict))
    if not verdict.suites:
        return _headline(verdict.verdict, _first_reason(verdict.verdict, verdict.reasons), would_fail=_would_fail(verdict))
    return _headline(verdict.verdict, _many(verdict.suites), would_fail=_would_fail(verdict))


def suite_sentence(suite: SuiteVerdict) -> Said:
    """The headline of one suite among several."""
    return _headline(suite.verdict, _why(suite))


def _would_fail(verdict: Verdict) -> str:
    return f", would fail with exit {verdict.would_exit} (report-only)" if verdict.report_only and verdict.would_exit != verdict.exit_code else ""


def _headline(word: str, why: Said, would_fail: str = "") -> Said:
    return say("{}: {}", ours(word + would_fail), why)


def _many(suites: tuple[SuiteVerdict, ...]) -> Said:
    words = Counter(suite.verdict for suite in suites)
    tally = ", ".join(f"{number_of} {word}" for word, number_of in words.most_common())
    bare = sum(_nothing_compared(suite) for suite in suites)
    tail = f"; nothing was compared in {bare:,} of them, there is no accepted baseline" if bare else ""
    gone = [suite.suite for suite in suites if suite.is_gone]
    said = ours(f"of {count(len(suites), 'suite')} {tally}{tail}")
    return say("{}; accepted and not there any more: {}", said, listed(gone, _SHOWN)) if gone else said


def _nothing_compared(suite: SuiteVerdict) -> bool:
    return not suite.baseline.found and suite.verdict in ("no_baseline", "below_threshold", "not_measured", "not_comparable", "regressed")


def _why(suite: SuiteVerdict) -> Said:
    if suite.verdict == "no_baseline":
        return ours(f"{NOTHING_COMPARED}; {count(len(suite.cases), 'case')} measured")
    if suite.is_gone:
        return say("{}", suite.reasons[0].message)
    sentence = _SENTENCES.get(suite.verdict, _other)(suite)
    if suite.baseline.suite_level_only:
        return say("{}; {}", sentence, ours(SUITE_LEVEL_ONLY))
    return say("{}; {}", sentence, ours(NOTHING_COMPARED)) if _nothing_compared(suite) else sentence


def _regressed(suite: SuiteVerdict) -> Said:
    cases = {reason.case for reason in suite.reasons if reason.code in ("CASE_REGRESSED", "CHECK_REGRESSED") and reason.case is not None}
    pieces = [ours(f"{count(len(cases), 'case')} of {suite.counts.compared:,} got worse")] if cases else []
    pieces += _named(suite, "METRIC_REGRESSED", "{} got worse")
    families = [reason.check or "" for reason in suite.reasons if reason.code == "CHECK_REGRESSED" and reason.case is None]
    pieces += [say("{} got worse over the suite", listed(families, _SHOWN))] if families else []
    in_part = any(reason.case is not None for reason in suite.reasons if reason.code == "METRIC_MISSING")
    pieces += _named(suite, "METRIC_MISSING", "{} was not produced for every case" if in_part else "{} was not produced")
    gone = sum(reason.code == "CASE_REMOVED" for reason in suite.reasons)
    pieces += [ours(f"{count(gone, 'case')} of the baseline {'is' if gone == 1 else 'are'} gone")] if gone else []
    return join(pieces, "; ") or ours("worse than the accepted baseline")


def _figures(suite: SuiteVerdict, name: str) -> str:
    """A metric now and then."""
    found = next((metric for metric in suite.metrics if metric.metric == name), None)
    return f"{number(found.current)}, the accepted one {number(found.baseline)}" if found else "not measured"


def _named(suite: SuiteVerdict, code: str, template: str) -> Iterable[Said]:
    names = list(dict.fromkeys(reason.metric or "" for reason in suite.reasons if reason.code == code))
    return [say(template, listed(names, _SHOWN))] if names else []


def _below_threshold(suite: SuiteVerdict) -> Said:
    below = [_threshold(reason) for reason in suite.reasons if reason.code == "BELOW_THRESHOLD"]
    missing = _named(suite, "METRIC_MISSING", "{} has a threshold and was not produced")
    shown = [*below, *missing]
    more = [ours(f"{count(len(shown) - _SHOWN, 'more threshold')} missed")] if len(shown) > _SHOWN else []
    return join([*shown[:_SHOWN], *more], "; ") or ours("below a threshold")


def _threshold(reason: Reason) -> Said:
    if reason.case is not None:
        return say("case {} is {}", reason.case, ours(f"{number(reason.current)}, below its minimum of {number(reason.baseline)}"))
    side = "above" if lower_is_better(reason.metric or "") else "below"
    return say("{} is {}", reason.metric or "", ours(f"{number(reason.current)}, {side} its threshold of {number(reason.baseline)}"))


def _not_measured(suite: SuiteVerdict) -> Said:
    ended = ended_early(suite)
    if ended and ended.code == "NOT_RECORDED":
        return say("{}", ended.message)
    if ended:
        return say("the run ended early: {} {}", ended.code, ended.message)
    if not suite.counts.errors:
        return _first_reason("not_measured", suite.reasons)
    lost = ours(f"{suite.counts.errors:,} of {count(len(suite.cases) - suite.counts.removed, 'case')} could not be measured")
    first = first_error(suite)
    return say("{}; first reason: {} {}", lost, first[0], first[1]) if first else lost


def ended_early(suite: SuiteVerdict) -> Reason | None:
    """The signal or limit that ended a run: a reason that speaks of no case and no metric, and is none of the gate's own."""
    return next((reason for reason in suite.reasons if reason.case is None and reason.metric is None and reason.code not in _OF_THE_GATE), None)


def first_error(suite: SuiteVerdict) -> tuple[str, str] | None:
    """Code and message of the first failing reason, said once for all cases that share it."""
    for reason in suite.reasons:
        if reason.case is not None and reason.code not in _OF_THE_GATE:
            return reason.code, reason.message
    found = [first_failure(case) for case in suite.cases if case.verdict == "error" and case.note]
    return found[0] if found and found[0][0] else None


_OF_THE_GATE = frozenset(
    {"CASE_REGRESSED", "CHECK_REGRESSED", "METRIC_REGRESSED", "METRIC_MISSING", "BELOW_THRESHOLD", "CASE_REMOVED", "TOO_MANY_ERRORS", "TOO_FEW_COMPARABLE", "DRIFTED"}
    | GONE
)
"""Reasons of a comparison; every other code is of measuring."""


def _passed(suite: SuiteVerdict) -> Said:
    worse = suite.counts.regressed
    if suite.baseline.suite_level_only:
        return ours(f"pass_rate is {_figures(suite, 'pass_rate')}")
    text = f"nothing got worse in {count(suite.counts.compared, 'compared case')}"
    if worse:
        text = f"{count(worse, 'case')} of {suite.counts.compared:,} got worse, which this policy does not fail on"
    elif suite.counts.within_noise:
        text = f"nothing was proven to be worse in {count(suite.counts.compared, 'compared case')}; {count(suite.counts.within_noise, 'case')} may be"
    if suite.counts.improved:
        text += f", {suite.counts.improved:,} improved"
    told = len(other_warnings(suite))
    return ours(f"{text}; {count(told, 'warning')}" if told else text)


def other_warnings(suite: SuiteVerdict) -> tuple[str, ...]:
    """The warnings that do not stand in the headline block already."""
    above = {doubt.message for doubt in suite.doubts}
    return tuple(warning for warning in suite.warnings if warning not in above)


def _other(suite: SuiteVerdict) -> Said:
    return _first_reason(suite.verdict, suite.reasons)


def _first_reason(word: str, reasons: tuple[Reason, ...]) -> Said:
    """Our words for a verdict, and the first reason's message."""
    general = ours(_PLAIN.get(word, word))
    if word == "config_error":
        return ours(f"{count(len(reasons), 'fault')}: {_PLAIN[word]}") if reasons else general
    return say("{}: {}", general, reasons[0].message) if reasons else general


_SENTENCES: dict[str, Callable[[SuiteVerdict], Said]] = {"regressed": _regressed, "below_threshold": _below_threshold, "not_measured": _not_measured, "passed": _passed}


def meaning(word: str) -> str | None:
    """What a verdict of exit code 0 means, in our words; None for the others."""
    return {**_PLAIN, "no_baseline": NOTHING_COMPARED}.get(word)
