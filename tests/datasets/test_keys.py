"""Keys of suites without reading more than their names."""

from __future__ import annotations

import pytest

from evalaction.datasets.keys import suite_keys
from evalaction.errors import ConfigError

SAIKU = "name: revenue\ncube: {connectionName: c, catalog: d, schema: s, name: n}\ncases: []\n"


def keys(folder, *patterns, **environment):
    return suite_keys(patterns or (".",), environment, folder)


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("version: 1\nname: support\ntarget: {predictions: gone.jsonl}\ncases: [{id: a, input: x, checks: []}]\n", "support"),
        ("version: 1\nname: foreign\nimport: {format: junit, path: gone.xml}\ngate: {thresholds: {of_its_own: 1}}\n", "foreign"),
        ("version: 1\nname: 012\n", "012"),
        ("name: bot-{{ env.MODEL }}\nunknown: {{}}\n", "bot-small"),
        (SAIKU, "revenue"),
    ],
)
def test_suite_keys__name_is_enough(tmp_path, text, key):
    """A suite whose files are not there, or that has other faults, has its key all the same."""
    (tmp_path / "a.eval.yaml").write_text(text.replace("{{}}", "1"))
    assert keys(tmp_path, MODEL="small") == [key]


def test_suite_keys__are_those_of_the_gate(tmp_path):
    """Every name leads to the key under which the gate looks for a baseline, once."""
    for number in (1, 2):
        (tmp_path / f"{number}.eval.yaml").write_text("version: 1\nname: Käse & Brot\n")
    (found,) = keys(tmp_path)
    assert found.startswith("kase-brot~")


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("version: 1\n", "MISSING_FIELD"), ("name: [a]\n", "MISSING_FIELD"), ("name: ' '\n", "MISSING_FIELD"), ("name: a\nname: b\n", "DUPLICATE_KEY"),
        ("name: {{ env.GONE }}\n", "UNRESOLVED_VARIABLE"),
    ],
)
def test_suite_keys__without_a_name(tmp_path, text, code):
    """What has no name is a configuration error with its place, beside those of other suites."""
    for name in ("a", "b"):
        (tmp_path / f"{name}.eval.yaml").write_text(text.replace("{{ env.GONE }}", "'x {{ env.GONE }}'"))
    with pytest.raises(ConfigError) as said:
        keys(tmp_path)
    assert [(fault.code, fault.file) for fault in said.value.faults] == [(code, "a.eval.yaml"), (code, "b.eval.yaml")]


def test_suite_keys__pattern_that_matches_nothing(tmp_path):
    """A pattern without a suite is a configuration error."""
    with pytest.raises(ConfigError) as said:
        keys(tmp_path, "evals/*.eval.yaml")
    assert [fault.code for fault in said.value.faults] == ["NO_SUITE"]
