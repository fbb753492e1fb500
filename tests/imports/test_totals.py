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
