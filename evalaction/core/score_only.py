"""A baseline that is one number, the pass rate of a whole suite: compared at the level of the suite, and of nothing below it."""

from __future__ import annotations

import dataclasses

from evalaction.core.by_tolerance import compare_by_tolerance
from evalaction.core.comparison import EPSILON, Comparison, Rules
from evalaction.core.record import RunRecord
from evalaction.core.sample import mean
from evalaction.core.spec_base import PASS_RATE
from evalaction.core.verdict import MetricVerdict, Word


def compare_with_score(score: float, current: RunRecord, rules: Rules) -> Comparison:
    """The current record against an accepted pass rate in 0..1.

    A drop counts when it is larger than the tolerance of `pass_rate`; one run decides, since no case is known that could be
    asked again. A run of a part of the suite is not compared: its rate is one of other cases.
    """
    alone = compare_by_tolerance(None, current, dataclasses.replace(rules, name="tolerance", can_confirm=False))
    whole = alone.whole.get(PASS_RATE)
    if whole is None or not whole.values or current.header.selection.is_partial:
        return alone
    judged = _judged(score, mean(whole.values), alone.rules.metric_tolerance(PASS_RATE, score, len(whole.values)) or 0.0, len(whole.values))
    return dataclasses.replace(alone, metrics=tuple(judged if metric.metric == PASS_RATE else metric for metric in alone.metrics))


def _judged(score: float, current: float, tolerance: float, cases: int) -> MetricVerdict:
    drop = score - current
    word: Word = "unchanged"
    if drop > tolerance + EPSILON:
        word = "regressed"
    elif drop > EPSILON:
        word = "within_tolerance"
    elif -drop > tolerance + EPSILON:
        word = "improved"
    return MetricVerdict(metric=PASS_RATE, baseline=score, current=current, current_all=current, delta=current - score, tolerance=tolerance, verdict=word, cases=cases)
