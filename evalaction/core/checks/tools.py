"""The tool_calls check: which tools were called, with which arguments, in which order."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from evalaction.core.answer import Answer
from evalaction.core.checks.base import RIGHT, CheckScore, is_deep, no_part, one_line, quoted
from evalaction.core.checks.data import holds, parse_json, same
from evalaction.core.checks.matching import assign
from evalaction.core.patterns import fold
from evalaction.core.specs import ToolCall, ToolCalls

MOST_CALLS = 5_000
"""Calls of one answer that are looked at."""
_NAMES = 12


def _arguments(call: Mapping[str, Any]) -> Any:
    """`args`, or `arguments`, which may be JSON in a text; none at all are no arguments."""
    arguments = call.get("args", call.get("arguments"))
    if isinstance(arguments, str):
        try:
            return parse_json(arguments) if arguments.strip() else {}
        except ValueError:
            return arguments
    return {} if arguments is None else arguments


def _fits(how: str, expected: ToolCall, call: Mapping[str, Any]) -> bool:
    name = call.get("name")
    if not isinstance(name, str) or fold(name) != fold(expected.name):
        return False
    if how == "ignore":
        return True
    return same(expected.args, _arguments(call)) if how == "exact" else isinstance(_arguments(call), Mapping) and holds(expected.args, _arguments(call))


def _in_place(fits: Sequence[int], calls: int) -> float:
    """Share of positions that agree, out of the longer list."""
    return sum(row >> index & 1 for index, row in enumerate(fits)) / max(len(fits), calls)


def _in_order(fits: Sequence[int], calls: int) -> float:
    """Length of the longest common subsequence, out of the expected calls."""
    best = [0] * (calls + 1)
    for row in fits:
        previous = 0
        for index in range(1, calls + 1):
            previous, best[index] = best[index], previous + 1 if row >> index - 1 & 1 else max(best[index], best[index - 1])
    return best[calls] / len(fits)


def _any_order(fits: Sequence[int], calls: int) -> float:
    """Most expected calls that can each have a call of their own, out of the expected calls."""
    width = max(calls, len(fits))
    everyone = (1 << width) - 1
    partners = assign([{0: row, 1: everyone ^ row} for row in fits], width)
    return sum(row >> column & 1 for row, column in zip(fits, partners, strict=True)) / len(fits)


_SHARES: dict[str, Callable[[Sequence[int], int], float]] = {"exact": _in_place, "in_order": _in_order, "any_order": _any_order}


def score_tool_calls(spec: ToolCalls, answer: Answer) -> CheckScore:
    """Share of the expected calls that were made: at their place (`exact`), in their order, or in any; no expected calls mean no calls."""
    calls = answer.part(spec.part)
    if calls is None:
        return no_part(spec.part)
    if not isinstance(calls, list | tuple) or not all(isinstance(call, Mapping) for call in calls):
        return CheckScore(0.0, f"`{spec.part}` of the answer is no list of calls")
    if is_deep(calls):
        return CheckScore(0.0, f"`{spec.part}` of the answer is nested too deeply")
    score = _share(spec, calls)
    return RIGHT if score == 1 else CheckScore(score, _difference(spec, calls))


def _share(spec: ToolCalls, calls: Sequence[Mapping[str, Any]]) -> float:
    if not spec.value or not calls:
        return float(not spec.value and not calls)
    seen = calls[:MOST_CALLS]
    fits = [sum(1 << index for index, call in enumerate(seen) if _fits(spec.args, expected, call)) for expected in spec.value]
    return _SHARES[spec.match](fits, len(calls) if spec.match == "exact" else len(seen))


def _difference(spec: ToolCalls, calls: Sequence[Mapping[str, Any]]) -> str:
    with_arguments = spec.args != "ignore" and [call.name for call in spec.value] == [call.get("name") for call in calls]
    expected = [_shown(call.name, call.args, with_arguments) for call in spec.value]
    made = [_shown(call.get("name"), _arguments(call), with_arguments) for call in calls[: _NAMES + 1]]
    return one_line(f"expected {_line(expected, len(expected))} ({spec.match}, args {spec.args}), got {_line(made, len(calls))}")


def _shown(name: Any, arguments: Any, with_arguments: bool) -> str:
    plain = quoted(name if isinstance(name, str) else repr(type(name).__name__), 40)[1:-1]
    return f"{plain}({quoted(json.dumps(arguments, ensure_ascii=False, default=list), 80)[1:-1]})" if with_arguments else plain


def _line(names: Sequence[str], total: int) -> str:
    shown = ", ".join(names[:_NAMES])
    return f"[{shown}, … {total} in all]" if total > _NAMES else f"[{shown}]"
