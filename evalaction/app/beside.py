"""A measurement beside another one: of the base system, or of the same system anew."""

from __future__ import annotations

import dataclasses

from evalaction.runner.budget import Budget
from evalaction.targets.base import BatchTarget, SingleTarget

Target = SingleTarget | BatchTarget


@dataclasses.dataclass(frozen=True, slots=True)
class Beside:
    """What a measurement beside another one takes over: the target to ask, and the budget that both use up."""

    target: Target
    budget: Budget
