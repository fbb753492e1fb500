"""The JSON Schema of the suite file, for editors and for `eval-gate schema`."""

from __future__ import annotations

from typing import Any

from pydantic import TypeAdapter

from evalaction.datasets.native import SuiteFile

_BOUNDS = {"gt": "exclusiveMinimum", "ge": "minimum", "lt": "exclusiveMaximum", "le": "maximum"}
DIALECT = "https://json-schema.org/draft/2020-12/schema"


def suite_schema() -> dict[str, Any]:
    """JSON Schema (draft 2020-12) of `*.eval.yaml`, made from the models; descriptions are their docstrings."""
    schema = TypeAdapter(SuiteFile).json_schema(by_alias=True, mode="validation")
    for model in schema.get("$defs", {}).values():
        if "const" in model.get("properties", {}).get("type", {}):
            model["required"] = sorted({"type", *model.get("required", ())})  # the reader has no default type either
    return {"$schema": DIALECT, **_bounded(schema)}


def _bounded(node: Any) -> Any:
    """Bounds that pydantic leaves under its own names, where one of our validators stands before them."""
    if isinstance(node, list):
        return [_bounded(item) for item in node]
    if not isinstance(node, dict):
        return node
    return {_BOUNDS.get(key, key) if isinstance(value, int | float) else key: _bounded(value) for key, value in node.items()}
