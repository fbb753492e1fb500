"""promptfoo: the JSON that `promptfoo eval -o results.json` writes, versions 3 and 4 (and 2, whose results have the same form)."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import Field

from evalaction.core.answer import LARGEST
from evalaction.core.fingerprint import digest
from evalaction.core.foreign import ForeignCase, ForeignCheck, ForeignTrial, distinct, overall
from evalaction.core.record import Tokens
from evalaction.core.scalars import Flag, Json, Number, Text
from evalaction.imports.files import Place, Reader
from evalaction.imports.intake import Intake, Spot, failed, foreign_form, text_of

VERSIONS = (2, 3, 4)
_ERROR = 2
"""promptfoo's `failureReason` for a call that failed; 1 is an assertion."""
_SHOWN = 60
_NOT_ASKED = frozenset({"provider", "metric"})
"""Keys of an assertion that do not say what is asserted."""


@foreign_form
class Component:
    """One assertion's result."""

    passed: Flag = Field(alias="pass")
    score: Number
    reason: Text | None = None
    assertion: dict[str, Json] | None = None


@foreign_form
class Grading:
    """The result of all assertions of one answer."""

    reason: Text | None = None
    componentResults: tuple[Component | None, ...] | None = None  # noqa: N815 - the format's own names


@foreign_form
class Result:
    """One test with one prompt and one provider."""

    success: Flag
    score: Number
    vars: dict[str, Json] | None = None
    error: Text | None = None
    failureReason: int | None = None  # noqa: N815 - the format's own names
    gradingResult: Grading | None = None  # noqa: N815 - as above
    response: dict[str, Json] | None = None
    latencyMs: Number | None = None  # noqa: N815 - as above
    cost: Number | None = None
    tokenUsage: dict[str, Json] | None = None  # noqa: N815 - as above
    testCase: dict[str, Json] | None = None  # noqa: N815 - as above
    provider: Json = None
    promptIdx: int = 0  # noqa: N815 - as above
    testIdx: int = 0  # noqa: N815 - as above


@foreign_form
class Stats:
    """What promptfoo counted itself; older versions count errors among the failures."""

    successes: int = 0
    failures: int = 0
    errors: int = 0


@foreign_form
class Summary:
    """The `results` of an output file."""

    results: tuple[Json, ...]
    version: Json = None
    stats: Stats | None = None


def read(place: Place, intake: Intake) -> None:
    """Each test is a case; with several prompts or providers each combination is. The same test again is a further run of its case."""
    file = place.file()
    raw = Reader().json(file)
    inner = raw.get("results") if isinstance(raw, dict) else None
    summary = intake.read(Summary, inner if isinstance(inner, dict) else raw, Spot(file, path="results" if isinstance(inner, dict) else ""))
    if summary is None:
        return
    intake.versioned(summary.version, VERSIONS, "promptfoo")
    found = [(number, result) for number, one in enumerate(summary.results) if (result := intake.read(Result, one, Spot(file, path=f"results[{number}]")))]
    _count(summary, [result for _, result in found], Spot(file, path="results.stats"), intake)
    several = _Several(providers=len({_provider(result) for _, result in found}) > 1, prompts=len({result.promptIdx for _, result in found}) > 1)
    for number, result in found:
        case_id = _id(result, several)
        spot = Spot(file, path=f"results[{number}]", case=case_id)
        intake.add(ForeignCase(id=case_id, input=_asked(result), trials=(_trial(result, spot, intake),), line=number + 1), spot, repeats=True)


def _count(summary: Summary, found: Sequence[Result], spot: Spot, intake: Intake) -> None:
    """Nothing that promptfoo counted may be missing; a result that could not be read is a fault already."""
    if summary.stats is not None and len(found) == len(summary.results):
        red = summary.stats.failures + summary.stats.errors
        intake.complete(spot, red + summary.stats.successes, len(found), "results")
        intake.complete(spot, red, sum(not result.success for result in found), "failures and errors")


