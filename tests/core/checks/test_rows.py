"""The rows check, and the matching of rows without order."""

import itertools
import random
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalaction.core.answer import Answer, read_answer
from evalaction.core.checks.matching import assign
from evalaction.core.checks.rows import MOST_UNORDERED, score_rows, score_rows_against
from evalaction.core.specs import Closeness, Rows
from evalaction.errors import MeasureError


def compared(expected, actual, **parameters):
    """What a rows check says of an answer's rows."""
    return score_rows(Rows(value=expected, **parameters), Answer(rows=tuple(actual)))


def unordered(expected, actual, **parameters):
    """The same without order."""
    return compared(expected, actual, order_matters=False, **parameters)


@pytest.mark.parametrize("actual", ["Store Sales", "storeSales", "store_sales", "STORE-SALES", "Store-Sales ", "store\u00a0sales", "store\u2009sales"])
@pytest.mark.parametrize("expected", ["Store Sales", "storeSales", "store_sales", "STORE-SALES"])
def test_keys__compare_without_case_blanks_underscores_and_hyphens(expected, actual):
    """Every spelling of a column is one column, blanks of any kind included."""
    assert compared([{expected: 500}], [{actual: 500}]).score == 1


def test_keys__missing_is_a_mismatch_and_extra_is_not():
    """An expected key must be there; what is more does not matter; other characters tell keys apart."""
    assert compared([{"country": "USA"}], [{"country": "USA", "new": 1}]).score == 1
    assert compared([{"country": "USA", "storeSales": 1}], [{"country": "USA"}]) == (0.5, "rows[0].storeSales: expected key not present in the row", None)
    assert compared([{"storeSales": 1}], [{"storeSales2": 1}]).score == 0


NUMERIC = [
    ("500", 500),
    ("500.0", 500.0),
    ("$565,238.13", 565238.13),
    ("(500)", -500),
    ("12%", 12),
    ("€1,234", 1234),
    ("£ 7.50", 7.5),
    ("($1,234.50)", -1234.5),
    ("-3", -3),
    (" 42 ", 42),
    ("0.0", 0),
]


@pytest.mark.parametrize(("written", "value"), NUMERIC)
def test_cells__read_numbers_on_both_sides(written, value):
    """Authors and warehouses may both write numbers as text; the value decides."""
    assert compared([{"v": written}], [{"v": value}]).score == 1
    assert compared([{"v": value}], [{"v": written}]).score == 1
    assert compared([{"v": written}], [{"v": value + 1}]).score == 0


@pytest.mark.parametrize(
    ("expected", "actual", "right"),
    [
        ("Food", "Food", 1),
        (" Food ", "Food", 1),
        ("Food", " Food\t", 1),
        ("Food", "food", 0),
        ("$", "$", 1),
        ("1,30", "130", 0),
        ("Q1", 1, 0),
        (None, None, 1),
        (None, "", 1),
        ("", None, 1),
        (None, "x", 0),
        (None, 0, 0),
        (0, None, 0),
        (True, "true", 1),
        (True, True, 1),
        ("true", True, 1),
        (True, 1, 0),
        (1, True, 0),
        ("é", "e\u0301", 1),
        (12345678901234567, 12345678901234568, 0),
        (5, [5], 0),
    ],
)
def test_cells__that_are_no_numbers_compare_as_trimmed_text(expected, actual, right):
    """Case counts; null is the empty text; booleans are text; a number never equals a boolean."""
    assert compared([{"v": expected}], [{"v": actual}]).score == right


@pytest.mark.parametrize(
    ("tolerance", "actual", "right"),
    [
        ({"absolute": 5, "relative": 0.001}, 104, 1),
        ({"absolute": 5, "relative": 0.001}, 106, 0),
        ({"absolute": 0.01, "relative": 0.1}, 109, 1),
        ({"absolute": 0.01, "relative": 0.1}, 111, 0),
        ({"absolute": 5}, 105, 1),
        ({"relative": 0.05}, 95, 1),
        ({}, 100.01, 0),
    ],
)
@pytest.mark.parametrize("compare", [compared, unordered])
def test_tolerance__holds_if_either_does_in_order_or_not(compare, tolerance, actual, right):
    """Absolute or relative, bounds included, default exact; the same with and without order."""
    assert compare([{"v": 100}], [{"v": actual}], tolerance=Closeness(**tolerance)).score == right


