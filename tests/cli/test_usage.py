"""Wrong command lines: a coded fault, a last line, and results where the command line says, however it is spelled."""

from __future__ import annotations

import json

import pytest


@pytest.mark.parametrize(
    "arguments",
    [
        ["gate"],
        ["gate", "s.eval.yaml", "--nope"],
        ["nope"],
        ["gate", "s.eval.yaml", "--repeats", "0"],
        ["gate", "s.eval.yaml", "--shard", "3/2"],
        ["gate", "s.eval.yaml", "--threshold", "equals"],
        ["gate", "s.eval.yaml", "--threshold", "equals=nan"],
        ["gate", "s.eval.yaml", "--tolerance", "nan"],
        ["gate", "s.eval.yaml", "--fail-on", "everything"],
        ["gate", "s.eval.yaml", "--exec", "x", "--http", "y"],
        ["accept"],
        ["compare", "one"],
    ],
)
def test_usage__a_wrong_command_line__is_exit_2_with_a_last_line(work, arguments):
    """Usage errors are configuration errors, without a traceback."""
    work.suite("a")

    done = work.run(*arguments)

    assert (done.code, "INVALID_INPUT" in done.err, "Traceback" in done.err) == (2, True, False)
    assert done.last_line.startswith("eval-gate: config_error (exit 2)")


@pytest.mark.parametrize("out", [["--out", "elsewhere"], ["--out=elsewhere"]])
@pytest.mark.parametrize("form", [["--format", "json"], ["--format=json"]])
@pytest.mark.parametrize("wrong", [["--nope"], ["--repeats=0"], ["--exec", "x", "--http", "y"], ["--import", "junit", "x.xml"], ["--repeats"]])
def test_usage__verdict_and_faults__go_where_the_command_line_says(work, out, form, wrong):
    """Folder and form are found in every spelling that click takes, whichever option is wrong."""
    done = work.run("gate", work.suite("a"), *out, *form, *wrong)

    stored = json.loads((work.folder / "elsewhere/verdict.json").read_text())
    assert (done.code, stored["verdict"], json.loads(done.out)) == (2, "config_error", stored)
    assert not (work.folder / "eval-results").exists()


def test_usage__a_folder_that_is_a_file__still_prints_its_json(work):
    """Where verdict.json cannot be written, stdout is one document all the same, and nothing is written elsewhere."""
    (work.folder / "elsewhere").write_text("mine")

    done = work.run("gate", work.suite("a"), "--out=elsewhere", "--format=json")

    assert (done.code, json.loads(done.out)["verdict"]) == (2, "config_error")
    assert ((work.folder / "elsewhere").read_text(), (work.folder / "eval-results").exists()) == ("mine", False)


def test_usage__reports_of_an_earlier_run__are_replaced(work):
    """A report that was asked for speaks of the wrong option, and not of the run before."""
    suite, files = work.suite("a"), ("--report=r.md", "--junit=j.xml", "--html=h.html")
    work.answers(a="yes")
    assert work.run("gate", suite, *files).code == 0

    assert work.run("gate", suite, "--repeats=0", *files).code == 2

    for name in ("r.md", "j.xml", "h.html"):
        assert "repeats" in (work.folder / name).read_text()


@pytest.mark.parametrize("wrong", [["--nope"], []])
@pytest.mark.parametrize("named", ["s.eval.yaml", "*.yaml"])
def test_usage__a_report_over_a_suite__destroys_nothing(work, wrong, named):
    """Neither a wrong option nor a fault in the suite makes a report overwrite the suite."""
    suite = work.suite("a", extra=1)
    before = (work.folder / suite).read_text()

    assert work.run("gate", named, f"--junit={suite}", *wrong).code == 2
    assert (work.folder / suite).read_text() == before


def test_internal_error__is_exit_4_and_shows_its_traceback_only_on_request(work, monkeypatch):
    """A bug is never Python's own exit 1; the traceback comes with -v, however often it stands there, each line marked."""
    from evalaction.app import gating

    monkeypatch.setattr(gating, "gate_suites", lambda *_: 1 / 0)
    suite = work.suite("a")

    quiet, loud, louder = (work.run("gate", suite, *more) for more in ([], ["-v"], ["-vv"]))

    assert (quiet.code, "Traceback" in quiet.err, "Traceback" in loud.err, "Traceback" in louder.err) == (4, False, True, True)
    assert quiet.last_line == "eval-gate: internal_error (exit 4): a bug in eval-gate"


def test_no_command__prints_the_help(work):
    """Without a word the help with every command is shown, as help and not as a fault's text; the exit code stays that of a wrong command line."""
    done = work.run()

    assert (done.code, "INVALID_INPUT" in done.err) == (2, False)
    assert "Commands:" in done.err
    assert "judge-audit" in done.err
    assert done.last_line == "eval-gate: config_error (exit 2): no command was named"


@pytest.mark.parametrize("option", ["suite", "--record", "--baseline", "--out", "--report", "--import", "--predictions"])
def test_usage__a_path_too_long_for_the_system__is_a_configuration_error(work, option):
    """Wherever a path may stand, one that the system cannot look up is exit 2 and no bug of ours."""
    long, suite = "a" * 5000, work.suite("a")
    arguments = {"suite": [long], "--import": ["--import", "generic", long], "--record": ["--record", long]}.get(option, [suite, option, long])

    done = work.run("gate", *arguments)

    assert (done.code, done.last_line.split(":")[1]) == (2, " config_error (exit 2)")
