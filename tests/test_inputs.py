"""The Action's inputs: strict, all faults at once."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalaction.inputs import INPUTS, Inputs, read_inputs, unknown_inputs, variable


def read(**inputs):
    """Inputs spelled with underscores, as a workflow gives them."""
    return read_inputs({variable(name.replace("_", "-")): value for name, value in inputs.items()})


def test_read__nothing_given_is_the_defaults():
    """Empty variables and absent ones are the defaults (P143)."""
    assert read_inputs({})[0] == read_inputs({variable(name): "" for name in INPUTS})[0] == Inputs()


WRONG = {
    "mode": ["gaet"], "no-baseline": ["maybe"], "baseline-store": ["s3"], "report-only": ["perhaps"], "repeats": ["-1", "many", "٣"], "shard": ["3/2", "0/2", "1/2/3"],
    "max-concurrency": ["0"], "baseline-run-id": ["12; rm"], "run-id": ["9" * 30], "working-directory": ["../..", "/"],
    "results-dir": ["a/../../b", ".hidden", "a/.b", "C:\\x", ".", "./", "x" * 300, "a/" * 1100 + "b", "a\nb", "*", "!a", "a\udcff"],
    "baseline-dir": ["/etc", "a\udcff"], "filter": ["a\udcff"], "reason": ["a\udcff"], "cases": ["a\udcff"], "suite": ["a\udcff"], "key": ["\udcff"],
    "baseline-workflow": ["../x.yml", "x.json"], "only": ["improvements"], "retention-days": ["401"], "runtime": ["vm"],
    "pass-env": ["A=B", "GOOD $(id)"],
}  # fmt: skip


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, values in WRONG.items() for value in values])
def test_read__value_that_cannot_be_meant_names_its_input(name, value):
    """A value that cannot be meant is INVALID_INPUT naming input and value, and the default stands in for it (P142)."""
    inputs, faults = read_inputs({variable(name): value})
    assert [(fault.code, fault.path) for fault in faults] == [("INVALID_INPUT", name)]
    assert name in faults[0].what
    assert getattr(inputs, name.replace("-", "_")) == getattr(Inputs(), name.replace("-", "_"))


def test_read__all_faults_at_once():
    """Several wrong inputs are several faults."""
    assert {fault.path for fault in read(mode="x", shard="y", repeats="z")[1]} == {"mode", "shard", "repeats"}


@pytest.mark.parametrize(("text", "truth"), [("true", True), ("TRUE", True), (" True ", True), ("false", False), ("", False)])
def test_read__booleans_as_yaml_writers_spell_them(text, truth):
    """Any case of true and false is read; empty is the default."""
    assert read(report_only=text)[0].report_only is truth


def test_read__lists():
    """Patterns of suites stand on lines of their own; cases and variables may also be separated by commas."""
    inputs, faults = read(suite="evals/a b.yaml\n\nevals/c.yaml\n", cases="one, two\nthree", pass_env="A_KEY B_KEY\nC_KEY")
    assert not faults
    assert (inputs.suite, inputs.cases, inputs.pass_env) == (("evals/a b.yaml", "evals/c.yaml"), ("one", "two", "three"), ("A_KEY", "B_KEY", "C_KEY"))


def test_read__reason_is_kept_as_it_is():
    """A reason keeps its blanks and line breaks: whoever stores it decides."""
    assert read(reason=" a\nb ")[0].reason == " a\nb "


def test_read__key_of_a_person_and_of_the_job():
    """A key that was given is explicit; else it is the job's, with its place in a matrix where the Action computed one."""
    given, computed, job = read_inputs({"INPUT_KEY": "mine", "EVAL_GATE_KEY": "eval-1"})[0], read_inputs({"EVAL_GATE_KEY": "eval-1"})[0], read_inputs({"GITHUB_JOB": "eval"})[0]
    assert [(one.key, one.explicit_key) for one in (given, computed, job)] == [("mine", True), ("eval-1", False), ("eval", False)]


def test_unknown__misspelt_input_is_found():
    """An input that nothing reads is named, dashes kept (P142)."""
    assert list(unknown_inputs({"INPUT_FAIL-ON": "x", "INPUT_MODE": "gate", "PATH": "y"})) == ["fail-on"]


def test_token__is_not_in_the_repr():
    """The token never shows where inputs are printed."""
    assert "ghs_secret" not in repr(read(github_token="ghs_secret")[0])


@given(st.dictionaries(st.sampled_from(INPUTS), st.text(max_size=40)))
def test_read__any_text_is_read_or_refused(values):
    """Whatever a workflow writes there, reading ends with inputs and faults, never with an exception."""
    inputs, faults = read_inputs({variable(name): value for name, value in values.items()})
    assert isinstance(inputs, Inputs)
    assert {fault.path for fault in faults} <= set(values)
