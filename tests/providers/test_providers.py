"""Both SDKs against a scripted server: what goes out, what comes back, and every way in which a call can fail."""

import asyncio
import contextlib
import gzip
import json
import socket
import ssl
import threading
import tracemalloc
from pathlib import Path

import pytest

from evalaction.errors import ConfigError, TargetError
from evalaction.providers.base import Endpoint, Message, Prompt
from evalaction.providers.build import open_provider
from evalaction.providers.wire import tls_for
from tests.vendors import KEY, Body, Cut, Object, Parts, Status, environment, provider_of, schema_in, told

ASKED = Prompt(messages=(Message("user", "hello"),), system="be brief", max_tokens=50, temperature=0.5)
SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"], "additionalProperties": False}


def complete(provider, *prompts):
    """The completions, all asked for in one loop."""

    async def go():
        try:
            return [await provider.complete(prompt) for prompt in prompts or (ASKED,)]
        finally:
            await provider.close()

    found = asyncio.run(go())
    return found[0] if len(found) == 1 else found


def failure(provider, prompt=ASKED):
    """The error of one call."""
    with pytest.raises(TargetError) as caught:
        complete(provider, prompt)
    return caught.value


def test_request__carries_model_system_turns_limit_and_temperature(start, vendor):
    """What a prompt says reaches the vendor under the vendor's own names, with the key of the environment."""
    server = start("hi")
    turns = (Message("user", "one"), Message("assistant", "two"), Message("user", "three"))
    complete(provider_of(server, vendor), Prompt(messages=turns, system="be brief", max_tokens=50, temperature=0.5))
    body, headers = server.seen[0], server.headers[0]
    said = [turn for turn in body["messages"] if turn["role"] != "system"]
    assert (body["model"], body["temperature"], body["max_tokens"]) == ("gpt-4o", 0.5, 50)
    assert said == [{"role": turn.role, "content": turn.content} for turn in turns]
    assert "be brief" in told(body)
    assert KEY in headers.get("x-api-key", "") + headers.get("authorization", "")
    assert server.paths == ["/v1/messages" if vendor == "anthropic" else "/v1/chat/completions"]


def test_request__leaves_out_what_the_prompt_does_not_say(start, vendor):
    """Without system text, temperature and schema nothing of the kind is sent: the vendor's defaults stand."""
    server = start("hi")
    complete(provider_of(server, vendor), Prompt(messages=(Message("user", "x"),)))
    assert not {"system", "temperature", "tools", "tool_choice", "response_format", "stream"} & set(server.seen[0])
    assert [turn["role"] for turn in server.seen[0]["messages"]] == ["user"]


def test_request__lone_surrogates_become_a_replacement_sign(start, vendor):
    """A broken character of a dataset does not break the call."""
    server = start("hi")
    complete(provider_of(server, vendor), Prompt(messages=(Message("user", "a\ud800b"),), system="\udfff"))
    assert "a\ufffdb" in told(server.seen[0])


def test_reply__text_tokens_and_cost(start, vendor):
    """Text and tokens are those of the reply; cost is tokens times the price: 1000 in at 2.5 and 500 out at 10 dollars a million."""
    found = complete(provider_of(start("hi"), vendor))
    assert (found.text, found.tokens, found.value, found.is_whole) == ("hi", (1000, 500), None, True)
    assert found.cost_usd == pytest.approx(0.0075)


def test_reply__of_a_model_without_a_price_has_tokens_only(start, vendor):
    """An unknown model gives tokens, and no invented cost."""
    provider = provider_of(start("hi"), vendor, model="home-made")
    assert (provider.has_price, complete(provider).cost_usd) == (False, None)


def test_reply__structured_output_is_asked_for_in_the_vendors_own_way(start, vendor):
    """A schema becomes a forced tool call, or a strict JSON Schema; the object comes back."""
    server = start(Object({"a": 1}))
    found = complete(provider_of(server, vendor), Prompt(messages=ASKED.messages, schema=SCHEMA))
    assert schema_in(server.seen[0]) == SCHEMA
    if vendor == "anthropic":
        assert (server.seen[0]["tool_choice"]["name"], found.value) == ("submit", {"a": 1})
    else:
        assert (server.seen[0]["response_format"]["json_schema"]["strict"], json.loads(found.text)) == (True, {"a": 1})


