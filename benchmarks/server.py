"""A stand-in for a system under test: answers every POST after a fixed latency, as a model where it is asked as one, and says on GET what it saw.

    python benchmarks/server.py LATENCY_SECONDS

prints its port on the first line and serves until it is terminated. Written on asyncio's protocols, because a
server that needs a processor of its own would measure itself. `GET /` gives, and then forgets, the calls since
the last GET: `{"calls", "at_once", "first_start", "last_end"}`, times in seconds on the monotonic clock.
"""

from __future__ import annotations

import asyncio
import json
import sys

ANSWER = json.dumps({"output": "The answer is forty-two.", "retrieved": ["d1", "d2"]}).encode()


def _completion(text: str) -> bytes:
    """A reply of the Chat Completions API."""
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    return json.dumps({"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": {"prompt_tokens": 20, "completion_tokens": 8}}).encode()


SAID = _completion("The answer is forty-two.")
JUDGED = _completion(json.dumps({"criteria": {"right": {"reason": "It names the number.", "pass": True}}}))


class Seen:
    """What the server saw since it was last asked."""

    def __init__(self) -> None:
        self.now = 0
        self.forget()

    def forget(self) -> None:
        """Start anew; calls in flight stay counted as in flight."""
        self.calls, self.at_once = 0, self.now
        self.first_start: float | None = None
        self.last_end: float | None = None

    def begin(self, when: float) -> None:
        """A request has arrived whole."""
        self.calls += 1
        self.now += 1
        self.at_once = max(self.at_once, self.now)
        self.first_start = when if self.first_start is None else self.first_start

    def end(self, when: float) -> None:
        """Its response has been written."""
        self.now -= 1
        self.last_end = when

    def tell(self) -> bytes:
        """As JSON."""
        return json.dumps({"calls": self.calls, "at_once": self.at_once, "first_start": self.first_start, "last_end": self.last_end}).encode()


class Connection(asyncio.Protocol):
    """One kept-alive HTTP/1.1 connection, one request at a time."""

    def __init__(self, seen: Seen, latency_seconds: float) -> None:
        self.seen, self.latency_seconds = seen, latency_seconds
        self.loop = asyncio.get_running_loop()
        self.buffer = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport."""
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        """Answer when head and body are complete."""
        self.buffer += data
        head, blank, body = self.buffer.partition(b"\r\n\r\n")
        if not blank or len(body) < _length(head):
            return
        self.buffer = body[_length(head) :]
        if head.startswith(b"GET "):
            self.respond(self.seen.tell())
            self.seen.forget()
        else:
            self.seen.begin(self.loop.time())
            self.loop.call_later(self.latency_seconds, self.finish, _answer_to(head, body))

    def finish(self, answer: bytes) -> None:
        """The latency is over."""
        self.respond(answer)
        self.seen.end(self.loop.time())

    def respond(self, body: bytes) -> None:
        """Write a response, unless the other side has gone."""
        if not self.transport.is_closing():
            self.transport.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))


def _answer_to(head: bytes, body: bytes) -> bytes:
    """A model's reply on the path of one, a judge's when a schema is asked for."""
    if b"/chat/completions " not in head.partition(b"\r\n")[0]:
        return ANSWER
    return JUDGED if b"response_format" in body else SAID


def _length(head: bytes) -> int:
    for line in head.split(b"\r\n")[1:]:
        name, _, value = line.partition(b":")
        if name.strip().lower() == b"content-length":
            return int(value)
    return 0


async def serve(latency_seconds: float) -> None:
    """Serve on a free loopback port until cancelled."""
    seen = Seen()
    server = await asyncio.get_running_loop().create_server(lambda: Connection(seen, latency_seconds), "127.0.0.1", 0, backlog=512)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(serve(float(sys.argv[1])))
