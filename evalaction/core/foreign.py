"""What another tool measured, as its reader found it, and the cases and trials that it becomes. Nothing is scored here."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from evalaction.core.answer import Answer
from evalaction.core.answer_text import stored, stored_text
from evalaction.core.checks.base import one_line
from evalaction.core.fingerprint import digest
from evalaction.core.record import CheckInfo, CheckResult, Failure, Tokens, Trial
from evalaction.core.sample import mean
from evalaction.core.suite import Case, Definition, Imported, ImportFormat, Policy

OVERALL = "score"
"""Id and metric of the check that holds a foreign overall score: it *is* the case's score, and its pass is the case's pass."""
PASSING = 0.5
"""Score from which on a check passes whose tool states no pass and no threshold of its own; the same as for groundedness and token_f1."""

POLICIES: Mapping[ImportFormat, Policy] = {"spring": Policy(fail_on=("case", "check", "threshold"), case_tolerance=0.05, pass_rate_tolerance=0.20)}
"""Gate policies that a format brings as defaults; the others have the usual one."""

LOWER_IS_BETTER: Mapping[ImportFormat, frozenset[str]] = {
    "deepeval": frozenset({"hallucination", "bias", "toxicity"}),
    "ragas": frozenset({"noise_sensitivity", "noise_sensitivity_relevant", "noise_sensitivity_irrelevant"}),
    "lm-eval": frozenset({"brier_score"}),
}
"""Metrics that the formats' own tools want low, in small letters; a suite names further ones."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class ForeignCheck:
    """One check's result, score in 0..1. `asked` is whatever defines the check: where it differs, two results are not compared."""

    id: str
    type: str
    score: float
    passed: bool
    detail: str = ""
    asked: Any = None
    metrics: tuple[str, ...] = ()
    weight: float = 1.0
    threshold: float | None = None
    """Score that a pass was taken to need; None where the tool itself said whether it passed."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class ForeignTrial:
    """One run of a case: its checks, or the error that kept it from being measured."""

    checks: tuple[ForeignCheck, ...] = ()
    answer: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    error: Failure | None = None
    latency_ms: float | None = None
    cost_usd: float | None = None
    tokens: Tokens | None = None


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class ForeignCase:
    """One case with its runs, in their order. `line` is that of the case in its file."""

    id: str
    input: str
    trials: tuple[ForeignTrial, ...]
    category: str | None = None
    tags: tuple[str, ...] = ()
    floor: float | None = None
    line: int = 1


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Foreign:
    """All cases of one import; the rest as in `Imported`."""

    cases: tuple[ForeignCase, ...]
    version: str | None = None
    notes: tuple[str, ...] = ()
    unfinished: str | None = None


def overall(score: float, *, passed: bool, kind: str, detail: str = "") -> ForeignCheck:
    """The check that holds a foreign overall score; the tool's single checks stand beside it with weight 0."""
    return ForeignCheck(id=OVERALL, type=kind, score=score, passed=passed, detail=detail, metrics=(OVERALL,))


def distinct(checks: Iterable[ForeignCheck]) -> tuple[ForeignCheck, ...]:
    """Checks with ids of their own: a second one of a name gets `-2`."""
    taken: set[str] = set()
    found = []
    for check in checks:
        name, number = check.id, 1
        while name in taken:
            number += 1
            name = f"{check.id}-{number}"
        taken.add(name)
        found.append(check if name == check.id else dataclasses.replace(check, id=name))
    return tuple(found)


def turned(foreign: Foreign, lower_is_better: Collection[str]) -> Foreign:
    """The same with the named metrics turned round, 1 - score, so that higher is better everywhere; in small letters. What was turned is said."""
    names = {name for case in foreign.cases for trial in case.trials for check in trial.checks for name in check.metrics if name.lower() in lower_is_better}
    if not names:
        return foreign
    cases = tuple(dataclasses.replace(case, trials=tuple(_turned_trial(trial, names) for trial in case.trials)) for case in foreign.cases)
    note = f"lower is better for {', '.join(sorted(names))}: 1 - score is what is compared"
    return dataclasses.replace(foreign, cases=cases, notes=(*foreign.notes, note))


def _turned_trial(trial: ForeignTrial, names: Collection[str]) -> ForeignTrial:
    return dataclasses.replace(trial, checks=tuple(_turned_check(check) if set(check.metrics) & set(names) else check for check in trial.checks))


def _turned_check(check: ForeignCheck) -> ForeignCheck:
    passed = check.passed if check.threshold is None else check.score <= check.threshold
    detail = f"{check.score:g}, lower is better{f'; {check.detail}' if check.detail else ''}"
    return dataclasses.replace(check, score=1.0 - check.score, passed=passed, detail=detail, asked=[check.asked, "lower is better"])


def as_cases(foreign: Foreign) -> tuple[tuple[Case, ...], Imported]:
    """Cases with their definitions, and their trials. The same results always give the same fingerprints, so two imports pair."""
    cases = tuple(map(_case, foreign.cases))
    trials = {case.id: tuple(_trial(number, trial) for number, trial in enumerate(case.trials)) for case in foreign.cases}
    return cases, Imported(trials=trials, version=foreign.version, notes=foreign.notes, unfinished=foreign.unfinished)


def _case(case: ForeignCase) -> Case:
    checks: dict[str, CheckInfo] = {}
    for trial in case.trials:
        for check in trial.checks:
            checks.setdefault(check.id, _info(check))
    return Case(
        id=case.id, input=case.input, checks=(), repeats=len(case.trials), category=case.category, tags=case.tags, line=case.line, floor=case.floor,
        definition=Definition(digest({"input": case.input}), tuple(checks.values())),
    )  # fmt: skip


def _info(check: ForeignCheck) -> CheckInfo:
    return CheckInfo(id=check.id, type=check.type, fingerprint=digest(["import", check.type, check.asked]), weight=check.weight, metrics=check.metrics)


def _trial(number: int, trial: ForeignTrial) -> Trial:
    answer = stored(Answer(output=trial.answer.get("output"), extra={name: value for name, value in trial.answer.items() if name != "output"} or None))
    if trial.error is not None:
        failure = Failure(code=trial.error.code, message=stored_text(one_line(trial.error.message)), detail=stored_text(trial.error.detail))
        return Trial(repeat=number, error=failure, latency_ms=trial.latency_ms, cost_usd=trial.cost_usd, tokens=trial.tokens, answer=answer)
    counting: Sequence[ForeignCheck] = [check for check in trial.checks if check.weight] or trial.checks
    return Trial(
        repeat=number, score=mean([check.score for check in counting]), passed=all(check.passed for check in counting),
        checks=tuple(CheckResult(id=check.id, score=check.score, passed=check.passed, detail=stored_text(one_line(check.detail))) for check in trial.checks),
        latency_ms=trial.latency_ms, cost_usd=trial.cost_usd, tokens=trial.tokens, answer=answer,
    )  # fmt: skip
