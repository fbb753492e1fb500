"""The python check: a function of the suite author's."""

from __future__ import annotations

import inspect
import traceback
from collections.abc import Callable, Mapping
from numbers import Real
from posixpath import basename
from typing import Any

from evalaction.core.answer import Answer
from evalaction.core.checks.base import CheckScore, missing_part, one_line
from evalaction.core.checks.number import show
from evalaction.core.specs import PythonCheck
from evalaction.core.suite import Case
from evalaction.errors import MeasureError

Scorer = Callable[[Mapping[str, Any], Mapping[str, Any]], object]


def score_unloaded(spec: PythonCheck, answer: Answer) -> CheckScore:  # noqa: ARG001 - the signature of every scoring function
    """Raises MeasureError SCORER_FAILED: without its function the check cannot be applied."""
    raise MeasureError("SCORER_FAILED", f"`{spec.callable}` of the check `{spec.id or spec.type}` was not loaded")


def score_python(spec: PythonCheck, case: Case, answer: Answer, function: Scorer) -> CheckScore:
    """What `function(case, answer)` returns: a bool, a number in 0..1, or `{score, reason}`.

    Both arguments are copies, plain dicts. Where the check names a `field`, an answer without that part scores 0 unasked.
    Raises MeasureError SCORER_FAILED when the function raises or returns anything else, NaN included.
    """
    if spec.field is not None and (missing := missing_part(spec, answer)):
        return missing
    try:
        result = function(case_dict(case), _plain(answer.as_json()))
    except (Exception, SystemExit) as error:  # noqa: BLE001 - foreign code may raise anything, and may not end the run
        raise MeasureError("SCORER_FAILED", one_line(f"`{spec.callable}` raised {type(error).__name__}: {error}"), _last_frame(error)) from None
    if inspect.iscoroutine(result):
        result.close()
        raise MeasureError("SCORER_FAILED", f"`{spec.callable}` is asynchronous; a scorer must be a plain function")
    return _read(spec, result)


def case_dict(case: Case) -> dict[str, Any]:
    """What a scorer is told of a case."""
    return {
        "id": case.id, "input": case.input, "history": [{"role": turn.role, "content": turn.content} for turn in case.history], "vars": _plain(case.vars or {}),
        "category": case.category, "tags": list(case.tags), "metadata": _plain(case.metadata or {}),
    }  # fmt: skip


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list | tuple) else value


def _read(spec: PythonCheck, result: object) -> CheckScore:
    if not isinstance(result, Mapping):
        return CheckScore(_fraction(spec, result))
    if "score" not in result:
        raise MeasureError("SCORER_FAILED", f"`{spec.callable}` returned a map without `score`")
    reason = result.get("reason")
    return CheckScore(_fraction(spec, result["score"]), "" if reason is None else one_line(str(reason)))


def _fraction(spec: PythonCheck, score: object) -> float:
    if not isinstance(score, Real):
        raise MeasureError("SCORER_FAILED", f"`{spec.callable}` returned {type(score).__name__} where a number in 0..1, a bool or {{score, reason}} is expected")
    number: Any = score
    if not 0 <= number <= 1:  # NaN is not either
        found = show(score) if isinstance(score, int | float) else type(score).__name__
        raise MeasureError("SCORER_FAILED", f"`{spec.callable}` returned {found}, which is no score in 0..1")
    return float(number)


def _last_frame(error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    return f"{basename(frames[-1].filename)}:{frames[-1].lineno} in {frames[-1].name}" if len(frames) > 1 else ""
