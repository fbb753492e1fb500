"""Baseline, current and policy → Comparison: what got worse, what got better, what could not be compared. docs/gate.md has the rules."""

from __future__ import annotations

from evalaction.core.by_tolerance import compare_by_tolerance
from evalaction.core.comparison import Comparison, Rules
from evalaction.core.lost import with_lost
from evalaction.core.record import RunRecord
from evalaction.core.score_only import compare_with_score


def compare(baseline: RunRecord | None, current: RunRecord, rules: Rules) -> Comparison:
    """Compare two records by the rule that is asked for; without a baseline only the current side is summed up."""
    return compare_by_tolerance(None, current, rules) if baseline is None else with_lost(_compare(baseline, current, rules), current)


def _compare(baseline: RunRecord, current: RunRecord, rules: Rules) -> Comparison:
    if baseline.score is not None:
        return compare_with_score(baseline.score, current, rules)
    if rules.name == "statistical":
        from evalaction.core.statistical import compare_statistically  # noqa: PLC0415 - other rules must not pay for the import

        return compare_statistically(baseline, current, rules)
    return compare_by_tolerance(baseline, current, rules)
