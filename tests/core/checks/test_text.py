"""Checks on text."""

import string
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from evalaction.core.answer import Answer, read_answer
from evalaction.core.checks import SCORERS, text
from evalaction.core.checks.text import squad
from evalaction.core.specs import ContainsAll, ContainsAny, Equals, ExactMatch, Intent, NotContains, NotRegex, Refusal, Regex, TokenF1
from evalaction.errors import MeasureError

COMPOSED, DECOMPOSED, LIGATURE, NO_BREAK = "caf\u00e9 file", "cafe\u0301 file", "caf\u00e9 \ufb01le", "caf\u00e9\u00a0file"


def result(spec, raw):
    """The check's score, detail and values on a raw answer."""
    return SCORERS[type(spec)](spec, read_answer(raw))


def score(spec, raw):
    """The check's score on a raw answer."""
    return result(spec, raw).score


@pytest.mark.parametrize("raw", ["a\r\nb\r\n", "a\rb\r", "a\nb\n"])
@pytest.mark.parametrize(
    "spec", [Equals(value="a\nb\n"), Equals(value="a\r\nb"), ContainsAll(value="a\nb"), ContainsAll(value="a\r\nb"), Regex(pattern=r"^a\nb$"), Regex(pattern="a\r\nb")]
)
def test_line_ends__are_folded_on_both_sides_of_every_text_check(spec, raw):
    """CRLF, CR and LF are one line end for equals, contains and patterns."""
    assert score(spec, raw) == 1


@pytest.mark.parametrize("make", [lambda t: Equals(value=t), lambda t: ContainsAll(value=t), lambda t: Regex(pattern=t), lambda t: ExactMatch(value=t), lambda t: TokenF1(value=t)])
def test_composition__is_folded_on_both_sides(make):
    """A composed and a decomposed character are one."""
    assert (score(make(COMPOSED), DECOMPOSED), score(make(DECOMPOSED), COMPOSED)) == (1, 1)


@pytest.mark.parametrize("raw", [LIGATURE, NO_BREAK, "CAF\u00c9  file"])
def test_equals__relaxes_form_only_when_asked(raw):
    """Ligature, no-break space and case differ by default and are folded by `normalize: text`."""
    assert (score(Equals(value=COMPOSED), raw), score(Equals(value=COMPOSED, normalize="text"), raw)) == (0, 1)


@pytest.mark.parametrize("normalize", ["none", "text", "squad"])
def test_equals__never_relaxes_digits(normalize):
    """$8.540 is not $9.540 under any normalisation."""
    assert score(Equals(value="$9.540", normalize=normalize), "$8.540") == 0


@pytest.mark.parametrize(("raw", "right"), [("  Paris\n", 1), ("paris", 0), ("Paris.", 0), ("Par is", 0)])
def test_equals__trims_outer_blanks_and_nothing_else(raw, right):
    """Blanks outside never count, everything inside does."""
    assert score(Equals(value=" Paris"), raw) == right


def test_equals__ignores_case_when_asked():
    """`ignore_case` folds case beyond ASCII."""
    assert (score(Equals(value="STRASSE", ignore_case=True), "straße"), score(Equals(value="STRASSE"), "strasse")) == (1, 0)


@pytest.mark.parametrize(("raw", "value"), [(False, "false"), (0, "0"), (1.5, "1.5"), ({"output": False}, "false")])
def test_equals__takes_false_and_zero_as_answers(raw, value):
    """Only nothing and blank text are empty."""
    assert score(Equals(value=value), raw) == 1


def test_equals__points_at_the_difference_of_long_texts():
    """The detail of a long text shows the place where the texts part, on one bounded line."""
    detail = result(Equals(value="x" * 500 + "A" + "y" * 500), "x" * 500 + "B\n" + "y" * 500).detail
    assert "differs at character 501" in detail
    assert "xA" in detail
    assert "xB\\n" in detail
    assert len(detail) <= 300


