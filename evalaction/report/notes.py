"""What stands under the headline and is never folded: what was not looked at, what was loosened, what was compared with what."""

from __future__ import annotations

from collections.abc import Iterable

from evalaction.core.spec_base import RAW
from evalaction.core.verdict import CallsInfo, CaseVerdict, Reason, SuiteVerdict
from evalaction.report.figures import age, change, number
from evalaction.report.headline import ended_early, first_error
from evalaction.report.said import Said, count, join, listed, ours, say

_IDS = 20
"""Ids in one note at most."""
_METRICS = 6
"""Metrics in one line at most."""
_RUNS_FOR_STATISTICS = 5
_IN_TABLES = frozenset({"CASE_REGRESSED", "CHECK_REGRESSED", "METRIC_REGRESSED", "CASE_REMOVED", "BELOW_THRESHOLD", "TOO_MANY_ERRORS"})
"""Reasons that the headline or a table tells already."""


def notes_of(suite: SuiteVerdict) -> Iterable[Said]:
    """Notes of one suite, the gravest first."""
    yield from _errors(suite)
    yield from _removed(suite)
    yield from _below_minimum(suite)
    if suite.changed_cases:
        yield say("**Defined anew**, and so not compared, in {}: {}", ours(count(len(suite.changed_cases), "case")), listed(suite.changed_cases, _IDS))
    if suite.loosened:
        yield say("**Loosened policy** against the accepted one: {}", listed(suite.loosened, _IDS))
    if suite.verdict != "config_error":
        told = ended_early(suite) if suite.verdict == "not_measured" else None
        yield from other_reasons(reason for reason in suite.reasons if reason is not told)
    if suite.blame is not None:
        yield say("**Blame**{}: {}", say(" (base {})", suite.blame.commit[:12]) if suite.blame.commit else ours(""), suite.blame.message)
    if suite.selection:
        yield say("**Filtered run** ({}): only the cases that ran were looked at", suite.selection)
    yield from _thin(suite)
    yield from (say("{}", doubt.message) for doubt in suite.doubts if doubt.kind == "unconfirmed")


def _errors(suite: SuiteVerdict) -> Iterable[Said]:
    lost = [case.case for case in suite.cases if case.verdict == "error"]
    if not lost:
        return
    note = say("**Not measured**, error in {}: {}", ours(count(len(lost), "case")), listed(lost, _IDS))
    first = first_error(suite)
    yield say("{}; first reason: {} {}", note, first[0], first[1]) if first and suite.verdict != "not_measured" else note


def _below_minimum(suite: SuiteVerdict) -> Iterable[Said]:
    low = [reason for reason in suite.reasons if reason.code == "BELOW_THRESHOLD" and reason.case is not None]
    if low:
        shown = join(say("{} is {}", reason.case or "", ours(f"{number(reason.current)} of {number(reason.baseline)}")) for reason in low[:_IDS])
        yield say("**Below its minimum**: {}{}", shown, ours(f" and {len(low) - _IDS:,} more" if len(low) > _IDS else ""))


def _removed(suite: SuiteVerdict) -> Iterable[Said]:
    if suite.removed_cases:
        yield say("**Removed**, {} of the baseline no longer in the suite: {}", ours(count(len(suite.removed_cases), "case")), listed(suite.removed_cases, _IDS))
    lost = [(case, check.check) for case in suite.cases if _is_compared(case) for check in case.checks if check.verdict == "removed"]
    if lost:
        shown = join(say("{} of {}", check, case.case) for case, check in lost[:_IDS])
        more = f" and {len(lost) - _IDS:,} more" if len(lost) > _IDS else ""
        yield say("**Removed checks**: {}{}", shown, ours(more))


def _is_compared(case: CaseVerdict) -> bool:
    return case.verdict not in ("removed", "added", "changed", "error")


def _thin(suite: SuiteVerdict) -> Iterable[Said]:
    runs = suite.baseline.runs
    if suite.rule == "tolerance" and runs is not None and runs < _RUNS_FOR_STATISTICS:
        asked = f"for more runs measure with `--repeats {_RUNS_FOR_STATISTICS}` and accept" if suite.calls.planned else "results of more runs of each case give more certainty"
        yield ours(f"The baseline holds {count(runs, 'run')} of each case: point comparison; {asked}")


def other_reasons(reasons: Iterable[Reason], limit: int = 10) -> tuple[Said, ...]:
    """Reasons that no headline and no table tells, each with its code."""
    told = [say("{}: {}", reason.code, reason.message) for reason in reasons if reason.code not in _IN_TABLES and not _is_case_error(reason)]
    return (*told[:limit], *([ours(f"{len(told) - limit:,} more reasons in verdict.json")] if len(told) > limit else []))


def _is_case_error(reason: Reason) -> bool:
    """A failed trial's own code; the errors table lists it."""
    return reason.case is not None and reason.code not in _IN_TABLES


