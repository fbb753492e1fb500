"""Checks on JSON: a schema, and a subset of the expected values.

The part is JSON already, or text that is one JSON document, bare or as the whole of a Markdown fence.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from typing import Any

from evalaction.core.answer import Answer
from evalaction.core.checks.base import RIGHT, CheckScore, is_deep, listed, missing_part, one_line, quoted, share, visible
from evalaction.core.checks.number import show
from evalaction.core.checks.text import search
from evalaction.core.patterns import fold
from evalaction.core.scalars import spell
from evalaction.core.specs import CheckSpec, JsonCheck, JsonSubset
from evalaction.errors import MeasureError

_ERRORS = 50
_SCHEMAS = 32
_ABSENT = object()


def unfenced(text: str) -> str:
    """Text without the Markdown fence that encloses the whole of it; any other text as it is."""
    lines = fold(text).strip().split("\n")
    mark = lines[0].rstrip()[:3]
    if len(lines) < 2 or mark not in ("```", "~~~"):
        return text
    fence = lines[0][: len(lines[0]) - len(lines[0].lstrip(mark[0]))]
    return "\n".join(lines[1:-1]) if lines[-1].strip() == fence else text


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON value")


def parse_json(text: str) -> Any:
    """One JSON document, bare or in a fence. Raises ValueError with the reason: malformed, NaN or Infinity, or nested too deeply."""
    try:
        value = json.loads(unfenced(text), parse_constant=_no_constant)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    if is_deep(value):
        raise ValueError("it is nested too deeply")
    return value


def _read(spec: CheckSpec, answer: Answer) -> tuple[Any, CheckScore | None]:
    """The part as a JSON value, or a score of 0 saying why there is none."""
    if missing := missing_part(spec, answer):
        return None, missing
    part = answer.part(spec.part)
    if not isinstance(part, str):
        return part, CheckScore(0.0, f"`{spec.part}` of the answer is nested too deeply") if is_deep(part) else None
    try:
        return parse_json(part), None
    except ValueError as error:
        return None, CheckScore(0.0, one_line(f"`{spec.part}` of the answer is not JSON: {error}"))


def same(expected: Any, actual: Any) -> bool:
    """Whether two JSON values are equal: 1 is 1.0, true is not 1; texts after folding line ends and NFC."""
    if isinstance(expected, str) and isinstance(actual, str):
        return fold(expected) == fold(actual)
    if isinstance(expected, Mapping) and isinstance(actual, Mapping):
        return expected.keys() == actual.keys() and all(same(value, actual[key]) for key, value in expected.items())
    if _is_list(expected) and _is_list(actual):
        return len(expected) == len(actual) and all(map(same, expected, actual))
    return _same_scalar(expected, actual)


def _same_scalar(expected: Any, actual: Any) -> bool:
    if isinstance(expected, bool) or isinstance(actual, bool):
        return expected is actual
    return bool(isinstance(expected, int | float) and isinstance(actual, int | float) and expected == actual) or (expected is None and actual is None)


def _is_list(value: Any) -> bool:
    return isinstance(value, list | tuple)


def leaves(expected: Any, actual: Any, path: str = "") -> Iterator[tuple[str, bool, Any, Any]]:
    """Each leaf of `expected` as (path, holds, expected, actual).

    Maps are followed by key and lists by index; what is more in `actual` does not matter. An empty map
    or list is a leaf that any map or list holds. `actual` is a marker where the path is absent.
    """
    if isinstance(expected, Mapping) and expected:
        for key, value in expected.items():
            yield from leaves(value, actual.get(key, _ABSENT) if isinstance(actual, Mapping) else _ABSENT, _step(path, str(key)))
    elif _is_list(expected) and expected:
        for index, value in enumerate(expected):
            yield from leaves(value, actual[index] if _is_list(actual) and index < len(actual) else _ABSENT, f"{path}[{index}]")
    elif isinstance(expected, Mapping):
        yield path, isinstance(actual, Mapping), expected, actual
    elif _is_list(expected):
        yield path, _is_list(actual), expected, actual
    else:
        yield path, same(expected, actual), expected, actual


def holds(expected: Any, actual: Any) -> bool:
    """Whether `actual` holds every leaf of `expected`."""
    return all(right for _, right, _, _ in leaves(expected, actual))


def _step(path: str, key: str) -> str:
    name = visible(key[:60]) if key.replace("_", "a").replace("-", "a").isalnum() else f"[{quoted(key)}]"
    return name if not path else f"{path}{name}" if name.startswith("[") else f"{path}.{name}"


def _shown(value: Any) -> str:
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, Mapping):
        return f"a map of {len(value)}"
    if _is_list(value):
        return f"a list of {len(value)}"
    return one_line(show(value), 40) if isinstance(value, int | float) and not isinstance(value, bool) else spell(value)


def _complaint(path: str, expected: Any, actual: Any) -> str:
    place = path or "the answer"
    return f"{place}: expected {_shown(expected)}, found nothing there" if actual is _ABSENT else f"{place}: expected {_shown(expected)}, got {_shown(actual)}"


def score_json_subset(spec: JsonSubset, answer: Answer) -> CheckScore:
    """Share of the leaves of `value` that the answer holds."""
    actual, refused = _read(spec, answer)
    if refused:
        return refused
    found = list(leaves(spec.value, actual))
    wrong = [(path, expected, got) for path, right, expected, got in found if not right]
    if not wrong:
        return RIGHT
    return CheckScore(share(len(found) - len(wrong), len(found)), listed((_complaint(*leaf) for leaf in wrong), len(wrong)))


@lru_cache(maxsize=_SCHEMAS)
def _validator(source: str) -> Any:
    """A validator of draft 2020-12 that fetches nothing and gives patterns a limited time. `source` is the schema as JSON."""
    from jsonschema import Draft202012Validator, validators  # noqa: PLC0415 - only suites with schemas pay for the import
    from referencing import Registry  # noqa: PLC0415 - only suites with schemas pay for the import

    bounded = validators.extend(Draft202012Validator, {"pattern": _pattern})  # type: ignore[no-untyped-call]  # the stubs leave it untyped
    return bounded(json.loads(source), registry=Registry())


def _pattern(validator: Any, pattern: str, instance: Any, schema: Any) -> Iterator[Any]:  # noqa: ARG001 - the signature is jsonschema's
    from jsonschema import ValidationError  # noqa: PLC0415 - only suites with schemas pay for the import

    if isinstance(instance, str) and search(pattern, "", instance) is None:
        yield ValidationError(f"{quoted(instance)} does not match {quoted(pattern)}")


def score_json(spec: JsonCheck, answer: Answer) -> CheckScore:
    """1 when the answer is valid under the schema. Raises MeasureError SCORER_FAILED when the schema points outside itself."""
    actual, refused = _read(spec, answer)
    if refused:
        return refused
    try:
        return _first_fault(_validator(json.dumps(spec.schema_)), actual)
    except RecursionError:
        return CheckScore(0.0, f"`{spec.part}` of the answer is nested too deeply for the schema")


def _first_fault(validator: Any, actual: Any) -> CheckScore:
    from jsonschema.exceptions import best_match  # noqa: PLC0415 - only suites with schemas pay for the import
    from referencing.exceptions import Unresolvable  # noqa: PLC0415 - only suites with schemas pay for the import

    try:
        fault = best_match(islice(validator.iter_errors(_listed(actual)), _ERRORS))
    except Unresolvable as error:
        raise MeasureError("SCORER_FAILED", one_line(f"the schema refers to {quoted(str(error.ref))}, which is not part of it; nothing is fetched")) from None
    if fault is None:
        return RIGHT
    return CheckScore(0.0, one_line(f"{_where(fault.absolute_path)}: {fault.message}"))


def _listed(value: Any) -> Any:
    """Tuples as lists and maps as dicts, which is all that a validator knows."""
    if isinstance(value, Mapping):
        return {key: _listed(item) for key, item in value.items()}
    return [_listed(item) for item in value] if _is_list(value) else value


def _where(path: Sequence[str | int]) -> str:
    place = ""
    for step in path:
        place = f"{place}[{step}]" if isinstance(step, int) else _step(place, step)
    return place or "the answer"
