"""Foreign datasets: what each becomes, and what each is refused for."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalaction.core.specs import ContainsAll, Equals, ExactMatch, RagbenchGroundedness, RagbenchRetrieval, Rubric, TokenF1
from evalaction.core.suite import ExecTarget
from evalaction.datasets.table import rows
from tests.datasets.conftest import HEAD

TARGET = ExecTarget(command="x")


def lines(*records):
    """Records as JSONL."""
    return "".join(json.dumps(record) + "\n" for record in records)


def test_ragbench_record__with_everything__becomes_five_checks(room):
    """The ids are ragbench's names, the record stays as it stands, the policy is ragbench's."""
    record = {"id": "q1", "question": "why?", "expected_answer": "so", "relevant_docs": ["d1", "d2"], "must_contain": ["s"], "tags": ["t"], "notes": "n"}
    suite = room.alone("cases.jsonl", lines(record), k=5)
    assert suite.cases[0].checks == (
        ExactMatch(id="exact_match", value="so"),
        TokenF1(id="token_f1", value="so"),
        RagbenchRetrieval(id="retrieval", relevant=("d1", "d2"), k=5),
        ContainsAll(id="contains_all", value=("s",)),
        RagbenchGroundedness(id="groundedness"),
    )
    assert (suite.cases[0].input, suite.cases[0].tags, suite.cases[0].record, suite.cases[0].line) == ("why?", ("t",), record, 1)
    assert (suite.name, suite.gate.fail_on, suite.gate.tolerance, suite.floor) == ("cases", ("metric", "threshold"), 0.01, False)


def test_ragbench_file__with_bom_comments_blanks_and_crlf__loads(room):
    """Lines count as in an editor, numbers keep their spelling."""
    suite = room.alone("c.jsonl", b'\xef\xbb\xbf// mine\r\n{"id": 1, "question": "q", "expected_answer": 1.50}\r\n\r\n{"id": "b", "question": "q", "must_contain": ["x"]}')
    assert [(case.id, case.line) for case in suite.cases] == [("1", 2), ("b", 4)]
    assert suite.cases[0].checks[0] == ExactMatch(id="exact_match", value="1.50")


def test_ragbench_faults__of_every_kind__come_in_one_pass_with_their_lines(room):
    """Nothing to check, duplicate, unknown field, missing, wrong type, empty needle, bad JSON, duplicate key."""
    bad = [
        '{"id": "a", "question": "q", "relevant_docs": ["d"]}',
        '{"id": "b", "question": "q", "relevant_docs": [], "must_contain": [], "expected_answer": " "}',
        '{"id": " a", "question": "q", "relevant_docs": ["d"]}',
        '{"id": "c", "question": "q", "relevant_doc": ["d"], "must_contain": ["x"]}',
        '{"id": "d", "must_contain": ["x"]}',
        '{"id": "e", "question": "q", "must_contain": "x"}',
        '{"id": "f", "question": "q", "must_contain": ["x", " "]}',
        '{"id": "g", "question": NaN}',
        "{",
        "[1]",
        '{"id": "h", "question": "q", "id": "i", "must_contain": ["x"]}',
        '{"id": "j", "question": "q", "x": ' + "[" * 5000 + "}",
        '{"id": "k", "question": "\\ud800"}',
    ]
    assert room.codes(room.alone, "c.jsonl", "\n".join(bad)) == [
        ("NOTHING_TO_CHECK", 2, ""),
        ("DUPLICATE_ID", 3, "id"),
        ("UNKNOWN_FIELD", 4, "relevant_doc"),
        ("MISSING_FIELD", 5, "question"),
        ("TYPE_MISMATCH", 6, "must_contain"),
        ("EMPTY_NEEDLE", 7, "must_contain"),
        ("MALFORMED_JSON", 8, ""),
        ("MALFORMED_JSON", 9, ""),
        ("TYPE_MISMATCH", 10, ""),
        ("DUPLICATE_KEY", 11, ""),
        ("MALFORMED_JSON", 12, ""),
        ("MALFORMED_JSON", 13, ""),
    ]


def test_ragbench_dataset__in_a_native_suite__follows_the_suites_policy(room):
    """The suite round it rules; default checks and tags join in, under ids of their own."""
    room.put("c.jsonl", lines({"id": "a", "question": "q", "must_contain": ["x"]}, {"id": "b", "question": "q"}))
    suite = room.suite("datasets: [c.jsonl]\ndefaults: {checks: [{type: contains_all, value: z}], tags: [t]}\n")
    assert (suite.gate.fail_on, suite.floor, suite.name) == (("case", "check", "metric", "threshold"), True, "s")
    assert [[check.id for check in case.checks] for case in suite.cases] == [["contains_all", "groundedness", "contains_all-2"], ["groundedness", "contains_all"]]
    assert suite.cases[0].tags == ("t",)


def test_default_check__with_an_id_of_the_dialect__is_refused(room):
    """Two checks of a case under one id could not be told apart."""
    room.put("c.jsonl", lines({"id": "a", "question": "q", "must_contain": ["x"]}))
    assert [code for code, _, _ in room.codes(room.suite, "datasets: [c.jsonl]\ndefaults: {checks: [{id: contains_all, type: equals, value: z}]}\n")] == ["DUPLICATE_ID"]


def test_native_lines__recognised_by_their_fields__are_native_cases(room):
    """One native case a line, with placeholders, under the usual policy."""
    room.environment = {"T": "refunds"}
    case = {"id": "a", "input": "{{ env.T }} {{ vars.n }}", "vars": {"n": 2}, "checks": [{"type": "equals", "value": "x"}, {"type": "equals", "value": "y"}]}
    suite = room.alone("c.jsonl", lines(case))
    assert (suite.cases[0].input, [check.id for check in suite.cases[0].checks], suite.cases[0].record) == ("refunds 2", ["equals", "equals-2"], None)
    assert (suite.gate.fail_on, suite.floor) == (("case", "check", "metric", "threshold"), True)


GOLDEN = [
    {"id": "e", "category": "c", "input": "i", "expectedExact": "1240.00", "mustContain": [], "rubric": []},
    {"id": "m", "category": "c", "input": "i", "expectedExact": None, "mustContain": ["30 days", "box"], "rubric": None},
    {"id": "r", "category": "c", "input": "i", "rubric": ["Is short", "Is kind"]},
]


@pytest.mark.parametrize(("name", "dump"), [("g.json", lambda cases: json.dumps(cases, indent=1)), ("g.yaml", json.dumps), ("g.jsonl", lambda cases: lines(*cases))])
def test_golden_set__in_any_container__becomes_one_check_a_case(room, name, dump):
    """expectedExact, mustContain and rubric map to equals, contains_all and a rubric on five; the policy is the set's own."""
    suite = room.alone(name, dump(GOLDEN))
    assert [case.checks for case in suite.cases] == [
        (Equals(id="equals", value="1240.00"),),
        (ContainsAll(id="contains_all", value=("30 days", "box")),),
        (Rubric(id="rubric", criteria=["Is short", "Is kind"], scale=5),),
    ]
    assert (suite.cases[0].category, suite.cases[0].record) == ("c", GOLDEN[0])
    assert (suite.gate.fail_on, suite.gate.tolerance, suite.gate.tolerances, suite.floor) == (("metric", "threshold"), 0.02, {"pass_rate": 0.02}, False)