def suite_line(suite: SuiteVerdict, uncommitted: int = 0) -> Said:
    """What ran: cases, runs, commit with the files that are changed and not in it, dataset."""
    ran = sum(case.current_runs.measured for case in suite.cases if case.current_runs is not None)
    cases = len(suite.cases) - len(suite.removed_cases)
    parts = [say("**This run**: {}, {} compared, {}", ours(count(cases, "case")), suite.counts.compared, ours(count(ran, "run")))]
    changed = ours(f" with uncommitted changes in {count(uncommitted, 'file')}" if uncommitted else "")
    parts += [say("commit {}{}", suite.commit[:12], changed)] if suite.commit else []
    parts += [say("dataset {}", suite.dataset_version)] if suite.dataset_version else []
    parts += [say("digest {}", suite.digest[:12])] if suite.digest else []
    return join(parts)


def baseline_line(suite: SuiteVerdict) -> Said:
    """Which baseline: commit, run, age, who accepted it and why."""
    found = suite.baseline
    if not found.found:
        return ours("**Baseline**: none; nothing was compared")
    if found.suite_level_only:
        return say("**Baseline**: the score in {}, suite level only", found.file or "a file")
    parts = [say("commit {}", found.commit[:12])] if found.commit else []
    parts += [say("run {}", found.run_id)] if found.run_id else []
    parts += [ours(count(found.runs, "stored run"))] if found.runs else []
    parts += [ours(f"{count(found.behind_by, 'commit')} behind the default branch")] if found.behind_by else []
    parts.append(say("accepted {}", ours(age(found.age_days))) if found.age_days is not None else ours("accepted"))
    by = say(" by {}", found.accepted_by) if found.accepted_by else ours("")
    why = say(": {}", found.reason) if found.reason else ours("")
    return say("**Baseline**: {}{}{}{}", join(parts), by, why, ours(f" (acceptance {found.acceptances:,})" if found.acceptances and found.acceptances > 1 else ""))


def replayed_line(calls: CallsInfo) -> Said:
    """Fresh calls and replayed ones, apart; nothing where no cassette was used."""
    if not calls.replayed + calls.judge_replayed:
        return ours("")
    judge = f"; of the judge: {calls.judge_made:,} fresh, {calls.judge_replayed:,} replayed" if calls.judge_made + calls.judge_replayed else ""
    return ours(f"**Replayed**, calls: {calls.made:,} fresh, {calls.replayed:,} replayed{judge}; cost and latency of what was replayed are those of the recording")


def anchor_line(suite: SuiteVerdict) -> Said | None:
    """The cumulative change since the anchor and the acceptances in between; None without an anchor, and where that is this baseline and nothing moved."""
    anchor = suite.baseline.anchor
    if anchor is None or (not anchor.acceptances_since and all(moved.metric in RAW or not moved.delta for moved in anchor.changes)):
        return None
    gated = [moved for moved in anchor.changes if moved.metric not in RAW]
    changes = join(say("{} {}", moved.metric, ours(change(moved.delta))) for moved in sorted(gated, key=lambda moved: (moved.delta, moved.metric))[:_METRICS])
    more = f" and {len(gated) - _METRICS} more in verdict.json" if len(gated) > _METRICS else ""
    of = say(" (commit {})", anchor.commit[:12]) if anchor.commit else ours("")
    when = ours(f"{count(anchor.acceptances_since, 'acceptance')} ago" if anchor.acceptances_since else "which is this baseline")
    return say("**Since the anchor**{}, {}: {}{}", of, when, changes or ours("nothing to compare"), ours(more))


def rule_lines(suite: SuiteVerdict) -> Iterable[Said]:
    """How it was judged; under the statistical rule what red means and what could not have been seen."""
    if suite.rule == "exact":
        yield ours(f"**Rule**: exact; {'replayed answers do not vary, so a drop counts at once' if suite.calls.replayed else 'a drop counts when it stands in three runs'}")
    elif suite.rule == "tolerance":
        yield ours("**Rule**: point comparison within tolerances")
    elif suite.rule == "statistical":
        yield ours(
            "**Rule**: statistical. Red means: run-to-run noise would cause a drop like this at most 1 time in 100 for the suite and at most 1 time in 100 for all cases together, "
            "and it was still there after the suspicious cases were run again"
        )
    yield from _power(suite)


def _power(suite: SuiteVerdict) -> Iterable[Said]:
    stated = [metric for metric in suite.metrics if metric.mde is not None]
    if beyond := [metric.metric for metric in stated if metric.metric not in RAW and (metric.mde or 0) > (metric.baseline or 0)]:
        yield say("Too few cases or runs to promise that any drop of {} would show", listed(beyond, _IDS))
    known = [(metric.metric, metric.mde) for metric in stated if metric.metric not in beyond]
    if known:
        drops = join(say("{} of {}", ours(number(mde)), name) for name, mde in known[:6])
        yield say("Smallest drop that {} would show four times in five: {}; smaller drops usually pass", ours(count(suite.counts.compared, "compared case")), drops)
