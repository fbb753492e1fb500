"""`schema`: JSON Schemas of the files that people and programs write and read."""

from __future__ import annotations

import json

from evalaction.datasets.schema import suite_schema
from evalaction.report.schema import case_schema, record_schema, verdict_schema

_MAKERS = {"suite": suite_schema, "verdict": verdict_schema, "record": record_schema, "case": case_schema}


def schema_text(of: str) -> str:
    """The schema of one kind of file, as JSON."""
    return json.dumps(_MAKERS[of](), indent=2, ensure_ascii=False) + "\n"
