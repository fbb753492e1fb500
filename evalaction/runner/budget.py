"""What a run may spend, and what it has spent: calls, money, time."""

from __future__ import annotations

import math
from collections.abc import Callable

from evalaction.core.suite import Limits
from evalaction.errors import MeasureError


class Budget:
    """Shared by everything that one run does. The clock, in seconds, starts when the budget is made."""

    def __init__(self, limits: Limits, clock: Callable[[], float]) -> None:
        self._limits, self._clock = limits, clock
        self._deadline = math.inf if limits.max_minutes is None else clock() + limits.max_minutes * 60
        self.calls = 0
        """Calls of the target made so far, every attempt counted."""
        self.judge_calls = 0
        """The same for the judge."""
        self.cost_usd = 0.0
        """US dollars that answers and verdicts say they cost."""

    def take_call(self) -> None:
        """Count one call that is about to be made. Raises MeasureError BUDGET_EXHAUSTED when a limit is reached."""
        if reached := self._reached():
            raise MeasureError("BUDGET_EXHAUSTED", reached)
        self.calls += 1

    def take_judge_call(self) -> None:
        """The same for a call of the judge: both use up one limit."""
        if reached := self._reached():
            raise MeasureError("BUDGET_EXHAUSTED", reached)
        self.judge_calls += 1

    def spend(self, cost_usd: float | None) -> None:
        """Count what an answer cost."""
        self.cost_usd += cost_usd or 0.0

    @property
    def all_calls(self) -> int:
        """Calls of target and judge so far."""
        return self.calls + self.judge_calls

    def lacks(self, calls: int) -> str | None:
        """What keeps so many further calls from being made; None when nothing does yet."""
        most = self._limits.max_calls
        if most is not None and self.all_calls + calls > most:
            return f"max_calls: {calls} more are needed, and {most - self.all_calls} of {most} are left"
        return self._reached()

    @property
    def seconds_left(self) -> float:
        """Until the deadline, at least 0; infinite without one."""
        return max(self._deadline - self._clock(), 0.0)

    @property
    def is_overspent(self) -> bool:
        """Whether the money is spent."""
        return self._limits.max_cost_usd is not None and self.cost_usd >= self._limits.max_cost_usd

    def exhausted(self) -> MeasureError:
        """The error of a trial that was not asked for, or not to its end."""
        return MeasureError("BUDGET_EXHAUSTED", self._reached() or "a limit of the run was reached")

    def _reached(self) -> str | None:
        limits = self._limits
        if self.seconds_left <= 0:
            return f"max_minutes: the run's {limits.max_minutes:g} minutes are over"
        if limits.max_calls is not None and self.all_calls >= limits.max_calls:
            return f"max_calls: {self.all_calls} of {limits.max_calls} calls are made"
        if self.is_overspent:
            return f"max_cost_usd: {self.cost_usd:.4f} of {limits.max_cost_usd:g} US dollars are spent"
        return None
