"""Numbers: reading, comparing, and the number check."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalaction.core.answer import read_answer
from evalaction.core.checks.number import bounds, find_numbers, is_close, number_of, parse_number, score_number
from evalaction.core.specs import Closeness, NumberCheck


def result(raw, value=29, **parameters):
    """What a number check says of a raw answer."""
    return score_number(NumberCheck(value=value, **parameters), read_answer(raw))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("500", 500),
        ("500.0", 500),
        ("$565,238.13", 565238.13),
        ("(500)", -500),
        ("12%", 12),
        ("€1,234", 1234),
        ("£ 7.50", 7.5),
        ("($1,234.50)", -1234.5),
        ("-3", -3),
        (" 42 ", 42),
        ("($5)", -5),
        ("-$5", -5),
        ("$-5", -5),
        ("5 $", 5),
        ("12 %", 12),
        ("(5%)", -5),
        ("+5", 5),
        ("1e3", 1000),
        ("007", 7),
        (".5", 0.5),
        ("5.", 5),
        ("\u22125", -5),
        ("$(500)", -500),
        ("₹1,000", 1000),
        ("5\u00a0€", 5),
        ("1e-5", 1e-5),
    ],
)
def test_parse_number__reads_what_people_write(text, value):
    """Signs, brackets, currency, percent and well-formed thousands."""
    assert parse_number(text) == value


@pytest.mark.parametrize(
    "text",
    [
        "1,30",
        "13,0000",
        "130,00",
        "1,2,3",
        "1.234,56",
        ",",
        "$",
        "%",
        "()",
        "",
        "-",
        ".",
        "nan",
        "inf",
        "1_000",
        "1 000",
        "USD 5",
        "5k",
        "0x10",
        "(-5)",
        "( 5 )",
        "- 5",
        "--5",
        "-$-5",
        "(5)%",
        "5%%",
        "1e999",
        "9" * 400,
        "Q1",
        "2026-08-17",
    ],
)
def test_parse_number__refuses_the_rest(text):
    """A number needs a digit and well-formed groups; what is not finite is none."""
    assert parse_number(text) is None


@pytest.mark.parametrize("value", [True, False, None, float("nan"), float("inf"), [1], {"a": 1}, 10**400])
def test_number_of__takes_no_other_value_for_a_number(value):
    """Booleans, null, NaN, lists, maps and absurd sizes are no numbers."""
    assert number_of(value) is None


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("It is 72, in total, so yes.", [72]),
        ("(about) 72, roughly", [72]),
        ("= 72;", [72]),
        ("USD 29", [29]),
        ("(29)", [-29]),
        ("(-29)", [-29]),
        ("f(29)", [29]),
        ("540 meters", [540]),
        ("540ms", [540]),
        ("a 30-day window", [30]),
        ("v2 abc123 GPT-4 var_2", []),
        ("2026-08-17", []),
        ("10-20, 10\u201320", []),
        ("12:30", []),
        ("3/4", []),
        ("10^6", []),
        ("1.2.3", []),
        ("3rd", []),
        ("5k", []),
        ("1'000", []),
        ("1.234,56", []),
        ("10²", []),
        ("共72个", [72]),
        ("x=5", [5]),
        ("10 - 3 = 7", [10, 3, 7]),
        ("= \u22127", [-7]),
        ("$5-$10", [5, 10]),
        ("**29** and _30_", [29, 30]),
        ("US$29.50!", [29.5]),
        ("5%-10%", [5, 10]),
        ("1E+5 or 1e-5", [1e5, 1e-5]),
        ("72.So", [72]),
        ("-.5", [-0.5]),
        ("1,2,3", []),
        ("130\u202f000", []),
    ],
)
def test_find_numbers__in_a_sentence(text, numbers):
    """Units and punctuation do not matter; identifiers, dates, ranges and malformed groups are no numbers."""
    assert list(find_numbers(text)) == numbers


@given(st.integers(-(10**15), 10**15), st.sampled_from(["{}", "${}", "It is {}, in total.", "total: {}", "**{}**", "{} meters", "= {};", "{}%", "x = {}\n"]))
def test_find_numbers__reads_every_spelling_of_a_whole_number(value, sentence):
    """Plain or with thousands separators, a number is found with its value and its sign."""
    for spelled in (str(value), f"{value:,}", f"{value}.00"):
        assert list(find_numbers(sentence.format(spelled))) == [value]


@pytest.mark.parametrize(
    ("raw", "right"),
    [
        ("$29.00", 1),
        ("29.", 1),
        (" 29 ", 1),
        ("29.000", 1),
        ("USD 29", 1),
        ("29.01", 0),
        ("-29", 0),
        ("(29)", 0),
        ("290", 0),
        (29, 1),
        (29.0, 1),
        (28, 0),
        ({"output": "x"}, 0),
        (True, 0),
    ],
)
def test_number__compares_values_not_spelling(raw, right):
    """Currency signs and trailing zeros do not matter, sign and value do; a JSON number is taken as it is."""
    assert result(raw).score == right


@pytest.mark.parametrize(("raw", "right"), [("$130,000", 1), ("130000", 1), ("13,0000", 0), ("1,30000", 0), ("130,00", 0)])
def test_number__reads_only_well_formed_thousands(raw, right):
    """130,000 is 130000; a malformed group is no number."""
    assert result(raw, 130000).score == right


def test_number__tells_no_number_from_a_wrong_one():
    """The two reasons read differently."""
    assert result("none", 540).detail == 'no number found in "none"'
    assert result("it is 541", 540, tolerance=Closeness(absolute=0.5)).detail == "wrong number: expected 540 (tolerance 0.5 absolute), got 541"


def test_number__that_is_zero_is_an_answer():
    """0 is a number, not a missing output."""
    assert (result(0, 0).score, result("0", 0).score) == (1, 1)


@pytest.mark.parametrize(("pick", "right"), [("last", 3), ("first", 1)])
def test_number__picks_the_last_or_the_first(pick, right):
    """`pick` says which of several numbers counts."""
    assert result("1 and 2 make 3", right, pick=pick).score == 1


def test_number__picks_only_when_all_agree():
    """Several different numbers are 0 under `only`, the same number twice is one."""
    assert result("29 or $29.00", pick="only").score == 1
    several = result("28 or 29", pick="only")
    assert (several.score, several.detail) == (0, "several numbers found: 28, 29; expected only 29")


@pytest.mark.parametrize(
    ("expected", "actual", "tolerance", "right"),
    [
        (100, 104, Closeness(absolute=5, relative=0.001), True),
        (100, 106, Closeness(absolute=5, relative=0.001), False),
        (100, 109, Closeness(absolute=0.01, relative=0.1), True),
        (100, 105, Closeness(absolute=5), True),
        (100, 95, Closeness(relative=0.05), True),
        (100, 100.0000001, Closeness(), False),
        (100, 100.0, Closeness(), True),
        (0.1 + 0.2, 0.3, Closeness(), True),
        (0, 0.1, Closeness(relative=0.5), False),
        (0, 0.0, Closeness(relative=0.5), True),
        (0, 0.1, Closeness(absolute=0.1), True),
        (-100, -104, Closeness(relative=0.05), True),
        (-100, -106, Closeness(relative=0.05), False),
        (1e-12, 2e-12, Closeness(), False),
        (2**53, 2**53 + 1, Closeness(), False),
        (2_000_000, 2_000_000.2, Closeness(absolute=0.3), True),
        (1.0, 1.1, Closeness(absolute=0.1), True),
    ],
)
def test_is_close__holds_when_either_tolerance_does(expected, actual, tolerance, right):
    """Bounds are included, relative is of the expected value, and large whole numbers stay exact."""
    assert is_close(expected, actual, tolerance) is right


@given(st.integers(-(10**30), 10**30) | st.floats(-1e30, 1e30), st.floats(0, 10), st.floats(0, 1))
def test_bounds__always_hold_the_number_itself(expected, absolute, relative):
    """Every number is close to itself, and wider tolerances never shut one out."""
    low, high = bounds(expected, Closeness(absolute=absolute, relative=relative))
    assert low <= expected <= high
    assert is_close(expected, expected, Closeness())


@given(st.text(max_size=200))
def test_find_numbers__survives_any_text(text):
    """Any text at all gives finite numbers or none."""
    assert all(abs(number) < float("inf") for number in find_numbers(text))
