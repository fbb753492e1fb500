"""action.yml, the table of inputs and the workflows say the same."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from evalaction.inputs import INPUTS, Inputs, read_inputs, variable
from tests.github.permissions import needed

ROOT = Path(__file__).resolve().parents[2]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
OUTPUTS = {"verdict", "exit-code", "baseline-found", "regressed", "results-path", "baseline-path", "report-path", "comment-url", "check-url"}
WORKFLOWS = [*sorted((ROOT / "examples" / "workflows").glob("*.yml")), *sorted((ROOT / ".github" / "workflows").glob("*.yml"))]


def steps(document):
    """Every step of an action or a workflow."""
    jobs = document["jobs"].values() if "jobs" in document else [document["runs"]]
    return [step for job in jobs for step in job.get("steps", ())]


def test_inputs__are_those_that_the_program_reads():
    """Every input is declared, described, handed on to the run, and read; none is read that is not declared (P142, P143)."""
    handed = next(step for step in steps(ACTION) if step.get("id") == "run")["env"]
    assert set(ACTION["inputs"]) == set(INPUTS)
    assert all(stated["description"] for stated in ACTION["inputs"].values())
    assert {name: value for name, value in handed.items() if name.startswith("INPUT_")} == {variable(name): f"${{{{ inputs.{name} }}}}" for name in INPUTS}


def test_defaults__are_those_of_the_program():
    """What action.yml hands on when nothing is given is what the program takes when nothing is handed on."""
    stated = {variable(name): str(value["default"]) for name, value in ACTION["inputs"].items() if "${{" not in str(value["default"])}
    inputs, faults = read_inputs(stated)
    assert not faults
    assert inputs == Inputs()


def test_outputs__are_those_of_the_contract():
    """The nine outputs come from the run's step, each with a description."""
    assert {name: value["value"] for name, value in ACTION["outputs"].items()} == {name: f"${{{{ steps.run.outputs.{name} }}}}" for name in OUTPUTS}
    assert all(value["description"] for value in ACTION["outputs"].values())


def test_conditions__ask_the_run_and_never_an_input():
    """Whether a step runs hangs on what the program made of an input, never on its raw text: `accept` with a line break is accept, and its baseline is stored."""
    assert not [step["name"] for step in steps(ACTION) if "inputs." in step.get("if", "")]


@pytest.mark.parametrize("path", [ROOT / "action.yml", *WORKFLOWS], ids=lambda path: path.name)
def test_scripts__hold_no_expression(path):
    """No script has an expression in it: what comes from outside arrives in variables (P161)."""
    document = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert not [step["run"] for step in steps(document) if "${{" in step.get("run", "")]


@pytest.mark.parametrize("path", [ROOT / "action.yml", *WORKFLOWS], ids=lambda path: path.name)
def test_uses__are_pinned_by_commit(path):
    """Every action of others is named by a full commit; ours by its major tag or this checkout."""
    used = [step["uses"] for step in steps(yaml.safe_load(path.read_text(encoding="utf-8"))) if "uses" in step]
    assert not [one for one in used if not re.fullmatch(r"[\w.-]+/[\w./-]+@[0-9a-f]{40}", one) and one not in ("org/eval-gate@v1", "./")]


def ours():
    """Every job of a workflow that uses the Action of this repository, with the inputs of each use."""
    for path in WORKFLOWS:
        document = yaml.safe_load(path.read_text(encoding="utf-8"))
        for name, job in document["jobs"].items():
            uses = [step.get("with", {}) for step in job.get("steps", ()) if step.get("uses", "").startswith(("org/eval-gate@", "./"))]
            if uses:
                yield pytest.param(document, job, uses, id=f"{path.stem}-{name}")


@pytest.mark.parametrize(("document", "job", "uses"), list(ours()))
def test_permissions__are_the_least_that_the_modes_need(document, job, uses):
    """A workflow starts from no permissions; each job has those that its uses of the Action need, no fewer and no more."""
    assert document["permissions"] == {}
    assert job["permissions"] == {name: level for inputs in uses for name, level in needed(inputs).items()}


@pytest.mark.parametrize("name", ["eval-gate.yml", "accept-baseline.yml", "eval-gate-report.yml"])
def test_starter__is_the_example(name):
    """`init` writes the workflows that the examples show and the tests run."""
    assert (ROOT / "evalaction" / "store" / "starter" / name).read_bytes() == (ROOT / "examples" / "workflows" / name).read_bytes()