@pytest.mark.parametrize(
    ("value", "raw", "right"),
    [
        ("The Eiffel Tower!", "eiffel  tower", 1),
        ("Paris", "“Paris”.", 1),
        ("Paris, France", "France Paris", 0),
        ("A", "a.", 1),
        ("A", "the", 0),
        ("A", "B", 0),
        ("+", "+", 1),
        ("+", "-", 0),
        ("theatre", "atre", 0),
    ],
)
def test_exact_match__compares_squad_tokens(value, raw, right):
    """Case, punctuation and articles do not count, unless nothing else is expected."""
    assert score(ExactMatch(value=value), raw) == right


@pytest.mark.parametrize(
    ("value", "raw", "right"),
    [
        ("one two three four", "one two", 2 / 3),
        ("one two three four", "one five six seven", 0.25),
        ("a cat", "the cat", 1),
        ("x x y", "x y y", 2 / 3),
        ("x", "z", 0),
        (" ".join("abcdefghijklmnopqrstuvwxyz"), "b c d", 6 / 28),
    ],
)
def test_token_f1__is_the_harmonic_mean_of_precision_and_recall(value, raw, right):
    """Shared tokens count as often as they occur in both texts."""
    assert score(TokenF1(value=value), raw) == pytest.approx(right)


@given(st.lists(st.sampled_from(["cat", "dog", "fish", "bird"]), min_size=1, max_size=40), st.lists(st.sampled_from(["cat", "dog", "fish", "bird"]), min_size=1, max_size=40))
def test_token_f1__is_symmetric_and_within_range(left, right):
    """F1 does not tell the sides apart and stays in 0..1, for short and long texts alike."""
    one, other = score(TokenF1(value=" ".join(left)), " ".join(right)), score(TokenF1(value=" ".join(right)), " ".join(left))
    assert one == pytest.approx(other)
    assert 0 <= one <= 1


@given(st.text(alphabet=string.printable, max_size=60))
def test_squad__drops_all_ascii_punctuation(text):
    """No sign of ASCII punctuation and no article is left in any token."""
    assert all(token not in {"a", "an", "the"} and not set(token) & set(string.punctuation) for token in squad(text))


@pytest.mark.parametrize(
    ("spec", "raw", "right"),
    [
        (ContainsAll(value=["30 days", "Box"]), "within 30 DAYS", 0.5),
        (ContainsAll(value="Box", ignore_case=False), "box", 0),
        (ContainsAny(value=["x", "y"]), "only y", 1),
        (ContainsAny(value=["x", "y"]), "z", 0),
        (NotContains(value=["alpha", "beta"]), "alpha alone", 0.5),
        (NotContains(value=["alpha", "beta"]), "gamma", 1),
        (NotContains(value=["alpha", "beta"]), "alpha and Beta", 0),
        (NotContains(value=["alpha"], ignore_case=False), "Alpha", 1),
        (ContainsAll(value="cafe"), COMPOSED, 0),
    ],
)
def test_needles__are_counted(spec, raw, right):
    """`all` is the share found, `any` is 0 or 1, `not_` the share absent; case is ignored unless told otherwise."""
    assert score(spec, raw) == right


def test_needles__are_named_in_the_detail_within_bounds():
    """Missing needles are quoted, and what does not fit is counted."""
    detail = result(ContainsAll(value=[f"needle number {i} " * 3 for i in range(50)]), "text").detail
    assert detail.startswith('missing: "needle number 0')
    assert "more" in detail
    assert len(detail) <= 300


@pytest.mark.parametrize(
    "spec",
    [
        Equals(value="x"),
        ExactMatch(value="x"),
        TokenF1(value="x"),
        ContainsAll(value="x"),
        ContainsAny(value="x"),
        NotContains(value="x"),
        Regex(pattern="x"),
        NotRegex(pattern="x"),
        Intent(value="x"),
        Refusal(),
    ],
)
@pytest.mark.parametrize("part", [None, "  \n"])
def test_missing_part__scores_zero_and_is_named(spec, part):
    """A check whose own part is missing or blank scores 0, negative ones too."""
    found = SCORERS[type(spec)](spec, Answer(**{spec.part: part}, rows=()))
    assert found.score == 0
    assert f"`{spec.part}`" in found.detail


