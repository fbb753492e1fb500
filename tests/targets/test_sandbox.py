"""Templates of a target cannot grow or run without bound."""

from __future__ import annotations

import json

import pytest

from tests.targets.asking import ask, build, failure, faults

GROWING = [
    "{{ 'a' * 999999999 }}",
    "{{ 999999999 * 'a' }}",
    "{{ [1] * 9999999999 }}",
    "{{ 9 ** (9 ** 9) }}",
    "{{ 'a'.center(999999999) }}",
    "{{ 'a'.ljust(width=999999999) }}",
    "{{ 'a'.zfill(999999999) }}",
    "{{ 'a' | center(999999999) }}",
    "{{ '%999999999d' % 1 }}",
    "{{ '%*d' % (999999999, 1) }}",
    "{{ '%.999999999f' % 1 }}",
    "{{ '%999999999d' | format(1) }}",
    "{{ '{:>999999999}'.format(1) }}",
    "{{ '{:>{}}'.format(1, 999999999) }}",
    "{{ ('a' * 99999) | replace('a', 'b' * 99999) }}",
    "{{ ('a' * 99999).replace('a', 'b' * 99999) }}",
    "{{ ('a' * 99999) | replace('', 'b' * 99999) }}",
    "{{ (['a' * 9999] * 999) | join }}",
    "{{ ('a' * 999999) | map('center', 999999) | list }}",
    "{{ ('a' * 999999) | map('center', 999999) | join }}",
    "{{ ''.join(('a' * 9999) | map('center', 9999)) }}",
    "{{ ('b' * 9999).join('a' * 9999) }}",
    "{{ ('a' * 9999).translate({97: 'b' * 9999}) }}",
    "{{ ('\\t' * 9999).expandtabs(9999) }}",
    "{{ [1] | batch(999999999, 'x') | list }}",
    "{{ [1] | slice(999999999) | list }}",
    "{{ (5).to_bytes(999999999, 'big') }}",
    "{{ ('a\\n' * 9999) | indent(9999) }}",
    "{{ [1] | tojson(indent=999999999) }}",
    "{{ ('a ' * 9999) | wordwrap(1, wrapstring='b' * 9999) }}",
    "{% set x = 'a' * 999 %}" + "{% set x = x ~ x %}" * 40 + "{{ x }}",
    "{% set x = 'a' * 999 %}" + "{% set x = x + x %}" * 40 + "{{ x }}",
    "{% for a in 'a' * 9999 %}{% for b in 'a' * 9999 %}{% endfor %}{% endfor %}",
    "{% for a in 'a' * 9999 %}{{ 'b' * 9999 }}{% endfor %}",
    "{% for a in case.input %}{{ case.input }}{% endfor %}",
]


@pytest.mark.parametrize("template", GROWING, ids=lambda text: text[:40])
@pytest.mark.parametrize("within", ["{}", "text {}"])
def test_template__that_grows_without_bound__is_an_error_at_once(echo, request_for, template, within):
    """Operators, filters, methods, formats and loops are asked for the size of their result before they make it."""
    error = failure(build(echo.url, json={"q": within.replace("{}", template)}), request_for(input="x" * 2000))

    assert (error.code, echo.seen) == ("TARGET_FAILED", [])
    assert "larger than 1 MiB" in error.message or "turns" in error.message


@pytest.mark.parametrize(
    "template",
    [
        "{% macro f() %}{{ f() }}{{ f() }}{% endmacro %}{{ f() }}",
        "{% set x %}a{% endset %}",
        "{% include 'x' %}",
        "{% for x in case.history recursive %}{{ loop([x]) }}{% endfor %}",
        "{% filter upper %}a{% endfilter %}",
    ],
)
def test_template__that_calls_itself_or_hides_text__is_refused_when_it_is_read(template):
    """What could not be bounded is no part of the language."""
    assert faults(body=template) == {("INVALID_VALUE", "http.body")}


def test_template__of_a_usual_kind__says_what_it_always_said(echo, request_for):
    """Arithmetic, joins, formats, loops and filters work on values of a usual size."""
    body = (
        "{{ case.input ~ '!' ~ 3 }}|{{ 'ab' * 2 }}|{{ case.vars.n * 2 + 1 }}|{{ 2 ** 10 }}|{{ '%s-%05d' % ('a', 3) }}|"
        "{{ '{} {:>5}'.format('a', 1) }}|{{ ['a', 'b'] | join(', ') }}|"
        "{% for tag in case.tags %}{{ loop.index }}/{{ loop.length }}{{ tag }}"
        "{% if not loop.last %},{% endif %}{% endfor %}|"
        "{{ case.tags | map('upper') | join('+') }}|{{ case.input | upper | replace('L', '1') }}|"
        "{{ case.vars.items }}|{{ case.vars.n | tojson }}|{{ 'a' | center(5) }}|{{ ','.join(case.tags) }}"
    )
    ask(build(echo.url, body=body), request_for(vars={"n": 3, "items": [1]}, tags=("x", "y")))

    assert echo.seen[0][2].decode() == "hello!3|abab|7|1024|a-00003|a     1|a, b|1/2x,2/2y|X+Y|HE11O|[1]|3|  a  |x,y"


def test_template__a_value_of_the_case_above_a_mebibyte__is_an_error(echo, request_for):
    """The bound holds for what a template passes on, too; just below it everything is sent."""
    target = build(echo.url, json={"q": "{{ case.input }}"})
    error = failure(target, request_for(input="x" * (1024 * 1024 + 1)))
    assert "larger than 1 MiB" in error.message

    ask(build(echo.url, json={"q": "{{ case.input }}"}), request_for(input="x" * 1_000_000))
    assert len(json.loads(echo.seen[0][2])["q"]) == 1_000_000
