"""The rubric check. A judge outside applies it; here is what becomes of its criteria, each a check of its own such as `tone.polite`."""

from __future__ import annotations

from evalaction.core.answer import Answer
from evalaction.core.checks.base import CheckScore, one_line
from evalaction.core.record import CheckResult
from evalaction.core.specs import Rubric
from evalaction.core.suite import Case
from evalaction.errors import MeasureError

PASSING_POINTS = 4
"""Points of five that pass."""
_EPSILON = 1e-9


def rubrics_of(case: Case) -> tuple[Rubric, ...]:
    """The checks of a case that a judge applies."""
    return tuple(check for check in case.checks if isinstance(check, Rubric))


def criterion_id(check: Rubric, criterion: str) -> str:
    """The id of one criterion in every record and report."""
    return f"{check.id or check.type}.{criterion}"


def criterion_weight(check: Rubric) -> float:
    """Criteria share the weight of their rubric, so that splitting one in two does not make the rubric heavier."""
    return check.weight / len(check.criteria)


def fraction_of(points: int) -> float:
    """Points 1..5 as a score in 0..1: (points - 1) / 4."""
    return (points - 1) / 4


def required_score(check: Rubric) -> float:
    """The score a criterion passes from: the check's own threshold, else yes, or 4 of 5 points."""
    if check.threshold is not None:
        return check.threshold
    return fraction_of(PASSING_POINTS) if check.scale else 1.0


def criterion_result(check: Rubric, criterion: str, score: float, detail: str) -> CheckResult:
    """The result of one criterion that was judged."""
    return CheckResult(id=criterion_id(check, criterion), score=score, passed=score >= required_score(check) - _EPSILON, detail=detail)


def unanswered(check: Rubric, detail: str) -> tuple[CheckResult, ...]:
    """0 for every criterion, because there is nothing to judge; whatever the threshold, nothing passes."""
    return tuple(CheckResult(id=criterion_id(check, name), score=0.0, passed=False, detail=detail) for name in check.criteria)


def score_unjudged(spec: Rubric, answer: Answer) -> CheckScore:  # noqa: ARG001 - the signature of every scoring function
    """Raises MeasureError JUDGE_FAILED: without a judge's verdict a rubric has no score."""
    raise MeasureError("JUDGE_FAILED", one_line(f"no judge was asked about the check `{spec.id or spec.type}`"))
