"""Saiku's agent evals from the command line: the seed's suite against a file of answers and against a live server."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from tests.saiku import CUBE, LOGIN, Refused, Saiku, executed, queried

EXAMPLE = Path(__file__).resolve().parents[2] / "examples/saiku"
ANSWERS = {one["id"]: one for one in map(json.loads, (line for line in EXAMPLE.joinpath("answers.jsonl").read_text().splitlines() if not line.startswith("//")))}
REFERENCE = {"measures": [{"name": "Unit Sales"}], "rows": [{"dimension": "Product", "hierarchy": "Product", "level": "Product Family"}], "limit": 0}


@pytest.fixture
def seed(work):
    """The seed's suite with right answers; a function that changes some of them and gates."""
    (work.folder / "f.eval.yaml").write_text((EXAMPLE / "foodmart-sales.eval.yaml").read_text())

    def gate(*arguments, **changed):
        lines = ({**ANSWERS[name], **changed.get(name.replace("-", "_"), {})} for name in ANSWERS)
        (work.folder / "a.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
        return work.run("gate", "f.eval.yaml", "--predictions", "a.jsonl", *arguments)

    return gate


@pytest.fixture
def live(work, monkeypatch):
    """Gates one case against a stand-in server, with the login in the environment."""
    started = []
    monkeypatch.setenv("SAIKU_USERNAME", LOGIN[0])
    monkeypatch.setenv("SAIKU_PASSWORD", LOGIN[1])

    def gate(ask, query=None, **case):
        started.append(Saiku(lambda _question, _body: ask, query))
        (work.folder / "one.eval.yaml").write_text(yaml.safe_dump({"name": "s", "cube": CUBE, "cases": [{"name": "q", "question": "units?", **case}]}))
        return work.run("gate", "one.eval.yaml", "--http", started[-1].url), started[-1]

    yield gate
    for one in started:
        one.stop()


def test_seed_suite__right_answers__passes_with_the_lines_of_saikus_runner(seed):
    """One line a case with intent and model, and the tally above; `"$565,238.13"` is the number it looks like."""
    done = seed()
    assert (done.code, done.suite["metrics"][0]["metric"], done.suite["metrics"][0]["current_all"]) == (0, "pass_rate", 1)
    assert done.out.startswith("Suite: foodmart-sales-evals\nDescription: Ground-truth cases for the FoodMart Sales cube.")
    assert "4/4 passed, 0 failed, 0 degraded, 0 skipped (elapsed " in done.out
    assert "PASS: refuse-off-topic (0ms, intent=REFUSED, model=model-a)" in done.out


@pytest.mark.parametrize(("value", "code"), [(565238.99, 0), (565800.0, 0), (566000.0, 1), (564000.0, 1)])
def test_relative_tolerance__of_a_tenth_of_a_percent__decides(seed, value, code):
    """0.001 of 565238.13 is 565.24 either way."""
    rows = [{**ANSWERS["sales-by-country"]["rows"][0], "Store Sales": value}, *ANSWERS["sales-by-country"]["rows"][1:]]
    assert seed(sales_by_country={"rows": rows}).code == code


def test_failing_case__without_a_baseline__fails_the_build_and_names_each_cell(seed):
    """The seed's report: every mismatch on a line of its own, under the author's spelling of the key."""
    rows = ANSWERS["sales-by-country"]["rows"]
    done = seed(sales_by_country={"rows": [rows[1], rows[0], rows[2]]})
    assert (done.code, done.verdict["verdict"]) == (1, "below_threshold")
    found = done.out.partition("FAIL: sales-by-country")[2].splitlines()
    assert found[1:5] == [
        '  rows[0].country: expected "USA", got "Canada"',
        "  rows[0].storeSales: expected 565238.13, got 79063.11",
        '  rows[1].country: expected "Canada", got "USA"',
        "  rows[1].storeSales: expected 79063.11, got 565238.13",
    ]
    assert "3/4 passed, 1 failed" in done.out


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("trend_analysis", {"insight": "store sales rose week-on-week"}),
        ("trend_analysis", {"insight": "Store Sales rose"}),
        ("refuse_off_topic", {"refusal": "not in this Cube"}),
        ("follow_up_turn", {"intent": "INSIGHT"}),
        ("follow_up_turn", {"rows": []}),
        ("follow_up_turn", {"rows": [{"State": "CA"}]}),
    ],
)
def test_answer__that_is_not_what_was_expected__is_red(seed, name, answer):
    """Texts compare with case, every string is needed, a missing row or key is a mismatch."""
    assert seed(**{name: answer}).code == 1


def test_extra_column__in_an_answer__breaks_nothing(seed):
    """Expectations are additive: a new column of the schema is no mismatch."""
    assert seed(follow_up_turn={"intent": "query", "rows": [{"STATE": "CA", "store_sales": "(-1)", "Store Sales": 214893.10, "new": 1}]}).code == 0


