"""HTTP targets against real servers: templates, replies, statuses, broken connections."""

import json
import socket
import struct
import threading
import time
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from evalaction.errors import ConfigError, TargetError
from evalaction.targets.build import build_reference
from tests.targets.asking import ask, build, failure


def test_request__without_json_and_body_the_case_itself_is_posted(echo, request_for):
    """A POST without a template sends the case line; a GET sends no body."""
    ask(build(echo.url), request_for("a", record={"id": "a", "question": "q"}))
    ask(build(echo.url, method="GET"), request_for("a"))
    assert json.loads(echo.seen[0][2]) == {"id": "a", "question": "q", "repeat": 0}
    assert (echo.seen[0][1]["Content-Type"], echo.seen[1][2], "Content-Type" in echo.seen[1][1]) == ("application/json", b"", False)


def test_request__headers_of_the_suite_win(echo, request_for):
    """Own headers are sent, filled in, and replace the defaults whatever their case."""
    ask(build(echo.url, {"KEY": "k1"}, headers={"Authorization": "Bearer {{ env.KEY }}", "content-type": "application/x", "X-Id": "{{ case.id }}"}), request_for("a7"))
    headers = {name.lower(): value for name, value in echo.seen[0][1].items()}
    assert (headers["authorization"], headers["content-type"], headers["x-id"]) == ("Bearer k1", "application/x", "a7")


def test_request__cookies_do_not_pass_between_trials(serve, reply_with, request_for):
    """What a server sets in one trial is not sent in the next."""
    server = serve(lambda handler, _body: reply_with(handler, {"output": "x"}, Set_Cookie="session=1"))
    ask(build(server.url), request_for("a"), request_for("b"))
    assert not [headers for _, headers, _ in server.seen if "Cookie" in headers]


def test_request__a_proxy_of_the_environment_is_used_and_no_proxy_is_kept(echo, request_for):
    """HTTP_PROXY gets the request for another host; NO_PROXY exempts one."""
    ask(build("http://far.invalid/x", {"HTTP_PROXY": echo.url}), request_for())
    assert echo.seen[0][0] == "http://far.invalid/x"
    assert failure(build("http://far.invalid/x", {"HTTP_PROXY": echo.url, "NO_PROXY": ".invalid"}, retries=0), request_for()).code == "TARGET_UNREACHABLE"


def test_reply__extract_fills_parts_by_jmespath(serve, request_for):
    """Parts are picked by expression; one that finds nothing stays empty."""
    server = serve({"data": {"text": "x", "docs": [{"id": "d1"}, {"id": "d2"}]}})
    answer = ask(build(server.url, extract={"output": "data.text", "retrieved": "data.docs[].id", "intent": "data.none"}), request_for())
    assert (answer.output, answer.retrieved, answer.intent) == ("x", ("d1", "d2"), None)


def test_reply__extract_on_what_is_no_json_is_an_invalid_answer(serve, request_for):
    """An HTML page with status 200 is an error that shows its beginning."""
    error = failure(build(serve("<html>login</html>").url, extract={"output": "a"}), request_for())
    assert (error.code, "<html>login" in error.message) == ("INVALID_ANSWER", True)


def test_reply__extract_that_does_not_fit_is_an_invalid_answer(serve, request_for):
    """A function on the wrong type is told, not raised."""
    assert failure(build(serve({"a": 1}).url, extract={"output": "length(a)"}), request_for()).code == "INVALID_ANSWER"


@pytest.mark.parametrize(
    ("body", "kind", "output"),
    [
        ("plain text", "text/plain", "plain text"),
        ("1.50", "text/plain", "1.50"),
        ('"quoted"', "application/json", "quoted"),
        ("[1]", "application/json", [1]),
        ('{"output": "x"}', "text/html", "x"),
        ('{"other": 1}', "text/plain", '{"other": 1}'),
        ("no json", "application/json", "no json"),
        ("", "text/plain", ""),
        ("\ufeffbom", "text/plain", "bom"),
    ],
)
def test_reply__without_extract(serve, reply_with, request_for, body, kind, output):
    """JSON is the answer as it stands, other text is the output as it stands."""
    server = serve(lambda handler, _sent: reply_with(handler, body, Content_Type=kind))
    assert ask(build(server.url), request_for()).output == output


def test_reply__json_without_any_known_part_is_an_invalid_answer(serve, request_for):
    """An error object with status 200 is no answer."""
    assert failure(build(serve({"error": "quota"}).url), request_for()).code == "INVALID_ANSWER"


def test_reply__more_than_64_mib_is_refused(serve, reply_with, request_for):
    """A reply without end is cut off."""

    def flood(handler, body):
        handler.send_response(200)
        handler.send_header("Content-Length", str(10**10))
        handler.end_headers()
        try:
            while True:
                handler.wfile.write(b"y" * 1_000_000)
        except OSError:
            handler.close_connection = True

    error = failure(build(serve(flood).url), request_for())
    assert (error.code, "64 MiB" in error.message) == ("INVALID_ANSWER", True)


