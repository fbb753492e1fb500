"""How well a judge agrees with people: a table of two by two, Cohen's kappa with its interval, and rank correlation."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Sequence

from evalaction.core.stats.special import t_tail

_Z95 = 1.959963984540054
_NO_SPREAD = 1e-12
FEWEST_FOR_P = 10
"""Pairs from which on the t approximation of a rank correlation's p value is of use."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Confusion:
    """Verdicts on the same answers, counted: `false_pass` the judge alone passed, `false_fail` people alone passed."""

    both_pass: int = 0
    false_pass: int = 0
    false_fail: int = 0
    both_fail: int = 0

    @classmethod
    def of(cls, verdicts: Iterable[tuple[bool, bool]]) -> Confusion:
        """Counted from pairs (judge passes, people pass)."""
        pairs = list(verdicts)
        counted = {cell: pairs.count(cell) for cell in ((True, True), (True, False), (False, True), (False, False))}
        return cls(both_pass=counted[True, True], false_pass=counted[True, False], false_fail=counted[False, True], both_fail=counted[False, False])

    @property
    def total(self) -> int:
        """Answers with both verdicts."""
        return self.both_pass + self.false_pass + self.false_fail + self.both_fail

    @property
    def agreement(self) -> float | None:
        """Share of equal verdicts, None of nothing."""
        return (self.both_pass + self.both_fail) / self.total if self.total else None

    @property
    def false_pass_rate(self) -> float | None:
        """Share of the answers that people failed and the judge passed; None where people failed none."""
        return _rate(self.false_pass, self.both_fail)

    @property
    def false_fail_rate(self) -> float | None:
        """Share of the answers that people passed and the judge failed; None where people passed none."""
        return _rate(self.false_fail, self.both_pass)

    @property
    def _chance(self) -> float:
        """The agreement that two independent raters with these margins would have."""
        judge, people = self.both_pass + self.false_pass, self.both_pass + self.false_fail
        return (judge * people + (self.total - judge) * (self.total - people)) / self.total**2

    @property
    def kappa(self) -> float | None:
        """Cohen's kappa (p_o - p_e) / (1 - p_e), -1..1; None where chance alone would agree in everything, since both said one thing only.

        Source: Cohen, A coefficient of agreement for nominal scales, Educational and Psychological Measurement 20 (1960).
        """
        if self.agreement is None or self._chance >= 1:
            return None
        return (self.agreement - self._chance) / (1 - self._chance)

    @property
    def kappa_interval(self) -> tuple[float, float] | None:
        """Limits of kappa at 95%, within -1..1; None where kappa is.

        Source: the large-sample standard error of Fleiss, Cohen & Everitt, Large sample standard errors of kappa and weighted kappa,
        Psychological Bulletin 72 (1969), eq. 13. That error is 0 where all verdicts agree, which would make five labels a proof: there the
        lower limit is Wilson's (JASA 22, 1927) for the agreement, with the agreement by chance as observed.
        """
        kappa, observed = self.kappa, self.agreement
        if kappa is None or observed is None:
            return None
        error = self._standard_error(kappa)
        if error > _NO_SPREAD:
            return max(-1.0, kappa - _Z95 * error), min(1.0, kappa + _Z95 * error)
        low, high = ((limit - self._chance) / (1 - self._chance) for limit in _wilson(observed, self.total))
        return max(-1.0, low), min(1.0, high)

    def _standard_error(self, kappa: float) -> float:
        n, rest = self.total, 1 - kappa
        judge, people = (self.both_pass + self.false_pass) / n, (self.both_pass + self.false_fail) / n
        agreed = self.both_pass / n * (1 - (judge + people) * rest) ** 2 + self.both_fail / n * (1 - (2 - judge - people) * rest) ** 2
        # p_ij is weighed by the column margin of i and the row margin of j.
        apart = self.false_pass / n * (people + 1 - judge) ** 2 + self.false_fail / n * (1 - people + judge) ** 2
        variance = agreed + rest**2 * apart - (kappa - self._chance * rest) ** 2
        return math.sqrt(max(variance, 0.0) / n) / (1 - self._chance)


def _rate(wrong: int, right: int) -> float | None:
    return wrong / (wrong + right) if wrong + right else None


def _wilson(share: float, n: int) -> tuple[float, float]:
    square = _Z95**2
    middle, half = share + square / (2 * n), _Z95 * math.sqrt(share * (1 - share) / n + square / (4 * n * n))
    return (middle - half) / (1 + square / n), (middle + half) / (1 + square / n)


@dataclasses.dataclass(frozen=True, slots=True)
class Correlation:
    """A rank correlation -1..1 over `pairs` pairs; `p_value` is two-sided, None where there are too few pairs for it."""

    value: float
    pairs: int
    p_value: float | None = None


def rank_correlation(first: Sequence[float], second: Sequence[float]) -> Correlation | None:
    """Spearman's correlation, ties with their mean rank; None of fewer than three pairs, or where one side is constant.

    Ranks, since lengths of answers are skewed and one very long answer would decide. Source: Spearman, The proof and measurement of association
    between two things, American Journal of Psychology 15 (1904); its p value by Student's t with n - 2 degrees of freedom (Kendall & Stuart, 31.19).
    """
    n = len(first)
    if n < 3 or len(set(first)) == 1 or len(set(second)) == 1:
        return None
    x, y = _centred(first), _centred(second)
    value = math.fsum(a * b for a, b in zip(x, y, strict=True)) / math.sqrt(math.fsum(a * a for a in x) * math.fsum(b * b for b in y))
    value = max(-1.0, min(1.0, value))
    return Correlation(value, n, _p_value(value, n) if n >= FEWEST_FOR_P else None)


def _p_value(value: float, n: int) -> float:
    if 1 - abs(value) < _NO_SPREAD:
        return 0.0
    return min(1.0, 2 * t_tail(abs(value) * math.sqrt((n - 2) / (1 - value * value)), n - 2))


def _centred(values: Sequence[float]) -> list[float]:
    """Ranks about their mean."""
    order = sorted(range(len(values)), key=values.__getitem__)
    ranks, start = [0.0] * len(values), 0
    while start < len(order):
        end = start
        while end < len(order) and values[order[end]] == values[order[start]]:
            end += 1
        for place in order[start:end]:
            ranks[place] = (start + end - 1) / 2 - (len(values) - 1) / 2
        start = end
    return ranks
