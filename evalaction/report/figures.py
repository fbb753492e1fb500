"""Numbers as a reader sees them: the one place for rounding."""

from __future__ import annotations

from evalaction.core.verdict import Runs

NOTHING = "\u2013"
"""An en dash: not measured, not there."""
_ZERO = 1e-9


def number(value: float | None) -> str:
    """Four decimals without idle zeros: `0.94`, `0.8567`, `1`; two digits where four decimals would show nothing."""
    if value is None:
        return NOTHING
    if abs(value) < _ZERO:
        return "0"
    text = f"{value:,.4f}" if abs(value) >= 0.0005 else f"{value:.{_places(value)}f}"
    return _signed(text.rstrip("0").rstrip(".") if "." in text else text)


def change(delta: float | None) -> str:
    """A difference with its sign: `+0.05`, `0`, or a minus sign in front."""
    if delta is None:
        return NOTHING
    text = number(delta)
    return text if text == "0" or delta < 0 else f"+{text}"


def score(value: float | None, runs: Runs | None) -> str:
    """A score, and how many of several runs passed: `0.6667 (2/3)`."""
    if value is None or runs is None or runs.measured < 2:
        return number(value)
    return f"{number(value)} ({runs.passed}/{runs.measured})"


def age(days: float) -> str:
    """How long ago, in whole days."""
    if days < 1:
        return "less than a day ago"
    return "1 day ago" if int(days) == 1 else f"{int(days):,} days ago"


def dollars(value: float | None) -> str:
    """US dollars, spelled so that no Markdown reads a formula."""
    return "unknown" if value is None else f"USD {number(value)}"


def _places(value: float) -> int:
    """Decimals that show two digits of a small number."""
    return -int(f"{value:e}".split("e")[1]) + 1


def _signed(text: str) -> str:
    return text.replace("-", "\u2212")