@pytest.mark.parametrize(
    ("status", "retryable", "overloaded"),
    [(400, False, False), (401, False, False), (404, False, False), (429, True, True), (500, True, False), (503, True, True), (599, True, False)],
)
def test_status__says_whether_asking_again_may_help(serve, reply_with, request_for, status, retryable, overloaded):
    """4xx is final, 429 and 5xx are not; the message names status and address, the detail keeps the body."""
    server = serve(lambda handler, _body: reply_with(handler, "no\n::error::key", status))
    error = failure(build(server.url + "/v1/{{ case.id }}?key={{ env.K }}", {"K": "secret-key"}), request_for())
    assert (error.code, error.retryable, error.overloaded) == ("TARGET_FAILED", retryable, overloaded)
    assert f"HTTP {status}" in error.message
    assert "/v1/{{ case.id }}" in error.message
    assert "\n" not in error.message
    assert "secret-key" not in error.message + error.detail
    assert error.detail == "no\n::error::key"


def test_status__a_redirect_is_not_followed(serve, reply_with, echo, request_for):
    """A redirect would carry the key to another host: it fails, and that host sees nothing."""
    server = serve(lambda handler, _body: reply_with(handler, "", 302, Location=echo.url))
    error = failure(build(server.url, headers={"Authorization": "k"}), request_for())
    assert (error.code, error.retryable, "302" in error.message, echo.seen) == ("TARGET_FAILED", False, True, [])


@pytest.mark.parametrize(
    ("hint", "low", "high"),
    [("7", 7, 7), ("0", 0, 0), ("-5", 0, 0), ("in an hour", 3400, 3600), ("soon", None, None), ("nan", None, None), (None, None, None)],
)
def test_status__retry_after_in_seconds_or_as_a_date(serve, reply_with, request_for, hint, low, high):
    """The server's hint is read in both forms; nonsense is no hint."""
    hint = format_datetime(datetime.now(UTC) + timedelta(hours=1), usegmt=True) if hint == "in an hour" else hint
    server = serve(lambda handler, _body: reply_with(handler, "", 429, **({"Retry_After": hint} if hint else {})))
    seconds = failure(build(server.url), request_for()).retry_after_seconds
    assert seconds is None if low is None else low <= seconds <= high


def test_connection__refused_is_unreachable_and_hints_at_the_container(request_for):
    """Nothing listens: retryable, and localhost inside a container is explained."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    error = failure(build(f"http://user:secret-pw@127.0.0.1:{port}/?k=secret-q"), request_for())
    assert (error.code, error.retryable, "container" in error.message) == ("TARGET_UNREACHABLE", True, True)
    assert "secret" not in error.message


@pytest.mark.parametrize("said", [b"", b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf"])
def test_connection__cut_before_or_in_the_reply(request_for, said):
    """A connection that breaks off is unreachable and may be asked again, never half an answer."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve_one():
            connection, _ = listener.accept()
            connection.recv(65536)
            connection.sendall(said)
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0) if not said else struct.pack("ii", 0, 0))
            connection.close()

        thread = threading.Thread(target=serve_one, daemon=True)
        thread.start()
        error = failure(build(f"http://127.0.0.1:{listener.getsockname()[1]}/"), request_for())
        thread.join(5)
    assert (error.code, error.retryable) == ("TARGET_UNREACHABLE", True)


def test_connection__what_is_no_http_is_told(request_for):
    """A server of another protocol is TARGET_FAILED."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve_one():
            connection, _ = listener.accept()
            connection.recv(65536)
            connection.sendall(b"SSH-2.0-OpenSSH\r\n\r\n")
            connection.close()

        thread = threading.Thread(target=serve_one, daemon=True)
        thread.start()
        error = failure(build(f"http://127.0.0.1:{listener.getsockname()[1]}/"), request_for())
        thread.join(5)
    assert error.code == "TARGET_FAILED"


def test_connection__a_slow_server_times_out(serve, request_for):
    """Headers at once and a body that never comes: TARGET_TIMEOUT within the time allowed."""
    done = threading.Event()

    def stall(handler, body):
        handler.send_response(200)
        handler.send_header("Content-Length", "5")
        handler.end_headers()
        handler.wfile.write(b"ab")
        done.wait(10)

    started = time.monotonic()
    error = failure(build(serve(stall).url, timeout_seconds=0.5), request_for())
    done.set()
    assert (error.code, error.retryable) == ("TARGET_TIMEOUT", True)
    assert time.monotonic() - started < 3


def test_url__an_address_that_a_case_made_invalid_fails_the_trial(request_for):
    """A URL that is nothing without its value is an error of the trial, whatever the value is."""
    assert failure(build("{{ case.vars.url }}"), request_for(vars={"url": "http://127.0.0.1/"})).code == "TARGET_FAILED"


def test_description__has_no_secrets():
    """The record names method and address, neither query nor user nor headers."""
    described = build("http://u:pw@host/v1?key=secret", headers={"Authorization": "secret"}).description
    assert described == {"kind": "http", "method": "POST", "url": "http://host/v1"}


def test_reference__has_the_keys_of_an_http_target(serve, request_for):
    """A `reference:` block is built like an http target and refuses unknown keys."""
    answer = ask(build_reference({"url": serve([{"a": 1}]).url, "json": {"q": "{{ case.id }}"}}, environment={}, concurrency=1), request_for())
    assert answer.output == [{"a": 1}]
    with pytest.raises(ConfigError, match=r"reference\.urll"):
        build_reference({"urll": "x"}, environment={}, concurrency=1)


def test_errors__retryable_ones_are_target_errors(request_for):
    """What the runner may ask again for is a TargetError."""
    assert isinstance(failure(build("http://127.0.0.1:1/"), request_for()), TargetError)
