"""The native suite file: everything that is wrong is said at once, with its place."""

from __future__ import annotations

import json

import pytest

from evalaction.core.suite import ExecTarget, HttpTarget, PredictionsTarget
from tests.datasets.conftest import HEAD

OK = "    checks: [{type: equals, value: x}]\n"
CASE = "cases:\n  - id: a\n    input: x\n" + OK


def test_misplaced_checks__beside_and_inside_cases__are_refused_with_the_nearest_name(room):
    """`asserts:` and `check:` are unknown, and the cases check nothing."""
    body = "asserts: [{type: equals, value: x}]\ncases:\n  - {id: a, input: x, check: [{type: equals, value: x}]}\n  - {id: b, input: y}\n"
    faults = room.faults(room.suite, body)
    assert [(fault.code, fault.line) for fault in faults] == [("UNKNOWN_FIELD", 4), ("NOTHING_TO_CHECK", 6), ("UNKNOWN_FIELD", 6), ("NOTHING_TO_CHECK", 7)]
    assert "did you mean `checks`?" in faults[2].fix


def test_check_type__misspelt_in_the_last_of_many_cases__is_named_with_the_nearest(room):
    """UNKNOWN_CHECK has the case, the index and the type that was meant."""
    cases = "".join(f"  - id: c{i}\n    input: x\n" + OK for i in range(50)) + "  - {id: last, input: x, checks: [{type: contians_all, value: [x]}]}\n"
    (fault,) = room.faults(room.suite, "cases:\n" + cases)
    assert (fault.code, fault.path, "last" in fault.what, "`contains_all`" in fault.fix) == ("UNKNOWN_CHECK", "cases[50].checks[0].type", True, True)


@pytest.mark.parametrize(
    ("check", "code", "path"),
    [
        ("{value: x}", "MISSING_FIELD", ""),
        ("{type: equals}", "MISSING_FIELD", ".value"),
        ("{type: equals, valu: x, value: y}", "UNKNOWN_FIELD", ".valu"),
        ("equals", "TYPE_MISMATCH", ""),
        ("{type: equals, value: }", "TYPE_MISMATCH", ".value"),
        ("{type: equals, value: ' '}", "BLANK_FIELD", ".value"),
        ("{type: contains_all, value: ''}", "EMPTY_NEEDLE", ".value"),
        ("{type: contains_all, value: [x, ' ']}", "EMPTY_NEEDLE", ".value"),
        ("{type: not_contains, value: []}", "EMPTY_NEEDLE", ".value"),
        ("{type: contains_any, value: [x, ~]}", "TYPE_MISMATCH", ".value[1]"),
        ("{type: regex, pattern: '('}", "INVALID_PATTERN", ".pattern"),
        ("{type: regex, pattern: a, flags: q}", "INVALID_VALUE", ".flags"),
        ("{type: number, value: '3'}", "TYPE_MISMATCH", ".value"),
        ("{type: number, value: 3, tolerance: {absolute: -1}}", "INVALID_TOLERANCE", ".tolerance.absolute"),
        ("{type: number, value: 3, pick: middle}", "INVALID_VALUE", ".pick"),
        ("{type: json, schema: yes}", "TYPE_MISMATCH", ".schema"),
        ("{type: json, schema: {type: nope}}", "INVALID_VALUE", ".schema"),
        ("{type: json_subset, value: x}", "TYPE_MISMATCH", ".value"),
        ("{type: rows}", "INVALID_VALUE", ""),
        ("{type: rows, value: [], reference: {}}", "INVALID_VALUE", ""),
        ("{type: retrieval, relevant: []}", "NOTHING_TO_CHECK", ".relevant"),
        ("{type: rubric, criteria: []}", "INVALID_VALUE", ".criteria"),
        ("{type: rubric, criteria: {a: ''}}", "BLANK_FIELD", ".criteria.a"),
        ("{type: max_tokens, value: 0}", "INVALID_VALUE", ".value"),
        ("{type: equals, value: x, threshold: 2}", "INVALID_VALUE", ".threshold"),
        ("{type: tool_calls, value: [{args: {}}]}", "MISSING_FIELD", ".value[0].name"),
        ("{type: ragbench_retrieval, relevant: [d]}", "UNKNOWN_CHECK", ".type"),
        ("{type: equals, value: x, ignore_case: yes}", "TYPE_MISMATCH", ".ignore_case"),
        ("{type: python, callable: os.system}", "INVALID_VALUE", ".callable"),
        ("{type: python, callable: 'm:f', id: pass_rate}", "INVALID_VALUE", ".id"),
    ],
)
def test_check__that_makes_no_sense__is_one_fault_at_its_index(room, check, code, path):
    """Each mistake is said once, with a code, and a path that ends where the mistake is."""
    codes = room.codes(room.suite, f"cases:\n  - id: a\n    input: x\n    checks:\n      - {{type: equals, value: fine}}\n      - {check}\n")
    assert codes == [(code, 9, "cases[0].checks[1]" + path)]


