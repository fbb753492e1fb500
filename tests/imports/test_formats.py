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


def deep_case(name="test_case_0", **metric):
    data = {"name": "Answer Relevancy", "threshold": 0.5, "success": True, "score": 0.8, "reason": "fits", "strictMode": False, "evaluationModel": "gpt", "error": None, **metric}
    return {"name": name, "input": "And if they do not fit?", "actualOutput": "30 days.", "success": True, "metricsData": [data], "runDuration": 1.5, "evaluationCost": 0.01}


@pytest.mark.parametrize("wrap", [lambda run: run, lambda run: {"testRunData": run}, lambda run: {"test_results": run["testCases"]}])
def test_deepeval__metrics_are_checks_with_its_own_verdict(results, wrap):
    """Each metric is a check and a metric by its name, passed as DeepEval says, in all three forms of the file."""
    results.write("run.json", wrap(deepeval(deep_case(success=False))))

    (case,) = results.read("deepeval", "run.json").cases

    assert summary(case) == [("Answer Relevancy", 0.8, False, 1)]
    assert (case.trials[0].checks[0].metrics, case.trials[0].cost_usd, case.trials[0].latency_ms) == (("Answer Relevancy",), 0.01, 1500)


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


def harness(doc_id=0, **changes):
    return {
        "doc_id": doc_id, "doc": {"question": f"q{doc_id}"}, "target": "18", "arguments": {}, "resps": [["The answer is 18"]], "filtered_resps": ["18"], "filter": "strict-match",
        "metrics": ["exact_match"], "doc_hash": "a", "prompt_hash": "b", "target_hash": "c", "exact_match": 1.0, **changes,
    }  # fmt: skip


def test_lm_eval__a_case_per_document_and_filter(results):
    """Documents are told apart by task and filter; each metric is a check; the filtered response is the answer."""
    results.write("samples_gsm8k_2026-01-01T00-00-00.123456.jsonl", [harness(), harness(filter="flexible-extract", exact_match=0.0), harness(1)])
    results.write("samples_hellaswag_2026-01-01T00-00-00.123456.jsonl", [harness(filter="none", metrics=["acc", "acc_norm"], acc=0.0, acc_norm=1.0)])

    cases = results.read("lm-eval").cases

    assert [case.id for case in cases] == ["gsm8k/0/strict-match", "gsm8k/0/flexible-extract", "gsm8k/1/strict-match", "hellaswag/0"]
    assert summary(cases[3]) == [("acc", 0, False, 1), ("acc_norm", 1, True, 1)]
    assert cases[0].trials[0].answer == {"output": "18", "target": "18"}


def test_lm_eval__metrics_that_are_no_fractions_are_left_out_and_said(results):
    """A perplexity is no score in 0..1: it is left out for the whole task with a note; a document with nothing else is refused."""
    both = {"metrics": ["acc", "word_perplexity"], "acc": 1}
    results.write("samples_wiki.jsonl", [harness(**both, word_perplexity=[-12.5, 7]), harness(1, **both, word_perplexity=0.5)])
    results.write("only/samples_ppl.jsonl", [harness(metrics=["perplexity"], perplexity=7.5)])

    found = results.read("lm-eval", "samples_wiki.jsonl")

    assert [summary(case) for case in found.cases] == [[("acc", 1, True, 1)]] * 2
    assert "word_perplexity" in found.notes[0]
    assert results.codes("lm-eval", "only") == ["NOTHING_TO_CHECK"]


def test_lm_eval__a_listed_metric_that_is_not_there_is_a_fault(results):
    """A line that lists a metric and does not have it is MISSING_FIELD with its line."""
    results.write("samples_x.jsonl", [harness(), harness(1, metrics=["acc"])])

    assert [(fault.code, fault.line) for fault in results.faults("lm-eval", "samples_x.jsonl")] == [("MISSING_FIELD", 2), ("NOTHING_TO_CHECK", 2)]


RAGAS = """user_input,retrieved_contexts,response,reference,faithfulness,answer_relevancy,comment
When?,"['a, b']",In 30 days.,30 days,0.9,0.4,fine
Who?,"['c']",Ann.,Ann,,1.0,
"""


