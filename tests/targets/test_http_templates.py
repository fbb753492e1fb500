"""Templates of http targets: types, spelling, encoding, and what is refused."""

import json

from evalaction.core.scalars import SpelledFloat
from tests.targets.asking import ask, build, failure, faults


def test_templates__a_whole_expression_keeps_its_type(echo, request_for):
    """Numbers, lists, maps and booleans arrive as such; keys are no templates."""
    sent = {"q": "{{ case.input }}", "n": "{{ case.vars.n }}", "h": "{{ case.tags }}", "b": "{{- case.vars.b -}}", "r": "{{ repeat }}", "minus": "{{ -1 }}"}
    sent["deep"] = [{"{{ case.id }}": "{{ case.vars }}"}]
    ask(build(echo.url, json=sent), request_for(vars={"n": 3, "b": True}, tags=("s",), repeat=2))
    assert json.loads(echo.seen[0][2]) == {"q": "hello", "n": 3, "h": ["s"], "b": True, "deep": [{"{{ case.id }}": {"n": 3, "b": True}}], "r": 2, "minus": -1}


def test_templates__inside_text_values_are_written_as_spelled(echo, request_for):
    """Inside a sentence a number reads as its author spelled it, and true is not True."""
    variables = {"n": SpelledFloat(1.5, "1.50"), "b": True, "none": None, "list": [1, "ü"], "items": "mine"}
    ask(build(echo.url, body="{{ case.vars.n }} {{ case.vars.b }} {{ case.vars.none }} {{ case.vars.list }} {{ case.vars.items }}\n"), request_for(vars=variables))
    assert echo.seen[0][2].decode() == '1.50 true null [1, "ü"] mine\n'


def test_templates__a_value_is_never_rendered_again(echo, request_for):
    """An input that looks like a template is sent as it stands, and cannot read the environment."""
    ask(build(echo.url, {"SECRET": "hidden"}, json={"q": "{{ case.input }}", "s": "say {{ case.input }}"}), request_for(input="{{ env.SECRET }}{% for x in y %}"))
    assert json.loads(echo.seen[0][2]) == {"q": "{{ env.SECRET }}{% for x in y %}", "s": "say {{ env.SECRET }}{% for x in y %}"}


def test_templates__url_values_are_percent_encoded(echo, request_for):
    """A case's text stays one segment or one parameter; the environment's base URL stays a URL; the author's own blanks are encoded."""
    target = build("{{ env.BASE }}/v 1/{{ case.id }}?q={{ case.input }}&t=a%20b", {"BASE": echo.url})
    ask(target, request_for("a/../b", input="x&y=ü z#"), request_for("..", input=""))
    assert [path for path, _, _ in echo.seen] == ["/v%201/a%2F..%2Fb?q=x%26y%3D%C3%BC%20z%23&t=a%20b", "/v%201/%2E%2E?q=&t=a%20b"]


def test_templates__a_line_break_cannot_enter_a_header(echo, request_for):
    """A case's text with CR or LF in a header is TARGET_FAILED, and nothing is sent."""
    error = failure(build(echo.url, headers={"X-Id": "{{ case.input }}"}), request_for(input="a\r\nX-Evil: 1"))
    assert (error.code, echo.seen) == ("TARGET_FAILED", [])


def test_templates__what_the_sandbox_forbids_fails_the_trial(echo, request_for):
    """Reaching for Python's insides is refused."""
    assert failure(build(echo.url, body="{{ case.input.__class__.__mro__ }}"), request_for()).code == "TARGET_FAILED"


def test_templates__a_missing_variable_of_a_case_fails_that_trial(echo, request_for):
    """A variable that only some cases have is an error of the others, never an empty text."""
    target = build(echo.url, json={"q": "{{ case.vars.tier }}"})
    error = failure(target, request_for())
    assert (error.code, "tier" in error.message) == ("TARGET_FAILED", True)


def test_build__every_fault_is_found_at_once():
    """Unknown variables, unset and withheld environment variables, syntax, header names and JMESPath are told together."""
    found = faults(
        url="ftp://host/{{ cas.id }}",
        environment={"EMPTY": "", "GITHUB_TOKEN": "t"},
        headers={"A": "{{ env.UNSET }}", "B": "{{ env['EMPTY'] }}", "C": "{{ env.GITHUB_TOKEN }}", "bad name": "x", "D": "{{ env.FINE | default('d') }}"},
        json={"q": "{{ case.inptu }}", "s": ["{{ case.input"]},
        body="x",
        extract={"output": "a[", "intent": "b"},
    )
    assert found == {
        ("INVALID_VALUE", "http.url"), ("UNRESOLVED_VARIABLE", "http.url"), ("UNRESOLVED_VARIABLE", "http.headers.A"), ("UNRESOLVED_VARIABLE", "http.headers.B"),
        ("UNRESOLVED_VARIABLE", "http.headers.C"), ("INVALID_VALUE", "http.headers.bad name"), ("UNRESOLVED_VARIABLE", "http.json.q"), ("INVALID_VALUE", "http.json.s[0]"),
        ("INVALID_VALUE", "http.body"), ("INVALID_VALUE", "http.extract.output"),
    }  # fmt: skip
