"""Numbers as a reader sees them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalaction.core.verdict import Runs
from evalaction.report.figures import age, change, dollars, number, score

MINUS = "\u2212"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.94, "0.94"),
        (0.8567, "0.8567"),
        (0.85666, "0.8567"),
        (1.0, "1"),
        (0.0, "0"),
        (-0.0, "0"),
        (1e-17, "0"),
        (None, "\u2013"),
        (1350.5, "1,350.5"),
        (100.0, "100"),
        (0.0000421, "0.000042"),
        (-0.25, MINUS + "0.25"),
        (0.00005, "0.00005"),
    ],
)
def test_number__is_short_and_exact_enough(value, text):
    """Four decimals without idle zeros, two digits of a tiny number, a real minus."""
    assert number(value) == text


@pytest.mark.parametrize(("delta", "text"), [(0.05, "+0.05"), (-0.0167, MINUS + "0.0167"), (0.0, "0"), (1e-12, "0"), (-0.00001, MINUS + "0.00001"), (None, "\u2013")])
def test_change__has_a_sign(delta, text):
    """A change says its direction, unless it is none."""
    assert change(delta) == text


@given(st.floats(min_value=-1e6, max_value=1e6))
def test_number__reads_back_near(value):
    """What is shown is the value within half of the last digit shown."""
    shown = float(number(value).replace(MINUS, "-").replace(",", ""))

    assert shown == pytest.approx(value, abs=0.00005, rel=0.06)
    assert abs(value) < 1e-9 or shown != 0


def test_score__shows_runs_only_where_there_are_several():
    """Runs stand as passed of measured."""
    assert score(2 / 3, Runs(passed=2, measured=3)) == "0.6667 (2/3)"
    assert score(1.0, Runs(passed=1, measured=1)) == "1"
    assert score(None, Runs(passed=0, measured=3)) == "\u2013"


def test_age_and_money__in_words():
    """Ages are whole days; money never has a dollar sign, which Markdown may read as a formula."""
    assert [age(0.3), age(1.9), age(40.2)] == ["less than a day ago", "1 day ago", "40 days ago"]
    assert dollars(0.0123) == "USD 0.0123"
    assert dollars(None) == "unknown"
