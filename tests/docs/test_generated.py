"""The table of other rules in docs/gate.md is that of the stored benchmark."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import pytest

from benchmarks.rivals import OURS, RULES, scenes

ROOT = Path(__file__).resolve().parents[2]
FOUND = json.loads((ROOT / "benchmarks/rivals.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def generate():
    """The generator of the documentation."""
    spec = importlib.util.spec_from_file_location("docs_generate", ROOT / "docs/generate.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_table__is_fresh(generate):
    """Each generated page is what the generator writes."""
    stale = [path.name for path, text in generate.generated() if path.read_text(encoding="utf-8") != text]

    assert stale == []


def test_stored__has_every_situation_and_rule():
    """The stored output is of the situations and rules that the benchmark has now."""
    assert FOUND["rules"] == [OURS, *RULES]
    assert [row["situation"] for row in FOUND["rows"]] == [scene.name for scene in scenes(lambda *_: (False, 1.0))]
    assert all(set(row["red"]) == set(FOUND["rules"]) and max(row["red"].values()) <= row["pull_requests"] for row in FOUND["rows"])


def test_stored__the_gate_keeps_its_promises():
    """No rule but the gate finds a dead case, a masked break and a dying criterion while it leaves harmless pull requests alone."""
    harmless = {rule: max(row["red"][rule] / row["pull_requests"] for row in FOUND["rows"] if row["harmless"]) for rule in FOUND["rules"]}
    single = [row for row in FOUND["rows"] if any(word in row["situation"] for word in ("always to never", "hidden by a fix", "criteria"))]
    finds = {rule: min(row["red"][rule] / row["pull_requests"] for row in single) for rule in FOUND["rules"]}

    assert [rule for rule in FOUND["rules"] if harmless[rule] <= 0.05 and finds[rule] >= 0.98] == [OURS]


def test_table__without_its_marks__is_an_error(generate):
    """A page that lost its marks is not written over in silence."""
    with pytest.raises(ValueError, match="unpack"):
        generate.with_rivals("no marks", FOUND)
