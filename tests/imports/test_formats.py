"""One realistic file per format becomes the cases, checks and errors that its tool meant."""

import pytest

from tests.imports.conftest import summary

ASSERTION = {"type": "contains", "value": "30 days", "metric": "facts"}


def promptfoo(*found, version=3, **top):
    return {"evalId": "eval-1", "results": {"version": version, "timestamp": "2026-01-01T00:00:00Z", "prompts": [], "stats": {}, "results": list(found)}, "config": {}, **top}


def row(question="When?", success=True, score=1, **changes):
    graded = {"pass": success, "score": score, "reason": "because", "componentResults": [{"pass": success, "score": score, "reason": "found", "assertion": ASSERTION}]}
    return {
        "success": success, "score": score, "vars": {"question": question}, "gradingResult": graded, "namedScores": {"facts": score}, "latencyMs": 812, "cost": 0.0012,
        "provider": {"id": "openai:gpt-4o", "label": ""}, "prompt": {"raw": f"Answer: {question}", "label": "p"}, "promptIdx": 0, "testIdx": 0, "failureReason": 0,
        "response": {"output": "In 30 days.", "tokenUsage": {}}, "tokenUsage": {"prompt": 11, "completion": 7, "total": 18}, "testCase": {"vars": {"question": question}},
        **changes,
    }  # fmt: skip


@pytest.mark.parametrize("version", [3, 4])
def test_promptfoo__score_is_the_cases_and_assertions_stand_beside_it(results, version):
    """Promptfoo's score and success are the case's; each assertion is a check of weight 0 under its metric's name; cost and tokens are kept."""
    results.write("out.json", promptfoo(row(success=False, score=0.5), version=version))

    found = results.read("promptfoo", "out.json")
    (case,) = found.cases

    assert summary(case) == [("score", 0.5, False, 1), ("facts", 0.5, False, 0)]
    assert (case.id, case.input, found.version, found.notes) == ("question=When?", "question: When?", str(version), ())
    assert (case.trials[0].latency_ms, case.trials[0].cost_usd, case.trials[0].tokens.input, case.trials[0].answer["output"]) == (812, 0.0012, 11, "In 30 days.")


def test_promptfoo__a_call_that_failed_is_an_error(results):
    """FailureReason 2 is an error with promptfoo's words; a failed assertion also has an `error` text and is none."""
    broken = row("a", False, 0, failureReason=2, error="API error: 500", gradingResult=None)
    results.write("out.json", promptfoo(broken, row("b", False, 0, failureReason=1, error="Expected output")))

    first, second = results.read("promptfoo", "out.json").cases

    assert (first.trials[0].error.message, second.trials[0].error) == ("API error: 500", None)


def test_promptfoo__the_same_test_again_is_a_further_run(results):
    """`--repeat 3` gives three runs of one case; another test under the same description is DUPLICATE_ID."""
    results.write("out.json", promptfoo(row(), row(success=False, score=0), row()))
    described = [row("a", testCase={"description": "same"}), row("b", testCase={"description": "same"})]
    results.write("two.json", promptfoo(*described))

    (case,) = results.read("promptfoo", "out.json").cases

    assert [trial.checks[0].passed for trial in case.trials] == [True, False, True]
    assert results.codes("promptfoo", "two.json") == ["DUPLICATE_ID"]


def test_promptfoo__several_providers_and_prompts_are_cases_of_their_own(results):
    """With more than one provider or prompt each combination is a case."""
    results.write("out.json", promptfoo(row(), row(promptIdx=1), row(provider={"id": "anthropic:x"})))

    ids = [case.id for case in results.read("promptfoo", "out.json").cases]

    assert ids == ["question=When? | openai:gpt-4o | prompt 1", "question=When? | openai:gpt-4o | prompt 2", "question=When? | anthropic:x | prompt 1"]