def test_faults_of_all_kinds__in_two_files__come_together_sorted(room):
    """Nothing is hidden behind the first fault: models, rules, datasets, placeholders and both files."""
    room.put("one.eval.yaml", HEAD + "gate: {rule: magic, thresholds: {recal@10: 1, pass_rate: 90}}\ndatasets: [gone.jsonl, bad.csv]\ncases: [{id: a, input: '{{ env.NOPE }}'}]\n")
    room.put("bad.csv", "id,input,expected\nc,d\n")
    room.put("two.eval.yaml", "version: 2\nname: t\ntarget: {exec: x}\n" + CASE)
    faults = room.faults(room.load, "one.eval.yaml", "two.eval.yaml")
    assert [(fault.code, fault.file, fault.line) for fault in faults] == [
        ("MALFORMED_CSV", "bad.csv", 2),
        ("INVALID_VALUE", "one.eval.yaml", 4),
        ("UNKNOWN_METRIC", "one.eval.yaml", 4),
        ("INVALID_VALUE", "one.eval.yaml", 4),
        ("FILE_NOT_FOUND", "one.eval.yaml", 5),
        ("NOTHING_TO_CHECK", "one.eval.yaml", 6),
        ("UNRESOLVED_VARIABLE", "one.eval.yaml", 6),
        ("INVALID_VALUE", "two.eval.yaml", 1),
    ]
    assert all(fault.fix and fault.column for fault in faults)


@pytest.mark.parametrize("other", ["a", "' a '", '"a"', "a "])
def test_id_taken_twice__also_but_for_blanks__names_both_places(room, other):
    """DUPLICATE_ID at the second, naming the first."""
    (fault,) = room.faults(room.suite, CASE + f"  - id: {other}\n    input: y\n" + OK)
    assert (fault.code, fault.line, fault.path, "s.eval.yaml:5" in fault.what) == ("DUPLICATE_ID", 8, "cases[1].id", True)


def test_id_taken_twice__in_another_unicode_form__is_a_duplicate(room):
    """é in one or two code points is one id; upper and lower case are two."""
    body = "cases:\n" + "".join(f'  - id: "{name}"\n    input: x\n{OK}' for name in ("caf\\u00e9", "cafe\\u0301", "CAF\\u00e9"))
    assert room.codes(room.suite, body) == [("DUPLICATE_ID", 8, "cases[1].id")]


def test_id_taken_twice__in_a_dataset__names_the_suite_file(room):
    """Cases of all files of a suite share one name space."""
    room.put("d.csv", "id,input,expected\nb,x,y\na,x,y\n")
    (fault,) = room.faults(room.suite, CASE + "datasets: [d.csv]\n")
    assert (fault.code, fault.file, fault.line, "s.eval.yaml:5" in fault.what) == ("DUPLICATE_ID", "d.csv", 3, True)


def test_check_ids__without_a_name__are_the_type_made_unique(room):
    """The second and third of a type get -2 and -3; ids that are given are left out of the way, default checks join in."""
    checks = "[{type: equals, value: a}, {type: equals, value: b}, {id: equals-2, type: equals, value: c}, {type: json, schema: {}}]"
    suite = room.suite(
        f"defaults: {{checks: [{{type: equals, value: d}}], tags: [all]}}\ncases:\n  - {{id: a, input: x, tags: [one], checks: {checks}}}\n  - {{id: b, input: x}}\n"
    )
    assert [[check.id for check in case.checks] for case in suite.cases] == [["equals", "equals-3", "equals-2", "json", "equals-4"], ["equals"]]
    assert [case.tags for case in suite.cases] == [("one", "all"), ("all",)]
    assert suite.cases[0].checks[3].schema_ == {}


