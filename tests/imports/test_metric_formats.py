"""Results that are numbers by name: lm-eval, ragas, CSV and our own lines."""

import pytest

from tests.imports.conftest import summary


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
