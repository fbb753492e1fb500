"""The main job from outside: measure, compare, report, exit with the verdict."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET

import jsonschema
import pytest

from evalaction.report.schema import case_schema, record_schema, verdict_schema


def test_gate__unchanged__is_green_and_costs_one_call_a_case(work):
    """Nothing got worse: exit 0, one call for each case."""
    suite = work.accepted("a", "b")
    work.answers(a="yes", b="yes")

    done = work.run("gate", suite)

    assert (done.code, done.verdict["verdict"], work.calls("a"), work.calls("b")) == (0, "passed", 1, 1)
    assert done.last_line == "eval-gate: passed (exit 0): nothing got worse"


def test_gate__a_worse_case__is_asked_three_times_and_red(work):
    """A drop that holds in three runs is red, names the case, and the other case is asked once."""
    suite = work.accepted("a", "b")
    work.answers(a="no", b="yes")

    done = work.run("gate", suite, "--report", "r.md", "--junit", "j.xml")

    assert (done.code, work.calls("a"), work.calls("b")) == (1, 3, 1)
    assert {reason["code"] for reason in done.suite["reasons"]} >= {"CASE_REGRESSED", "CHECK_REGRESSED"}
    assert "| `a` | `equals` |" in (work.folder / "r.md").read_text()
    assert [case.get("name") for case in ET.parse(work.folder / "j.xml").iter("testcase") if case.find("failure") is not None][:1] == ["a"]


def test_gate__a_flaky_case__stays_green(work):
    """One bad answer that does not come again is a warning."""
    suite = work.accepted("a", "b")
    work.answers(a=["no", "yes"], b="yes")

    done = work.run("gate", suite)

    assert (done.code, done.suite["counts"]["flaky"], work.calls("a")) == (0, 1, 2)


def test_gate__red__points_to_the_rest(work):
    """The log of a red gate names the report that was written, else the command that shows the answers; that command works."""
    suite = work.accepted("a", "b")
    work.answers(a="no such thing", b="yes")

    bare, written = work.run("gate", suite), work.run("gate", suite, "--report", "r.md")

    assert 'a failed equals: expected "yes", got "no such thing"' in bare.out
    assert "see the answers side by side: eval-gate report eval-results --format markdown" in bare.err
    assert "full report: r.md" in written.err
    assert "suite s: 1 case may have got worse, asking again (pass 2 of at most 3)" in bare.err
    assert "no such thing" in work.run("report", "eval-results", "--format", "markdown").out


def test_gate__of_a_record_elsewhere__points_to_that_record(work):
    """The command that the log names shows the record that was judged, wherever it lies."""
    suite = work.accepted("a")
    work.answers(a="no such thing")
    work.run("run", suite, "--out", "other")

    done = work.run("gate", suite, "--record", "other", "--out", "judged")

    assert "eval-gate report other/s --format markdown" in done.err
    assert "no such thing" in work.run("report", "other/s", "--format", "markdown").out


def test_compare__red__names_no_command_that_compares_with_something_else(work):
    """`report` would show the record beside the accepted baseline, not beside the one it was compared with."""
    work.run("run", work.measured("a"), "--out", "before")
    work.answers(a="no")
    work.run("run", "s.eval.yaml", "--out", "after")

    done = work.run("compare", "before", "after")

    assert (done.code, "side by side" in done.err) == (1, False)


def test_gate__an_outage__is_not_measured_and_never_red(work):
    """A failing command is exit 3, whatever the baseline was."""
    suite = work.accepted("a", "b")
    work.answers(a=7, b=7)

    done = work.run("gate", suite)

    assert (done.code, done.verdict["verdict"], done.suite["counts"]["errors"]) == (3, "not_measured", 2)
    assert "status 7" in json.dumps(done.verdict)
    assert "could not be measured: eval-results/s/cases" in done.err


def test_gate__an_outage_while_confirming__is_not_red(work):
    """One bad answer, then the system is down: nothing was proven, so it is not measured."""
    suite = work.accepted("a", "b")
    work.answers(a=["no", 7], b="yes")

    assert work.run("gate", suite).code == 3


def test_gate__report_only__says_what_would_fail_and_exits_0(work):
    """The word stays, the exit is 0, the log says `would fail`."""
    suite = work.accepted("a")
    work.answers(a="no")

    done = work.run("gate", suite, "--report-only")

    assert (done.code, done.verdict["verdict"], done.verdict["would_exit"]) == (0, "regressed", 1)
    assert "would fail" in done.last_line


def test_gate__first_run__says_that_nothing_was_compared(work):
    """No baseline is green, and the first line of the report says so."""
    work.answers(a="yes")

    done = work.run("gate", work.suite("a"), "--format", "markdown")

    assert (done.code, done.verdict["verdict"]) == (0, "no_baseline")
    assert "nothing was compared" in done.out.splitlines()[0]


def test_gate__record__is_judged_without_asking(work):
    """`--record` reuses what was measured; the drop is not confirmed, and the report says so."""
    suite = work.accepted("a", "b")
    work.answers(a="no", b="yes")
    work.run("run", suite, "--out", "measured")
    calls = work.calls("a")

    done = work.run("gate", suite, "--record", "measured/s")

    assert (done.code, work.calls("a")) == (1, calls)
    assert any("not confirmed" in warning for warning in done.suite["warnings"])


@pytest.mark.parametrize(
    ("ids", "change", "said"),
    [
        ("ab", {"case_keys": {"a": {"input": "another question"}}}, "case a is defined anew"),
        ("ab", {"expected": "no"}, "check equals of case a is defined anew"),
        ("abc", {}, "case c was added"),
        ("a", {}, "case b was removed"),
    ],
)
def test_gate__record_of_an_earlier_form_of_the_suite__is_refused(work, ids, change, said):
    """What the suite asks now was not measured: exit 2 names the difference, whatever the policy."""
    work.accepted("a", "b")

    done = work.run("gate", work.suite(*ids, **change), "--record", "eval-results")

    assert (done.code, said in done.err, "INVALID_RECORD" in done.err) == (2, True, True), done.err


def test_gate__record_under_another_policy__is_judged(work):
    """The policy is no part of what was measured, and a variable that a case names has its own value."""
    suite = work.suite("a", case_keys={"a": {"vars": {"where": "{{ env.PATH }}"}}})
    work.answers(a="yes")
    work.run("run", suite)
    work.suite("a", case_keys={"a": {"vars": {"where": "{{ env.PATH }}"}}}, gate={"thresholds": {"pass_rate": 1.0}})

    assert work.run("gate", suite, "--record", "eval-results").verdict["verdict"] == "no_baseline"


@pytest.mark.parametrize("fail_on", [["case"], ["check"], ["metric"]])
@pytest.mark.parametrize("stored", ["1", "5"])
def test_gate__suspicious_case_that_fails_when_asked_again__is_not_measured(work, stored, fail_on):
    """A wrong answer stays one when the confirming runs crash: `max_errors` does not excuse it, and judging the record again says the same."""
    ids = "abcdef"
    suite = work.suite(*ids, gate={"max_errors": 1, "fail_on": fail_on})
    work.answers(**dict.fromkeys(ids, "yes"))
    assert work.run("run", suite, "--repeats", stored).code == 0
    work.run("accept", "eval-results", "--reason", "right")
    work.answers(**{**dict.fromkeys(ids, "yes"), "a": ["no", 7]})

    done = work.run("gate", suite)

    assert (done.code, done.verdict["verdict"], done.suite["counts"]["errors"]) == (3, "not_measured", 0), done.err
    assert [reason["case"] for reason in done.suite["reasons"] if "looked worse" in reason["message"]] == ["a"]
    assert work.run("gate", suite, "--record", "eval-results").verdict["verdict"] == "not_measured"
    assert work.run("accept", "eval-results", "--reason", "as it is").code == 2


def test_gate__case_that_was_right_and_fails_when_the_suite_is_asked_again__stands(work):
    """A first pass inside the tolerance needs no confirmation: later failures are no error of the case."""
    suite = work.accepted("a", "b")
    work.answers(a=["no", "yes"], b=["yes", 7])

    done = work.run("gate", suite)

    assert (done.code, done.suite["counts"]["errors"]) == (0, 0)


def test_gate__threshold_whose_only_cases_are_tolerated_errors__is_not_measured(work):
    """`max_errors` excuses the case, and not the threshold that nothing was measured for: exit 3."""
    rare = {"b": {"checks": [{"type": "contains_any", "value": ["yes"]}]}}
    suite = work.suite("a", "b", "c", case_keys=rare, gate={"max_errors": 1, "thresholds": {"contains_any": 0.9}})
    work.answers(a="yes", b=7, c="yes")

    done = work.run("gate", suite)

    assert (done.code, done.verdict["verdict"]) == (3, "not_measured")
    assert [reason["metric"] for reason in done.suite["reasons"]] == ["contains_any"]


def test_gate__several_suites__the_worst_exit_wins_and_all_are_reported(work):
    """One regressed and one unmeasured suite: exit 1, both in verdict.json."""
    red, lost = work.accepted("a", name="red"), work.accepted("b", name="lost")
    work.answers(a="no", b=7)

    done = work.run("gate", red, lost)

    assert (done.code, {suite["suite"]: suite["verdict"] for suite in done.verdict["suites"]}) == (1, {"red": "regressed", "lost": "not_measured"})


def test_gate__changed_expectations__stand_in_the_headline(work):
    """A pull request that rewrites what is expected compares nothing of it, and says so where everybody looks."""
    work.accepted("a", "b")
    suite = work.suite("a", "b", expected="no")
    work.answers(a="no", b="no")

    done = work.run("gate", suite, "--report", "r.md")

    assert done.code == 3
    assert "Defined anew" in (work.folder / "r.md").read_text().split("<details")[0]
    assert done.suite["changed_cases"] == ["a", "b"]


def test_gate__worse_cases_that_the_policy_ignores__are_not_called_nothing(work):
    """With fail_on [threshold] the run is green, and its headline does not say that nothing got worse."""
    suite = work.accepted("a", "b", gate={"fail_on": ["threshold"]})
    work.answers(a="no", b="yes")

    done = work.run("gate", suite, "--format", "markdown")

    assert done.code == 0
    assert "1 case may be" in done.out.splitlines()[0]
    assert any("does not fail on single cases" in warning for warning in done.suite["warnings"])


def test_gate__outputs_of_an_earlier_run__never_outlive_a_failure(work, monkeypatch):
    """After a configuration error, a wrong option or a bug, verdict.json, report and JUnit speak of this run."""
    from evalaction.app import gating

    suite = work.accepted("a")
    files = ("--report", "r.md", "--junit", "j.xml")
    for spoil, word in ((lambda: work.suite("a", extra=1), "config_error"), (lambda: monkeypatch.setattr(gating, "load", lambda *_: 1 / 0), "internal_error")):
        work.suite("a")
        assert work.run("gate", suite, *files).code == 0
        spoil()
        done = work.run("gate", suite, *files)
        assert done.verdict["verdict"] == word
        assert word in (work.folder / "r.md").read_text()
        assert "passed" not in (work.folder / "j.xml").read_text()
    assert work.run("gate", suite, "--tolerance", "nan").verdict["verdict"] == "config_error"


def test_gate__a_report_over_a_suite__is_refused(work):
    """`--junit s.eval.yaml` does not destroy the suite."""
    suite = work.suite("a")
    before = (work.folder / suite).read_text()

    assert work.run("gate", suite, "--junit", suite).code == 2
    assert (work.folder / suite).read_text() == before


def test_gate__a_broken_history__is_a_warning(work):
    """A trend that cannot be kept does not replace a verdict."""
    suite = work.accepted("a")
    (work.folder / "eval-results/history.sqlite").write_text("no database, but long enough to be looked at as one " * 20)
    work.answers(a="no")

    done = work.run("gate", suite)

    assert done.code == 1
    assert "warning" in done.err


@pytest.mark.parametrize("how", ["dangling", "loop", "file"])
def test_gate__a_baseline_that_is_there_and_not_right__is_never_no_baseline(work, how):
    """A dangling link, a loop or a file in the baseline's place is a configuration error."""
    suite = work.accepted("a")
    folder = work.folder / "eval-baselines/s"
    folder.rename(work.folder / "elsewhere")
    folder.write_text("x") if how == "file" else folder.symlink_to("nowhere" if how == "dangling" else "s")

    assert work.run("gate", suite).code == 2


