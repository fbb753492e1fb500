"""Foreign text in one-line messages."""

from hypothesis import given
from hypothesis import strategies as st

from evalaction.core.excerpts import aligned, cut, excerpt


@given(st.text(), st.integers(2, 80))
def test_excerpt__is_one_printable_line_of_bounded_length(text, limit):
    """Whatever the text holds, what is said of it is printable, without doubled blanks, and no longer than allowed."""
    made = excerpt(text, limit)

    assert len(made) <= limit
    assert made.isprintable()
    assert "  " not in made


@given(st.text(max_size=40), st.integers(2, 30))
def test_cut__marks_only_what_is_missing(text, limit):
    """A text that fits stays; of a longer one the beginning stays, with a mark at its end."""
    assert cut(text, limit) == (text if len(text) <= limit else text[: limit - 1] + "…")
    assert len(cut(text, limit)) <= limit


def test_aligned__columns_are_as_wide_as_their_widest_cell():
    """Cells stand below one another, and no line ends in blanks."""
    assert aligned([("a", "bbb", ""), ("cccc", "d", "e"), ("f", "g", "")]) == ["a     bbb", "cccc  d    e", "f     g"]
