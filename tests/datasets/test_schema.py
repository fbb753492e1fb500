"""The published schema agrees with the reader."""

from __future__ import annotations

import copy
import json

import jsonschema
import pytest

from evalaction.datasets.schema import suite_schema

EXAMPLE = {
    "version": 1,
    "name": "support-bot",
    "description": "text",
    "dataset_version": "2026-11",
    "deterministic": False,
    "target": {"exec": "python my_rag.py"},
    "judge": {"provider": "anthropic", "model": "claude-x", "base_url": None, "votes": 1},
    "defaults": {"repeats": 1, "tags": [], "checks": []},
    "limits": {"max_calls": 500, "max_cost_usd": 2.0, "max_minutes": 20, "max_concurrency": 8},
    "gate": {
        "rule": "auto",
        "profile": "standard",
        "tolerance": 0.01,
        "tolerances": {"ndcg@10": 0.02},
        "case_tolerance": 0.05,
        "pass_rate_tolerance": 0.20,
        "thresholds": {"recall@10": 0.8, "pass_rate": 0.9},
        "max_errors": 0,
        "removed_cases": "warn",
        "fail_on": ["case", "check", "metric", "threshold"],
    },
    "datasets": ["cases.jsonl", {"path": "more.csv", "format": "csv"}],
    "cases": [
        {
            "id": "refund-window",
            "category": "qa",
            "input": "What?",
            "history": [{"role": "user", "content": "hi"}],
            "vars": {"tier": "gold"},
            "tags": ["smoke"],
            "repeats": 3,
            "checks": [
                {"type": "contains_all", "value": ["30 days"]},
                {"id": "tone", "type": "rubric", "criteria": {"polite": "Is polite"}},
                {"type": "rubric", "criteria": ["Is short"]},
                {"type": "contains_any", "value": "x"},
                {"type": "json", "schema": {"type": "object"}},
                {"type": "number", "value": 3, "tolerance": {"absolute": 1}},
            ],
        }
    ],
}


def changed(change):
    """The example after one change."""
    example = copy.deepcopy(EXAMPLE)
    change(example)
    return example


def test_schema__of_the_suite_file__is_valid_and_speaks():
    """Draft 2020-12, a description on every model, nothing that no author may write."""
    schema = suite_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    assert all(model.get("description") for model in schema["$defs"].values())
    assert "ragbench_" not in json.dumps(schema)
    assert "ragbench" not in " ".join(schema["$defs"]).lower()


def test_schema_and_reader__of_the_example__accept_it(room):
    """An editor and the reader agree on a suite that uses most keys."""
    jsonschema.validate(EXAMPLE, suite_schema())
    room.put("cases.jsonl", '{"id": "a", "question": "q", "must_contain": ["x"]}\n')
    room.put("more.csv", "id,input,expected\nb,c,d\n")
    room.put("s.eval.yaml", json.dumps(EXAMPLE))
    suite = room.one("s.eval.yaml")
    assert [case.id for case in suite.cases] == ["refund-window", "a", "b"]
    assert (suite.judge.model, suite.limits.max_calls, suite.dataset_version, suite.cases[0].repeats) == ("claude-x", 500, "2026-11", 3)


@pytest.mark.parametrize(
    "change",
    [
        lambda s: s.update(asserts=[]),
        lambda s: s.update(version=2),
        lambda s: s.pop("name"),
        lambda s: s["gate"].update(tolerence=1),
        lambda s: s["target"].update(exce="x"),
        lambda s: s["cases"][0].update(check=[]),
        lambda s: s["cases"][0]["checks"].append({"type": "contians_all", "value": ["x"]}),
        lambda s: s["cases"][0]["checks"].append({"value": "x"}),
        lambda s: s["cases"][0]["checks"].append({"callable": "a:b"}),
        lambda s: s["cases"][0].update(repeats=0),
        lambda s: s["judge"].update(provider="x"),
        lambda s: s.update(datasets=[5]),
    ],
)
def test_schema_and_reader__of_a_wrong_suite__refuse_it_both(room, change):
    """What an editor underlines, the reader refuses."""
    wrong = changed(change)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(wrong, suite_schema())
    room.put("s.eval.yaml", json.dumps(wrong))
    assert room.faults(room.load, "s.eval.yaml")
