"""A Saiku server on loopback: what it is asked, and what is read from its replies."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from evalaction.core.suite import Case, HttpTarget, Turn
from evalaction.errors import ConfigError, MeasureError
from evalaction.targets.base import Request
from evalaction.targets.build import build_reference, build_target
from tests.saiku import CUBE, LOGIN, Refused, Saiku, executed, queried

ENVIRONMENT = dict(zip(("SAIKU_USERNAME", "SAIKU_PASSWORD"), LOGIN, strict=True))
QUERY = {"cube": CUBE, "measures": [{"name": "{{ env.HOME }}"}], "limit": 4711}


@pytest.fixture
def start():
    """Starts stand-ins, and stops them."""
    started = []

    def make(ask, query=None, **options):
        started.append(Saiku(ask if callable(ask) else lambda _question, _body: ask, query if query is None or callable(query) else lambda _body: query, **options))
        return started[-1]

    yield make
    for one in started:
        one.stop()


def request(**fields):
    """A question about the cube."""
    import json

    return Request(Case(id="q", input="units {{ case.id }}?", checks=(), foreign=json.dumps({"cube": CUBE, "name": "q"}), **fields), 0)


def target(url, environment=ENVIRONMENT, **spec):
    """A Saiku target."""
    return build_target(HttpTarget(url=url, protocol="saiku", **spec), environment=environment, cwd=Path(), concurrency=2)


def asked(one, **fields):
    """The answer to one question; the target is closed."""

    async def both():
        try:
            return await one.ask(request(**fields))
        finally:
            await one.close()

    return asyncio.run(both())


def failed(one):
    """The error of one question."""
    with pytest.raises(MeasureError) as caught:
        asked(one)
    return caught.value


def test_question__with_history__goes_to_the_ask_endpoint_as_it_stands(start):
    """Question, cube and turns, with the login of the environment; no template is read into the question."""
    server = start(executed([{"Region": "North", "Net": 12.5}]))
    asked(target(server.url + "/"), history=(Turn(role="user", content="hi"), Turn(role="assistant", content="ho")))
    asked(target(server.url))
    assert server.asked == [
        {"question": "units {{ case.id }}?", "cube": CUBE, "history": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "ho"}]},
        {"question": "units {{ case.id }}?", "cube": CUBE},
    ]


@pytest.mark.parametrize("path", ["", "/rest", "/rest/saiku", "/rest/saiku/api", "/rest/saiku/api/ai/"])
def test_base__that_names_a_part_of_the_path__is_completed(start, path):
    """People copy addresses from documents that begin at different places."""
    assert asked(target(start(executed([])).url + path)).intent == "QUERY"


def test_query_reply__is_flattened(start):
    """Members stay, measures give their number, else their text; one that cannot be joined is not there."""
    masked, gone = {"value": None, "formatted": "—", "suppressed": True}, {"value": None, "formatted": "", "unavailable": True}
    answer = asked(target(start(executed([{"Region": "North", "Net": 12.5, "Few": masked, "None": gone}])).url))
    assert answer.rows == ({"Region": "North", "Net": 12.5, "Few": "—"},)
    assert (answer.intent, answer.output, answer.extra) == ("QUERY", "SELECT", {"model": "m"})


def test_request_without_a_response__is_sent_to_the_query_endpoint_verbatim(start):
    """The server may leave the running to whoever asked."""
    server = start({"degraded": False, "model": "m", "request": QUERY}, queried([{"Region": "North"}]))
    assert asked(target(server.url)).rows == ({"Region": "North"},)
    assert (server.queries, server.calls) == ([QUERY], ["ask", "query"])


@pytest.mark.parametrize(
    ("reply", "parts"),
    [
        ({"degraded": False, "model": "m", "insight": {"markdown": "Tea rose"}}, {"intent": "INSIGHT", "insight": "Tea rose", "model": "m"}),
        ({"degraded": False, "viewChange": {"viewMode": "chart"}}, {"intent": "VIEW_CHANGE", "viewChange": {"viewMode": "chart"}}),
        ({"degraded": True, "model": "m", "reason": "OFF_TOPIC:  not this cube "}, {"intent": "REFUSED", "refusal": "not this cube", "model": "m"}),
        ({"degraded": False, "response": queried([]) | {"source": "certified"}}, {"intent": "QUERY", "rows": ()}),
        ({"degraded": False, "response": {"status": "SUCCESS", "data": None}}, {"intent": "QUERY", "rows": ()}),
    ],
)
def test_intent__follows_from_the_reply(start, reply, parts):
    """The server sends no intent of its own."""
    assert asked(target(start(reply).url)).as_json() == parts


@pytest.mark.parametrize(
    "reply",
    [
        {"degraded": False, "model": "m", "request": {}, "response": queried([], "VALIDATION_ERROR", error="no measure Sails")},
        {"degraded": False, "model": "m", "request": {"measures": [{"name": "Sails"}]}},
    ],
)
def test_query__refused_as_wrong__is_an_answer_that_passes_nothing(start, reply):
    """The model asked for what the cube does not have: neither rows nor an intent, whether the server says so in the reply or when asked."""
    answer = asked(target(start(reply, Refused(400, queried([], "VALIDATION_ERROR", error="no measure Sails"))).url))
    assert (answer.intent, answer.rows, answer.output) == (None, None, "the query was refused: no measure Sails")


@pytest.mark.parametrize(
    ("reply", "says"),
    [
        ({"degraded": True, "reason": "the provider did not answer"}, "degraded: the provider did not answer"),
        ({"degraded": True, "reason": "off_topic: x"}, "degraded"),
        ({"degraded": True}, "no reason"),
        (Refused(503, {"degraded": True, "reason": "no provider"}), "HTTP 503"),
        (Refused(413, {"error": "too long"}), "HTTP 413"),
        (Refused(429, {}), "HTTP 429"),
        (executed([], status="TIMEOUT", error="60 s"), "TIMEOUT: 60 s"),
        ({"degraded": False, "emailDraft": {}}, "e-mail draft"),
        ({"degraded": False}, "neither rows"),
        ([1], "no JSON object"),
        (executed([]) | {"response": {"status": "SUCCESS", "data": [1]}}, "no list of records"),
        (executed([]) | {"response": {"status": "SUCCESS"}}, "no `data`"),
        (executed([]) | {"response": {"data": []}}, "no `status`"),
        (executed([]) | {"response": queried([]) | {"totalRows": 99_999}}, "cut"),
        (executed([]) | {"degraded": "false"}, "neither true nor false"),
    ],
)
def test_reply__without_an_answer__is_an_error(start, reply, says):
    """A provider that fails, a warehouse that is down and a reply that nothing follows from are neither right nor wrong."""
    error = failed(target(start(reply).url, retries=0))
    assert error.code in ("TARGET_FAILED", "INVALID_ANSWER")
    assert says in error.message


def test_login__that_is_wrong__is_an_error_without_the_password(start):
    """The server refuses; the message says its status and nothing of the secret."""
    error = failed(target(start(executed([])).url, {**ENVIRONMENT, "SAIKU_PASSWORD": "another-word"}))
    assert "HTTP 401" in error.message
    assert "another-word" not in error.message + error.detail


@pytest.mark.parametrize(
    ("url", "environment", "spec", "code"),
    [
        ("http://a", {"SAIKU_USERNAME": "admin"}, {}, "MISSING_SECRET"),
        ("http://a", {"SAIKU_PASSWORD": "x"}, {}, "MISSING_SECRET"),
        ("ftp://a", {}, {}, "INVALID_VALUE"),
        ("http://a?x=1", {}, {}, "INVALID_VALUE"),
        ("http://{{ case.id }}", {}, {}, "INVALID_VALUE"),
        ("{{ env.NOT_SET }}", {}, {}, "UNRESOLVED_VARIABLE"),
        ("http://a", {}, {"json": {"a": 1}}, "INVALID_VALUE"),
        ("http://a", {}, {"extract": {"output": "x"}}, "INVALID_VALUE"),
        ("http://a", {}, {"method": "PUT"}, "INVALID_VALUE"),
    ],
)
def test_target__that_cannot_be_right__is_refused_before_any_call(url, environment, spec, code):
    """Half a login, an address that is none, and keys that the protocol has no place for."""
    with pytest.raises(ConfigError) as caught:
        target(url, environment, **spec)
    assert [fault.code for fault in caught.value.faults] == [code]


def test_reference__is_asked_at_the_suites_server_as_it_stands(start):
    """The query is data: braces in it are no template."""
    server = start(executed([]), queried([{"Region": "North", "Net": 3}]))
    reference = build_reference({"saiku": QUERY}, HttpTarget(url=server.url, protocol="saiku"), environment=ENVIRONMENT, concurrency=1)
    assert asked(reference).rows == ({"Region": "North", "Net": 3},)
    assert server.queries == [QUERY]


def test_reference__beside_another_target__is_asked_where_the_environment_says(start):
    """Answers may come from a file while the rows come from a server."""
    server = start(executed([]), queried([]))
    assert asked(build_reference({"saiku": QUERY}, None, environment={**ENVIRONMENT, "SAIKU_URL": server.url}, concurrency=1)).rows == ()


@pytest.mark.parametrize(
    "reply", [queried([], "TIMEOUT", error="60 s"), Refused(400, queried([], "VALIDATION_ERROR", error="no such measure")), Refused(500, queried([], "EXECUTION_ERROR"))]
)
def test_reference__that_fails__is_an_error(start, reply):
    """Without the expected rows nothing can be judged, also when the author's query is the wrong one."""
    server = start(executed([]), reply)
    assert failed(build_reference({"saiku": QUERY}, HttpTarget(url=server.url, protocol="saiku"), environment=ENVIRONMENT, concurrency=1)).code == "TARGET_FAILED"