@pytest.mark.parametrize(
    "checks", ["[{id: z, type: equals, value: a}, {id: z, type: equals, value: b}]", "[{id: t, type: rubric, criteria: {p: x}}, {id: t.p, type: equals, value: b}]"]
)
def test_check_ids__given_twice__are_refused(room, checks):
    """Two checks of one id, or a check and a criterion, could not be told apart."""
    assert room.codes(room.suite, f"cases: [{{id: a, input: x, checks: {checks}}}]\n") == [("DUPLICATE_ID", 4, "cases[0].checks[1].id")]


@pytest.mark.parametrize("body", ["cases: []\n", "description: none\n"])
def test_suite__without_a_case__is_refused(room, body):
    """Zero cases never pass."""
    assert [code for code, _, _ in room.codes(room.suite, body)] == ["NO_CASES"]


def test_dataset__without_a_case__is_refused_by_name(room):
    """A dataset of comments alone is a mistake, also beside other cases."""
    room.put("d.jsonl", "// nothing here\n")
    assert [(fault.code, fault.file) for fault in room.faults(room.suite, CASE + "datasets: [d.jsonl]\n")] == [("NO_CASES", "d.jsonl")]


def test_text__of_every_kind__keeps_its_characters(room):
    """Ids, inputs and expected values are what was written."""
    words = ["NO", "012", "5319E7", "12:30", "2026-08-17", "1_000", "true", "1.50"]
    suite = room.suite("cases:\n" + "".join(f"  - {{id: {word}, input: {word}, checks: [{{type: equals, value: {word}}}]}}\n" for word in words))
    assert [(case.id, case.input, case.checks[0].value) for case in suite.cases] == [(word, word, word) for word in words]


@pytest.mark.parametrize("word", ["null", "~", ""])
@pytest.mark.parametrize("field", ["id", "input"])
def test_null__where_text_is_expected__is_refused_with_the_hint_to_quote(room, word, field):
    """null, ~ and nothing are not text; quoted they are."""
    fields = {"id": "a", "input": "x", field: word}
    (fault,) = room.faults(room.suite, f"cases:\n  - id: {fields['id']}\n    input: {fields['input']}\n" + OK)
    assert (fault.code, fault.path, "quote" in fault.fix) == ("TYPE_MISMATCH", f"cases[0].{field}", True)


def test_variables__in_input_and_history__are_written_as_spelled(room):
    """`vars.x`, `case.vars.x` and a bare name are filled in as the author spelled the value; other words stay."""
    body = "cases:\n  - id: a\n    input: '{{blocked}} {{ vars.n }} {{ case.vars.deep.er }} {{ word }} {{ 5 }}'\n    vars: {blocked: true, n: 1.50, deep: {er: NO}}\n"
    case = room.suite(body + "    history: [{role: user, content: 'n={{ vars.n }}'}]\n" + OK).cases[0]
    assert (case.input, case.history[0].content) == ("true 1.50 NO {{ word }} {{ 5 }}", "n=1.50")
    assert json.dumps(case.vars) == '{"blocked": true, "n": 1.5, "deep": {"er": "NO"}}'


@pytest.mark.parametrize("text", ["{{ vars.nope }}", "{{ case.vars.nope }}", "{{ vars.n | upper }}", "{{ env.TOPIC }}", "{{env.EMPTY}}", "{{ env.SET | upper }}"])
def test_placeholder__that_cannot_be_filled__is_refused_by_name(room, text):
    """The braces never reach the target."""
    room.environment = {"EMPTY": "", "SET": "x"}
    (fault,) = room.faults(room.suite, f"cases:\n  - id: a\n    input: 'about {text}'\n    vars: {{n: 1}}\n" + OK)
    assert (fault.code, fault.line) == ("UNRESOLVED_VARIABLE", 6)
    assert any(name in fault.what for name in ("nope", "vars.n", "TOPIC", "EMPTY", "SET"))


