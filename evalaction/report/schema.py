"""`verdict.json` as bytes, and the published JSON Schemas of what eval-gate writes."""

from __future__ import annotations

from typing import Any

from pydantic import TypeAdapter

from evalaction.core.record import CaseRecord, RunHeader
from evalaction.core.verdict import Verdict

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_VERDICT = TypeAdapter(Verdict)
_READABLE_CASES = 10_000


def verdict_json(verdict: Verdict) -> bytes:
    """`verdict.json`: strict JSON in UTF-8 with a line break at its end; indented by one while people may still read it."""
    large = sum(len(suite.cases) for suite in verdict.suites) > _READABLE_CASES
    return _VERDICT.dump_json(verdict, indent=None if large else 1) + b"\n"


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
    body = TypeAdapter(kind).json_schema(mode="serialization")
    return {"$schema": _DIALECT, "$id": f"urn:eval-gate:schema:{name}:1", **body, "title": title}