def test_promptfoo__another_prompt_for_the_same_test_still_pairs(results):
    """The prompt is what is evaluated, so a changed one does not make another case of the test."""
    results.write("a.json", promptfoo(row(prompt={"raw": "Answer politely: When?"})))
    results.write("b.json", promptfoo(row()))

    (before,), (now,) = (results.read("promptfoo", name).cases for name in ("a.json", "b.json"))

    assert (before.id, before.input) == (now.id, now.input)


def test_promptfoo__an_unknown_version_is_said(results):
    """Version 9 is read as the newest known one, and a note says so."""
    results.write("out.json", promptfoo(row(), version=9))

    (note,) = results.read("promptfoo", "out.json").notes

    assert "version 9" in note


JUNIT = """<?xml version="1.0" encoding="utf-8"?>
<testsuites><testsuite name="NoteTests" tests="4">
  <testcase classname="com.acme.NoteTests" name="title" time="0.25"><system-out>a line</system-out></testcase>
  <testcase classname="com.acme.NoteTests" name="length"><failure message="expected 3 lines" type="AssertionError">at line 7</failure></testcase>
  <testcase classname="com.acme.NoteTests" name="network"><error message="connection refused"/></testcase>
  <testcase classname="com.acme.NoteTests" name="later"><skipped message="not yet"/></testcase>
</testsuite></testsuites>
"""


def test_junit__passed_failed_error_and_skipped_are_four_things(results):
    """A pass is 1, a failure 0 with its message, an error an error; a skipped test is in no case and said."""
    results.write("TEST-notes.xml", JUNIT)

    found = results.read("junit")
    title, length, network = found.cases

    assert (title.id, summary(title), title.trials[0].latency_ms) == ("com.acme.NoteTests.title", [("test", 1, True, 1)], 250)
    assert (summary(length), length.trials[0].checks[0].detail) == ([("test", 0, False, 1)], "expected 3 lines\nat line 7")
    assert network.trials[0].error.message == "connection refused"
    assert found.notes == ("1 skipped test was not measured: com.acme.NoteTests.later",)


@pytest.mark.parametrize(
    "test",
    [
        '<testcase name="a" status="failed"/>', '<testcase name="a" result="failed"/>', '<testcase name="a"><Failure/></testcase>',
        '<testcase name="a"><x:failure xmlns:x="urn:x"/></testcase>', '<testcase name="a"><skipped/><failure/></testcase>',
    ],
)  # fmt: skip
def test_junit__failed_in_whatever_words_is_a_failure(results, test):
    """A failure by status, in another namespace or spelling, or beside a skip is one."""
    results.write("t.xml", f"<testsuite>{test}</testsuite>")

    assert summary(results.read("junit").cases[0]) == [("test", 0, False, 1)]


@pytest.mark.parametrize("words", ['status="notrun" result="suppressed"', 'status="notrun"', 'result="skipped"', 'status="DISABLED"'])
def test_junit__not_run_in_whatever_words_is_no_pass(results, words):
    """A test that its producer says was not run is in no case."""
    results.write("t.xml", f'<testsuite><testcase name="a" {words}/><testcase name="b" status="run" result="completed"/></testsuite>')

    assert [case.id for case in results.read("junit").cases] == ["b"]


@pytest.mark.parametrize(
    "text",
    [
        '<testsuite errors="1"><error message="set-up failed"/><testcase name="a"/></testsuite>', '<testsuite failures="3"><testcase name="a"/></testsuite>',
        '<testsuites><testsuite failures="1" errors="1"><testsuite><testcase name="a"><failure/></testcase></testsuite></testsuite></testsuites>',
    ],
)  # fmt: skip
def test_junit__failures_that_no_test_shows_are_refused(results, text):
    """An error of the whole suite, or more failures than tests that show one, means that results are missing: never a pass."""
    results.write("t.xml", text)

    assert results.codes("junit", "t.xml") == ["INVALID_VALUE"]


def test_junit__nothing_but_skipped_tests_is_no_case(results):
    """When every test was skipped, nothing was measured: NO_CASES, never a pass."""
    results.write("t.xml", '<testsuite><testcase name="a"><skipped/></testcase></testsuite>')

    assert results.codes("junit", "t.xml") == ["NO_CASES"]