def test_reply__tool_calls_are_names_with_arguments(start, vendor):
    """Tools that the model called come as `{name, args}`; arguments in a text are read."""
    parts = Parts(
        [{"type": "text", "text": "let me see"}, {"type": "tool_use", "id": "1", "name": "find", "input": {"q": "x"}}],
        {"content": "let me see", "tool_calls": [{"id": "1", "type": "function", "function": {"name": "find", "arguments": '{"q": "x"}'}}]},
    )
    found = complete(provider_of(start(parts), vendor))
    assert (found.tool_calls, found.text) == (({"name": "find", "args": {"q": "x"}},), "let me see")


def test_reply__arguments_that_are_no_json_stay_text(start):
    """Malformed arguments are kept as they came, for a check to find them wrong."""
    parts = Parts([], {"tool_calls": [{"id": "1", "type": "function", "function": {"name": "find", "arguments": "{broken"}}]})
    assert complete(provider_of(start(parts), "openai")).tool_calls == ({"name": "find", "args": "{broken"},)


@pytest.mark.parametrize("stop", ["max_tokens", "length", "content_filter", "refusal"])
def test_reply__that_was_cut_or_refused_is_not_whole(start, vendor, stop):
    """A reply that the model did not bring to its end says so."""
    parts = Parts([{"type": "text", "text": "half"}], {"content": "half"}, stop)
    assert not complete(provider_of(start(parts), vendor)).is_whole


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 529])
def test_failure__overload_and_server_errors_may_be_asked_again_and_the_sdk_does_not(start, vendor, status):
    """A status that may pass is retryable, with the server's hint; one call is made, for there is one policy of retries."""
    server = start(Status(status, {"error": {"message": "wait a little"}}, {"Retry-After": "7"}))
    error = failure(provider_of(server, vendor))
    assert (error.code, error.retryable, error.retry_after_seconds, error.overloaded) == ("TARGET_FAILED", True, 7.0, status in {429, 503, 529})
    assert f"HTTP {status}" in error.message
    assert "wait a little" in error.message
    assert len(server.seen) == 1


@pytest.mark.parametrize("status", [400, 401, 403, 404, 413, 422])
def test_failure__a_refusal_is_final(start, vendor, status):
    """A wrong key or request is not asked again."""
    server = start(Status(status, {"error": {"message": "wrong"}}))
    error = failure(provider_of(server, vendor))
    assert (error.code, error.retryable, len(server.seen)) == ("TARGET_FAILED", False, 1)


def test_failure__redirects_are_not_followed(start, vendor):
    """A redirect would carry the key to another host: it is an error, and the other host hears nothing."""
    other = start("hi")
    server = start(Status(307, "", {"Location": other.base_url(vendor) + "/v1/messages"}))
    error = failure(provider_of(server, vendor))
    assert "redirects are not followed" in error.message
    assert other.seen == []