def test_gate__the_baseline_of_another_suite__is_untrusted(work):
    """A folder copied under another suite's key is refused."""
    work.accepted("a", name="other")
    (work.folder / "eval-baselines/other").rename(work.folder / "eval-baselines/s")

    done = work.run("gate", work.suite("a"))

    assert (done.code, "BASELINE_UNTRUSTED" in done.err) == (2, True)


def test_gate__a_linked_results_folder__is_not_emptied(work):
    """A link in the record's place cannot make the gate delete files elsewhere."""
    suite = work.suite("a")
    (work.folder / "victim/cases").mkdir(parents=True)
    (work.folder / "victim/cases/p.json").write_text("precious")
    (work.folder / "eval-results").mkdir()
    (work.folder / "eval-results/s").symlink_to("../victim")

    assert work.run("gate", suite).code == 2
    assert (work.folder / "victim/cases/p.json").read_text() == "precious"


def test_gate__loosened_policy__stands_in_the_headline(work):
    """A pull request that widens its own tolerance is told on (loosened policy)."""
    work.accepted("a")
    suite = work.suite("a", gate={"tolerance": 0.5, "case_tolerance": 1.0})

    done = work.run("gate", suite, "--report", "r.md")

    assert done.suite["loosened"]
    assert "case_tolerance" in (work.folder / "r.md").read_text().split("<details")[0]


