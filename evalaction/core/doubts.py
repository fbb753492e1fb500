"""Warnings: doubts that travel with a verdict and never change it, one line each."""

from __future__ import annotations

from collections.abc import Iterable, Set

from evalaction.core.comparison import EPSILON, Outcome
from evalaction.core.evidence import Evidence, describe, excused, misses, say, stored_runs
from evalaction.core.metrics import lower_is_better
from evalaction.core.sample import mean
from evalaction.core.verdict import Counts, Doubt

PASSES_FOR_STATISTICS = 5
"""Stored runs from which on chance can be told from change for checks that pass or fail."""

MOST_NAMES = 10


def warnings_of(evidence: Evidence, counts: Counts) -> Iterable[str | Doubt]:
    """All warnings, the widest first."""
    header, rules = evidence.current.header, evidence.comparison.rules
    yield from header.notes
    if header.selection.is_partial:
        yield Doubt(kind="partial_run", message=f"partial run ({describe(header.selection)}): only the cases that ran were compared")
    yield from _threshold_doubts(evidence)
    if evidence.baseline is None:
        return
    if rules.name == "tolerance" and (runs := stored_runs(evidence)) is not None and runs < PASSES_FOR_STATISTICS:
        more = f"measure with --repeats {PASSES_FOR_STATISTICS} and accept" if header.repeatable else "accept results of more runs of each case"
        yield Doubt(kind="thin_baseline", message=f"the baseline holds {runs} run{'s' if runs > 1 else ''} of each case: point comparison; {more} for more certainty")
    fell = counts.regressed or any(metric.verdict == "regressed" for metric in evidence.comparison.metrics)
    if rules.name != "statistical" and not rules.can_confirm and not evidence.is_score and not header.is_replayed and fell:
        yield Doubt(kind="unconfirmed", message="the answers cannot be asked for again here: the drop was not confirmed by further runs")
    yield from evidence.comparison.notes
    yield from _noise(evidence)
    yield from _drops(evidence)
    yield from _check_warnings(evidence.comparison.outcomes, {"removed"} if {"metric", "check"} & {*evidence.policy.fail_on} else {"removed", "missing"})


def _noise(evidence: Evidence) -> Iterable[str]:
    """What looks worse by more than its tolerance and was not proven; where nothing was tested, it was not confirmed."""
    tested = evidence.comparison.rules.name == "statistical"
    for metric in (*evidence.comparison.metrics, *evidence.comparison.families):
        sign = -1 if lower_is_better(metric.metric) else 1
        if metric.verdict == "within_noise" and metric.delta is not None and metric.tolerance is not None and -sign * metric.delta > metric.tolerance + EPSILON:
            why = "which was not confirmed" if metric.p_value is None else f"which is within the noise (p {metric.p_value:.2g})"
            yield f"{metric.metric} looks worse by {abs(metric.delta):.4f}, {why}"
    names = [outcome.pair.id for outcome in evidence.comparison.outcomes if outcome.verdict.verdict == "within_noise"]
    if names:
        listed = ", ".join(names[:MOST_NAMES]) + (f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else "")
        why = "within the noise of the runs" if tested else "which was not confirmed"
        yield f"{len(names)} case{'s look' if len(names) > 1 else ' looks'} worse by more than the tolerance, {why}: {listed}"


def _drops(evidence: Evidence) -> Iterable[str]:
    for metric in evidence.comparison.metrics:
        moved = "rose" if lower_is_better(metric.metric) else "fell"
        if metric.verdict == "within_tolerance":
            yield f"{metric.metric} {moved} {abs(metric.delta or 0):.4f}, inside its tolerance of {say(metric.tolerance)}"
        if metric.verdict == "regressed" and "metric" not in evidence.policy.fail_on:
            yield f"{metric.metric} {moved} {abs(metric.delta or 0):.4f}, beyond its tolerance of {say(metric.tolerance)}; the policy does not fail on metrics"
    if "metric" not in evidence.policy.fail_on:
        yield from (f"the baseline has {name}, and this run did not produce it; the policy does not fail on metrics" for name in evidence.comparison.missing)
    lost = {one.case for one in evidence.comparison.lost}
    bare = "case" not in evidence.policy.fail_on and "check" not in evidence.policy.fail_on
    if bare and (worse := sum(outcome.verdict.verdict in ("regressed", "within_noise") and outcome.pair.id not in lost for outcome in evidence.comparison.outcomes)):
        yield f"{worse} case{'s' if worse > 1 else ''} got worse; the policy does not fail on single cases"


def _check_warnings(outcomes: Iterable[Outcome], words: Set[str]) -> Iterable[str]:
    for outcome in outcomes:
        gone = [check.check for check in outcome.verdict.checks if check.verdict in words]
        if gone and outcome.pair.status == "compared":
            yield f"case {outcome.pair.id} lost {', '.join(gone)}: the baseline has it, this run does not"


def _threshold_doubts(evidence: Evidence) -> Iterable[str]:
    for name, threshold in evidence.policy.thresholds.items():
        whole = evidence.comparison.whole.get(name)
        if whole is None or not whole.values:
            if excused(name, evidence):
                yield f"{name} has a threshold of {say(threshold)}, which could not be looked at in this run"
            continue
        sign = -1 if lower_is_better(name) else 1
        if sign * (threshold - mean(whole.values)) > EPSILON and not misses(name, whole, threshold, deterministic=evidence.current.header.deterministic):
            yield f"{name} is {say(mean(whole.values))}, short of its threshold of {say(threshold)} by less than the noise of this run"