def test_failure__nobody_listens(vendor):
    """A refused connection is unreachable, says why, and may be tried again."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{probe.getsockname()[1]}"
    error = failure(provider_of(url, vendor))
    assert (error.code, error.retryable) == ("TARGET_UNREACHABLE", True)
    assert "connect" in error.message.lower()


def test_failure__a_reply_that_breaks_off(start, vendor):
    """A connection cut in the middle of the body is unreachable, not half an answer."""
    error = failure(provider_of(start(Cut()), vendor))
    assert (error.code, error.retryable) == ("TARGET_UNREACHABLE", True)


def test_failure__a_silent_server_times_out(start, vendor):
    """No reply within the time is a timeout, and ends then."""
    over = threading.Event()
    server = start(lambda _body, _number: over.wait(20) and "late")
    try:
        error = failure(provider_of(server, vendor, timeout_seconds=0.3))
    finally:
        over.set()
    assert (error.code, error.retryable) == ("TARGET_TIMEOUT", True)


@pytest.mark.parametrize(
    "data",
    [
        b"", b"<html>sign in</html>", b"null", b"[]", b'"text"', b"{}", b"{", b"[" * 5000, b'{"content": "x", "choices": "x"}', b'{"content": [1], "choices": [1]}',
        b'{"content": [{"type": "text", "text": 7}], "choices": [{"message": {"content": 7}}]}', b'{"content": [{"type": "server_tool_use"}], "choices": [{"message": null}]}',
        b'{"content": [], "content": [], "choices": [], "choices": []}', b'{"content": NaN, "choices": NaN}',
        b'data: {"choices": [{"delta": {"content": "hi"}}]}\n\ndata: [DONE]\n\n', b'event: message_start\ndata: {"type": "message_start"}\n\n',
        b'{"content": [{"type": "image"}], "choices": [{"message": {"content": "a"}}, {"message": {"content": "b"}}]}',
    ],
)  # fmt: skip
@pytest.mark.parametrize("kind", ["application/json", "text/html"])
def test_failure__a_body_that_is_not_of_this_api_is_no_answer(start, vendor, data, kind):
    """Status 200 with anything but a reply of the API is an invalid answer, whatever it calls itself."""
    error = failure(provider_of(start(Body(data, kind)), vendor))
    assert (error.code, error.retryable) == ("INVALID_ANSWER", False)


def test_failure__an_endless_body_is_given_up(start, vendor):
    """More than any model writes is not read to its end."""
    error = failure(provider_of(start(Body(b" " * (17 * 2**20))), vendor))
    assert (error.code, "16 MiB" in error.message) == ("INVALID_ANSWER", True)


def test_limit__a_server_that_wants_the_other_name_is_asked_once_more(start):
    """The name of the token limit that a server refuses is replaced, and the other one kept."""
    refused = Status(400, {"error": {"message": "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."}})
    server = start(lambda body, _number: refused if "max_tokens" in body else "hi")
    first, second = complete(provider_of(server, "openai"), ASKED, ASKED)
    assert (first.text, second.text) == ("hi", "hi")
    assert ["max_tokens" in body for body in server.seen] == [True, False, False]


@pytest.mark.parametrize("key", [None, "", "  "])
def test_key__missing_or_blank_is_refused_by_name(vendor, key):
    """Without its key no model is opened: MISSING_SECRET names the variable."""
    name = "ANTHROPIC_API_KEY" if vendor == "anthropic" else "OPENAI_API_KEY"
    with pytest.raises(ConfigError) as caught:
        open_provider(Endpoint(provider=vendor, model="m"), environment={} if key is None else {name: key}, cwd=None)
    (fault,) = caught.value.faults
    assert (fault.code, name in fault.what, name in fault.fix) == ("MISSING_SECRET", True, True)


@pytest.mark.parametrize("key", ["sk-a\nb0123456789", "\u200bsk-0123456789", "“sk-0123456789”", "sk-012\x7f3456789", "sk-0123 456789"])
def test_key__that_no_header_can_carry_is_refused_and_not_shown(vendor, key):
    """A line break, quotes or invisible characters in the key are a configuration error before anything is asked, and the message does not spell the key."""
    name = "ANTHROPIC_API_KEY" if vendor == "anthropic" else "OPENAI_API_KEY"
    with pytest.raises(ConfigError) as caught:
        open_provider(Endpoint(provider=vendor, model="m"), environment={name: key}, cwd=None)
    (fault,) = caught.value.faults
    assert (fault.code, name in fault.what, "0123" in str(caught.value)) == ("INVALID_VALUE", True, False)


@pytest.mark.parametrize("address", ["nonsense", "ftp://a.example", "http://", "http://[::1", "http://a.example:99999", "http://a.example:abc", " http://[", "http://ann:word0815@a.example"])
@pytest.mark.parametrize("stated", [True, False])
def test_address__that_cannot_be_asked_is_refused_wherever_it_stands(vendor, address, stated):
    """An address that is none, or holds a password, is no outage: in the suite and in the vendor's variable it is a configuration error that does not repeat it."""
    more = {} if stated else {f"{vendor.upper()}_BASE_URL": address}
    with pytest.raises(ConfigError) as caught:
        open_provider(Endpoint(provider=vendor, model="m", base_url=address if stated else None), environment=environment(vendor, **more), cwd=None)
    (fault,) = caught.value.faults
    assert (fault.code, "word0815" in str(caught.value), (f"{vendor.upper()}_BASE_URL" in fault.what) is not stated) == ("INVALID_VALUE", False, True)