def test_details__keep_the_authors_spelling_and_the_expected_index():
    """The path is the author's key and the expected row's index, the values as short as they can be."""
    expected = [{"productFamily": "Drink", "storeSales": 1}, {"productFamily": "Food", "storeSales": 2}, {"productFamily": "Other", "storeSales": 24597}]
    actual = [{"PRODUCT_FAMILY": row["productFamily"], "STORE_SALES": row["storeSales"]} for row in expected]
    actual[2]["STORE_SALES"] = "$24,000.00"
    assert compared(expected, actual) == (pytest.approx(5 / 6), "rows[2].storeSales: expected 24597, got 24000", None)


def test_details__tell_no_number_from_a_wrong_one():
    """A cell without a number and a cell with a wrong one read differently."""
    assert compared([{"v": 5}], [{"v": "n/a"}]).detail == 'rows[0].v: expected 5, no number found in "n/a"'


def test_details__name_every_mismatching_row_within_bounds():
    """Each row is named as long as there is room, and the rest is counted."""
    names = ("Food", "Non-Consumable", "Drink")
    detail = compared([{"productFamily": name} for name in names], [{"productFamily": name} for name in (names[2], *names[:2])]).detail
    assert all(f"rows[{index}].productFamily: expected" in detail for index in range(3))
    many = compared([{"v": index} for index in range(1000)], [{"v": -1}] * 1000).detail
    assert many.endswith("more")
    assert len(many) <= 300


@pytest.mark.parametrize("order_matters", [True, False])
@pytest.mark.parametrize("actual", [[], [{"v": 1}], [{"v": 1}, {"v": 2}, {"v": 3}]])
def test_row_counts__must_agree(actual, order_matters):
    """Fewer and more rows both fail, and the detail starts with the numbers."""
    found = compared([{"v": 1}, {"v": 2}], actual, order_matters=order_matters)
    assert (found.score, found.detail) == (0, f"rows: expected 2 row(s), got {len(actual)}")


def test_zero_rows__are_an_expectation_and_an_answer():
    """`rows: []` holds against zero expected rows and only against these; no rows at all is a missing part."""
    assert compared([], []).score == 1
    assert compared([], [{"v": 1}]).score == 0
    assert score_rows(Rows(value=[]), read_answer({"rows": None, "output": "x"})).detail == "the answer has no `rows`"


def test_order__matters_unless_told_otherwise():
    """The same rows in another order fail by default and pass without order."""
    two = [{"c": "a", "v": 1}, {"c": "b", "v": 2}]
    assert compared(two, two[::-1]).score == 0
    assert unordered(two, two[::-1]).score == 1
    assert unordered(two, [{"c": "a", "v": 2}, {"c": "b", "v": 1}]).score == 0.5


@pytest.mark.parametrize(
    ("expected", "actual", "right"),
    [
        ([{"v": 100}, {"v": 99}], [{"v": 99}, {"v": 100}], 1),
        ([{"v": "$1,000"}, {"v": 200}], [{"v": 200}, {"v": 1000}], 1),
        ([{"v": 10}, {"v": 10.4}], [{"v": 10.4}, {"v": 10.8}], 1),
        ([{"v": 10}, {"v": 10}], [{"v": 10}, {"v": 11}], 0.5),
        ([{"c": "a"}, {"c": "b"}], [{"aaa": 1, "C": "b"}, {"aaa": 9, "C": "a"}], 1),
    ],
)
def test_unordered__matches_one_to_one_within_the_tolerance(expected, actual, right):
    """Not the nearest pairs but the fewest mismatches; one row never serves twice; extra columns do not disturb."""
    assert unordered(expected, actual, tolerance=Closeness(absolute=0.5)).score == right


def test_unordered__reports_the_fewest_mismatches():
    """Two of three rows fit in another order; only the wrong cell of the third is named, under its expected index."""
    expected = [{"c": "x", "v": 1}, {"c": "y", "v": 2}, {"c": "z", "v": 3}]
    found = unordered(expected, [{"c": "z", "v": 3}, {"c": "y", "v": 20}, {"c": "x", "v": 1}])
    assert found.detail == "rows[1].v: expected 2, got 20"


