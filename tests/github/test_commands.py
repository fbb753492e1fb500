"""Workflow commands, outputs and summary: foreign text never becomes one of them."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalaction.github.commands import Runner
from tests.github.acting import read_outputs


@pytest.fixture
def runner(tmp_path):
    """A runner with files and a log."""
    return Runner(log=io.StringIO(), output=tmp_path / "output", summary=tmp_path / "summary")


def test_outputs__value_adds_no_output_of_its_own(runner):
    """Line breaks, equals signs and delimiters in a value stay in the value (P144)."""
    value = "first\nverdict=passed\nx<<EOF\nEOF\nghadelimiter_"
    assert runner.set_outputs({"verdict": "regressed", "message": value})
    assert read_outputs(runner.output.read_text()) == {"verdict": "regressed", "message": value}


@given(st.dictionaries(st.sampled_from(["a", "b-c", "d"]), st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r"), max_size=60)))
def test_outputs__any_values_come_back(tmp_path_factory, values):
    """What is written is what the runner reads."""
    path = tmp_path_factory.mktemp("outputs") / "output"
    Runner(log=io.StringIO(), output=path).set_outputs(values)
    with path.open(encoding="utf-8", newline="") as file:
        assert read_outputs(file.read()) == values


def test_commands__are_off_but_for_ours(runner):
    """Within, commands are stopped by a token nobody knows; ours open and close it again, and their text is one line (P162)."""
    with runner.commands_off() as quiet:
        quiet.command("warning", "100 %\nsecond: line", title="a,b:c", file="x.yaml", line=3)
    lines = runner.log.getvalue().splitlines()
    token = lines[0].removeprefix("::stop-commands::")
    off, on = f"::stop-commands::{token}", f"::{token}::"
    assert len(token) == 36
    assert lines == [off, on, "::warning file=x.yaml,line=3,title=a%2Cb%3Ac::100 %25%0Asecond: line", off, on]


def test_commands__come_back_after_an_exception(runner):
    """An exception leaves the runner's commands switched on."""
    with pytest.raises(ZeroDivisionError), runner.commands_off():
        raise ZeroDivisionError
    assert runner.log.getvalue().splitlines()[-1].startswith("::")


def test_files__that_are_not_there_are_said_and_no_fault(tmp_path):
    """Without files, or with a folder in their place, nothing is written and nothing raised."""
    assert not Runner(log=io.StringIO()).set_outputs({"a": "b"})
    assert not Runner(log=io.StringIO(), output=tmp_path, summary=tmp_path).add_summary("x")


def test_summary__is_appended_with_a_line_end(runner):
    """Two texts stand one under the other."""
    assert runner.add_summary("one")
    assert runner.add_summary("two\n")
    assert runner.summary.read_text() == "one\ntwo\n"
