"""`verdict.json` as bytes, and the published JSON Schemas of what eval-gate writes."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

from evalaction.core.model import adapter, json_bytes
from evalaction.core.record import CaseRecord, RunHeader
from evalaction.core.verdict import CaseVerdict, Verdict

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_NO_CASES = b'"cases":[]'
OWN_WORDS = frozenset({"verdict", "rule", "code", "outcome", "system", "tool_version"})
"""Keys of verdict.json under which only words of ours stand: a secret that happens to be one of them must not take it away."""
_READABLE_CASES = 10_000
_PIECE = 1_000


def verdict_json(verdict: Verdict) -> bytes:
    """`verdict.json`: strict JSON in UTF-8 with a line break at its end; indented by one while people may still read it."""
    return b"".join(verdict_pieces(verdict))


def verdict_pieces(verdict: Verdict) -> Iterator[bytes]:
    """The same in pieces, for a hundred thousand cases would be in memory several times over. Pieces of a large verdict end between two cases."""
    if sum(len(suite.cases) for suite in verdict.suites) <= _READABLE_CASES:
        yield json_bytes(Verdict, verdict, indent=1)
    else:
        bare = dataclasses.replace(verdict, suites=tuple(dataclasses.replace(suite, cases=()) for suite in verdict.suites))
        # No text of anybody's can hold this: JSON puts a backslash before the quotes in a text.
        parts = json_bytes(Verdict, bare).split(_NO_CASES)
        yield parts[0]
        for suite, rest in zip(verdict.suites, parts[1:], strict=True):
            yield from (b'"cases":[', *_case_pieces(suite.cases), b"]" + rest)
    yield b"\n"


def _case_pieces(cases: tuple[CaseVerdict, ...]) -> Iterator[bytes]:
    for start in range(0, len(cases), _PIECE):
        yield (b"," if start else b"") + json_bytes(tuple[CaseVerdict, ...], cases[start : start + _PIECE])[1:-1]


def verdict_schema() -> dict[str, Any]:
    """JSON Schema of `verdict.json`."""
    return _schema(Verdict, "verdict", "eval-gate: verdict.json")


def record_schema() -> dict[str, Any]:
    """JSON Schema of a record's `record.json`."""
    return _schema(RunHeader, "record", "eval-gate: record.json")


def case_schema() -> dict[str, Any]:
    """JSON Schema of a record's `cases/<case>.json`."""
    return _schema(CaseRecord, "case", "eval-gate: cases/<case>.json")


def _schema(kind: type[Any], name: str, title: str) -> dict[str, Any]:
    body = adapter(kind).json_schema(mode="serialization")
    return {"$schema": _DIALECT, "$id": f"urn:eval-gate:schema:{name}:1", **body, "title": title}
