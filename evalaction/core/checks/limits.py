"""Checks on what an answer took: milliseconds, US dollars, tokens. They are read from the answer's own parts."""

from __future__ import annotations

from evalaction.core.answer import Answer
from evalaction.core.checks.base import CheckScore, no_part, yes_or_no
from evalaction.core.checks.number import show
from evalaction.core.specs import MaxCost, MaxLatency, MaxTokens


def score_max_latency(spec: MaxLatency, answer: Answer) -> CheckScore:
    """1 when `latency_ms` is known and at most `value`."""
    return _within("latency_ms", answer.latency_ms, spec.value, "ms")


def score_max_cost(spec: MaxCost, answer: Answer) -> CheckScore:
    """1 when `cost_usd` is known and at most `value`."""
    return _within("cost_usd", answer.cost_usd, spec.value, "USD")


def score_max_tokens(spec: MaxTokens, answer: Answer) -> CheckScore:
    """1 when `tokens` are known and input and output together at most `value`."""
    return _within("tokens", None if answer.tokens is None else float(sum(answer.tokens)), spec.value, "tokens")


def _within(part: str, actual: float | None, limit: float, unit: str) -> CheckScore:
    if actual is None:
        return no_part(part)
    return yes_or_no(actual <= limit, f"{show(actual)} {unit}, at most {show(limit)} allowed")
