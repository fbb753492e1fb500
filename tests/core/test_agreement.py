"""Agreement of two raters: kappa and its interval against other ways to reach the same figures."""

from itertools import product
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalaction.core.agreement import Confusion, rank_correlation

COUNTS = st.integers(0, 60)
TABLES = st.builds(Confusion, both_pass=COUNTS, false_pass=COUNTS, false_fail=COUNTS, both_fail=COUNTS).filter(lambda table: table.total)
CELLS = ("both_pass", "false_pass", "false_fail", "both_fail")


def kappa_of(a, b, c, d):
    """Kappa from shares of the four cells, in another form: 2(ad - bc) / (p1 q2 + p2 q1)."""
    first, second = a + b, a + c
    return 2 * (a * d - b * c) / (first * (1 - second) + second * (1 - first))


def delta_error(table):
    """The standard error of kappa by the delta method, derivatives taken numerically, under the multinomial covariance of the cells."""
    shares = [getattr(table, name) / table.total for name in CELLS]
    step, slopes = 1e-6, []
    for place in range(4):
        up, down = ([share + sign * step * (index == place) for index, share in enumerate(shares)] for sign in (1, -1))
        slopes.append((_ratio(up) - _ratio(down)) / (2 * step))
    covariance = sum(slopes[i] * slopes[j] * (shares[i] * (i == j) - shares[i] * shares[j]) for i, j in product(range(4), repeat=2))
    return (max(covariance, 0) / table.total) ** 0.5


def _ratio(cells):
    """Kappa of weights that need not sum to 1."""
    total = sum(cells)
    return kappa_of(*(cell / total for cell in cells))


def test_kappa__of_a_worked_example():
    """Six agreed passes, two agreed fails and one of each mistake: agreement 0.8, chance 0.58, kappa 0.22/0.42."""
    table = Confusion(both_pass=6, false_pass=1, false_fail=1, both_fail=2)
    assert table.agreement == pytest.approx(0.8)
    assert table.kappa == pytest.approx(0.22 / 0.42)
    assert (table.false_pass_rate, table.false_fail_rate) == (pytest.approx(1 / 3), pytest.approx(1 / 7))


@given(TABLES)
def test_kappa__agrees_with_its_other_form(table):
    """Where kappa is defined it equals 2(ad - bc) / (p1 q2 + p2 q1); where it is not, all verdicts are of one kind."""
    shares = [getattr(table, name) / table.total for name in CELLS]
    if table.kappa is None:
        assert 1.0 in (shares[0], shares[3])
    else:
        assert table.kappa == pytest.approx(kappa_of(*shares), abs=1e-9)


@given(TABLES.filter(lambda table: min(getattr(table, name) for name in CELLS) > 0))
def test_interval__is_the_delta_methods(table):
    """Half of the interval is 1.96 standard errors by the delta method, with derivatives that nobody worked out by hand."""
    low, high = table.kappa_interval
    error = delta_error(table)
    assert low == pytest.approx(max(-1, table.kappa - 1.959964 * error), abs=1e-5)
    assert high == pytest.approx(min(1, table.kappa + 1.959964 * error), abs=1e-5)


@given(TABLES)
def test_interval__holds_kappa_and_stays_in_range(table):
    """The interval lies within -1..1 round kappa."""
    if table.kappa is not None:
        low, high = table.kappa_interval
        assert -1 <= low <= table.kappa + 1e-12
        assert table.kappa - 1e-12 <= high <= 1


@given(TABLES)
def test_swap__of_the_raters_changes_neither_kappa_nor_interval(table):
    """Judge and people are treated alike."""
    other = Confusion(both_pass=table.both_pass, false_pass=table.false_fail, false_fail=table.false_pass, both_fail=table.both_fail)
    assert other.kappa == pytest.approx(table.kappa)
    assert other.kappa_interval == pytest.approx(table.kappa_interval, abs=1e-7)  # where one side says one thing only, the width is the rounding of a root of 0


def test_interval__five_labels_that_agree_are_no_proof():
    """Full agreement has a lower limit well below 1 that rises with the number of labels."""
    few, many = Confusion(both_pass=3, both_fail=2).kappa_interval, Confusion(both_pass=300, both_fail=200).kappa_interval
    assert few[0] < 0.3
    assert 0.97 < many[0] < 1
    assert (few[1], many[1]) == (1, 1)


def test_interval__covers_the_truth_as_often_as_it_says():
    """Over 400 drawn sets of 80 labels the interval holds the true kappa about 19 times in 20."""
    chance, truth = Random("kappa"), kappa_of(0.5, 0.1, 0.1, 0.3)
    held = 0
    for _ in range(400):
        drawn = chance.choices([(True, True), (True, False), (False, True), (False, False)], [0.5, 0.1, 0.1, 0.3], k=80)
        low, high = Confusion.of(drawn).kappa_interval
        held += low <= truth <= high
    assert 0.91 <= held / 400 <= 0.99


def test_nothing__has_no_figures():
    """An empty table has neither agreement nor kappa nor rates."""
    empty = Confusion.of([])
    assert [empty.agreement, empty.kappa, empty.kappa_interval, empty.false_pass_rate, empty.false_fail_rate] == [None] * 5


@given(st.permutations(range(12)))
def test_rank_correlation__without_ties_is_spearmans_formula(order):
    """1 - 6 Σd² / (n(n² - 1)) on permutations."""
    found = rank_correlation(list(range(12)), order)
    assert found.value == pytest.approx(1 - 6 * sum((place - rank) ** 2 for place, rank in enumerate(order)) / (12 * 143))
    assert 0 <= found.p_value <= 1


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=3, max_size=20))
def test_rank_correlation__with_ties_looks_at_order_alone(pairs):
    """A monotone change of the values changes nothing, a reversal turns the sign, and a constant side gives none."""
    first, second = zip(*pairs, strict=True)
    found = rank_correlation(first, second)
    if len(set(first)) == 1 or len(set(second)) == 1:
        assert found is None
    else:
        assert rank_correlation([10**value for value in first], second).value == pytest.approx(found.value)
        assert rank_correlation([-value for value in first], second).value == pytest.approx(-found.value)


def test_rank_correlation__of_a_known_sample():
    """Ranks 1..10 against a shuffled order with Σd² = 10: rho 0.9394, p below 0.0001, as any table has it."""
    found = rank_correlation(range(10), [1, 0, 3, 2, 5, 4, 7, 6, 9, 8])
    assert (found.value, found.pairs) == (pytest.approx(1 - 60 / 990), 10)
    assert found.p_value == pytest.approx(5.4841e-05, rel=1e-3)


def test_rank_correlation__few_pairs_have_no_p_value():
    """Below ten pairs the approximation is not used, below three there is no correlation."""
    assert rank_correlation([1, 2, 3], [1, 3, 2]).p_value is None
    assert rank_correlation([1, 2], [1, 2]) is None
