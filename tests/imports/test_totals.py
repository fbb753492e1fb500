"""Files whose own totals or verdicts contradict what stands in them are refused."""

import pytest

from tests.imports.test_formats import deep_case, row
from tests.imports.test_metric_formats import harness


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


TIME = "_2026-01-01T00-00-00.123456"


def lm_eval(results, lines, counts, task="gsm8k"):
    """Samples of one task, and the results file of the same run."""
    results.write(f"samples_{task}{TIME}.jsonl", lines)
    results.write(f"results{TIME}.json", {"results": {}, "n-samples": {name: {"original": 1319, "effective": number} for name, number in counts.items()}})


@pytest.mark.parametrize(
    ("lines", "counts", "held"),
    [
        ([harness(), harness(1)], {"gsm8k": 3}, "3 documents of `gsm8k` and holds 2"),
        ([harness(), harness(filter="flexible-extract"), harness(1)], {"gsm8k": 2}, "2 documents of `gsm8k` and holds 1"),
        ([harness()], {"gsm8k": 1, "hellaswag": 5}, "5 documents of `hellaswag` and holds 0"),
    ],
    ids=["fewer documents", "fewer of one filter", "no file of a task"],
)
def test_totals__lm_eval_samples_that_are_fewer_than_the_results_count__are_refused(results, lines, counts, held):
    """A samples file that lost its end, a filter's last documents or a whole task is INVALID_INPUT, and no smaller green."""
    lm_eval(results, lines, counts)

    (fault,) = results.faults("lm-eval")

    assert (fault.code, fault.file) == ("INVALID_INPUT", f"./results{TIME}.json")
    assert f"the file counts {held}: it was cut short" in fault.what


def test_totals__one_file_of_lm_eval_samples__is_held_against_its_own_count_alone(results):
    """Whoever names one task's file means that task; its results file counts all the same."""
    lm_eval(results, [harness(), harness(1)], {"gsm8k": 2, "hellaswag": 5})
    results.write(f"samples_hellaswag{TIME}.jsonl", [harness(metrics=["acc"], acc=1.0)])

    assert len(results.read("lm-eval", f"samples_gsm8k{TIME}.jsonl").cases) == 2
    assert results.codes("lm-eval", f"samples_hellaswag{TIME}.jsonl") == ["INVALID_INPUT"]


@pytest.mark.parametrize("content", [[], {}, *({"n-samples": counts} for counts in ([], {"gsm8k": 9}, {"gsm8k": {"effective": "9"}}, {"gsm8k": {"effective": 1}}))])
def test_totals__lm_eval_results_that_count_nothing_more__are_no_fault(results, content):
    """A results file of another version, or of another run, takes no sample away."""
    results.write(f"samples_gsm8k{TIME}.jsonl", [harness()])
    results.write(f"results{TIME}.json", content)
    results.write("results_2026-01-02T00-00-00.json", {"n-samples": {"gsm8k": {"effective": 9}}})

    assert len(results.read("lm-eval").cases) == 1


def test_totals__lm_eval_results_that_cannot_be_read__are_a_fault(results):
    """A results file that was cut short itself is no reason to believe the samples."""
    results.write(f"samples_gsm8k{TIME}.jsonl", [harness()])
    results.write(f"results{TIME}.json", '{"n-samples": {')

    assert results.codes("lm-eval") == ["MALFORMED_JSON"]
