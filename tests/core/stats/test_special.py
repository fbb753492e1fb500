"""Tails of t and chi-square against an independent library."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from evalaction.core.stats.special import chi2_tail, incomplete_beta, t_tail


@pytest.mark.parametrize("df", [0.5, 1, 2, 3.3, 9, 18.5, 450, 9e4, 3e5, 1e7, 1e12])
@pytest.mark.parametrize("t", [-40, -3, -0.2, 0, 1e-6, 0.5, 1, 2.3, 5, 9])
def test_t_tail__agrees_to_ten_digits(t, df):
    """Fractional, small and huge degrees of freedom, both tails; ten digits of the value, down to a probability of 1e-25."""
    assert t_tail(t, df) == pytest.approx(float(stats.t.sf(t, df)), rel=1e-9, abs=1e-25)


@settings(max_examples=200, deadline=None)
@given(st.floats(-50, 50), st.floats(0.2, 1e6))
def test_t_tail__is_accurate_everywhere(t, df):
    """The error is below 1e-10 for any t and any degrees of freedom."""
    assert abs(t_tail(t, df) - float(stats.t.sf(t, df))) < 1e-10


@given(st.floats(0, 40), st.floats(0.5, 1e5))
def test_t_tail__both_tails_add_up_to_one(t, df):
    """P(T >= t) + P(T >= -t) = 1."""
    assert t_tail(t, df) + t_tail(-t, df) == pytest.approx(1, abs=1e-12)


def test_t_tail__at_the_infinities():
    """A drop without any noise is certain."""
    assert (t_tail(math.inf, 3), t_tail(-math.inf, 3)) == (0, 1)


@pytest.mark.parametrize("df", [0.5, 1, 2, 9, 49, 999])
@pytest.mark.parametrize("share", [0.001, 0.3, 0.9, 1, 1.2, 2.5, 6])
def test_chi2_tail__agrees_to_ten_digits(share, df):
    """Below, at and above the mean."""
    assert chi2_tail(share * df, df) == pytest.approx(float(stats.chi2.sf(share * df, df)), rel=1e-9, abs=1e-250)


def test_chi2_tail__of_nothing__is_one():
    """Every sum of squares is at least 0."""
    assert chi2_tail(0, 4) == 1


@pytest.mark.parametrize(("a", "b"), [(0.5, 0.5), (2, 3), (30, 0.5), (150, 7)])
@pytest.mark.parametrize("x", [0, 1e-9, 0.2, 0.5, 0.97, 1])
def test_incomplete_beta__agrees(a, b, x):
    """The distribution function of the beta distribution, ends included."""
    assert incomplete_beta(a, b, x, 1 - x) == pytest.approx(float(stats.beta.cdf(x, a, b)), rel=1e-8, abs=1e-200)