ROWS = st.lists(st.fixed_dictionaries({"a": st.integers(0, 3), "b": st.sampled_from(["x", "y", "1", None])}), min_size=1, max_size=5)


@given(ROWS, ROWS, st.sampled_from([0.0, 1.0]))
def test_unordered__never_does_worse_than_any_order(expected, actual, absolute):
    """The score is the best that any permutation of the answer's rows reaches in order."""
    actual = list(itertools.islice(itertools.cycle(actual), len(expected)))
    tolerance = Closeness(absolute=absolute)
    best = max(compared(expected, order, tolerance=tolerance).score for order in itertools.permutations(actual))
    assert unordered(expected, actual, tolerance=tolerance).score == pytest.approx(best)


@given(ROWS, st.randoms())
def test_unordered__equal_sets_always_pass(rows, dice):
    """Shuffled rows and shuffled keys are the same table."""
    shuffled = [dict(dice.sample(list(row.items()), len(row))) for row in dice.sample(rows, len(rows))]
    assert unordered(rows, shuffled).score == 1


@settings(max_examples=60)
@given(st.integers(1, 6), st.integers(0, 2), st.randoms())
def test_assign__finds_the_least_cost(rows, spare, dice):
    """On small tables the matching costs as little as the best of all orders."""
    columns = rows + spare
    costs = [[dice.randint(0, 5) for _ in range(columns)] for _ in range(rows)]
    found = assign([{cost: sum(1 << j for j in range(columns) if row[j] == cost) for cost in set(row)} for row in costs], columns)
    assert len(set(found)) == rows
    best = min(sum(costs[i][j] for i, j in enumerate(order)) for order in itertools.permutations(range(columns), rows))
    assert sum(costs[i][j] for i, j in enumerate(found)) == best


@pytest.mark.slow
@pytest.mark.parametrize("spread", [2, 40])
def test_unordered__takes_seconds_at_most_on_large_tables(spread):
    """500 rows of eight columns, most cells wrong or ambiguous, are matched within two seconds of the processor."""
    dice = random.Random(spread)
    table = [{f"c{column}": dice.randint(0, spread) for column in range(8)} for _ in range(500)]
    changed = [{key: value if dice.random() < 0.7 else value + 1 for key, value in row.items()} for row in table]
    kept = sum(before[key] == after[key] for before, after in zip(table, changed, strict=True) for key in before) / 4000
    actual = dice.sample(changed, len(changed))
    started = time.process_time()
    found = unordered(table, actual, tolerance=Closeness(absolute=0.5))
    assert time.process_time() - started < 2
    assert kept <= found.score < 1


def test_unordered__refuses_tables_beyond_its_limit():
    """More rows than can be matched are an error with a remedy, not a guess; in order they are compared."""
    rows = [{"v": index} for index in range(MOST_UNORDERED + 1)]
    with pytest.raises(MeasureError, match="compare in order"):
        unordered(rows, rows)
    assert compared(rows, rows).score == 1


def test_reference__rows_take_the_place_of_written_ones():
    """Rows fetched live are compared alike; without them the check cannot be applied."""
    spec = Rows(id="live", reference={"url": "http://127.0.0.1"})
    assert score_rows_against(spec, Answer(rows=({"v": 1},)), [{"V": "1"}]).score == 1
    with pytest.raises(MeasureError, match="not fetched"):
        score_rows(spec, Answer(rows=()))


@pytest.mark.parametrize(
    ("raw", "right", "word"),
    [
        ({"output": '[{"v": 1}]'}, 1, ""),
        ({"output": [{"v": 1}]}, 1, ""),
        ({"output": '```json\n[{"v": 1}]\n```'}, 1, ""),
        ({"output": "one row"}, 0, "no list of rows"),
        ({"output": '{"v": 1}'}, 0, "no list of rows"),
        ({"output": "[1]"}, 0, "no list of rows"),
        ({"output": "[" * 5000 + "]" * 5000}, 0, "nested too deeply"),
    ],
)
def test_field__may_be_a_list_of_maps_or_its_json(raw, right, word):
    """Another part of the answer holds rows as a list or as JSON text; anything else says what it is not."""
    found = score_rows(Rows(value=[{"v": 1}], field="output"), read_answer(raw))
    assert found.score == right
    assert word in found.detail
