"""JSON that means one thing only."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalaction.core.retry_after import retry_after_seconds
from evalaction.core.strict_json import parse_strict_json

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(VALUES)
def test_parse__reads_what_json_writes(value):
    """Every JSON value comes back as it was."""
    assert parse_strict_json(json.dumps(value)) == value


@pytest.mark.parametrize(
    "text",
    [
        "", "{", "[1,]", "NaN", "[Infinity]", "-Infinity", "1e999", "[-1e999]", '{"a": 1, "a": 1}', '{"b": {"a": 1, "a": 2}}', "[" * 200 + "]" * 200, "[" * 100_000, "1 2",
        "9" * 5000,
    ],
)  # fmt: skip
def test_parse__refuses_what_means_two_things_or_nothing(text):
    """A key given twice, no finite number, no end of nesting, a second document: ValueError, never a guess."""
    with pytest.raises(ValueError, match=r"\w"):
        parse_strict_json(text)


@given(st.text())
def test_parse__raises_nothing_but_value_error(text):
    """Any text at all is read or refused."""
    try:
        parse_strict_json(text)
    except ValueError:
        assert text is not None


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        (None, None), ("7", 7.0), (" 2.5 ", 2.5), ("-3", 0.0), ("nan", None), ("soon", None), ("", None), ("inf", math.inf),
        ("Thu, 01 Jan 1970 00:01:40 GMT", 40.0), ("Thu, 01 Jan 1970 00:00:10 GMT", 0.0),
    ],
)  # fmt: skip
def test_retry_after__is_seconds_or_a_date(header, seconds):
    """A number or an HTTP date, 60 seconds after the epoch; never negative, None for anything else."""
    assert retry_after_seconds(header, 60.0) == seconds
