"""What a cassette takes for the same question."""

import pytest

from evalaction.core.cassette import Tape
from evalaction.core.suite import Case, ExecTarget, HttpTarget, ModelTarget, PythonTarget, Turn
from evalaction.targets.asked import asked_of
from evalaction.targets.base import Request

CASE = Case(id="a", input="hello", checks=(), vars={"tier": "gold"})
ENVIRONMENT = {"MY_API_KEY": "secret-one-123", "MODE": "fast", "MY_APP_X": "1"}
HTTP = {"url": "http://host/ask?q={{ case.input }}", "headers": {"X-Mode": "{{ env.MODE }}", "Authorization": "Bearer {{ env.MY_API_KEY }}"}, "json": {"q": "{{ case.vars.tier }}"}}
MODEL = {"provider": "openai", "model": "m", "system": "Be brief.", "prompt": "Q: {{ case.input }}", "temperature": 0.1}
EXEC = {"command": "bot", "env": ("MODE", "MY_API_KEY", "MY_APP_*")}


def key(spec, environment=None, case=CASE, repeat=0):
    """The key of one question."""
    asked = asked_of(spec, environment or ENVIRONMENT)
    return Tape().key(case, asked.settings, *asked.of(Request(case, repeat)))


@pytest.mark.parametrize(("kind", "fields", "change"), [
    (HttpTarget, HTTP, {"url": "http://other/ask?q={{ case.input }}"}), (HttpTarget, HTTP, {"method": "PUT"}), (HttpTarget, HTTP, {"json": {"q": "x"}}),
    (HttpTarget, HTTP, {"extract": {"output": "x"}}), (HttpTarget, HTTP, {"headers": {}}), (HttpTarget, HTTP, {"json": None, "body": "{{ case.input }}"}),
    (ModelTarget, MODEL, {"temperature": 0.9}), (ModelTarget, MODEL, {"model": "n"}), (ModelTarget, MODEL, {"system": None}), (ModelTarget, MODEL, {"prompt": "{{ case.input }}"}),
    (ModelTarget, MODEL, {"max_output_tokens": 9}), (ModelTarget, MODEL, {"base_url": "http://host/v1"}), (ModelTarget, MODEL, {"provider": "anthropic"}),
    (ExecTarget, EXEC, {"command": "bot -x"}), (ExecTarget, EXEC, {"protocol": "text"}), (PythonTarget, {"callable": "a:b"}, {"callable": "a:c"}),
])  # fmt: skip
def test_question__is_another_with_another_setting(kind, fields, change):
    """Whatever may change an answer changes the key."""
    assert key(kind(**fields)) != key(kind(**{**fields, **change}))


@pytest.mark.parametrize(("kind", "fields"), [(HttpTarget, HTTP), (ModelTarget, MODEL), (ExecTarget, EXEC)])
def test_question__is_the_same_with_another_secret_or_patience(kind, fields):
    """Keys of the environment count by their names, and how patiently is asked not at all."""
    assert key(kind(**fields)) == key(kind(**fields, timeout_seconds=7), {**ENVIRONMENT, "MY_API_KEY": "x", "MY_APP_X": "2"})


@pytest.mark.parametrize(("kind", "fields"), [(HttpTarget, HTTP), (ExecTarget, EXEC)])
def test_question__is_another_with_another_variable(kind, fields):
    """A variable that is no secret is a part of the question, where the author names it."""
    assert key(kind(**fields)) != key(kind(**fields), {**ENVIRONMENT, "MODE": "slow"})


def test_question__is_another_at_the_address_of_the_vendors_variable():
    """Without a base_url the vendor's own variable says who is asked."""
    assert key(ModelTarget(**MODEL)) != key(ModelTarget(**MODEL), {"OPENAI_BASE_URL": "http://gateway"})


def test_question__names_input_and_history():
    """A case that says something else is another question to every kind of target."""
    turned = Case(id="a", input="hello", checks=(), vars={"tier": "gold"}, history=(Turn(role="user", content="hi"),))
    for spec in (HttpTarget(**HTTP), ModelTarget(**MODEL), ExecTarget(**EXEC), PythonTarget(callable="a:b")):
        assert key(spec) != key(spec, case=turned)


def test_request__holds_no_secret():
    """What a key is made of names the variable and not its value."""
    asked = asked_of(HttpTarget(**HTTP), ENVIRONMENT)
    endpoint, request = asked.of(Request(CASE, 0))
    assert endpoint == "http://host"
    assert request == {
        "url": "http://host/ask?q=hello", "headers": {"x-mode": "fast", "authorization": "Bearer ${MY_API_KEY}"}, "body": {"q": "gold"},
    }  # fmt: skip
