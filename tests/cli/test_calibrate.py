"""`calibrate` from outside."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import re
import subprocess
import sys

import pytest

FEW = ("--runs", "6", "--pull-requests", "5")


def test_calibrate__measures_prints_and_leaves_a_record_that_can_be_accepted(work):
    """Six calls a case, a JSON document with every case, and `accept` takes the record as it is."""
    suite = work.suite("steady", "shaky", case_keys={"shaky": {"repeats": 2}})
    work.answers(steady="yes", shaky=["yes", "no"] * 3)

    done = work.run("calibrate", suite, *FEW, "--format", "json")

    (found,) = json.loads(done.out)["suites"]
    assert (done.code, work.calls("steady"), work.calls("shaky"), found["runs"]) == (0, 6, 6, 6)
    assert {case["case"]: (case["word"], case["mean"]) for case in found["cases"]} == {"steady": ("deterministic", 1.0), "shaky": ("flaky", 0.5)}
    assert found["simulated"]["pull_requests"] == 5
    assert done.last_line.startswith("eval-gate: measured (exit 0)")
    assert work.run("accept", "eval-results", "--reason", "calibrated").code == 0
    work.answers(steady="yes", shaky="yes")
    assert work.run("gate", suite).suite["rule"] == "statistical"


@pytest.mark.parametrize("form", ["text", "markdown"])
def test_calibrate__says_the_same_as_text_and_as_markdown(work, form):
    """Kinds of cases, false alarms, calls, and the table of what can be seen."""
    work.answers(a="yes", b=["no", "yes", "yes"])

    done = work.run("calibrate", work.suite("a", "b"), *FEW, "--format", form)

    assert done.code == 0
    for part in ("1 deterministic, 0 noisy, 1 flaky", "of 5 red", "a case", "stored runs", "5 of 6", "eval-gate accept"):
        assert part in done.out


def test_calibrate__a_file_of_answers__is_refused(work):
    """What cannot be asked again has no noise to measure: exit 2, with the remedy."""
    (work.folder / "answers.jsonl").write_text('{"id": "a", "output": "yes"}\n')

    done = work.run("calibrate", work.suite("a"), "--predictions", "answers.jsonl")

    assert (done.code, "cannot be asked for again" in done.err, done.verdict["verdict"]) == (2, True, "config_error")


def test_calibrate__finished_results__are_refused(work):
    """Results of another tool cannot be measured again: exit 2, with file and remedy, beside the faults of other suites."""
    (work.folder / "junit.xml").write_text('<testsuite name="t"><testcase name="a"/></testsuite>')
    (work.folder / "imported.eval.yaml").write_text("version: 1\nname: imported\nimport: { format: junit, path: junit.xml }\n")
    (work.folder / "answers.jsonl").write_text('{"id": "a", "output": "yes"}\n')

    done = work.run("calibrate", "imported.eval.yaml", work.suite("a", target={"predictions": "answers.jsonl"}))

    assert (done.code, done.verdict["verdict"]) == (2, "config_error")
    assert [line.split(":")[0] for line in done.err.splitlines()[:2]] == ["INVALID_INPUT imported.eval.yaml import", "INVALID_INPUT s.eval.yaml target"]


def test_calibrate__an_outage__is_not_measured(work):
    """A failing system is exit 3, and nothing is said about its noise."""
    work.answers(a=7)

    done = work.run("calibrate", work.suite("a"), *FEW)

    assert (done.code, "Calibration" in done.out) == (3, False)


def test_calibrate__runs_and_repeats_are_one_thing(work):
    """`--repeats` is refused: `--runs` says how often."""
    done = work.run("calibrate", work.suite("a"), "--repeats", "3")

    assert (done.code, "--runs" in done.err, work.calls("a")) == (2, True, 0)


def test_accept__of_few_runs__recommends_calibrate(work):
    """One stored run cannot tell noise from change: the advice names the command; ten runs need none."""
    suite = work.suite("a")
    work.answers(a="yes")

    said = []
    for repeats in ("1", "10"):
        work.run("run", suite, "--repeats", repeats)
        said.append("eval-gate calibrate" in work.run("accept", "eval-results", "--reason", "level", "--move-anchor").err)

    assert said == [True, False]


def test_calibrate__shows_how_far_the_simulation_is__on_a_terminal_alone(work, monkeypatch):
    """Whoever waits at a terminal sees the pull requests that were drawn, without secrets; a log gets no line of it, and stdout neither way."""
    work.answers(a="yes")
    monkeypatch.setenv("MY_API_KEY", "s3cr3t-name")
    command = [sys.executable, "-m", "evalaction", "calibrate", work.suite("a", name="s3cr3t-name"), *FEW]
    master, terminal = pty.openpty()
    with os.fdopen(master, "rb", buffering=0) as screen:
        child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=terminal)
        os.close(terminal)
        printed, _ = child.communicate(timeout=60)
        shown = b""
        with contextlib.suppress(OSError):  # how a terminal whose other side is closed ends
            while piece := screen.read(65536):
                shown += piece
    logged = work.run(*command[3:])

    assert (child.returncode, logged.code) == (0, 0)
    assert re.search(rb"\*\*\*: simulating.*\d/5", shown)
    assert b"simulating" not in printed + logged.err.encode() + logged.out.encode()