def test_environment__that_no_client_can_be_made_in_is_a_configuration_error(vendor, monkeypatch):
    """Certificates that are not there are told as what they are, and not as a bug."""
    monkeypatch.setenv("SSL_CERT_FILE", "/nowhere/certificates.pem")
    with pytest.raises(ConfigError) as caught:
        open_provider(Endpoint(provider=vendor, model="m", base_url="https://127.0.0.1:1"), environment=environment(vendor), cwd=Path())
    (fault,) = caught.value.faults
    assert (fault.code, "SSL_CERT_FILE" in fault.fix) == ("INVALID_VALUE", True)


def test_address__comes_from_the_vendors_own_variable_where_none_is_named(start, vendor):
    """Without `base_url` the vendor's variable says where the API is."""
    server = start("hi")
    variable = {"ANTHROPIC_BASE_URL" if vendor == "anthropic" else "OPENAI_BASE_URL": server.base_url(vendor)}
    provider = open_provider(Endpoint(provider=vendor, model="m"), environment=environment(vendor, **variable), cwd=None)
    assert complete(provider).text == "hi"


def test_reply__a_model_that_cannot_be_forced_to_a_tool_is_asked_for_json(start):
    """A model that always thinks refuses a forced tool call: its JSON Schema mode takes over, and stays."""
    refused = Status(400, {"error": {"message": "Thinking may not be enabled when tool_choice forces tool use."}})
    server = start(lambda body, _number: refused if "tool_choice" in body else '{"a": 1}')
    first, second = complete(provider_of(server, "anthropic"), *[Prompt(messages=ASKED.messages, schema=SCHEMA)] * 2)
    assert (first.text, second.text) == ('{"a": 1}', '{"a": 1}')
    assert ["tool_choice" in body for body in server.seen] == [True, False, False]
    assert server.seen[2]["output_config"]["format"]["schema"] == SCHEMA


