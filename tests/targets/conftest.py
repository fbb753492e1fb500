"""A real HTTP server on loopback whose replies a test scripts, and requests to ask with."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from evalaction.core.suite import Case
from evalaction.targets.base import Request


class Scripted:
    """`reply(handler, body)` writes the reply; `seen` keeps (path, headers, body) of every request."""

    def __init__(self, reply):
        seen = self.seen = []

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def _serve(self):
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                seen.append((self.path, dict(self.headers), body))
                reply(self, body)

            do_GET = do_POST = do_PUT = _serve

            def log_message(self, *args):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()

    def stop(self):
        self.server.shutdown()
        self.server.server_close()


def send(handler, body, status=200, **headers):
    data = body if isinstance(body, bytes) else body.encode() if isinstance(body, str) else json.dumps(body).encode()
    handler.send_response(status)
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    if not isinstance(body, bytes | str):
        names.setdefault("Content-Type", "application/json")
    for name, value in {**names, "Content-Length": str(len(data))}.items():
        handler.send_header(name, value)
    handler.end_headers()
    handler.wfile.write(data)


@pytest.fixture
def serve():
    """Starts a server: a function of (handler, body), or a fixed JSON value or text."""
    started = []

    def start(reply):
        one = Scripted(reply if callable(reply) else lambda handler, body: send(handler, reply))
        started.append(one)
        return one

    yield start
    for one in started:
        one.stop()


@pytest.fixture
def reply_with():
    """The writer of one reply: (handler, body, status, **headers)."""
    return send


@pytest.fixture
def request_for():
    """A request for one case: `request_for("a", input="…", repeat=1)`."""

    def make(case_id="a", *, input="hello", repeat=0, **fields):  # noqa: A002  # the name of the field
        return Request(Case(id=case_id, input=input, checks=(), **fields), repeat)

    return make
