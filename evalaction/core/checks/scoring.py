"""From an answer to the scores of a trial: every check of the case, their weighted mean, and the metrics."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from evalaction.core.answer import Answer
from evalaction.core.checks import custom, data, limits, number, retrieval, rows, rubric, similarity, text, tools
from evalaction.core.checks.base import CheckScore, one_line, weighted_mean
from evalaction.core.record import CheckResult
from evalaction.core.sharing import check_result
from evalaction.core.specs import (
    CheckSpec,
    ContainsAll,
    ContainsAny,
    Equals,
    ExactMatch,
    Groundedness,
    Intent,
    JsonCheck,
    JsonSubset,
    MaxCost,
    MaxLatency,
    MaxTokens,
    NotContains,
    NotRegex,
    NumberCheck,
    PythonCheck,
    RagbenchGroundedness,
    RagbenchRetrieval,
    Refusal,
    Regex,
    Retrieval,
    Rows,
    Rubric,
    Similarity,
    TokenF1,
    ToolCalls,
)  # fmt: skip
from evalaction.core.suite import Case
from evalaction.errors import MeasureError

EPSILON = 1e-9
"""A score passes from this much below what is required, so that rounding never fails a check."""

SCORERS: dict[type[CheckSpec], Callable[[Any, Answer], CheckScore | None]] = {
    Equals: text.score_equals, ExactMatch: text.score_exact_match, TokenF1: text.score_token_f1,
    ContainsAll: text.score_contains_all, ContainsAny: text.score_contains_any, NotContains: text.score_not_contains,
    Regex: text.score_regex, NotRegex: text.score_not_regex, Intent: text.score_intent, Refusal: text.score_refusal,
    NumberCheck: number.score_number, JsonCheck: data.score_json, JsonSubset: data.score_json_subset, Rows: rows.score_rows,
    Retrieval: retrieval.score_retrieval, RagbenchRetrieval: retrieval.score_retrieval,
    Groundedness: retrieval.score_groundedness, RagbenchGroundedness: retrieval.score_ragbench_groundedness,
    ToolCalls: tools.score_tool_calls, MaxLatency: limits.score_max_latency, MaxCost: limits.score_max_cost, MaxTokens: limits.score_max_tokens,
    PythonCheck: custom.score_unloaded, Rubric: rubric.score_unjudged, Similarity: similarity.score_unembedded,
}  # fmt: skip
"""Check type → its scoring function. None as its result: the check does not apply to this answer and is not measured."""


@dataclasses.dataclass(frozen=True, slots=True)
class Scoring:
    """What scoring needs from outside: functions by `pkg.mod:fn`; expected rows fetched live, and a judge's results for each criterion, by check id; the likeness of texts."""

    callables: Mapping[str, Callable[[Mapping[str, Any], Mapping[str, Any]], object]] = dataclasses.field(default_factory=dict)
    references: Mapping[str, Sequence[Mapping[str, Any]]] = dataclasses.field(default_factory=dict)
    judged: Mapping[str, Sequence[CheckResult]] = dataclasses.field(default_factory=dict)
    likeness: similarity.Likeness | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class Scored:
    """The scores of one answer: weighted mean in 0..1, whether all checks pass, and each check."""

    score: float
    passed: bool
    checks: tuple[CheckResult, ...]


_NO_HELP = Scoring()


def score_answer(case: Case, answer: Answer, scoring: Scoring = _NO_HELP) -> Scored:
    """Score every check of a case on an answer.

    An answer that is nothing scores 0 on every check. `max_*` checks give no metric: latency, cost and
    tokens are the trial's own. Raises MeasureError SCORER_FAILED when a check cannot be applied.
    """
    nothing = answer.is_nothing
    checks: list[CheckResult] = []
    weights: list[float] = []
    for spec in case.checks:
        if type(spec) is Rubric:
            results = _judged(spec, answer, scoring)
            checks += results
            weights += [rubric.criterion_weight(spec)] * len(results)
            continue
        scored = _nothing(spec) if nothing else _score(spec, case, answer, scoring)
        if scored is not None:
            score, detail, values = scored
            checks.append(check_result(check_id(spec), score, score >= spec.required - EPSILON, detail, values))
            weights.append(spec.weight)
    if not checks:
        raise MeasureError("SCORER_FAILED", "no check of this case applies to the answer")
    return Scored(weighted_mean([check.score for check in checks], weights), all(check.passed for check in checks), tuple(checks))


def check_id(spec: CheckSpec) -> str:
    """The check's id: as a read suite gave it, else its type."""
    return spec.id or str(getattr(spec, "type", ""))


def _score(spec: CheckSpec, case: Case, answer: Answer, scoring: Scoring) -> CheckScore | None:
    if isinstance(spec, PythonCheck) and spec.callable in scoring.callables:
        return custom.score_python(spec, case, answer, scoring.callables[spec.callable])
    if isinstance(spec, Rows) and spec.value is None and check_id(spec) in scoring.references:
        return rows.score_rows_against(spec, answer, scoring.references[check_id(spec)])
    if isinstance(spec, Similarity) and scoring.likeness is not None:
        return similarity.score_similarity(spec, answer, scoring.likeness)
    scorer = SCORERS.get(type(spec))
    if scorer is None:
        raise MeasureError("SCORER_FAILED", one_line(f"checks of the type `{getattr(spec, 'type', '')}` cannot be scored in this version"))
    return scorer(spec, answer)


def _judged(spec: Rubric, answer: Answer, scoring: Scoring) -> Sequence[CheckResult]:
    """A judge's results for each criterion. Without a verdict there is no score: raises MeasureError JUDGE_FAILED."""
    if answer.is_nothing:
        return rubric.unanswered(spec, "the system answered nothing")
    results = scoring.judged.get(check_id(spec))
    if results is None or len(results) != len(spec.criteria):
        rubric.score_unjudged(spec, answer)
    return results or ()


def _nothing(spec: CheckSpec) -> CheckScore | None:
    """0 for an answer that is nothing; ragbench's groundedness applies only where there are contexts."""
    if isinstance(spec, RagbenchGroundedness):
        return None
    detail = "the system answered nothing"
    return retrieval.retrieval_nothing(spec, detail) if isinstance(spec, Retrieval) else CheckScore(0.0, detail)