@pytest.mark.parametrize(
    "text",
    [
        '<!DOCTYPE x [<!ENTITY a "b">]><testsuite><testcase name="a">&a;</testcase></testsuite>',
        '<!DOCTYPE x SYSTEM "http://127.0.0.1/x.dtd"><testsuite><testcase name="a"/></testsuite>',
        "<html><testcase name='a'/></html>", "<testsuite><testcase name='a'></testsuite>", "<testsuite>" + "<a>" * 100, "",
    ],
)  # fmt: skip
def test_junit__entities_and_other_documents_are_refused(results, text):
    """A document type, another root, broken or bottomless XML: INVALID_VALUE, and no entity is ever read."""
    results.write("t.xml", text)

    assert results.codes("junit", "t.xml") == ["INVALID_VALUE"]


def deepeval(*cases, **top):
    return {"testCases": list(cases), "conversationalTestCases": [], "metricsScores": [], "testPassed": 1, **top}


def deep_case(case="test_case_0", /, **metric):
    data = {"name": "Answer Relevancy", "threshold": 0.5, "success": True, "score": 0.8, "reason": "fits", "strictMode": False, "evaluationModel": "gpt", "error": None, **metric}
    return {"name": case, "input": "And if they do not fit?", "actualOutput": "30 days.", "success": True, "metricsData": [data], "runDuration": 1.5, "evaluationCost": 0.01}


@pytest.mark.parametrize("wrap", [lambda run: run, lambda run: {"testRunData": run}, lambda run: {"test_results": run["testCases"]}])
def test_deepeval__metrics_are_checks_with_its_own_verdict(results, wrap):
    """Each metric is a check and a metric by its name, passed as DeepEval says, in all three forms of the file."""
    results.write("run.json", wrap(deepeval(deep_case(success=False))))

    (case,) = results.read("deepeval", "run.json").cases

    assert summary(case) == [("Answer Relevancy", 0.8, False, 1)]
    assert (case.trials[0].checks[0].metrics, case.trials[0].cost_usd, case.trials[0].latency_ms) == (("Answer Relevancy",), 0.01, 1500)


def test_deepeval__metrics_that_are_to_be_low_are_turned_round(results):
    """A hallucination of 0.4 counts as 0.6, with the tool's own verdict and number beside it, so that less of it is better; the import says so."""
    low = {"name": "Hallucination", "reason": "made up"}
    results.write("run.json", deepeval(deep_case("a", score=0.4, **low), deep_case("b", score=0.9, success=False, **low), deep_case("c", score=0.5, success=None, **low)))

    found = results.read("deepeval", "run.json")

    assert [summary(case) for case in found.cases] == [[("Hallucination", pytest.approx(score), passed, 1)] for score, passed in ((0.6, True), (0.1, False), (0.5, True))]
    assert found.cases[0].trials[0].checks[0].detail == "0.4, lower is better; made up"
    assert found.notes == ("lower is better for Hallucination: 1 - score is what is compared",)


def test_deepeval__a_failure_at_a_good_score_is_a_doubt_about_the_direction(results):
    """Where an unknown metric failed at a score that reaches its threshold, the import says once what to do; a suite that names it is believed."""
    results.write("run.json", deepeval(*(deep_case(one, success=False, score=0.9) for one in "ab")))

    (doubt,) = results.read("deepeval", "run.json").notes

    assert "`lower_is_better`" in doubt
    assert summary(results.read("deepeval", "run.json", lower=("answer relevancy",)).cases[0]) == [("Answer Relevancy", pytest.approx(0.1), False, 1)]


LM_EVAL = {"doc_id": 0, "filter": "none", "target": "x", "filtered_resps": ["x"], "doc": "q"}


