"""Saiku's suites: what each becomes, and what is refused where Saiku's own reader keeps silent."""

from __future__ import annotations

from pathlib import Path

import pytest

from evalaction.core.specs import Closeness, ContainsAll, Intent, Refusal, Rows
from evalaction.core.suite import HttpTarget, PredictionsTarget

SEED = (Path(__file__).resolve().parents[2] / "examples/saiku/foodmart-sales.eval.yaml").read_text(encoding="utf-8")
HEAD = "name: s\ncube: {connectionName: c, catalog: c, schema: s, cubeName: Sales}\ncases:\n"
SERVER = HttpTarget(url="http://127.0.0.1:1")
QUERY = "referenceQuery: {measures: [{name: Unit Sales}], limit: 0}"


def read(room, text, target=SERVER, **flags):
    """The suite in a file of this text."""
    return room.one(room.put("s.eval.yaml", text), target=target, **flags)


def codes(room, text, **flags):
    """The codes of its faults."""
    return [fault.code for fault in room.faults(read, room, text, **flags)]


def case(body):
    """A suite of one case."""
    return f"{HEAD}  - {{name: q, question: how many?, {body}}}\n"


def test_seed_suite__letter_for_letter__becomes_four_cases(room):
    """Each expectation is a check of its own; texts compare with case, numbers keep their spelling."""
    suite = read(room, SEED)
    assert [(one.id, one.checks) for one in suite.cases] == [
        (
            "sales-by-country",
            (
                Intent(id="intent", value="QUERY"),
                Rows(
                    id="rows",
                    value=({"country": "USA", "storeSales": 565238.13}, {"country": "Canada", "storeSales": 79063.11}, {"country": "Mexico", "storeSales": 51298.13}),
                    tolerance=Closeness(relative=0.001),
                ),
            ),
        ),
        ("trend-analysis", (Intent(id="intent", value="INSIGHT"), ContainsAll(id="insight", value=("Store Sales", "week-on-week"), field="insight", ignore_case=False))),
        ("refuse-off-topic", (Intent(id="intent", value="REFUSED"), Refusal(id="refusal", contains="cube"))),
        ("follow-up-turn", (Intent(id="intent", value="QUERY"), Rows(id="rows", value=({"state": "CA", "storeSales": 214893.10},)))),
    ]
    assert [(turn.role, turn.content) for turn in suite.cases[3].history] == [("user", "show store sales by country"), ("assistant", "3 rows returned.")]
    assert (suite.name, suite.dialect, suite.cases[2].input) == ("foodmart-sales-evals", "saiku", "what's the weather in Paris?")


def test_policy__of_a_saiku_suite__is_a_threshold_beside_the_usual_gate(room):
    """Any failing case is red, a flag says otherwise, everything else is as in a suite of our own."""
    gate = read(room, SEED).gate
    assert (gate.thresholds, gate.fail_on, gate.tolerance, read(room, SEED).floor) == ({"pass_rate": 1.0}, ("case", "check", "metric", "threshold"), 0.01, True)
    assert read(room, SEED, thresholds=(("pass_rate", 0.75),)).gate.thresholds == {"pass_rate": 0.75}


def test_server__named_by_a_flag_or_the_environment__is_asked_in_its_own_way(room):
    """`--http` and SAIKU_URL name a server's base; a file of answers stays one."""
    assert read(room, SEED).target == HttpTarget(url="http://127.0.0.1:1", protocol="saiku")
    assert codes(room, SEED, target=None) == ["MISSING_FIELD"]
    room.environment = {"SAIKU_URL": "http://saiku"}
    assert read(room, SEED, target=None).target == HttpTarget(url="http://saiku", protocol="saiku")


def test_reference_query__with_a_server__is_the_expectation_without_its_address(room):
    """The suite's cube joins in unless the query names one; where the server stands is no part of the case's identity."""
    (check,) = read(room, case(f"expectedRows: [{{a: 1}}], {QUERY}")).cases[0].checks
    assert check.reference == {"saiku": {"cube": {"connectionName": "c", "catalog": "c", "schema": "s", "cubeName": "Sales"}, "measures": [{"name": "Unit Sales"}], "limit": 0}}
    (other,) = read(room, case("referenceQuery: {cube: c/c/s/Other, measures: [{name: x}]}")).cases[0].checks
    assert other.reference["saiku"]["cube"] == "c/c/s/Other"
    digests = {read(room, case(QUERY), target=HttpTarget(url=url)).digest for url in ("http://a", "http://b")}
    assert len(digests) == 1


def test_reference_query__without_a_server__gives_way_to_rows_or_is_refused(room):
    """Answers from a file have no server to ask; SAIKU_URL names one for them."""
    answers = PredictionsTarget(path=room.put("a.jsonl", ""))
    (check,) = read(room, case(f"expectedRows: [{{a: 1}}], {QUERY}"), answers).cases[0].checks
    assert check.value == ({"a": 1},)
    assert codes(room, case(QUERY), target=answers) == ["INVALID_VALUE"]
    room.environment = {"SAIKU_URL": "http://saiku"}
    assert read(room, case(QUERY), answers).cases[0].checks[0].reference is not None


def test_rows__of_an_empty_list__mean_that_no_row_is_right(room):
    """Saiku takes an empty list for no check at all."""
    assert read(room, case("expectedRows: []")).cases[0].checks == (Rows(id="rows", value=()),)