@pytest.mark.parametrize(
    ("spec", "raw", "right"),
    [
        (Regex(pattern="^b$", flags="m"), "a\nb", 1),
        (Regex(pattern="^b$"), "a\nb", 0),
        (Regex(pattern="PARIS", flags="i"), "paris", 1),
        (Regex(pattern="a.b", flags="s"), "a\nb", 1),
        (Regex(pattern="a # note", flags="x"), "a", 1),
        (NotRegex(pattern="[0-9]"), "none", 1),
        (NotRegex(pattern="[0-9]"), "v2", 0),
        (Regex(pattern="item{e}"), "zzz", 0),
        (Regex(pattern="item{e}"), "item{e}", 1),
        (Regex(pattern="a{2,3}b{1}"), "aab", 1),
        (Regex(pattern=r"\p{Lu}"), "É", 1),
    ],
)
def test_regex__searches_under_its_flags(spec, raw, right):
    """Flags are those of Python's `re`, and a brace that repeats nothing is a brace."""
    assert score(spec, raw) == right


def test_regex__that_runs_out_of_time_is_an_error(monkeypatch):
    """A pattern that backtracks without end is neither a pass nor a fail, and ends when its time is up, which is a matter of seconds."""
    assert text.PATTERN_SECONDS <= 10
    monkeypatch.setattr(text, "PATTERN_SECONDS", 0.2)
    started = time.monotonic()
    with pytest.raises(MeasureError, match="still searching") as caught:
        score(NotRegex(pattern=r"(a|aa)+$"), "a" * 60 + "b")
    assert caught.value.code == "SCORER_FAILED"
    assert 0.2 <= time.monotonic() - started < 60


def test_regex__that_does_not_compile_under_its_flags_is_an_error():
    """A bracket that a verbose comment swallows is found out when the suite is read, not after the call."""
    with pytest.raises(ValidationError, match="does not compile"):
        Regex(pattern="(a # )", flags="x")


@pytest.mark.parametrize(
    ("spec", "raw", "right"),
    [
        (Intent(value="QUERY"), {"intent": "query "}, 1),
        (Intent(value="QUERY"), {"intent": "INSIGHT"}, 0),
        (Intent(value="I", contains="Sales"), {"intent": "i", "output": "Store Sales"}, 1),
        (Intent(value="I", contains="Sales"), {"intent": "i", "output": "store sales"}, 0),
        (Intent(value="I", contains="Sales"), {"intent": "i"}, 0),
        (Refusal(), {"refusal": "no"}, 1),
        (Refusal(value="Off Topic"), {"refusal": "off topic"}, 1),
        (Refusal(value="no"), {"refusal": "no way"}, 0),
        (Refusal(contains="cube"), {"refusal": "not this cube"}, 1),
        (Refusal(contains="cube"), {"refusal": "not this Cube"}, 0),
        (Refusal(value="x", contains="cube"), {"refusal": "cube"}, 0),
    ],
)
def test_intent_and_refusal__compare_value_in_any_case_and_contains_with_case(spec, raw, right):
    """All that is asked must hold."""
    assert score(spec, raw) == right


def test_field__chooses_the_part():
    """A text check looks at the part its `field` names, the author's own keys included; an empty list is no text."""
    assert score(ContainsAll(value="week", field="insight"), {"insight": "week on week"}) == 1
    assert score(Equals(value="5", field="total"), {"output": "x", "total": 5}) == 1
    assert score(NotContains(value="x", field="contexts"), {"output": "a", "contexts": []}) == 0


def test_nested_answer__is_bounded():
    """A nesting bomb as the output scores 0 without an error."""
    bomb = []
    for _ in range(5000):
        bomb = [bomb]
    assert result(NotContains(value="x"), {"output": bomb}) == (0, "`output` of the answer is nested too deeply", None)


@given(st.text(max_size=400))
def test_details__are_one_bounded_line(text):
    """Whatever an answer holds, a detail is one printable line of at most 300 characters."""
    for spec in (Equals(value="expected"), Regex(pattern="\\Zx"), ContainsAll(value=[f"x{text}", "zzz"]), Intent(value="x", field="output"), NotRegex(pattern="(?s).+")):
        detail = result(spec, {"output": text}).detail
        assert len(detail) <= 300
        assert detail.isprintable()
