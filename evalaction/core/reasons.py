"""Why a verdict is what it is: one Reason for each thing a policy may object to."""

from __future__ import annotations

from collections.abc import Iterable

from evalaction.core.comparison import EPSILON, Comparison, Outcome, Rules
from evalaction.core.evidence import Evidence, excused, is_lost, misses, say, score_below_floor
from evalaction.core.metrics import lower_is_better
from evalaction.core.sample import mean
from evalaction.core.suite import Policy
from evalaction.core.verdict import MetricVerdict, Reason


def reasons_of(evidence: Evidence) -> Iterable[Reason]:
    """All reasons, regressions first."""
    comparison, policy = evidence.comparison, evidence.policy
    if evidence.baseline is not None:
        for outcome in comparison.outcomes:
            yield from _case_reasons(outcome, comparison.rules)
        if "metric" in policy.fail_on:
            yield from _metric_reasons(comparison)
        if "check" in policy.fail_on:
            yield from _family_reasons(comparison)
        if "inconclusive" in policy.fail_on:
            yield from _inconclusive_reasons(comparison)
        yield from _lost_reasons(comparison)
        yield from _removed_reasons(comparison.outcomes, policy)
    if "threshold" in policy.fail_on:
        yield from _threshold_reasons(evidence)
        yield from _floor_reasons(evidence)
    yield from _error_reasons(evidence)
    if evidence.baseline is not None:
        yield from _unconfirmed_reasons(evidence)
        yield from _comparable_reasons(evidence)


def _case_reasons(outcome: Outcome, rules: Rules) -> Iterable[Reason]:
    verdict, policy = outcome.verdict, rules.policy
    moved = "fell" if rules.name == "statistical" else "passed and now fails"
    if outcome.case_proven and "case" in policy.fail_on:
        message = f"case {verdict.case} fell from {say(verdict.baseline)} to {say(verdict.current)}"
        yield Reason(code="CASE_REGRESSED", message=message, case=verdict.case, baseline=verdict.baseline, current=verdict.current)
    if "check" not in policy.fail_on:
        return
    for check in verdict.checks:
        if check.check in outcome.proven_checks:
            message = f"check {check.check} of case {verdict.case} {moved}: {say(check.baseline)} to {say(check.current)}"
            yield Reason(code="CHECK_REGRESSED", message=message, case=verdict.case, check=check.check, baseline=check.baseline, current=check.current)


def _metric_reasons(comparison: Comparison) -> Iterable[Reason]:
    for metric in comparison.metrics:
        if metric.verdict == "regressed":
            moved = "rose" if lower_is_better(metric.metric) else "fell"
            message = f"{metric.metric} {moved} {abs(metric.delta or 0):.4f}, from {say(metric.baseline)} to {say(metric.current)} ({_certainty(metric)})"
            yield Reason(code="METRIC_REGRESSED", message=message, metric=metric.metric, baseline=metric.baseline, current=metric.current)
    for name in comparison.missing:
        yield Reason(code="METRIC_MISSING", message=f"the baseline has {name}, and this run did not produce it", metric=name)


def _lost_reasons(comparison: Comparison) -> Iterable[Reason]:
    """Checks that single cases lost: averaged over the rest, a metric would look as good as ever."""
    if not {"metric", "check"} & {*comparison.rules.policy.fail_on}:
        return
    for lost in comparison.lost:
        message = f"the baseline has {lost.check} for case {lost.case}, and this run did not produce it"
        yield Reason(code="METRIC_MISSING", message=message, case=lost.case, check=lost.check, metric=lost.metrics[0])


def _certainty(metric: MetricVerdict) -> str:
    beyond = f"tolerance {say(metric.tolerance)}"
    return beyond if metric.p_value is None else f"{beyond}, p {metric.p_value:.2g}"


def _family_reasons(comparison: Comparison) -> Iterable[Reason]:
    """Checks that fell over the whole suite."""
    for family in comparison.families:
        if family.verdict == "regressed":
            fell = f"fell {abs(family.delta or 0):.4f} over {family.cases} cases, from {say(family.baseline)} to {say(family.current)}"
            message = f"check {family.metric} {fell} ({_certainty(family)})"
            yield Reason(code="CHECK_REGRESSED", message=message, check=family.metric, baseline=family.baseline, current=family.current)


