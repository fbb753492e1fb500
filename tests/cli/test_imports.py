"""Imports of any format through the commands: verdicts, faults, masking, what is refused."""

from __future__ import annotations

import json

import pytest


def lines(work, *rows, name="r.jsonl"):
    """A file of generic results."""
    (work.folder / name).write_text("".join(json.dumps(row) + "\n" for row in rows))
    return name


def imported(work, *rows, options=(), command="gate"):
    """A command over such results."""
    return work.run(command, "--import", "generic", lines(work, *rows), "--name", "s", *options)


def accepted(work, *rows):
    """The same, accepted."""
    imported(work, *rows)
    work.run("accept", "eval-results/s", "--reason", "r", "--by", "Ada")


def test_gate__the_same_results_pass_and_nothing_is_called(work):
    """Results compared with themselves pass; no call is planned or made, and the record cannot be asked again."""
    accepted(work, {"id": "a", "m": 0.9}, {"id": "b", "m": 0.4})

    ended = imported(work, {"id": "a", "m": 0.9}, {"id": "b", "m": 0.4})

    header = json.loads((work.folder / "eval-results/s/record.json").read_text())
    assert (ended.code, ended.suite["rule"], ended.suite["calls"]["made"], header["repeatable"]) == (0, "tolerance", 0, False)
    assert header["target"] == {"kind": "import", "format": "generic", "version": None, "path": "r.jsonl"}


def test_gate__a_drop_is_red_at_once(work):
    """A worse metric is red without confirmation, and the report says that nothing could be asked again."""
    accepted(work, {"id": "a", "m": 0.9})

    ended = imported(work, {"id": "a", "m": 0.7})

    assert (ended.code, {reason["code"] for reason in ended.suite["reasons"]}) == (1, {"CASE_REGRESSED", "METRIC_REGRESSED"})
    assert any("cannot be asked for again" in warning for warning in ended.suite["warnings"])


def test_gate__an_error_of_the_other_tool_is_no_pass(work):
    """A case with an error is not measured: exit 3, and no acceptance."""
    ended = imported(work, {"id": "a", "m": 1}, {"id": "b", "error": "timeout"})

    assert (ended.code, ended.verdict["verdict"], ended.suite["counts"]["errors"]) == (3, "not_measured", 1)
    assert work.run("accept", "eval-results/s", "--reason", "r").code == 2


def test_gate__an_unfinished_run_of_the_other_tool_is_not_measured(work):
    """A cancelled Inspect log ends as not measured, although its samples are right."""
    log = {"version": 2, "status": "cancelled", "samples": [{"id": 1, "scores": {"m": {"value": 1}}}]}
    (work.folder / "log.json").write_text(json.dumps(log))

    ended = work.run("gate", "--import", "inspect", "log.json")

    assert (ended.code, "cancelled" in ended.out) == (3, True)


def test_gate__several_runs_share_one_case(work):
    """Runs told apart by `repeat` are one case with a pass rate: 1 of 2 after 2 of 2 is red."""
    both = [{"id": "a", "repeat": 0, "score": 0.9}, {"id": "a", "repeat": 1, "score": 0.9}]
    accepted(work, *both)

    ended = imported(work, both[0], both[1] | {"pass": False})

    assert (ended.code, ended.suite["cases"][0]["current_runs"]) == (1, {"passed": 1, "measured": 2})


def test_gate__another_input_is_another_case(work):
    """Under the same id another question is not compared, and said to be changed."""
    accepted(work, {"id": "a", "input": "one", "m": 1}, {"id": "b", "m": 1})

    ended = imported(work, {"id": "a", "input": "two", "m": 0}, {"id": "b", "m": 1})

    assert (ended.code, ended.suite["changed_cases"]) == (0, ["a"])


def test_filter__takes_some_of_the_results(work):
    """--filter and --tag narrow an import like any suite."""
    rows = [{"id": "a1", "m": 1, "tags": ["x"]}, {"id": "a2", "m": 1}, {"id": "b", "m": 1, "tags": ["x"]}]

    ended = imported(work, *rows, options=("--filter", "a*", "--tag", "x"))

    assert [case["case"] for case in ended.suite["cases"]] == ["a1"]


def test_threshold__may_name_the_metrics_of_the_results_and_no_others(work):
    """A threshold on a metric that the results have counts; on another one it is UNKNOWN_METRIC."""
    row = {"id": "a", "my metric": 0.5}

    assert imported(work, row, options=("--threshold", "my metric=0.8")).code == 1
    assert "UNKNOWN_METRIC" in imported(work, row, options=("--threshold", "my metrik=0.8")).err


def test_validate__names_the_faults_of_suites_and_results_together(work):
    """Every fault of a broken suite and of another suite's results comes in one run; nothing is written."""
    (work.folder / "bad.jsonl").write_text('{"id": "a", "m": 7}\n{"id": "a", "m": 1}\n{"id": "a", "m": 1}\n')
    (work.folder / "one.eval.yaml").write_text("version: 1\nname: one\nimport: { format: generic, path: bad.jsonl }\ntarget: { exec: cat }\ngate: { thresholds: { recal@5: 1 } }\n")
    (work.folder / "two.eval.yaml").write_text("version: 1\nname: two\nimport: { format: promtfoo, path: ../outside.json }\n")

    ended = work.run("validate", ".")

    assert ended.code == 2
    assert not (work.folder / "eval-results").exists()
    for code, place in (("INVALID_VALUE", "bad.jsonl:1"), ("DUPLICATE_ID", "bad.jsonl:3"), ("INVALID_VALUE", "one.eval.yaml:4"), ("INVALID_VALUE", "two.eval.yaml:3")):
        assert f"{code} {place}" in ended.err


