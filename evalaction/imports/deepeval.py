"""DeepEval: the JSON of a test run, as it is cached or written to its results folder."""

from __future__ import annotations

from typing import Annotated

from pydantic import AliasChoices, Field

from evalaction.core.answer import LARGEST
from evalaction.core.foreign import LOWER_IS_BETTER, ForeignCase, ForeignCheck, ForeignTrial, distinct
from evalaction.core.scalars import Flag, Json, Number, Text, Word
from evalaction.imports.files import Place, Reader
from evalaction.imports.intake import Intake, Spot, failed, foreign_form, text_of


def _either(*names: str) -> AliasChoices:
    """The same field as DeepEval's versions and its Python objects spell it."""
    return AliasChoices(*names)


@foreign_form
class Metric:
    """One metric on one test case."""

    name: Annotated[Word, Field(validation_alias=_either("name", "metric"))]
    success: Flag | None = None
    score: Number | None = None
    threshold: Number | None = None
    reason: Text | None = None
    error: Text | None = None
    strict: Annotated[Json, Field(validation_alias=_either("strictMode", "strict_mode"))] = None
    judge: Annotated[Json, Field(validation_alias=_either("evaluationModel", "evaluation_model"))] = None


@foreign_form
class TestCase:
    """One test case with its metrics."""

    name: Word
    success: Flag | None = None
    input: Json = None
    output: Annotated[Json, Field(validation_alias=_either("actualOutput", "actual_output"))] = None
    metrics: Annotated[tuple[Metric, ...] | None, Field(validation_alias=_either("metricsData", "metrics_data", "metricsMetadata"))] = None
    seconds: Annotated[Number | None, Field(validation_alias=_either("runDuration", "run_duration"))] = None
    cost: Annotated[Number | None, Field(validation_alias=_either("evaluationCost", "evaluation_cost"))] = None
    turns: Json = None


@foreign_form
class TestRun:
    """A test run; single and conversational test cases stand in two lists."""

    cases: Annotated[tuple[Json, ...], Field(validation_alias=_either("testCases", "test_cases", "testResults", "test_results"))] = ()
    conversations: Annotated[tuple[Json, ...], Field(validation_alias=_either("conversationalTestCases", "conversational_test_cases"))] = ()
    passed: Annotated[int | None, Field(validation_alias=_either("testPassed", "test_passed"))] = None
    failed: Annotated[int | None, Field(validation_alias=_either("testFailed", "test_failed"))] = None


def read(place: Place, intake: Intake) -> None:
    """Each test case is a case, each metric a check with DeepEval's own verdict; a metric with an error makes the case an error."""
    file = place.file()
    raw = Reader().json(file)
    wrapped = raw.get("testRunData") if isinstance(raw, dict) else None
    run = intake.read(TestRun, wrapped if isinstance(wrapped, dict) else raw, Spot(file))
    if run is None:
        return
    intake.complete(Spot(file), (run.passed or 0) + (run.failed or 0), len(run.cases) + len(run.conversations), "test cases")
    for number, one in enumerate((*run.cases, *run.conversations)):
        case = intake.read(TestCase, one, Spot(file, path=f"testCases[{number}]"))
        if case is not None:
            spot = Spot(file, path=f"testCases[{number}]", case=case.name)
            asked = case.input if case.input is not None else case.turns
            intake.add(ForeignCase(id=case.name, input=text_of(asked), trials=(_trial(case, spot, intake),), line=number + 1), spot)


def _trial(case: TestCase, spot: Spot, intake: Intake) -> ForeignTrial:
    answer = {"output": case.output if case.output is not None else case.turns}
    if not case.metrics:
        intake.fault(spot, "NOTHING_TO_CHECK", "the test case has no metric, so it would pass whatever is answered", "measure it with at least one metric")
        return failed("no metric", answer=answer)
    for metric in case.metrics:
        if metric.error or metric.score is None:
            return failed(f"metric {metric.name}: {metric.error or 'no score'}", code="SCORER_FAILED", answer=answer)
    latency = None if case.seconds is None else case.seconds * 1000
    checks = [_check(metric, spot, intake) for metric in case.metrics]
    if case.success is False and all(check.passed for check in checks):
        intake.fault(spot, "INVALID_INPUT", "the test case failed, and every metric of it succeeded: one is missing or was changed", "write the results anew")
    return ForeignTrial(
        checks=distinct(checks), answer=answer,
        latency_ms=latency if latency is not None and 0 <= latency <= LARGEST["latency_ms"] else None,
        cost_usd=case.cost if case.cost is not None and 0 <= case.cost <= LARGEST["cost_usd"] else None,
    )  # fmt: skip


def _check(metric: Metric, spot: Spot, intake: Intake) -> ForeignCheck:
    score = intake.fraction(metric.score or 0.0, spot, f"the score of {metric.name}")
    threshold = 0.5 if metric.threshold is None else metric.threshold  # DeepEval's own default
    if metric.success is False and score >= threshold and metric.name.lower() not in LOWER_IS_BETTER["deepeval"]:
        doubt = f"{metric.name} failed at a score that reaches its threshold: if lower is better for it, name it in `lower_is_better`"
        intake.notes += [doubt] if doubt not in intake.notes else []
    return ForeignCheck(
        id=metric.name, type="deepeval", score=score, threshold=threshold if metric.success is None else None,
        passed=score >= threshold if metric.success is None else metric.success, detail=metric.reason or "",
        asked=[metric.name, metric.threshold, metric.strict, metric.judge], metrics=(metric.name,),
    )  # fmt: skip
