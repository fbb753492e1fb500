"""The tool_calls check."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalaction.core.answer import read_answer
from evalaction.core.checks.tools import score_tool_calls
from evalaction.core.specs import ToolCalls

SEARCH, SEND, LOG = {"name": "search", "args": {"q": "x", "n": 3}}, {"name": "send", "args": {"to": "me"}}, {"name": "log", "args": {}}
CALLS = [SEARCH, SEND]


def result(made, value=CALLS, **parameters):
    """What a tool_calls check says of the calls made."""
    return score_tool_calls(ToolCalls(value=value, **parameters), read_answer({"output": "done", "tool_calls": made}))


@pytest.mark.parametrize(
    ("match", "args", "made", "right"),
    [
        ("exact", "exact", CALLS, 1),
        ("exact", "exact", CALLS[::-1], 0),
        ("exact", "exact", [*CALLS, LOG], 2 / 3),
        ("exact", "exact", [SEARCH], 0.5),
        ("in_order", "exact", [SEARCH, LOG, SEND], 1),
        ("in_order", "exact", CALLS[::-1], 0.5),
        ("any_order", "exact", CALLS[::-1], 1),
        ("any_order", "exact", [SEARCH], 0.5),
        ("any_order", "exact", [SEARCH, SEARCH], 0.5),
        ("any_order", "exact", [LOG, SEND, LOG, SEARCH], 1),
        ("exact", "subset", [{"name": "search", "args": {"q": "x", "n": 3, "page": 1}}, SEND], 1),
        ("exact", "exact", [{"name": "search", "args": {"q": "x", "n": 4}}, SEND], 0.5),
        ("exact", "ignore", [{"name": "search", "args": {}}, {"name": "send", "args": {"to": "you"}}], 1),
        ("exact", "subset", [{"name": "search", "args": {"q": "x"}}, SEND], 0.5),
        ("exact", "exact", [], 0),
    ],
)
def test_tool_calls__by_order_and_arguments(match, args, made, right):
    """The score is the share of expected calls that fit in the mode; an extra call counts only under `exact`."""
    assert result(made, match=match, args=args).score == pytest.approx(right)


@pytest.mark.parametrize(
    "call", [{"name": "send", "arguments": {"to": "me"}}, {"name": "send", "arguments": '{"to": "me"}'}, {"name": "send", "args": {"to": "me"}, "id": "call_1"}]
)
def test_arguments__are_read_in_the_usual_shapes(call):
    """`args`, `arguments` and JSON text say the same."""
    assert result([call], [SEND]).score == 1


@pytest.mark.parametrize(
    "call",
    [
        {"name": "send", "arguments": "{broken"},
        {"name": "send"},
        {"name": "send", "args": ["to", "me"]},
        {"name": 5, "args": {"to": "me"}},
        {},
        {"name": "send", "args": {"to": None}},
    ],
)
@pytest.mark.parametrize("args", ["exact", "subset"])
def test_arguments__that_are_broken_or_missing_do_not_fit(call, args):
    """Anything but the expected arguments is another call, never an error."""
    assert result([call], [SEND], args=args).score == 0


def test_arguments__compare_as_json_values():
    """1 is 1.0, true is not 1."""
    assert result([{"name": "f", "args": {"n": 1.0}}], [{"name": "f", "args": {"n": 1}}]).score == 1
    assert result([{"name": "f", "args": {"n": True}}], [{"name": "f", "args": {"n": 1}}]).score == 0


@pytest.mark.parametrize("match", ["exact", "in_order", "any_order"])
def test_no_calls__may_be_expected(match):
    """An empty list expects that no tool is called; an answer without `tool_calls` does not say so."""
    assert result([], [], match=match).score == 1
    assert result([LOG], [], match=match).score == 0
    missing = score_tool_calls(ToolCalls(value=[], match=match), read_answer("text"))
    assert (missing.score, missing.detail) == (0, "the answer has no `tool_calls`")


def test_detail__shows_both_sequences_and_arguments_where_only_they_differ():
    """Names tell what was called; arguments are shown when the names agree."""
    assert result([LOG]).detail == "expected [search, send] (exact, args exact), got [log]"
    assert 'to": "you"' in result([SEARCH, {"name": "send", "args": {"to": "you"}}]).detail
    assert len(result([{"name": "x" * 500, "args": {}}] * 50_000).detail) <= 300


@given(st.lists(st.sampled_from("abc"), min_size=1, max_size=6), st.lists(st.sampled_from("abc"), max_size=6))
def test_modes__are_ordered_by_strictness(expected, made):
    """What fits in place fits in order, and what fits in order fits in any order; the last counts names."""

    def score(match):
        return result([{"name": name} for name in made], [{"name": name} for name in expected], match=match).score

    assert score("exact") <= score("in_order") + 1e-12
    assert score("in_order") <= score("any_order") + 1e-12
    assert score("any_order") == pytest.approx(sum(min(expected.count(name), made.count(name)) for name in "abc") / len(expected))


def test_nested_arguments__are_bounded():
    """A nesting bomb among the arguments scores 0."""
    bomb = {}
    for _ in range(5000):
        bomb = {"a": bomb}
    assert "nested too deeply" in result([{"name": "send", "args": bomb}]).detail
    assert result([{"name": "send", "arguments": '{"a":' * 5000 + "1" + "}" * 5000}], [SEND]).score == 0