@pytest.mark.parametrize("form", ["ragas", "csv"])
def test_ragas__a_check_per_column_of_numbers(results, form):
    """Columns of numbers are metrics, a column of words is said; a blank number makes its row an error; the question names the case."""
    results.write("scores.csv", RAGAS)

    found = results.read(form, "scores.csv")
    when, who = found.cases

    assert (when.id, when.input, when.trials[0].answer) == ("When?", "When?", {"output": "In 30 days."})
    assert summary(when) == [("faithfulness", 0.9, True, 1), ("answer_relevancy", 0.4, False, 1)]
    assert (who.trials[0].error.code, who.trials[0].error.message) == ("SCORER_FAILED", "no value for faithfulness")
    assert "comment" in found.notes[0]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("id,m\na,nan\n", "INVALID_VALUE"), ("id,m\na,1.2\n", "INVALID_VALUE"), ("id,m\na,0.5\nb,good\n", "INVALID_VALUE"), ("id,m\na,0.5,1\n", "MALFORMED_CSV"),
        ("id,m,m\na,0.5,1\n", "MALFORMED_CSV"), ('id,m\na,"0.5\n', "MALFORMED_CSV"), ("id,m\na,0.5\na,0.6\n", "DUPLICATE_ID"), ("id,m\na,x\n", "NOTHING_TO_CHECK"),
        ("id,m\n", "NO_CASES"), ("", "NO_CASES"), ("id,m\n,0.5\n", "BLANK_FIELD"),
    ],
)  # fmt: skip
def test_csv__what_cannot_be_a_result_is_refused(results, text, code):
    """NaN, a score beyond 1, a word among numbers, a torn row, a doubled id, no metric, no row: each has its code."""
    results.write("scores.csv", text)

    assert code in results.codes("csv", "scores.csv")


def test_generic__metrics_overall_repeats_and_errors(results):
    """Any number is a metric; `score` and `pass` are the case's own and set the others' weight to 0; `repeat` tells runs apart; `error` is an error."""
    results.write("r.jsonl", [
        {"id": "a", "faithfulness": 0.7, "ok": True}, {"id": "b", "score": 0.6, "pass": False, "tone": 0.2, "minimum": 0.5, "output": "hi"},
        {"id": "c", "repeat": 0, "pass": True}, {"id": "c", "repeat": 1, "pass": False}, {"id": "d", "error": "timeout"},
    ])  # fmt: skip

    a, b, c, d = results.read("generic", "r.jsonl").cases

    assert summary(a) == [("faithfulness", 0.7, True, 1), ("ok", 1, True, 1)]
    assert (summary(b), b.floor) == ([("score", 0.6, False, 1), ("tone", 0.2, False, 0)], 0.5)
    assert [trial.checks[0].score for trial in c.trials] == [1, 0]
    assert d.trials[0].error.message == "timeout"


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ('{"id": "a", "m": NaN}', "MALFORMED_JSON"), ('{"id": "a", "m": 1, "m": 0}', "MALFORMED_JSON"), ('{"id": "a", "m": 7}', "INVALID_VALUE"),
        ('{"id": "a", "m": "0.5"}', "TYPE_MISMATCH"),
        ('{"id": "a", "m": null}', "TYPE_MISMATCH"), ('{"id": "a"}', "NOTHING_TO_CHECK"), ('{"m": 1}', "MISSING_FIELD"), ('{"id": " ", "m": 1}', "BLANK_FIELD"),
        ("[1]", "TYPE_MISMATCH"),
        ('{"id": "z", "m": 1}', "DUPLICATE_ID"), ('{"id": "a\\ud800", "m": 1}', "MALFORMED_JSON"), ("{" * 5000, "MALFORMED_JSON"),
    ],
)  # fmt: skip
def test_generic__what_cannot_be_a_result_is_refused_with_its_line(results, line, code):
    """Each fault has its code and the line it stands on."""
    results.write("r.jsonl", '{"id": "z", "m": 1}\n' + line + "\n")

    assert (code, 2) in [(fault.code, fault.line) for fault in results.faults("generic", "r.jsonl")]


def test_generic__a_metric_by_the_name_of_our_own__is_refused(results):
    """A foreign `pass_rate` would be mixed with the share of trials that passed, and a threshold on it would look at both."""
    results.write("r.jsonl", [{"id": "a", "score": 0.2, "pass": False, "pass_rate": 1.0}])

    (fault,) = results.faults("generic", "r.jsonl")

    assert (fault.code, fault.line, "`pass_rate`" in fault.what) == ("INVALID_VALUE", 1, True)


def test_table__columns_of_latency_cost_and_tokens__are_amounts(results):
    """They are no scores: they are kept in their units, and a cell that is no amount is refused."""
    results.write("r.csv", "id,faithful,latency_ms,cost_usd,tokens\na,0.9,1250,0.02,812\nb,0.8,,,\n")
    a, b = results.read("csv", "r.csv").cases

    assert [summary(case) for case in (a, b)] == [[("faithful", 0.9, True, 1.0)], [("faithful", 0.8, True, 1.0)]]
    assert (a.trials[0].latency_ms, a.trials[0].cost_usd, a.trials[0].tokens.output, b.trials[0].latency_ms) == (1250.0, 0.02, 812, None)
    results.write("wrong.csv", "id,faithful,latency_ms,tokens\na,0.9,-1,1.5\nb,0.9,nan,fast\n")
    assert results.codes("csv", "wrong.csv") == ["INVALID_VALUE"] * 4


def test_table__a_column_by_the_name_of_our_own_metric__is_refused(results):
    """`pass_rate` is made here, of every answer."""
    results.write("r.csv", "id,faithful,pass_rate\na,0.2,1.0\n")

    assert results.codes("csv", "r.csv") == ["INVALID_VALUE"]