def test_golden_set__with_a_tolerance_flag__drops_its_own_for_pass_rate(room):
    """A flag over a dialect is taken as it is, for every metric."""
    suite = room.alone("g.json", json.dumps(GOLDEN), tolerance=0.005)
    assert (suite.gate.tolerance, suite.gate.tolerances, suite.floor) == (0.005, {}, False)


def test_golden_set__mixed_and_empty_cases__are_refused_together(room):
    """Exactly one expectation a case; a JSON list has the lines of its items."""
    cases = [GOLDEN[0], {**GOLDEN[0], "id": "mixed", "mustContain": ["x"]}, {"id": "empty", "input": "i", "expectedExact": " ", "mustContain": [], "rubric": []}]
    content = "[\n" + ",\n".join(map(json.dumps, cases)) + "\n]\n"
    assert room.codes(room.alone, "g.json", content) == [("MIXED_EXPECTATIONS", 3, ""), ("NOTHING_TO_CHECK", 4, "")]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("t.csv", "id,input,expected,contains,tier\na,what?,NO, x ;y,gold\n"),
        ("t.csv", b"\xef\xbb\xbfid,input,expected,contains,tier\r\na,what?,NO,x;y,gold\r\n"),
        ("t.tsv", "id\tinput\texpected\tcontains\ttier\na\twhat?\tNO\tx;y\tgold\n"),
        ("t.csv", "id|input|expected|contains|tier\na|what?|NO|x;y|gold"),
        ("t.psv", "id|input|expected|contains|tier\n\na|what?|NO|x;y|gold"),
    ],
)
def test_table__with_any_separator__becomes_cases(room, name, content):
    """The column expected → equals, contains → contains_all, other columns → variables; BOM and CRLF do no harm."""
    (case,) = room.alone(name, content).cases
    assert case.checks == (Equals(id="equals", value="NO"), ContainsAll(id="contains_all", value=("x", "y")))
    assert (case.id, case.input, case.vars) == ("a", "what?", {"tier": "gold"})