@pytest.mark.parametrize(
    ("form", "name", "content"),
    [
        ("ragas", "r.csv", "id,noise_sensitivity,faithfulness\na,0.25,0.75\n"),
        ("lm-eval", "samples_t.jsonl", [{**LM_EVAL, "metrics": ["brier_score", "acc"], "brier_score": 0.25, "acc": 0.75}]),
        ("generic", "g.jsonl", [{"id": "a", "rudeness": 0.25, "faith": 0.75}]),
    ],
)  # fmt: skip
def test_any_format__metrics_that_are_to_be_low_are_turned_round(results, form, name, content):
    """The known ones of each tool, and those that the suite names, whatever their spelling; the others stay."""
    results.write(name, content)

    (case,) = results.read(form, name if form != "lm-eval" else "", lower=("Rudeness",)).cases

    assert [(score, passed) for _, score, passed, _ in summary(case)] == [(0.75, True), (0.75, True)]


@pytest.mark.parametrize("metric", [{"error": "judge timed out", "score": None, "success": False}, {"score": None, "success": True}])
def test_deepeval__a_metric_without_a_score_makes_the_case_an_error(results, metric):
    """A metric with an error, or without a score, is an error even where it says success."""
    results.write("run.json", deepeval(deep_case(**metric)))

    (case,) = results.read("deepeval", "run.json").cases

    assert case.trials[0].error.code == "SCORER_FAILED"


def test_deepeval__a_case_without_a_metric_is_refused(results):
    """A test case that no metric looked at would pass whatever was answered."""
    results.write("run.json", deepeval({"name": "a", "input": "x", "actualOutput": "y", "success": True, "metricsData": []}))

    assert results.codes("deepeval", "run.json") == ["NOTHING_TO_CHECK"]


def inspect(*samples, **top):
    return {"version": 2, "status": "success", "eval": {"task": "qa"}, "results": {}, "samples": list(samples), **top}


def sample(name=1, epoch=1, value="C", **changes):
    return {"id": name, "epoch": epoch, "input": "2+2?", "target": "4", "output": {"completion": "4"}, "scores": {"match": {"value": value, "explanation": "same"}}, **changes}


def test_inspect__grades_epochs_and_errors(results):
    """C, P and I are 1, 0.5 and 0; epochs are runs of one sample; a sample with an error is an error."""
    results.write("log.json", inspect(sample(epoch=1), sample(epoch=2, value="P"), sample(epoch=3, value="I"), sample("b", scores={}, error={"message": "boom", "traceback": "…"})))

    first, second = results.read("inspect", "log.json").cases

    assert [trial.checks[0].score for trial in first.trials] == [1, 0.5, 0]
    assert (first.id, second.trials[0].error.message) == ("1", "boom")


def test_inspect__several_values_are_several_checks(results):
    """A scorer with a map of values gives a check for each of them."""
    results.write("log.json", inspect(sample(scores={"style": {"value": {"short": 1, "polite": False}}})))

    assert summary(results.read("inspect", "log.json").cases[0]) == [("style.short", 1, True, 1), ("style.polite", 0, False, 1)]


def test_inspect__a_scorer_with_other_values_is_left_out_and_said(results):
    """A scorer whose values are points or words is left out with a note; where no other is left, the sample is an error."""
    results.write("log.json", inspect(sample(scores={"match": {"value": "C"}, "points": {"value": 7}}), sample(2, scores={"points": {"value": 0.5}})))

    found = results.read("inspect", "log.json")

    assert summary(found.cases[0]) == [("match", 1, True, 1)]
    assert found.cases[1].trials[0].error.code == "SCORER_FAILED"
    assert "points" in found.notes[0]


def test_inspect__a_log_that_did_not_succeed_is_unfinished(results):
    """A cancelled or failed log is no finished run, whatever its samples say."""
    results.write("log.json", inspect(sample(), status="error", error={"message": "out of memory"}))

    assert results.read("inspect", "log.json").unfinished == "the Inspect log has the status error: out of memory"


def test_inspect__one_epoch_twice_is_refused(results):
    """The same sample in the same epoch twice is DUPLICATE_ID."""
    results.write("log.json", inspect(sample(), sample()))

    assert results.codes("inspect", "log.json") == ["DUPLICATE_ID"]