@pytest.mark.parametrize(
    ("body", "code", "path"),
    [
        ("tolerance: {relative: 0.1}", "NOTHING_TO_CHECK", ""),
        ("expectedRows: null, expectedInsightContains: []", "NOTHING_TO_CHECK", ""),
        ("expectedIntent: QUERRY", "INVALID_VALUE", "expectedIntent"),
        ("expectedIntent: ' '", "BLANK_FIELD", "expectedIntent"),
        ("expectedRefusalContains: ''", "BLANK_FIELD", "expectedRefusalContains"),
        ("expectedRefusalContains: [cube]", "TYPE_MISMATCH", "expectedRefusalContains"),
        ("expectedRefusalContain: cube, expectedIntent: REFUSED", "UNKNOWN_FIELD", "expectedRefusalContain"),
        ("expectedInsightContains: [a, ' ']", "EMPTY_NEEDLE", "expectedInsightContains"),
        ("expectedInsightContains: Store Sales", "TYPE_MISMATCH", "expectedInsightContains"),
        ("expectedRows: {a: 1}", "TYPE_MISMATCH", "expectedRows"),
        ("expectedRows: [{a: [1]}]", "TYPE_MISMATCH", "expectedRows"),
        ("expectedRows: [1]", "TYPE_MISMATCH", "expectedRows[0]"),
        ("expectedRows: [{a: 1}], orderMatters: sometimes", "TYPE_MISMATCH", "orderMatters"),
        ("expectedRows: [{a: 1}], tolerance: {relative: -0.001}", "INVALID_TOLERANCE", "tolerance.relative"),
        ("expectedRows: [{a: 1}], tolerance: {absolute: a bit}", "INVALID_TOLERANCE", "tolerance"),
        ("expectedRows: [{a: 1}], tolerance: {percent: 1}", "UNKNOWN_FIELD", "tolerance.percent"),
        ("expectedRows: [{a: 1}], tolerance: 0.1", "TYPE_MISMATCH", "tolerance"),
        ("referenceQuery: {}", "NOTHING_TO_CHECK", "referenceQuery"),
        ("expectedIntent: QUERY, history: user", "TYPE_MISMATCH", "history"),
    ],
)
def test_case__that_saiku_would_take__is_refused_with_its_place(room, body, code, path):
    """Nothing is dropped in silence: code, line of the case, path to the field."""
    found = {(fault.code, fault.line, fault.path) for fault in room.faults(read, room, case(body))}
    assert (code, 4, f"cases[0].{path}".rstrip(".")) in found


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (SEED.replace("name: foodmart-sales-evals\n", ""), ["MISSING_FIELD"]),
        (SEED.replace("name: foodmart-sales-evals", "name: ' '"), ["BLANK_FIELD"]),
        (SEED.replace("  cubeName: Sales\n", ""), ["MISSING_FIELD"]),
        (SEED.split("cases:")[0], ["MISSING_FIELD"]),
        (SEED.split("cases:")[0] + "cases: []\n", ["NO_CASES"]),
        (SEED.split("cases:")[0] + "cases: {a: {question: x}}\n", ["TYPE_MISMATCH"]),
        (SEED + "owner: me\n", ["UNKNOWN_FIELD"]),
        (SEED.replace("catalog: FoodMart", "catalog: ''"), ["BLANK_FIELD"]),
        (SEED.replace("name: trend-analysis", "name: sales-by-country"), ["DUPLICATE_ID"]),
        (SEED.replace("cases:\n", "cases: [unclosed\n"), ["MALFORMED_YAML"]),
        (SEED.replace("    question: what's the weather in Paris?\n", "").replace("cubeName: Sales", "cubeName: ''"), ["BLANK_FIELD", "MISSING_FIELD"]),
    ],
)
def test_file__with_faults__names_all_of_them(room, text, wanted):
    """The seed's codes, every fault in one pass."""
    assert codes(room, text) == wanted


def test_tolerance__written_as_text__is_a_number(room):
    """As Saiku takes it; nothing (null) is 0."""
    (check,) = read(room, case("expectedRows: [{a: 1}], tolerance: {relative: '0.001', absolute: null}")).cases[0].checks
    assert check.tolerance == Closeness(relative=0.001)


@pytest.mark.parametrize("text", [f"format: saiku\n{SEED}", SEED.replace("cube:\n", "cube: &c\n"), SEED.replace("\n", "\r\n"), "\ufeff" + SEED])
def test_suite__is_recognised_whatever_its_form(room, text):
    """By its shape or its word; anchors, Windows line ends and a byte-order mark do no harm."""
    assert [one.id for one in read(room, text).cases] == ["sales-by-country", "trend-analysis", "refuse-off-topic", "follow-up-turn"]


def test_native_suite__round_a_saiku_file__rules_and_names_the_server(room):
    """Its policy and its target stand; `--http` over it still speaks to a Saiku server."""
    room.put("foodmart.yaml", SEED)
    body = "version: 1\nname: s\ntarget: {http: {url: 'http://a', protocol: saiku}}\ngate: {tolerance: 0.5}\ndatasets: [{path: foodmart.yaml, format: saiku}]\n"
    suite = room.one(room.put("n.eval.yaml", body))
    assert (suite.gate.tolerance, suite.gate.thresholds, suite.target.protocol, suite.dialect, len(suite.cases)) == (0.5, {}, "saiku", "saiku", 4)
    assert room.one("n.eval.yaml", target=HttpTarget(url="http://b")).target == HttpTarget(url="http://b", protocol="saiku")
    assert suite.cases[0].record["cube"]["cubeName"] == "Sales"
