"""Amounts that an answer states about itself."""

from __future__ import annotations

import json
import math

import pytest

from evalaction.core.answer import LARGEST, read_answer
from evalaction.core.sample import mean
from evalaction.errors import MeasureError


@pytest.mark.parametrize("name", ["cost_usd", "latency_ms", "tokens"])
@pytest.mark.parametrize(
    "value",
    [-1, -0.001, math.nan, math.inf, 1e13, 1e308, 10**400, 10**5000, True, "3", [1]],
    ids=lambda value: str(value)[:8] if not isinstance(value, int) or value < 9 else "huge",
)
def test_answer__an_amount_out_of_all_proportion__is_invalid(name, value):
    """Negative, infinite and absurd amounts, also whole numbers that no float holds, are INVALID_ANSWER and nothing worse."""
    with pytest.raises(MeasureError) as caught:
        read_answer({"output": "x", name: value})
    assert caught.value.code == "INVALID_ANSWER"
    assert len(caught.value.message) < 200


@pytest.mark.parametrize("side", ["input", "output"])
def test_answer__tokens_by_side__are_bounded_too(side):
    """Each side of the tokens has its own bound."""
    with pytest.raises(MeasureError, match=f"tokens.{side}"):
        read_answer({"output": "x", "tokens": {side: 10**13}})


def test_answer__the_largest_amounts__are_accepted_and_their_mean_is_finite():
    """At the bound itself everything is still a number that JSON and a mean can hold."""
    answer = read_answer({"output": "x", **LARGEST})

    assert (answer.cost_usd, answer.latency_ms, answer.tokens) == (1e6, 1e9, (0, 10**12))
    assert math.isfinite(mean([float(sum(answer.tokens))] * 100_000))
    assert json.loads(json.dumps(answer.as_json(), allow_nan=False))["tokens"]["output"] == 10**12