def test_table_cells__of_any_look__stay_text_exactly(room):
    """No number, no date, no trimming; doubled quotes are one, line breaks stay."""
    suite = room.alone("t.csv", 'id,input,expected,n\n012," {""a"": ""b""}\r\n",1e3, 1_0 \n')
    assert (suite.cases[0].id, suite.cases[0].input, suite.cases[0].checks[0].value, suite.cases[0].vars) == ("012", ' {"a": "b"}\r\n', "1e3", {"n": " 1_0 "})


def test_table_input__with_placeholders__is_filled_from_the_columns(room):
    """A column is a variable of its row; an unknown one is refused."""
    assert room.alone("t.csv", "id,input,expected,tier\na,for {{ tier }} and {{ vars.tier }},x,gold\n").cases[0].input == "for gold and gold"
    assert room.codes(room.alone, "t.csv", "id,input,expected,tier\na,for {{ vars.teir }},x,gold\n") == [("UNRESOLVED_VARIABLE", 2, "input")]


@pytest.mark.parametrize(
    ("content", "line", "column", "says"),
    [
        ('id,input,expected\nc1,{"a":"b"},x\n', 2, 5, "quote"),
        ('id,input,expected\nc1,"{"a":"b"}",x\n', 2, 7, "closing quote"),
        ('id,input,expected\nok,"two\nlines",x\nc1,"open,x\n', 4, 4, "never closed"),
        ("id,input,expected\nc1,x\n", 2, 1, "2 cells"),
        ("id,input,expected\nc1,x,y,z\n", 2, 1, "4 cells"),
        ("id,input,expected,id\n", 1, 1, "`id` twice"),
        ("id,input,,expected\n", 1, 1, "no name"),
        (b"id,input,expected\na,\xff,x\n", 2, 3, "UTF-8"),
    ],
)
def test_table__that_is_malformed__is_refused_with_row_column_and_remedy(room, content, line, column, says):
    """MALFORMED_CSV says where and how to quote."""
    (fault,) = room.faults(room.alone, "t.csv", content)
    assert (fault.code, fault.file, fault.line, fault.column) == ("MALFORMED_CSV", "t.csv", line, column)
    assert says in fault.what


def test_table_faults__in_several_rows__come_in_one_pass(room):
    """A malformed row hides nothing after it."""
    content = 'id,input,expected,contains\n,x,y,\nb,x,,\nc,"x"y,z,\nd,x,y,a;;b\n'
    assert room.codes(room.alone, "t.csv", content) == [("BLANK_FIELD", 2, "id"), ("NOTHING_TO_CHECK", 3, ""), ("MALFORMED_CSV", 4, ""), ("EMPTY_NEEDLE", 5, "contains")]


def test_table__without_its_columns__says_which(room):
    """The columns id and input are needed; the header is shown."""
    assert room.codes(room.alone, "t.csv", "name,text\na,b\n") == [("MISSING_FIELD", 1, ""), ("MISSING_FIELD", 1, "")]


@given(st.lists(st.lists(st.text(alphabet='a",|\t \n\r;é', max_size=6), min_size=2, max_size=2), max_size=5))
def test_table__written_with_every_cell_quoted__reads_back(cells):
    """Doubling quotes inside quoted cells is always right."""
    from pathlib import Path

    from evalaction.datasets.source import Source

    text = "id,input\n" + "".join(",".join('"' + cell.replace('"', '""') + '"' for cell in row) + "\n" for row in cells)
    assert [list(found[0].values()) for found in rows(Source(Path("t"), "t"), text.encode(), ",")] == cells


@pytest.mark.parametrize(("form", "code"), [("ragbench", None), ("native", "UNKNOWN_FIELD"), ("golden", "UNKNOWN_FIELD"), ("csv", "MALFORMED_CSV"), ("parquet", "INVALID_VALUE")])
def test_format__stated__stands_over_shape(room, form, code):
    """An unknown word is refused; a known one decides."""
    room.put("c.data", lines({"id": "a", "question": "q", "must_contain": ["x"]}))
    (room.root / "s.eval.yaml").write_text(HEAD + f"datasets: [{{path: c.data, format: {form}}}]\n")
    if code is None:
        assert room.one("s.eval.yaml").cases[0].input == "q"
    else:
        assert code in {fault.code for fault in room.faults(room.load, "s.eval.yaml")}


def test_dataset_alone__without_a_target__says_which_flags_name_one(room):
    """A dataset cannot say what to measure."""
    room.put("c.jsonl", lines({"id": "a", "question": "q", "must_contain": ["x"]}))
    (fault,) = room.faults(room.load, "c.jsonl")
    assert (fault.code, "--exec" in fault.fix) == ("MISSING_FIELD", True)


def test_dataset__full_of_faults__is_left_after_a_thousand(room):
    """A file of the wrong kind does not fill the log for ever."""
    faults = room.faults(room.alone, "c.jsonl", "nonsense\n" * 5000)
    assert len(faults) == 1001