def test_other_model__after_an_acceptance__is_named_as_regressed(work, seed):
    """The provider was switched: the question whose answer drifted is found by its name."""
    seed()
    assert work.run("accept", "eval-results", "--reason", "read", "--by", "Ada").code == 0
    done = seed("--threshold", "pass_rate=0.5", trend_analysis={"insight": "no idea"})
    assert (done.code, done.verdict["verdict"]) == (1, "regressed")
    assert [case["case"] for case in done.suite["cases"] if case["verdict"] == "regressed"] == ["trend-analysis"]


def test_no_fail_on_regression__is_report_only(seed):
    """Saiku's own word: the report is made, it says that it would fail, and the exit is 0."""
    done = seed("--no-fail-on-regression", trend_analysis={"insight": "x"})
    assert (done.code, done.verdict["would_exit"]) == (0, 1)
    assert "would fail" in done.last_line


def test_json_output__stays_one_document(seed):
    """Saiku's lines are for people; a program gets the verdict alone."""
    assert json.loads(seed("--format", "json").out)["verdict"] == "no_baseline"


def test_hostile_answer__cannot_write_a_line_of_the_log(seed):
    """A model's name that holds a line break and a workflow command stays on its line."""
    done = seed(trend_analysis={"model": "m)\n::error::owned\nPASS: x (", "insight": "x"})
    assert not [line for line in done.out.splitlines() if line.startswith("::")]
    assert sum(line.startswith(("PASS:", "FAIL:")) for line in done.out.splitlines()) == 4


def test_reference_query__moves_with_the_data(live):
    """The rows of the moment are right: the query runs after the question, for the suite's cube, and a difference fails."""
    answer = executed([{"Product Family": "Drink", "Unit Sales": 24597}])
    done, server = live(answer, lambda _body: queried([{"productFamily": "Drink", "unit_sales": 24597.0}]), expectedIntent="QUERY", referenceQuery=REFERENCE)
    assert (done.code, server.calls) == (0, ["ask", "query"])
    assert server.queries == [{"cube": CUBE, **REFERENCE}]
    done, _ = live(answer, lambda _body: queried([{"productFamily": "Drink", "unit_sales": 24000}]), referenceQuery=REFERENCE)
    assert done.code == 1
    assert "rows[0].unit_sales: expected 24000, got 24597" in done.out


def test_reference_query__without_rows__means_that_no_row_is_right(live):
    """Saiku's own runner would pass whatever is answered."""
    assert live(executed([{"a": "b"}]), lambda _body: queried([]), referenceQuery=REFERENCE)[0].code == 1
    assert live(executed([]), lambda _body: queried([]), referenceQuery=REFERENCE)[0].code == 0


@pytest.mark.parametrize(
    ("ask", "query"),
    [
        ({"degraded": True, "reason": "the provider did not answer"}, None),
        (executed([], status="WAREHOUSE_ERROR", error="down"), None),
        (executed([]), lambda _body: Refused(400, queried([], "VALIDATION_ERROR", error="no such measure"))),
    ],
)
def test_server__that_gives_nothing_to_judge__is_not_measured(live, ask, query):
    """Degraded is no wrong answer: exit 3, and the case is listed as DEGRADED."""
    done, _ = live(ask, query, **({"referenceQuery": REFERENCE} if query else {"expectedIntent": "QUERY"}))
    assert (done.code, done.verdict["verdict"]) == (3, "not_measured")
    assert "0/1 passed, 0 failed, 1 degraded, 0 skipped" in done.out
    assert "DEGRADED: q" in done.out


def test_query__that_the_server_refuses__fails_the_case(live):
    """A model that asks for a measure the cube does not have is a wrong answer, inside a 200 as well."""
    done, _ = live(executed([], status="VALIDATION_ERROR", error="no measure Sails"), expectedIntent="QUERY")
    assert done.code == 1


def test_password__is_nowhere_in_what_is_written(work, live):
    """Neither as it is nor as the header that carries it."""
    done, _ = live(executed([{"secret": LOGIN[1]}]), expectedRows=[{"secret": "x"}])
    written = done.out + done.err + "".join(path.read_text() for path in (work.folder / "eval-results").rglob("*.json"))
    assert LOGIN[1] not in written
    assert "YWRtaW46" not in written


@pytest.mark.parametrize(("name", "text"), [("MALFORMED_YAML", "cases: [unclosed\n"), ("TYPE_MISMATCH", "cases: {a: {question: x}}\n"), ("NO_CASES", "cases: []\n")])
def test_broken_file__is_told_from_a_wrong_answer(work, name, text):
    """The seed's stable codes, with exit 2, also under report-only."""
    (work.folder / "f.eval.yaml").write_text(f"name: s\ncube: {{connectionName: c, catalog: c, schema: s, cubeName: S}}\n{text}")
    (work.folder / "a.jsonl").write_text("")
    done = work.run("gate", "f.eval.yaml", "--predictions", "a.jsonl", "--report-only")
    assert done.code == 2
    assert f"{name} f.eval.yaml:" in done.err
