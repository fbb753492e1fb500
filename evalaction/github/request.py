"""What is asked over the wire: one request, and the JSON of what is written."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from evalaction.github.facts import CheckOutput


@dataclasses.dataclass(frozen=True, slots=True)
class Request:
    """One request to the API. `path` is below its root."""

    method: str
    path: str
    query: Mapping[str, str | int] = dataclasses.field(default_factory=dict)
    body: Mapping[str, Any] | None = None
    adds: bool = False
    """Whether it adds something each time it takes effect."""

    @property
    def is_repeatable(self) -> bool:
        """What adds something may have taken effect though its answer was lost: whoever knows how to look for it asks again, not we."""
        return self.method != "POST" and not self.adds

    def __str__(self) -> str:
        return f"{self.method} {self.path}"


def output_json(output: CheckOutput) -> dict[str, Any]:
    """The `output` of a check run; what is empty is left out."""
    annotations = [
        {"path": one.path, "start_line": one.line, "end_line": one.line, "annotation_level": one.level, "title": one.title, "message": one.message} for one in output.annotations
    ]
    found: dict[str, Any] = {"title": output.title, "summary": output.summary}
    return {**found, **({"text": output.text} if output.text else {}), **({"annotations": annotations} if annotations else {})}