def test_gate__never_writes_below_the_baseline(work):
    """Only `accept` moves a baseline."""
    suite = work.accepted("a")
    before = work.tree("eval-baselines")
    work.answers(a="no")

    work.run("gate", suite)

    assert work.tree("eval-baselines") == before


@pytest.mark.parametrize("break_it", ["suite", "baseline", "filter", "target"])
def test_gate__bad_input__writes_nothing_over(work, break_it):
    """A configuration error leaves the record of the last run as it was, and says so in verdict.json."""
    suite = work.accepted("a")
    before = {name: data for name, data in work.tree("eval-results").items() if name.startswith("s/")}
    arguments = ["gate", suite]
    if break_it == "suite":
        work.suite("a", extra=1)
    elif break_it == "baseline":
        (work.folder / "eval-baselines/s/record.json").write_text("{")
    elif break_it == "filter":
        arguments += ["--filter", "zzz"]
    else:
        work.suite("a", target={"python": {"callable": "no_such_module:fn"}})

    done = work.run(*arguments)

    assert (done.code, done.verdict["verdict"], done.verdict["exit_code"]) == (2, "config_error", 2)
    assert {name: data for name, data in work.tree("eval-results").items() if name.startswith("s/")} == before
    assert "Traceback" not in done.err


def test_files__are_valid_under_the_published_schemas(work):
    """verdict.json, record.json and the case files hold to their JSON Schemas."""
    suite = work.accepted("a", "b")
    work.answers(a="no", b=3)
    work.run("gate", suite)

    for name, schema in (("verdict.json", verdict_schema()), ("s/record.json", record_schema()), ("s/cases/a.json", case_schema()), ("s/cases/b.json", case_schema())):
        jsonschema.validate(json.loads((work.folder / "eval-results" / name).read_text()), schema)


def test_json__stdout_is_one_document(work):
    """`--format json` prints the verdict and nothing else, also for a configuration error."""
    work.answers(a="yes")

    good, bad = work.run("gate", work.suite("a"), "--format", "json"), work.run("gate", work.suite(), "--format", "json")

    assert (json.loads(good.out)["verdict"], json.loads(bad.out)["verdict"]) == ("no_baseline", "config_error")
