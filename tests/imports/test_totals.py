"""Files whose own totals or verdicts contradict what stands in them are refused."""

import pytest

from tests.imports.test_formats import deep_case, row


@pytest.mark.parametrize(
    ("form", "content"),
    [
        ("promptfoo", {"results": {"version": 3, "results": [row()], "stats": {"successes": 1, "failures": 7, "errors": 3}}}),
        ("promptfoo", {"results": {"version": 3, "results": [row()], "stats": {"successes": 0, "failures": 1, "errors": 0}}}),
        ("promptfoo", {"results": {"version": 2, "results": [row()], "stats": {"successes": 2, "failures": 0}}}),
        ("deepeval", {"testCases": [deep_case()], "testPassed": 1, "testFailed": 4}),
        ("inspect", {"version": 2, "status": "success", "results": {"total_samples": 100}, "samples": [{"id": 1, "input": "q", "scores": {"match": {"value": "C"}}}]}),
    ],
)  # fmt: skip
def test_totals__results_that_state_more_than_they_hold_are_refused(results, form, content):
    """A file whose own totals count more results or failures than stand in it is INVALID_INPUT: what is missing may be what failed."""
    results.write("x.json", content)

    faults = results.faults(form, "x.json")

    assert {fault.code for fault in faults} == {"INVALID_INPUT"}
    assert "cut short" in faults[0].what


def test_totals__what_a_whole_file_states_is_no_fault(results):
    """Totals that agree with the results are taken, failures of older versions included."""
    results.write("x.json", {"results": {"version": 2, "results": [row("a"), row("b", False, 0)], "stats": {"successes": 1, "failures": 1}}})

    assert len(results.read("promptfoo", "x.json").cases) == 2


@pytest.mark.parametrize(
    ("form", "content", "code"),
    [
        ("deepeval", {"testCases": [{**deep_case(), "success": False}]}, "INVALID_INPUT"),
        ("deepeval", {"testCases": [{**deep_case(), "success": False}], "testFailed": 1}, "INVALID_INPUT"),
        ("promptfoo", {"results": {"version": 3, "results": [row(gradingResult={"pass": True, "score": 1, "componentResults": []}, testCase={"assert": []})]}}, "NOTHING_TO_CHECK"),
        ("promptfoo", {"results": {"version": 3, "results": [row(gradingResult=None, testCase={})]}}, "NOTHING_TO_CHECK"),
    ],
)  # fmt: skip
def test_verdicts__a_case_that_its_checks_do_not_explain_is_refused(results, form, content, code):
    """A failed test case whose metrics all succeeded, and a green one that asserts nothing, are faults and never a pass."""
    results.write("x.json", content)

    assert results.codes(form, "x.json") == [code]


def test_verdicts__a_test_without_single_results_but_with_assertions_is_taken(results):
    """Where promptfoo's file leaves the single results out, the test's own assertions show that something was checked."""
    results.write("x.json", {"results": {"version": 3, "results": [row(gradingResult=None, testCase={"assert": [{"type": "contains", "value": "30"}]})]}})

    assert results.read("promptfoo", "x.json").cases[0].trials[0].error is None
