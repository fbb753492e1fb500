"""One scripted model behind both vendors' wire formats, and what is needed to ask it through their own SDKs."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from evalaction.providers.base import Endpoint
from evalaction.providers.build import open_provider

KEY = "sk-test-0123456789"
VENDORS = ("anthropic", "openai")
MODEL = "gpt-4o"


@dataclasses.dataclass
class Status:
    """A reply that is an error."""

    code: int
    body: Any = "no"
    headers: dict[str, str] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass
class Body:
    """A whole body with status 200, as it is."""

    data: bytes
    kind: str = "application/json"


@dataclasses.dataclass
class Object:
    """A structured reply: a tool's input, or JSON in the text."""

    value: Any


@dataclasses.dataclass
class Parts:
    """A reply of the vendor's own shape: `content` blocks of Anthropic, the `message` of OpenAI."""

    anthropic: list[Any]
    openai: dict[str, Any]
    stop: str = "stop"


@dataclasses.dataclass
class Cut:
    """Half a reply, then the connection breaks."""


class Vendor:
    """A server. `reply(body, number)` gives a text, or one of the shapes above; `seen` keeps every request's body, `headers` and `paths` beside."""

    def __init__(self, reply: Callable[[dict[str, Any], int], Any]) -> None:
        self.seen: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.paths: list[str] = []
        self._lock, owner = threading.Lock(), self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):  # a name of the base class
                body = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)))
                with owner._lock:
                    number = len(owner.seen)
                    owner.seen.append(body)
                    owner.headers.append({name.lower(): value for name, value in self.headers.items()})
                    owner.paths.append(self.path)
                owner._write(self, reply(body, number))

            def log_message(self, *args):
                """Keep the test's output clean."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()

    def base_url(self, vendor: str) -> str:
        """The API root, as each vendor's SDK takes it."""
        return f"http://127.0.0.1:{self.server.server_address[1]}" + ("/v1" if vendor == "openai" else "")

    def stop(self) -> None:
        """Close the server."""
        self.server.shutdown()
        self.server.server_close()

    def _write(self, handler: BaseHTTPRequestHandler, said: Any) -> None:
        if isinstance(said, Status):
            data = said.body.encode() if isinstance(said.body, str) else json.dumps(said.body).encode()
            return _send(handler, said.code, data, {"Content-Type": "application/json", **said.headers})
        if isinstance(said, Body):
            return _send(handler, 200, said.data, {"Content-Type": said.kind})
        shape = _anthropic if handler.path.endswith("/messages") else _openai
        data = json.dumps(shape("half" if isinstance(said, Cut) else said)).encode()
        if not isinstance(said, Cut):
            return _send(handler, 200, data, {"Content-Type": "application/json"})
        handler.send_response(200)
        handler.send_header("Content-Length", str(len(data)))
        handler.end_headers()
        handler.wfile.write(data[:20])
        handler.close_connection = True
        return None


def _send(handler: BaseHTTPRequestHandler, status: int, data: bytes, headers: dict[str, str]) -> None:
    with contextlib.suppress(OSError):  # a client that gave up
        handler.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(data))}.items():
            handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(data)


def _anthropic(said: Any) -> dict[str, Any]:
    stop = "end_turn"
    if isinstance(said, Parts):
        content, stop = said.anthropic, said.stop
    elif isinstance(said, Object):
        content, stop = [{"type": "tool_use", "id": "t1", "name": "submit", "input": said.value}], "tool_use"
    else:
        content = [] if said is None else [{"type": "text", "text": said}]
    return {
        "id": "m1", "type": "message", "role": "assistant", "model": MODEL, "content": content, "stop_reason": stop, "stop_sequence": None,
        "usage": {"input_tokens": 1000, "output_tokens": 500},
    }  # fmt: skip


def _openai(said: Any) -> dict[str, Any]:
    stop, message = "stop", {"role": "assistant", "content": said, "refusal": None}
    if isinstance(said, Parts):
        message, stop = {"role": "assistant", "content": None, **said.openai}, said.stop
    elif isinstance(said, Object):
        message["content"] = json.dumps(said.value)
    return {
        "id": "c1", "object": "chat.completion", "created": 1, "model": MODEL, "choices": [{"index": 0, "message": message, "finish_reason": stop}],
        "usage": {"prompt_tokens": 1000, "completion_tokens": 500, "total_tokens": 1500},
    }  # fmt: skip


@contextlib.contextmanager
def vendors() -> Iterator[Callable[..., Vendor]]:
    """Starts servers, and stops them."""
    started: list[Vendor] = []

    def start(reply: Any) -> Vendor:
        """`reply` is a function, a list that is played one by one (the last entry stays), or one reply for ever."""
        played = reply if isinstance(reply, list) else [reply]
        one = Vendor(reply if callable(reply) else lambda _body, number: played[min(number, len(played) - 1)])
        started.append(one)
        return one

    yield start
    for one in started:
        one.stop()


def environment(vendor: str, **more: str) -> dict[str, str]:
    """The vendor's key."""
    return {"ANTHROPIC_API_KEY" if vendor == "anthropic" else "OPENAI_API_KEY": KEY, **more}


def provider_of(server: Vendor | str, vendor: str, model: str = MODEL, timeout_seconds: float = 20.0, **more: str) -> Any:
    """A provider for a server."""
    base_url = server if isinstance(server, str) else server.base_url(vendor)
    endpoint = Endpoint(provider=vendor, model=model, base_url=base_url, timeout_seconds=timeout_seconds)
    return open_provider(endpoint, environment=environment(vendor, **more), cwd=Path())


def told(body: dict[str, Any]) -> str:
    """System text and all turns of a request."""
    turns = [str(turn["content"]) for turn in body["messages"]]
    return "\n".join([str(body.get("system", "")), *turns])


def schema_in(body: dict[str, Any]) -> dict[str, Any]:
    """The schema that a request asks the reply to follow."""
    return body["tools"][0]["input_schema"] if "tools" in body else body["response_format"]["json_schema"]["schema"]


def verdicts(**criteria: Any) -> dict[str, Any]:
    """A reply in the form that was asked for: a boolean or a score for each criterion."""
    return {"criteria": {name: {"reason": f"because of {name}", ("pass" if isinstance(value, bool) else "score"): value} for name, value in criteria.items()}}
