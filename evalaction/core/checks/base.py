"""What a scoring function returns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class CheckScore(NamedTuple):
    """A score in 0..1 and why, in one line; `values` are the metrics when they are not just the score under the type's name."""

    score: float
    detail: str = ""
    values: Mapping[str, float] | None = None
