"""Checks on JSON."""

import json

import pytest

from evalaction.core.answer import Answer, read_answer
from evalaction.core.checks import text
from evalaction.core.checks.data import holds, parse_json, same, score_json, score_json_subset
from evalaction.core.specs import JsonCheck, JsonSubset
from evalaction.errors import MeasureError

OK = {"type": "object", "required": ["ok"], "properties": {"ok": {"type": "boolean"}}}


def valid(schema, raw):
    """What a json check says of a raw answer."""
    return score_json(JsonCheck(schema=schema), read_answer(raw))


def subset(value, raw):
    """What a json_subset check says of a raw answer."""
    return score_json_subset(JsonSubset(value=value), read_answer(raw))


@pytest.mark.parametrize(
    ("raw", "right"),
    [('{"ok": true}', 1), ('{"ok": "yes"}', 0), ("{}", 0), ("{not json", 0), ({"output": {"ok": True}}, 1), ('{"ok": true} and more', 0), ('\n {"ok": false}\n', 1)],
)
def test_json__validates_text_and_values(raw, right):
    """Text that is one JSON document and a JSON value are validated alike."""
    assert valid(OK, raw).score == right


@pytest.mark.parametrize("fence", ["```json\nJSON\n```", "```\nJSON\n```", "  ```json\r\nJSON\r\n```  \n", "~~~\nJSON\n~~~", "````json\nJSON\n````"])
def test_json__reads_through_a_fence_round_the_whole(fence):
    """A Markdown fence that encloses the whole output is removed."""
    assert valid(OK, fence.replace("JSON", '{"ok": true}')).score == 1
    assert subset({"ok": True}, fence.replace("JSON", '{"ok": true}')).score == 1


@pytest.mark.parametrize(
    "raw", ['Here: ```json\n{"ok": true}\n```', '```json\n{"ok": true}\n```\nDone.', '```json\n{"ok": true}\n```\n```json\n{"ok": true}\n```', '```{"ok": true}```']
)
def test_json__does_not_look_for_json_inside_prose(raw):
    """Only a fence round the whole output is a wrapping; anything else is not JSON."""
    assert valid(OK, raw).score == 0


@pytest.mark.parametrize("raw", ['{"ok": NaN}', "Infinity", "-Infinity"])
def test_json__refuses_what_strict_readers_refuse(raw):
    """NaN and Infinity are no JSON."""
    found = valid(True, raw)
    assert found.score == 0
    assert "not JSON" in found.detail


def test_json__names_path_and_reason():
    """The detail says where in the answer and what is wrong."""
    schema = {"type": "object", "properties": {"items": {"type": "array", "items": {"type": "object", "properties": {"name": {"type": "string"}}}}}}
    assert valid(schema, '{"items": [{"name": "a"}, {"name": 5}]}').detail == "items[1].name: 5 is not of type 'string'"


@pytest.mark.parametrize("reference", ["http://127.0.0.1:9/schema.json", "file:///etc/passwd", "#/$defs/missing", "other.json"])
def test_json__never_fetches_a_reference(reference):
    """A schema that points outside itself cannot be applied: an error, not a request and not a pass."""
    with pytest.raises(MeasureError, match="nothing is fetched") as caught:
        valid({"$ref": reference}, "{}")
    assert caught.value.code == "SCORER_FAILED"


def test_json__follows_references_within_the_schema():
    """`$defs` of the schema itself work."""
    schema = {"$defs": {"n": {"type": "integer"}}, "type": "array", "items": {"$ref": "#/$defs/n"}}
    assert (valid(schema, "[1, 2]").score, valid(schema, '[1, "2"]').score) == (1, 0)


@pytest.mark.parametrize("raw", ["[" * 100_000 + "]" * 100_000, "[" * 300 + "]" * 300, '{"a":' * 5000 + "1" + "}" * 5000])
@pytest.mark.parametrize("check", [lambda raw: valid(True, raw), lambda raw: subset([1], raw)])
def test_json__survives_a_nesting_bomb(raw, check):
    """An answer nested without end scores 0 with a reason."""
    found = check(raw)
    assert found.score == 0
    assert "nested too deeply" in found.detail


def test_json__survives_a_nested_value_and_a_recursive_schema():
    """Values from a target are bounded too, and a schema that recurses into a deep answer gives an answer."""
    bomb = []
    for _ in range(5000):
        bomb = [bomb]
    assert "nested too deeply" in score_json(JsonCheck(schema=True), Answer(output=bomb)).detail
    assert valid({"$ref": "#/$defs/l", "$defs": {"l": {"type": "array", "items": {"$ref": "#/$defs/l"}}}}, "[" * 90 + "]" * 90).score in (0, 1)


def test_json__gives_a_pattern_a_limited_time(monkeypatch):
    """A schema's pattern that backtracks without end is an error of the trial."""
    monkeypatch.setattr(text, "PATTERN_SECONDS", 0.2)
    with pytest.raises(MeasureError, match="still searching"):
        valid({"type": "string", "pattern": "(a|aa)+$"}, json.dumps("a" * 60 + "b"))


def test_json_subset__is_the_share_of_leaves_and_names_the_path():
    """3 of 4 leaves hold, and what is more in the answer does not matter."""
    found = subset({"a": 1, "b": {"c": 2, "d": 3}, "e": "x"}, {"output": {"a": 1, "b": {"c": 2, "d": 4}, "e": "x", "more": 1}})
    assert found == (0.75, "b.d: expected 3, got 4", None)


def test_json_subset__follows_lists_by_index():
    """Paths into lists carry the index; a missing place is said to be missing."""
    found = subset({"items": [{"name": "a"}, {"name": "b"}, {"name": "c"}]}, '{"items": [{"name": "a"}, {"name": "x"}]}')
    assert found.score == pytest.approx(1 / 3)
    assert found.detail == 'items[1].name: expected "b", got "x"; items[2].name: expected "c", found nothing there'


@pytest.mark.parametrize(
    ("expected", "raw", "right"),
    [
        ({"n": 1}, '{"n": 1.0}', 1),
        ({"n": 1}, '{"n": true}', 0),
        ({"n": True}, '{"n": 1}', 0),
        ({"n": 0}, '{"n": false}', 0),
        ({"n": None}, '{"n": null}', 1),
        ({"n": None}, "{}", 0),
        ({"n": "1"}, '{"n": 1}', 0),
        ({"n": "é"}, '{"n": "e\u0301"}', 1),
        ({"n": {}}, '{"n": {"a": 1}}', 1),
        ({"n": {}}, '{"n": []}', 0),
        ({"n": []}, '{"n": [1]}', 1),
        ({"n": []}, '{"n": "x"}', 0),
        ({}, "{}", 1),
        ({}, "[]", 0),
        ({"blocked": False}, '{"blocked": false}', 1),
    ],
)
def test_json_subset__compares_leaves_strictly(expected, raw, right):
    """1 is 1.0, true is not 1, null is there or not, an empty map or list asks for one."""
    assert subset(expected, raw).score == right


def test_same__compares_whole_values():
    """Nested values are equal in keys, length and every leaf."""
    assert same({"a": [1, {"b": None}]}, {"a": [1.0, {"b": None}]})
    assert not same({"a": 1}, {"a": 1, "b": 2})
    assert not same([1], [1, 2])
    assert holds({"a": [1]}, {"a": [1, 2], "b": 3})


def test_parse_json__says_why():
    """The reason of a refusal is the parser's own."""
    with pytest.raises(ValueError, match="line 1 column 2"):
        parse_json("{oops}")