def _inconclusive_reasons(comparison: Comparison) -> Iterable[Reason]:
    """What looks worse and could not have been proven, for a policy that fails on it."""
    for outcome in comparison.outcomes:
        verdict = outcome.verdict
        if verdict.verdict == "inconclusive":
            message = f"case {verdict.case} is inconclusive: {verdict.note}"
            yield Reason(code="CASE_REGRESSED", message=message, case=verdict.case, baseline=verdict.baseline, current=verdict.current)
    for metric in comparison.metrics:
        if metric.verdict == "inconclusive":
            message = f"{metric.metric} is inconclusive: it looks worse, and no outcome of these runs could have been significant"
            yield Reason(code="METRIC_REGRESSED", message=message, metric=metric.metric, baseline=metric.baseline, current=metric.current)


def _removed_reasons(outcomes: Iterable[Outcome], policy: Policy) -> Iterable[Reason]:
    if policy.removed_cases == "fail" or "removed" in policy.fail_on:
        for outcome in outcomes:
            if outcome.pair.status == "removed":
                yield Reason(code="CASE_REMOVED", message=f"case {outcome.pair.id} is in the baseline and no longer in the suite", case=outcome.pair.id)


def _threshold_reasons(evidence: Evidence) -> Iterable[Reason]:
    for name, threshold in evidence.policy.thresholds.items():
        whole = evidence.comparison.whole.get(name)
        if whole is None or not whole.values:
            if is_lost(name, evidence):
                message = f"{name} has a threshold of {say(threshold)} and could not be measured: every case that produces it failed"
                yield Reason(code="TOO_MANY_ERRORS", message=message, metric=name)
            elif not excused(name, evidence):
                yield Reason(code="METRIC_MISSING", message=f"{name} has a threshold of {threshold:g} but was not produced by this run", metric=name)
        elif misses(name, whole, threshold, deterministic=evidence.current.header.deterministic):
            word = "above" if lower_is_better(name) else "below"
            value = mean(whole.values)
            yield Reason(code="BELOW_THRESHOLD", message=f"{name} is {say(value)}, {word} its threshold of {say(threshold)}", metric=name, baseline=threshold, current=value)


def _floor_reasons(evidence: Evidence) -> Iterable[Reason]:
    for case in evidence.current.cases.values():
        if case.floor is not None and (value := score_below_floor(case)) is not None:
            message = f"case {case.id} has a score of {say(value)}, below its minimum of {say(case.floor)}"
            yield Reason(code="BELOW_THRESHOLD", message=message, case=case.id, baseline=case.floor, current=value)


def _error_reasons(evidence: Evidence) -> Iterable[Reason]:
    cases = evidence.current.cases.values()
    errors = [case for case in cases if case.is_error]
    if len(errors) <= evidence.policy.max_errors and evidence.current.header.interrupted is None:
        return
    first: dict[str, tuple[str, str]] = {}
    for case in errors:
        for trial in case.trials:
            if trial.error is not None:
                first.setdefault(trial.error.code, (case.id, trial.error.message))
    if len(errors) > evidence.policy.max_errors:
        why = next((f": {code}: {message}" for code, (_, message) in first.items()), "")
        yield Reason(code="TOO_MANY_ERRORS", message=f"{len(errors)} of {len(cases)} cases could not be measured ({evidence.policy.max_errors} allowed){why}")
    if (ended := evidence.current.header.interrupted) is not None:
        yield Reason(code=ended.code, message=ended.message)
        first.pop(ended.code, None)
    for code, (case_id, message) in first.items():
        yield Reason(code=code, message=message, case=case_id)


def _unconfirmed_reasons(evidence: Evidence) -> Iterable[Reason]:
    """What looks worse and could be asked again without success only: `max_errors` excuses what was not measured, not what was."""
    for name in evidence.comparison.unconfirmed:
        case = evidence.current.cases[name]
        failed = [trial.error for trial in case.trials if trial.error is not None]
        why = f"{len(failed)} of {len(case.trials)} runs failed: {failed[-1].code}: {failed[-1].message}"
        yield Reason(code="TOO_MANY_ERRORS", message=f"case {name} looked worse when it was first asked, and that could not be confirmed or cleared: {why}", case=name)


def _comparable_reasons(evidence: Evidence) -> Iterable[Reason]:
    if evidence.is_score:
        if evidence.current.header.selection.is_partial:
            yield Reason(code="TOO_FEW_COMPARABLE", message="the baseline is the score of the whole suite, and only a part of it ran")
        return
    known = [outcome for outcome in evidence.comparison.outcomes if outcome.pair.baseline is not None]
    compared = sum(outcome.pair.status == "compared" for outcome in known)
    if compared < evidence.policy.min_comparable * len(known) - EPSILON or not compared:
        message = f"{compared} of the baseline's {len(known)} cases are left to compare (at least {evidence.policy.min_comparable:.0%} needed)"
        yield Reason(code="TOO_FEW_COMPARABLE", message=message)