@pytest.mark.parametrize(
    ("keys", "code"),
    [("path: ../r.jsonl", "OUTSIDE_WORKSPACE"), ("path: none.jsonl", "FILE_NOT_FOUND"), ("path: r.jsonl, baseline: /etc", "OUTSIDE_WORKSPACE"), ("pat: r.jsonl", "UNKNOWN_FIELD")],
)
def test_suite__a_path_that_is_not_right_is_refused(work, keys, code):
    """Paths of an import stay inside the workspace and exist; keys are spelled right."""
    lines(work, {"id": "a", "m": 1})
    (work.folder / "s.eval.yaml").write_text(f"version: 1\nname: s\nimport: {{ format: generic, {keys} }}\n")

    ended = work.run("gate", "s.eval.yaml")

    assert (ended.code, code in ended.err) == (2, True)


@pytest.mark.parametrize("beside", [["s.eval.yaml"], ["--exec", "cat"], ["--repeats", "3"], ["--resume"], ["--record", "x"], ["--judge", "openai:m"]])
def test_import__beside_what_would_measure_is_a_wrong_command(work, beside):
    """An option that says how to measure is refused rather than ignored."""
    ended = imported(work, {"id": "a", "m": 1}, options=beside)

    assert (ended.code, ended.verdict["reasons"][0]["code"]) == (2, "INVALID_INPUT")


def test_import__of_an_unknown_format_names_the_known_ones(work):
    """A misspelt format is a wrong command that lists the formats."""
    ended = work.run("gate", "--import", "promtfoo", "x.json")

    assert (ended.code, "promptfoo" in ended.err) == (2, True)


def test_run__writes_the_record_and_compares_nothing(work):
    """`run --import` leaves a record that `gate --record` can judge."""
    ended = imported(work, {"id": "a", "m": 1}, command="run")

    assert (ended.code, ended.verdict["verdict"]) == (0, "measured")
    assert work.run("gate", "--record", "eval-results/s").code == 0


def test_secrets__of_foreign_results_are_masked(work, monkeypatch):
    """A key of the environment that stands in an answer, an error or a name is in no file and no report."""
    monkeypatch.setenv("MY_API_KEY", "sk-secret-0123456789")
    rows = [{"id": "a", "m": 1, "output": "my key is sk-secret-0123456789"}, {"id": "b", "error": "401 for sk-secret-0123456789"}]

    ended = imported(work, *rows, options=("--report", "r.md", "--html", "r.html", "--junit", "j.xml"))

    everything = b"".join([*work.tree("eval-results").values(), *((work.folder / name).read_bytes() for name in ("r.md", "r.html", "j.xml"))])
    assert b"sk-secret" not in everything
    assert "sk-secret" not in ended.out + ended.err


def test_baseline__files_of_another_tool_named_in_the_suite(work):
    """`import.baseline` is the baseline until one is accepted; while it does not exist, nothing is compared."""
    lines(work, {"id": "a", "m": 0.5})
    (work.folder / "s.eval.yaml").write_text("version: 1\nname: s\nimport: { format: generic, path: r.jsonl, baseline: accepted.jsonl }\n")

    first = work.run("gate", "s.eval.yaml")
    lines(work, {"id": "a", "m": 0.9}, name="accepted.jsonl")
    second = work.run("gate", "s.eval.yaml")
    again = work.run("gate", "--record", "eval-results/s")

    assert (first.code, second.code, again.code) == (0, 1, 1)
    assert "no accepted generic results are at accepted.jsonl" in first.err


def test_large__thousands_of_cases_take_seconds(work):
    """Six thousand imported cases are written, compared and reported."""
    rows = [{"id": f"c{number}", "m": 1} for number in range(6_000)]

    ended = imported(work, *rows)

    assert (ended.code, ended.suite["counts"]["compared"], len(ended.suite["cases"])) == (0, 0, 6_000)


@pytest.mark.parametrize("left", [0, 1, 4])
def test_import__metric_that_cases_lose__is_missing_for_each(work, left):
    """Averaged over the cases that still have it, a metric that fades from a suite would look unchanged."""
    lines = [{"id": f"c{number}", "polite": True, "faith": 0.9} for number in range(5)]
    (work.folder / "r.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    work.run("run", "--import", "generic", "r.jsonl", "--name", "notes")
    work.run("accept", "eval-results", "--reason", "right")
    (work.folder / "r.jsonl").write_text("".join(json.dumps(line if number < left else {"id": line["id"], "polite": True}) + "\n" for number, line in enumerate(lines)))

    done = work.run("gate", "--import", "generic", "r.jsonl", "--name", "notes")

    assert (done.code, done.verdict["verdict"]) == (1, "regressed"), done.err
    missing = [reason["case"] for reason in done.suite["reasons"] if reason["code"] == "METRIC_MISSING"]
    assert missing == [f"c{number}" for number in range(left, 5)] if left else missing == [None]
    assert done.suite["counts"]["regressed"] == (5 - left if left else 0)
