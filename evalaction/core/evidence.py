"""What a verdict rests on, and the questions that reasons and warnings both ask of it."""

from __future__ import annotations

import dataclasses
from statistics import NormalDist

from evalaction.core.acceptance import Baseline
from evalaction.core.comparison import EPSILON, Comparison
from evalaction.core.metrics import lower_is_better
from evalaction.core.record import CaseRecord, RunRecord, Selection
from evalaction.core.sample import mean, passes_of, sample
from evalaction.core.series import Whole
from evalaction.core.spec_base import PASS_RATE
from evalaction.core.suite import Policy

_ONE_SIDED_95 = NormalDist().inv_cdf(0.95)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What a verdict rests on."""

    current: RunRecord
    comparison: Comparison
    baseline: Baseline | None = None
    age_days: float | None = None

    @property
    def is_score(self) -> bool:
        """Whether the baseline is one number, with no cases behind it."""
        return self.baseline is not None and self.baseline.record.score is not None

    @property
    def policy(self) -> Policy:
        """The policy of the current suite."""
        return self.comparison.rules.policy


def is_lost(metric: str, evidence: Evidence) -> bool:
    """Whether a metric is absent because every case that produces it failed, though the policy allows as many failures: it was not measured."""
    cases = evidence.current.cases.values()
    producers = [case for case in cases if metric == PASS_RATE or any(metric in check.metrics for check in case.checks)]
    tolerated = sum(case.is_error for case in cases) <= evidence.policy.max_errors
    return tolerated and bool(producers) and all(case.is_error for case in producers)


def excused(metric: str, evidence: Evidence) -> bool:
    """A metric may be absent because its cases failed, or because a filter left them out; the report says so."""
    cases = evidence.current.cases.values()
    if cases and all(case.is_error for case in cases):  # every case produces pass_rate, which no check names
        return True
    producers = [case for case in cases if any(metric in check.metrics for check in case.checks)]
    if producers:
        return all(case.is_error for case in producers)
    return evidence.current.header.selection.is_partial


def misses(name: str, whole: Whole, threshold: float, *, deterministic: bool) -> bool:
    """Below the threshold beyond doubt: by the point where there is one run, by the one-sided 95 % bound where there are several."""
    sign = -1 if lower_is_better(name) else 1
    gap = sign * (threshold - mean(whole.values))
    noise = 0.0 if deterministic or not whole.repeated else _ONE_SIDED_95 * whole.standard_error
    return gap > noise + EPSILON


def score_below_floor(case: CaseRecord) -> float | None:
    """The mean score of a case where it is below the floor that the case has, else None; a case that could not be measured is no such case."""
    scores = () if case.floor is None or case.is_error else sample(passes_of(case)[0] or case.measured, case.checks).scores
    return value if case.floor is not None and scores and (value := mean(scores)) < case.floor - EPSILON else None


def stored_runs(evidence: Evidence) -> int | None:
    """The smallest number of stored runs among the compared cases of the baseline."""
    stored = [len(outcome.pair.baseline.measured) for outcome in evidence.comparison.outcomes if outcome.pair.status == "compared" and outcome.pair.baseline is not None]
    return min(stored, default=None)


def describe(selection: Selection) -> str | None:
    """The selection in words, None for a whole suite."""
    parts = [f"filter {selection.filter}" if selection.filter else "", f"tag {selection.tag}" if selection.tag else ""]
    parts.append(f"shard {selection.shard.index} of {selection.shard.of}" if selection.shard else "")
    return ", ".join(part for part in parts if part) or None


def say(value: float | None) -> str:
    """A number for a message: four decimals, as ragbench prints them; whole counts as they are."""
    if value is None:
        return "nothing"
    return str(value) if isinstance(value, int) else f"{value:.4f}"
