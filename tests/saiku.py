"""A stand-in for a Saiku server on loopback: its login, its two endpoints, what they require, and how they word replies."""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

API = "/rest/saiku/api/ai"
CUBE = {"connectionName": "unknown_foodmart", "catalog": "FoodMart", "schema": "FoodMart", "cubeName": "Sales"}
LOGIN = ("admin", "sec-ret-word")


class Refused:
    """A reply with another status than 200."""

    def __init__(self, status: int, body: Any) -> None:
        self.status, self.body = status, body


def cells(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows as the server sends them: members are texts, measures are objects."""
    return [{key: value if isinstance(value, str | dict) else {"value": value, "formatted": f"{value:,.2f}", "unit": None} for key, value in row.items()} for row in rows]


def queried(rows: list[dict[str, Any]], status: str = "SUCCESS", **more: Any) -> dict[str, Any]:
    """The reply to a query."""
    return {"queryId": "q1", "status": status, "format": "records", "metadata": {}, "data": cells(rows), "totalRows": len(rows), **more}


def executed(rows: list[dict[str, Any]], **response: Any) -> dict[str, Any]:
    """The reply to a question that became a query and was run."""
    return {"degraded": False, "model": "m", "request": {"measures": [{"name": "Store Sales"}]}, "response": queried(rows, **response), "generatedMdx": "SELECT"}


class Saiku:
    """`ask(question, body)` and `query(body)` give replies, or Refused; `asked` and `queries` keep the bodies, in the order of `calls`."""

    def __init__(self, ask: Callable[[str, dict[str, Any]], Any], query: Callable[[dict[str, Any]], Any] | None = None, *, login: bool = True) -> None:
        self.asked: list[dict[str, Any]] = []
        self.queries: list[dict[str, Any]] = []
        self.calls: list[str] = []
        owner, expected = self, "Basic " + base64.b64encode(":".join(LOGIN).encode()).decode()

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):  # a name of the base class
                body = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)))
                self._write(owner._reply(self.path, body, ask, query) if not login or self.headers.get("Authorization") == expected else Refused(401, {"error": "who are you?"}))

            def _write(self, said):
                status, value = (said.status, said.body) if isinstance(said, Refused) else (200, said)
                data = json.dumps(value).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *args):
                """Keep the test's output clean."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()

    def _reply(self, path, body, ask, query):
        self.calls.append(path.removeprefix(f"{API}/"))
        if path == f"{API}/ask":
            self.asked.append(body)
            return (
                ask(body["question"], body)
                if isinstance(body.get("question"), str) and set(body.get("cube") or {}) == set(CUBE)
                else Refused(400, {"error": "question and cube are required"})
            )
        if path == f"{API}/query" and query is not None:
            self.queries.append(body)
            return query(body) if body.get("cube") or body.get("measures") else Refused(400, queried([], "VALIDATION_ERROR", error="no cube"))
        return Refused(404, {"error": "no such endpoint"})

    def stop(self) -> None:
        """Close the server."""
        self.server.shutdown()
        self.server.server_close()
