"""What every type of check has, whatever it looks at."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field

from evalaction.core.model import model as spec
from evalaction.core.scalars import Fraction, Positive, Word

PASS_RATE = "pass_rate"  # noqa: S105 - a metric, not a password
RAW = ("latency_ms", "cost_usd", "tokens")
"""Metrics with a unit instead of the range 0..1; lower is better."""
RESERVED = frozenset({PASS_RATE, *RAW})
"""Metrics that every answer has: nothing else may go by their names."""


@spec
class CheckSpec:
    """Keys that every check has."""

    DEFAULT_FIELD: ClassVar[str] = "output"
    DEFAULT_THRESHOLD: ClassVar[float] = 1.0

    id: Word | None = None
    weight: Annotated[Positive, Field(ge=1e-6, le=1e6)] = 1.0
    field: Word | None = None
    threshold: Fraction | None = None

    @property
    def part(self) -> str:
        """Which part of the answer is looked at."""
        return self.field or self.DEFAULT_FIELD

    @property
    def required(self) -> float:
        """Score in 0..1 that is needed to pass."""
        return self.DEFAULT_THRESHOLD if self.threshold is None else self.threshold
