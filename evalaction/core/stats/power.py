"""What a comparison can see: the smallest uniform drop found four times in five."""

from __future__ import annotations

from statistics import NormalDist
from typing import Literal

Kind = Literal["binary", "graded"]
_POWER = 0.8
_SMALL_SUITE = 50


def factor(kind: Kind, cases: int) -> float:
    """How much larger than the textbook formula the drop must be, since stages that stop early cost power; measured by simulation."""
    if kind == "graded":
        return 1.05
    return 1.5 if cases < _SMALL_SUITE else 1.3


def minimum_detectable(kind: Kind, cases: int, standard_error: float, alpha: float, tolerance: float) -> float:
    """max(f (z_{1-alpha} + z_{.80}) SE, tolerance + z_{.80} SE), in the unit of the standard error of the last stage.

    `alpha` in (0, 1) is that of one metric. Source of the first term: Cohen, Statistical Power Analysis (1988), 2.
    """
    normal = NormalDist()
    of_power = normal.inv_cdf(_POWER)
    return max(factor(kind, cases) * (normal.inv_cdf(1 - alpha) + of_power) * standard_error, tolerance + of_power * standard_error)
