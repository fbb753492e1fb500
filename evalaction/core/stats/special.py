"""Tail probabilities of Student's t and of chi-square, by continued fractions; absolute and relative error below 1e-10."""

from __future__ import annotations

import math

_TINY = 1e-300
_CLOSE = 1e-16
_MOST_STEPS = 20_000
_NEARLY_NORMAL = 3e5
"""Degrees of freedom from which on the continued fraction loses digits and an expansion about the normal distribution has them."""


def t_tail(t: float, df: float) -> float:
    """P(T >= t) for Student's t with `df` > 0 degrees of freedom (any real number); 0 and 1 at the infinities.

    Source: I_x(df/2, 1/2) / 2 at x = df/(df + t²), Abramowitz & Stegun 26.5.27; for very large `df` Fisher's expansion, 26.7.
    """
    if math.isinf(t):
        return 0.0 if t > 0 else 1.0
    if df > _NEARLY_NORMAL:
        return _nearly_normal_tail(t, df)
    square = t * t
    half = 0.5 * incomplete_beta(df / 2, 0.5, df / (df + square), square / (df + square))
    return half if t >= 0 else 1.0 - half


def _nearly_normal_tail(t: float, df: float) -> float:
    density = math.exp(-t * t / 2) / math.sqrt(2 * math.pi)
    first = t * (t**2 + 1) / 4
    second = t * (3 * t**6 - 7 * t**4 - 5 * t**2 - 3) / 96
    tail = 0.5 * math.erfc(t / math.sqrt(2)) + density * (first / df + second / df**2)
    return min(1.0, max(0.0, tail))


def incomplete_beta(a: float, b: float, x: float, rest: float) -> float:
    """The regularised incomplete beta function I_x(a, b), 0 <= x <= 1; `rest` is 1 - x, given apart so that no digit is lost.

    Source: DLMF 8.17.22, the continued fraction, on the side of the mean where it converges fast.
    """
    if x <= 0 or rest <= 0:
        return 0.0 if x <= 0 else 1.0
    front = math.exp(_log_rising(a, b) - math.lgamma(b) + a * _log(x, rest) + b * _log(rest, x))
    if x < (a + 1) / (a + b + 2):
        return front * _beta_fraction(a, b, x) / a
    return 1.0 - front * _beta_fraction(b, a, rest) / b


def _log(x: float, rest: float) -> float:
    return math.log(x) if x < rest else math.log1p(-rest)


def _log_rising(a: float, b: float) -> float:
    """Ln Γ(a + b) - ln Γ(a). For b = 1/2 and large a by its expansion (DLMF 5.11.13), since the difference of two large numbers loses digits."""
    if b == 0.5 and a > 100:
        return 0.5 * math.log(a) - 1 / (8 * a) + 1 / (192 * a**3) - 1 / (640 * a**5)
    return math.lgamma(a + b) - math.lgamma(a)


def _beta_fraction(a: float, b: float, x: float) -> float:
    """Lentz's algorithm for the continued fraction of I_x(a, b)."""
    c, d = 1.0, 1.0 / _away_from_zero(1.0 - (a + b) * x / (a + 1))
    value = d
    for m in range(1, _MOST_STEPS):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for step in (even, odd):
            d = 1.0 / _away_from_zero(1.0 + step * d)
            c = _away_from_zero(1.0 + step / c)
            value *= c * d
        if abs(c * d - 1.0) < _CLOSE * 4:
            break
    return value


def _away_from_zero(value: float) -> float:
    return value if abs(value) > _TINY else _TINY


def chi2_tail(x: float, df: float) -> float:
    """P(X >= x) for chi-square with `df` > 0 degrees of freedom: the upper regularised gamma function Q(df/2, x/2).

    Source: DLMF 8.11.4 (series) below the mean, 8.9.2 (continued fraction) above it.
    """
    a, half = df / 2, x / 2
    if half <= 0:
        return 1.0
    front = math.exp(a * math.log(half) - half - math.lgamma(a))
    return 1.0 - front * _gamma_series(a, half) if half < a + 1 else front * _gamma_fraction(a, half)


def _gamma_series(a: float, x: float) -> float:
    term = total = 1.0 / a
    for n in range(1, _MOST_STEPS):
        term *= x / (a + n)
        total += term
        if term < total * _CLOSE:
            break
    return total


def _gamma_fraction(a: float, x: float) -> float:
    b = x + 1.0 - a
    c, d = 1.0 / _TINY, 1.0 / _away_from_zero(b)
    value = d
    for n in range(1, _MOST_STEPS):
        step = -n * (n - a)
        b += 2.0
        d = 1.0 / _away_from_zero(step * d + b)
        c = _away_from_zero(b + step / c)
        value *= c * d
        if abs(c * d - 1.0) < _CLOSE * 4:
            break
    return value