def test_environment__set__is_filled_into_texts_and_left_to_the_target(room):
    """A case's text gets the value; the target's template renders for itself, and is checked for unset names in any expression."""
    room.environment = {"TOPIC": "refunds", "BASE": "http://h"}
    head = "version: 1\nname: s\ntarget: {http: {url: '{{ env.BASE }}/x', headers: {A: '{{ env.KEY | upper }}'}}}\n"
    body = head + "cases: [{id: a, input: 'about {{env.TOPIC}}', checks: [{type: equals, value: '{{ env.TOPIC }}'}]}]\n"
    room.put("s.eval.yaml", body)
    (fault,) = room.faults(room.load, "s.eval.yaml")
    assert (fault.code, fault.line, fault.path, "KEY" in fault.what) == ("UNRESOLVED_VARIABLE", 3, "target.http.headers.A", True)
    room.environment["KEY"] = "k"
    suite = room.one("s.eval.yaml")
    assert (suite.target.url, suite.cases[0].input, suite.cases[0].checks[0].value) == ("{{ env.BASE }}/x", "about refunds", "refunds")


@pytest.mark.parametrize(
    ("target", "code", "path"),
    [
        ("{exec: x, predictions: p}", "INVALID_VALUE", "target"),
        ("{exce: x}", "UNKNOWN_FIELD", "target.exce"),
        ("{exec: []}", "INVALID_VALUE", "target.exec"),
        ("{exec: [a, '']}", "BLANK_FIELD", "target.exec[1]"),
        ("{exec: {command: {a: 1}}}", "TYPE_MISMATCH", "target.exec.command"),
        ("{}", "INVALID_VALUE", "target"),
        ("~", "MISSING_FIELD", "target"),
        ("5", "TYPE_MISMATCH", "target"),
        ("{predictions: gone.jsonl}", "FILE_NOT_FOUND", "target.predictions"),
        ("{predictions: ../out.jsonl}", "OUTSIDE_WORKSPACE", "target.predictions"),
        ("{http: {url: u, retries: 1.5}}", "TYPE_MISMATCH", "target.http.retries"),
    ],
)
def test_target__that_is_not_exactly_one_sound_kind__is_one_fault(room, target, code, path):
    """No target, two, a misspelt one, an empty command, a file that is not there."""
    room.put("s.eval.yaml", f"version: 1\nname: s\ntarget: {target}\n" + CASE)
    assert room.codes(room.load, "s.eval.yaml") == [(code, 3, path)]


def test_target__from_a_flag__stands_over_the_file_and_its_variables(room):
    """With --exec the file's own target is neither needed nor are its variables."""
    room.put("s.eval.yaml", "version: 1\nname: s\ntarget: {http: {url: '{{ env.URL }}'}}\n" + CASE)
    assert room.one("s.eval.yaml", target=ExecTarget(command="y")).target == ExecTarget(command="y")
    room.put("s.eval.yaml", "version: 1\nname: s\n" + CASE)
    assert room.one("s.eval.yaml", target=HttpTarget(url="u")).target == HttpTarget(url="u")


def test_predictions__of_suite_and_flag__become_absolute_from_where_they_stand(room):
    """In a suite relative to its folder, on the command line to the working directory."""
    room.put("evals/out.jsonl", "")
    room.put("evals/s.eval.yaml", "version: 1\nname: s\ntarget: {predictions: out.jsonl}\n" + CASE)
    expected = PredictionsTarget(path=str(room.root / "evals/out.jsonl"))
    assert room.one("evals/s.eval.yaml").target == expected
    assert room.one("evals/s.eval.yaml", target=PredictionsTarget(path="evals/out.jsonl")).target == expected
    assert room.codes(room.one, "evals/s.eval.yaml", target=PredictionsTarget(path="out.jsonl")) == [("FILE_NOT_FOUND", None, "--predictions")]


def test_dataset__behind_a_link_out_of_the_workspace__is_refused(room, tmp_path_factory):
    """Links are resolved before a path is believed."""
    outside = tmp_path_factory.mktemp("outside") / "d.csv"
    outside.write_text("id,input,expected\na,b,c\n")
    (room.root / "d.csv").symlink_to(outside)
    assert room.codes(room.suite, CASE + "datasets: [d.csv]\n") == [("OUTSIDE_WORKSPACE", 8, "datasets[0]")]


