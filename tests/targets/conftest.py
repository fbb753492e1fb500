"""A real HTTP server on loopback whose replies a test scripts, commands in a folder of their own, and requests to ask with."""

import json
import os
import shlex
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from evalaction.core.suite import Case, ExecTarget
from evalaction.targets.base import Request
from evalaction.targets.build import build_target


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

            do_GET = do_POST = _serve  # noqa: N815  # names of the base class

            def log_message(self, *args):
                """Keep the test's output clean."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()

    def stop(self):
        """Close the server."""
        self.server.shutdown()
        self.server.server_close()


def send(handler, body, status=200, **headers):
    """Write one whole reply; anything but text and bytes goes out as JSON."""
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
        one = Scripted(reply if callable(reply) else lambda handler, _body: send(handler, reply))
        started.append(one)
        return one

    yield start
    for one in started:
        one.stop()


@pytest.fixture
def echo(serve):
    """A server that replies with the output x."""
    return serve(lambda handler, _body: send(handler, {"output": "x"}))


@pytest.fixture
def reply_with():
    """The writer of one reply: (handler, body, status, **headers)."""
    return send


@pytest.fixture
def request_for():
    """A request for one case: `request_for("a", input="…", repeat=1)`."""

    def make(case_id="a", *, input="hello", repeat=0, record=None, **fields):  # noqa: A002  # the name of the field
        foreign = None if record is None else json.dumps(record)
        return Request(Case(id=case_id, input=input, checks=(), foreign=foreign, **fields), repeat)

    return make


@pytest.fixture
def command_target(tmp_path):
    """A command in its own folder."""

    def make(command, protocol="text", environment=None, **options):
        spec = ExecTarget(command=command, protocol=protocol, **{"timeout_seconds": 20, **options})
        return build_target(spec, environment=os.environ if environment is None else environment, cwd=tmp_path, concurrency=2)

    return make


@pytest.fixture
def script(tmp_path):
    """A Python script in the folder; gives its command line."""

    def write(body):
        (tmp_path / "rag.py").write_text(body)
        return f"{shlex.quote(sys.executable)} rag.py"

    return write
