"""The customs post: every objection of pydantic has a code of ours."""

from __future__ import annotations

import pytest

from evalaction.codes import REGISTRY
from evalaction.core.model import adapter
from evalaction.datasets.dialects import GoldenRecord, RagbenchRecord, TableRow
from evalaction.datasets.faults import CODES, OWN_CODES, dotted
from evalaction.datasets.known import field_names, nearest
from evalaction.datasets.native import Dataset, NativeCase, SuiteFile

RAISES = {
    "any": (),
    "none": (),
    "nullable": (),
    "chain": (),
    "model-field": (),
    "default": (),
    "function-before": (),
    "function-wrap": (),
    "function-after": (),
    "definitions": (),
    "definition-ref": (),
    "union": (),
    "dataclass-field": ("missing",),
    "dataclass-args": ("missing", "unexpected_keyword_argument"),
    "dataclass": ("dataclass_type", "model_attributes_type"),
    "tagged-union": ("union_tag_invalid", "union_tag_not_found", "model_attributes_type"),
    "literal": ("literal_error",),
    "str": ("string_type",),
    "float": ("float_type",),
    "int": ("int_type",),
    "bool": ("bool_type",),
    "tuple": ("tuple_type",),
    "list": ("list_type",),
    "dict": ("dict_type", "invalid_key"),
}
"""Kinds of core schema, and the errors each raises; numbers and texts are checked by our own types before pydantic sees them."""
CONSTRAINTS = {"gt": "greater_than", "ge": "greater_than_equal", "lt": "less_than", "le": "less_than_equal", "min_length": "too_short", "pattern": "string_pattern_mismatch"}


def kinds(node):
    """Every kind of core schema, and every constraint, below a node."""
    if isinstance(node, dict):
        if isinstance(node.get("type"), str) and node["type"] not in ("no-info", "with-info"):
            yield node["type"]
        bounds = node.get("metadata", {}).get("pydantic_js_updates", {})  # where one of our validators stands before a bound
        yield from (key for key in {**node, **bounds} if key in CONSTRAINTS)
        for key, item in node.items():
            if key not in ("metadata", "serialization", "function", "default", "config"):
                yield from kinds(item)
    elif isinstance(node, list | tuple):
        for item in node:
            yield from kinds(item)


def test_every_error__that_the_models_can_raise__has_a_code():
    """A new kind of field in a model needs a row here and in the customs post."""
    found = {kind for model in (SuiteFile, NativeCase, Dataset, RagbenchRecord, GoldenRecord, TableRow) for kind in kinds(adapter(model).core_schema)}
    errors = {error for kind in found for error in ((CONSTRAINTS[kind],) if kind in CONSTRAINTS else RAISES[kind])}
    assert errors - CODES.keys() == set()
    assert {"missing", "union_tag_invalid", "literal_error", "greater_than", "too_short"} <= errors


def test_every_code__of_the_post__is_a_published_one():
    """Users look codes up in docs/errors.md, which is made from the registry."""
    assert set(CODES.values()) | OWN_CODES <= set(REGISTRY)


@pytest.mark.parametrize(
    ("loc", "name"),
    [
        ((), "cases"),
        (("target",), "exec"),
        (("target", "http"), "extract"),
        (("cases", 0), "checks"),
        (("cases", 0, "checks", 1, "json"), "schema"),
        (("defaults", "checks", 0, "rows"), "order_matters"),
        (("cases", 0, "checks", 1, "number", "tolerance"), "absolute"),
        (("cases", 0, "history", 0), "content"),
        (("gate",), "fail_on"),
        (("datasets", 0), "format"),
        (("cases", 0, "checks", 0, "tool_calls", "value", 0), "name"),
    ],
)
def test_field_names__at_a_place_of_the_suite__are_those_of_its_model(loc, name):
    """The choice that a message offers is that of the mapping at hand."""
    assert name in field_names(SuiteFile, loc)
    assert ("version" in field_names(SuiteFile, loc)) == (loc == ())


def test_nearest__of_nothing_alike__is_none():
    """A far-fetched suggestion is worse than none."""
    assert nearest("asserts", ["cases", "datasets"]) is None
    assert nearest("check", ["cases", "checks"]) == "checks"


def test_dotted__with_odd_keys__stays_readable():
    """Plain words are joined by dots, anything else stands in brackets."""
    assert dotted(("cases", 3, "checks", 0, "value")) == "cases[3].checks[0].value"
    assert dotted(("gate", "thresholds", "recall@10")) == "gate.thresholds.recall@10"
    assert dotted(("vars", "a b\n")) == "vars[`a b `]"