@dataclasses.dataclass(frozen=True, slots=True)
class _Several:
    """Whether a file has more than one provider or prompt, so that a test alone is no case."""

    providers: bool
    prompts: bool


def _vars(result: Result) -> Mapping[str, Any]:
    test = (result.testCase or {}).get("vars")
    return result.vars or (test if isinstance(test, dict) else {})


def _asked(result: Result) -> str:
    """The variables: the prompt round them belongs to what is being evaluated."""
    return "\n".join(f"{name}: {text_of(value)}" for name, value in sorted(_vars(result).items()))


def _id(result: Result, several: _Several) -> str:
    described = (result.testCase or {}).get("description")
    asked = ", ".join(f"{name}={text_of(value)}" for name, value in sorted(_vars(result).items()))
    name = described if isinstance(described, str) and described.strip() else asked if len(asked) <= _SHOWN else f"{asked[:_SHOWN]}~{digest(asked)[:8]}"
    parts = [name or f"test {result.testIdx}", *([_provider(result)] if several.providers else []), *([f"prompt {result.promptIdx + 1}"] if several.prompts else [])]
    return " | ".join(parts)


def _provider(result: Result) -> str:
    if isinstance(result.provider, dict):
        return text_of(result.provider.get("label") or result.provider.get("id"))
    return text_of(result.provider)


def _trial(result: Result, spot: Spot, intake: Intake) -> ForeignTrial:
    answer = {"output": (result.response or {}).get("output")}
    amounts: dict[str, Any] = {"latency_ms": _amount(result.latencyMs, "latency_ms"), "cost_usd": _amount(result.cost, "cost_usd"), "tokens": _tokens(result.tokenUsage or {})}
    error = result.error or text_of((result.response or {}).get("error"))
    if result.failureReason == _ERROR or (error and result.gradingResult is None):
        return failed(error, answer=answer, **amounts)
    if result.success and not _asserts(result):
        intake.fault(spot, "NOTHING_TO_CHECK", "the test asserts nothing, so it would pass whatever is answered", "give it an assertion, in `assert` or `defaultTest`")
    score = intake.fraction(result.score, spot, "the score")
    graded = result.gradingResult
    components = [one for one in (graded.componentResults if graded else None) or () if one is not None]
    detail = (graded.reason if graded else None) or result.error or ""
    checks = [overall(score, passed=result.success, kind="promptfoo", detail=detail), *_checks(components, spot, intake)]
    return ForeignTrial(checks=distinct(checks), answer=answer, **amounts)


def _asserts(result: Result) -> bool:
    """Whether anything was checked: single results, or where the file leaves those out, assertions of the test."""
    components = result.gradingResult.componentResults if result.gradingResult else None
    return any(components) if components is not None else bool((result.testCase or {}).get("assert"))


def _checks(components: Sequence[Component], spot: Spot, intake: Intake) -> Sequence[ForeignCheck]:
    """Single assertions: compared one by one, and the case's score is promptfoo's own."""
    found = []
    for number, one in enumerate(components):
        asserted = one.assertion or {}
        kind, metric = text_of(asserted.get("type")) or "assertion", text_of(asserted.get("metric"))
        found.append(ForeignCheck(
            id=metric or kind, type=kind, score=intake.fraction(one.score, spot, f"the score of assertion {number + 1}"), passed=one.passed, detail=one.reason or "",
            asked={name: value for name, value in asserted.items() if name not in _NOT_ASKED}, metrics=(metric,) if metric else (), weight=0,
        ))  # fmt: skip
    return found


def _amount(value: float | None, name: str) -> float | None:
    return value if value is not None and 0 <= value <= LARGEST[name] else None


def _tokens(usage: Mapping[str, Any]) -> Tokens | None:
    asked, answered, total = (value if isinstance(value := usage.get(name), int) and 0 <= value <= LARGEST["tokens"] else 0 for name in ("prompt", "completion", "total"))
    if asked or answered:
        return Tokens(input=asked, output=answered)
    return Tokens(output=total) if total else None