@contextlib.contextmanager
def raw_server(serve):
    """The address of a server of sockets: `serve(connection)` for each request whose head has come."""
    over = threading.Event()

    def accept():
        while not over.is_set():
            with contextlib.suppress(OSError):
                connection, _ = listener.accept()
                with connection:
                    connection.recv(65_536)
                    serve(connection)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(0.2)
        thread = threading.Thread(target=accept, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        over.set()
        thread.join(10)


def test_failure__a_connection_that_ends_before_its_reply(vendor):
    """A server that hangs up without a word is unreachable, and may be asked again."""
    with raw_server(lambda _connection: None) as url:
        error = failure(provider_of(url, vendor))
    assert (error.code, error.retryable) == ("TARGET_UNREACHABLE", True)


def test_failure__a_body_that_trickles_times_out_as_a_whole(vendor):
    """A byte now and then keeps no call alive beyond its time, though no single wait is long."""
    gone = threading.Event()

    def trickle(connection):
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n")
        for _ in range(400):
            if gone.wait(0.05):
                return
            connection.sendall(b" ")

    with raw_server(trickle) as url:
        error = failure(provider_of(url, vendor, timeout_seconds=0.5))
        gone.set()
    assert (error.code, error.retryable) == ("TARGET_TIMEOUT", True)


def test_failure__a_small_body_that_unpacks_to_a_huge_one_is_given_up(vendor):
    """The limit holds for what a packed body becomes, not for what was sent."""
    packed = gzip.compress(b" " * (64 * 2**20))
    head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Encoding: gzip\r\nContent-Length: {len(packed)}\r\n\r\n".encode()
    with raw_server(lambda connection: connection.sendall(head + packed)) as url:
        error = failure(provider_of(url, vendor))
    assert (error.code, "16 MiB" in error.message) == ("INVALID_ANSWER", True)


HEAD = b"HTTP/1.1 %s\r\nContent-Type: application/json\r\n"
ODD = {
    "an error that is cut": (HEAD % b"500 Oops" + b"Content-Length: 500\r\n\r\nhello", "TARGET_FAILED", True),
    "an error that is badly packed": (HEAD % b"400 Bad Request" + b"Content-Encoding: gzip\r\nContent-Length: 5\r\n\r\nhello", "TARGET_FAILED", False),
    "an error in a code that is no encoding": (b"HTTP/1.1 400 No\r\nContent-Type: text/html; charset=rot13\r\nContent-Length: 3\r\n\r\n\xff\xfea", "TARGET_FAILED", False),
    "more headers than anyone reads": (HEAD % b"200 OK" + b"".join(b"X-%d: %s\r\n" % (number, b"y" * 8000) for number in range(300)) + b"\r\n", "TARGET_UNREACHABLE", True),
    "no HTTP": (b"SSH-2.0-OpenSSH_9.6\r\n\r\n", "TARGET_UNREACHABLE", True),
}  # fmt: skip


@pytest.mark.parametrize("case", ODD)
def test_failure__of_any_odd_kind_is_the_calls_own(vendor, case):
    """Whatever a server replies with, one call fails in our words: none ends the run as a bug."""
    data, code, retryable = ODD[case]
    with raw_server(lambda connection: connection.sendall(data)) as url:
        error = failure(provider_of(url, vendor))
    assert (error.code, error.retryable) == (code, retryable)


@pytest.mark.parametrize("packed", [False, True])
def test_failure__an_error_with_a_huge_body_is_not_read_to_its_end(vendor, packed):
    """Of an error a few words are told, and no more than a little is read; a packed one is not unpacked whole."""
    piece, sent = b"x" * 2**20, []
    body = gzip.compress(piece * 64) if packed else b""
    head = HEAD % b"400 Bad Request" + (b"Content-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(body) if packed else b"Content-Length: %d\r\n\r\n" % (64 * 2**20))

    def serve(connection):
        connection.sendall(head + body)
        for _ in range(0 if packed else 64):
            connection.sendall(piece)
            sent.append(piece)

    tracemalloc.start()
    try:
        with raw_server(serve) as url:
            error = failure(provider_of(url, vendor))
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert (error.code, len(error.detail), error.detail[-1]) == ("TARGET_FAILED", 4096, "…")
    assert len(sent) < 64
    assert most < 32 * 2**20


BROKEN_OFF = [
    ({"error": {"code": 502, "message": "Provider disconnected"}, "finish_reason": "error"}, {}),
    ({"finish_reason": "error"}, {}),
    ({"finish_reason": "insufficient_system_resource"}, {}),
    ({"finish_reason": "stop"}, {"error": {"message": "overloaded", "code": 529}}),
]


@pytest.mark.parametrize(("choice", "top"), BROKEN_OFF)
def test_reply__that_a_gateway_broke_off_is_an_outage_and_no_answer(start, choice, top):
    """What a model had written when it failed behind its gateway, with status 200, is not what it would have answered; it may be asked again."""
    body = {"choices": [{"index": 0, "message": {"role": "assistant", "content": "ye"}, **choice}], **top}
    error = failure(provider_of(start(Body(json.dumps(body).encode())), "openai"))
    assert (error.code, error.retryable) == ("TARGET_FAILED", True)


@pytest.mark.parametrize(("address", "reads_certificates"), [(None, True), ("https://a.example/v1", True), ("http://127.0.0.1:1", False), ("HTTP://a.example", False)])
def test_tls__certificates_are_read_for_https_alone_and_nothing_goes_unverified(address, reads_certificates):
    """For an http address the client has a context that trusts nobody and still verifies; for https its own."""
    tls = tls_for(address)
    assert (tls is True) is reads_certificates
    if tls is not True:
        assert (tls.verify_mode, tls.check_hostname, tls.cert_store_stats()["x509_ca"]) == (ssl.CERT_REQUIRED, True, 0)
