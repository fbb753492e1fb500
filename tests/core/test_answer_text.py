"""Stored answers: small, valid, and honest about what was cut."""

import json

from hypothesis import given
from hypothesis import strategies as st

from evalaction.core.answer import Answer
from evalaction.core.answer_text import stored, stored_text

SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters())
JSON = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(), inner, max_size=5))


@given(JSON)
def test_stored__is_valid_json_in_utf8(value):
    """Whatever a target says can be written to disk as strict JSON."""
    json.dumps(stored(Answer(output=value, extra={"more": value})), allow_nan=False, ensure_ascii=False).encode()


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=200), st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=20)))
def test_stored__an_ordinary_answer_is_kept_as_it_is(text, ids):
    """Nothing is changed below the limits."""
    assert stored(Answer(output=text, retrieved=tuple(ids), tokens=(1, 2))) == {"output": text, "retrieved": ids, "tokens": {"input": 1, "output": 2}}


def test_stored__a_long_text_keeps_both_ends_and_its_length():
    """50 million characters become a few thousand with a mark."""
    text = stored(Answer(output="a" + "y" * 49_999_998 + "z"))["output"]
    assert len(text) < 17_000
    assert (text[0], text[-1]) == ("a", "z")
    assert "… [cut: 50,000,000 characters in all] …" in text


def test_stored__a_text_of_just_the_limit_is_whole():
    """16,384 characters are kept, one more is cut."""
    assert stored_text("x" * 16_384) == "x" * 16_384
    assert "[cut: 16,385 characters in all]" in stored_text("x" * 16_385)


def test_stored__long_lists_and_maps_end_in_a_mark():
    """200 items are kept and the number of all is told."""
    kept = stored(Answer(contexts=tuple(map(str, range(1000))), output={str(number): number for number in range(1000)}))
    assert (len(kept["contexts"]), kept["contexts"][-1]) == (201, "… [cut: 1,000 items in all]")
    assert (len(kept["output"]), kept["output"]["…"]) == (201, "[cut: 1,000 entries in all]")


def test_stored__the_whole_is_bounded():
    """Many long texts, in any script and shape, stay within about 256 KiB; even keys count."""
    keys = {"k" * 50_000 + str(number): [["é" * 9000] * 150] for number in range(150)}
    for answer in (Answer(contexts=("日" * 16_000,) * 200), Answer(output=keys), Answer(output=[[[1] * 200] * 200] * 200)):
        assert len(json.dumps(stored(answer), ensure_ascii=False).encode()) < 400_000


def test_stored__a_bottomless_nesting_is_cut():
    """Nesting that would break a reader ends in a mark."""
    deep = []
    for _ in range(5000):
        deep = [deep]
    assert "nested too deep" in json.dumps(stored(Answer(output=deep)), ensure_ascii=False)


def test_stored__numbers_json_cannot_hold_are_text():
    """NaN, infinities and endless integers are spelled."""
    kept = stored(Answer(output=[float("nan"), float("inf"), 10**5000, 10**20, True]))["output"]
    assert kept == ["nan", "inf", "… [cut: a whole number of more than 300 digits]", 10**20, True]


def test_stored__lone_surrogates_are_replaced():
    """Half a character becomes the replacement character."""
    assert stored(Answer(output="a\ud800b", extra={"k\udfff": 1})) == {"output": "a\ufffdb", "k\ufffd": 1}