@pytest.mark.parametrize(
    ("gate", "code", "path"),
    [
        ("{tolerance: -0.1}", "INVALID_TOLERANCE", "gate.tolerance"),
        ("{tolerence: 0.1}", "UNKNOWN_FIELD", "gate.tolerence"),
        ("{removed_cases: maybe}", "INVALID_VALUE", "gate.removed_cases"),
        ("{fail_on: [everything]}", "INVALID_VALUE", "gate.fail_on[0]"),
        ("{thresholds: {accuracy: 0.8}}", "UNKNOWN_METRIC", "gate.thresholds.accuracy"),
        ("{tolerances: {recal@10: 0.8}}", "UNKNOWN_METRIC", "gate.tolerances.recal@10"),
        ("{thresholds: {recall@10: 80}}", "INVALID_VALUE", "gate.thresholds.recall@10"),
        ("{thresholds: {recall@10: '0.8'}}", "TYPE_MISMATCH", "gate.thresholds.recall@10"),
        ("[]", "TYPE_MISMATCH", "gate"),
    ],
)
def test_policy__that_makes_no_sense__is_one_fault(room, gate, code, path):
    """Ranges, names and keys of the policy are checked."""
    assert room.codes(room.suite, f"gate: {gate}\n" + CASE) == [(code, 4, path)]


def test_metric__of_an_own_python_check__may_have_a_threshold(room):
    """The id of a python check is a metric; raw metrics have no upper end."""
    case = "cases: [{id: a, input: x, checks: [{id: tone, type: python, callable: 'm:f'}]}]\n"
    assert room.suite("gate: {thresholds: {tone: 0.5, latency_ms: 900}}\n" + case).gate.thresholds == {"tone": 0.5, "latency_ms": 900}


@pytest.mark.parametrize(
    ("text", "path", "fix"),
    [
        ("target: {exec: run, protocol: text}\n" + CASE, "target.protocol", "exec: { command: …, protocol: … }"),
        ("cases: [{id: a, input: x, expected: foo, checks: [{type: equals, value: x}]}]\n", "cases[0].expected", "{ type: equals, value: … }"),
    ],
)
def test_field__in_the_wrong_place__is_told_the_right_one(room, text, path, fix):
    """What plainly belongs into `exec`, or is plainly an expectation, is answered with the lines to write, not with a list of names."""
    room.put("s.eval.yaml", "version: 1\nname: s\n" + ("" if "target" in text else "target: {exec: run}\n") + text)
    (fault,) = [fault for fault in room.faults(room.load, "s.eval.yaml") if fault.code == "UNKNOWN_FIELD"]

    assert (fault.path, fix in fault.fix) == (path, True)


def test_hostile_names__in_messages__stay_on_one_short_line(room):
    """Control characters and long names of an author's cannot break a line of the log."""
    (fault,) = room.faults(room.suite, 'cases:\n  - {id: "a\\n::error::x\\u202e", input: x, checks: [{type: equals, value: x}], "' + "k" * 500 + '": 1}\n')
    assert "\n" not in str(fault)
    assert len(str(fault)) < 1200
    assert "\u202e" not in str(fault)


@pytest.mark.parametrize(
    ("target", "path", "fix"),
    [
        ("{exec: 'curl {{ env.BASE }}'}", "target.exec", "env: [X]"),
        ("{exec: {command: [run, '{{ env.BASE }}']}}", "target.exec.command[1]", "env: [X]"),
        ("{exec: {command: run, env: ['{{ env.BASE }}']}}", "target.exec.env[0]", "env: [X]"),
        ("{python: 'mod:{{ env.BASE | upper }}'}", "target.python", "without a variable"),
        ("{predictions: '{{ env.BASE }}/a.jsonl'}", "target.predictions", "without a variable"),
        ("{predictions: {path: '{{ env.GONE }}.jsonl'}}", "target.predictions.path", "without a variable"),
    ],
)
def test_target__an_environment_variable_where_nothing_is_filled_in__is_refused(room, target, path, fix):
    """Commands, functions and paths are no templates: a placeholder there would be taken literally."""
    room.put("s.eval.yaml", f"version: 1\nname: s\ntarget: {target}\n" + CASE)
    found = [fault for fault in room.faults(room.load, "s.eval.yaml") if fault.code == "INVALID_VALUE" and "env.X" in fault.what]

    assert [(fault.path, fault.line) for fault in found] == [(path, 3)]
    assert fix in found[0].fix
