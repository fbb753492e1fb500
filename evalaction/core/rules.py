"""Which rule applies: exact where answers do not vary, statistical where enough runs are stored, else by points."""

from __future__ import annotations

from typing import Literal

from evalaction.core.pairing import pair_records
from evalaction.core.record import CaseRecord, RunRecord
from evalaction.core.suite import Policy

RUNS_FOR_BINARY = 5
"""Stored runs from which on chance can be told from change for what passes or fails."""
RUNS_FOR_GRADED = 3
"""The same for graded scores."""

RuleName = Literal["exact", "tolerance", "statistical"]


def choose_rule(*, deterministic: bool, policy: Policy, baseline: RunRecord | None, current: RunRecord, repeatable: bool) -> RuleName:
    """The rule for two records. A rule that the policy names wins; replayed answers do not vary; `repeatable` is whether the target can be asked again at all.

    Under the statistical rule each check and metric with too few stored runs falls back to the tolerance rule by itself, so one that has enough is enough here.
    """
    if policy.rule != "auto":
        return policy.rule
    if deterministic or current.header.is_replayed:
        return "exact"
    if baseline is None or not repeatable:
        return "tolerance"
    stored = (pair.baseline for pair in pair_records(baseline, current) if pair.status == "compared" and pair.baseline is not None)
    return "statistical" if any(map(_is_enough, stored)) else "tolerance"


def _is_enough(case: CaseRecord) -> bool:
    trials = case.measured
    if len(trials) >= RUNS_FOR_BINARY or len(trials) < RUNS_FOR_GRADED:
        return len(trials) >= RUNS_FOR_BINARY
    return any(result.score not in (0.0, 1.0) for trial in trials for result in trial.checks)


def runs_needed_for(kind: Literal["binary", "graded"], policy: Policy) -> int:
    """Stored runs that a series needs for statistics; a policy that insists on them gets them wherever there is any noise to estimate."""
    if policy.rule == "statistical":
        return 1 if kind == "binary" else 2
    return RUNS_FOR_BINARY if kind == "binary" else RUNS_FOR_GRADED
