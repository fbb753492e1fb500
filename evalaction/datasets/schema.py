"""The JSON Schema of the suite file, for editors and for `eval-gate schema`."""

from __future__ import annotations

from typing import Any

from pydantic import TypeAdapter

from evalaction.datasets.native import SuiteFile

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def suite_schema() -> dict[str, Any]:
    """JSON Schema (draft 2020-12) of `*.eval.yaml`, made from the models; descriptions are their docstrings."""
    schema = TypeAdapter(SuiteFile).json_schema(by_alias=True, mode="validation")
    for model in schema.get("$defs", {}).values():
        if "const" in model.get("properties", {}).get("type", {}):
            model["required"] = sorted({"type", *model.get("required", ())})  # the reader has no default type either
    return {"$schema": DIALECT, **schema}
