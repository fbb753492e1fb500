"""A Saiku server: a question goes to its AI surface as a user's would, a query to its typed query endpoint.

Replies carry no intent: it follows from which key is there. A reply that says `degraded` and names a topic is a
refusal; any other `degraded` is a failure of the server or of its model's provider, and no answer.
"""

from __future__ import annotations

import base64
import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import urlsplit

from evalaction.core.answer import Answer
from evalaction.core.excerpts import cut, excerpt
from evalaction.core.suite import HttpTarget
from evalaction.errors import ConfigError, Fault, TargetError
from evalaction.targets.base import Request
from evalaction.targets.http import HttpCaller
from evalaction.targets.reading import read_json
from evalaction.targets.templates import Templates, is_constant

API = "/rest/saiku/api/ai"
USERNAME, PASSWORD = "SAIKU_USERNAME", "SAIKU_PASSWORD"
_OFF_TOPIC = "OFF_TOPIC:"
"""Beginning, in just these letters, of the reason of a refusal."""
_OF_THE_QUERY = "VALIDATION_ERROR"
"""The one status that is the model's own doing: it asked for what the cube does not have."""
_QUESTION: Mapping[str, Any] = {"question": "{{ case.input }}", "cube": "{{ case.record.cube }}"}
_QUERY = "{{ case.metadata.query }}"


class SaikuCaller:
    """Asks questions. Raises ConfigError for a wrong address, keys that have no place here, and half a login."""

    repeatable = True

    def __init__(self, spec: HttpTarget, *, environment: Mapping[str, str], concurrency: int) -> None:
        self.retries = spec.retries
        server = _Server(spec, environment, concurrency)
        self._alone, self._talking = server.caller("ask", _QUESTION), server.caller("ask", {**_QUESTION, "history": "{{ case.history }}"})
        self._query = SaikuQuery(spec, None, environment=environment, concurrency=concurrency)

    @property
    def description(self) -> Mapping[str, Any]:
        """The server's address, without a user name."""
        return {"kind": "saiku", "url": str(self._alone.description["url"]).removesuffix("/ask")}

    async def close(self) -> None:
        """Close all connections."""
        for part in (self._alone, self._talking, self._query):
            await part.close()

    async def ask(self, request: Request) -> Answer:
        """The answer to a case's question: intent with rows, insight or refusal, and the model that gave it.

        Raises TargetError as an http target does, and TARGET_FAILED for a reply that is degraded without being a
        refusal, has no intent, or whose query the server could not run.
        """
        body, _ = await (self._talking if request.case.history else self._alone).exchange(request)
        reply = _mapping(body)
        if isinstance(reply.get("request"), Mapping) and not isinstance(reply.get("response"), Mapping):
            reply["response"] = await self._query.reply(request, reply["request"])
        return read_reply(reply)


class SaikuQuery:
    """Asks the typed query endpoint; as a target, always for the rows of one reference query."""

    repeatable = True

    def __init__(self, spec: HttpTarget, query: Mapping[str, Any] | None, *, environment: Mapping[str, str], concurrency: int) -> None:
        self.retries, self._reference = spec.retries, query
        self._caller = _Server(spec, environment, concurrency).caller("query", _QUERY)

    @property
    def description(self) -> Mapping[str, Any]:
        """The server's address, without a user name."""
        return self._caller.description

    async def close(self) -> None:
        """Close all connections."""
        await self._caller.close()

    async def ask(self, request: Request) -> Answer:
        """The rows of the reference query. Raises TargetError as an http target does, and TARGET_FAILED when the server could not run it."""
        reply = await self.reply(request, self._reference or {})
        if (status := _status(reply)) != "SUCCESS":
            raise _not_run(status, reply)
        return Answer(rows=rows_of(reply))

    async def reply(self, request: Request, query: Mapping[str, Any]) -> dict[str, Any]:
        """What the server says to a query, which is sent as it stands; a query that it refuses as wrong is a reply as well."""
        asked = Request(dataclasses.replace(request.case, metadata={"query": dict(query)}), request.repeat)
        try:
            body, _ = await self._caller.exchange(asked)
        except TargetError as error:
            if self._reference is None and _says(error.detail, _OF_THE_QUERY):
                return {"status": _OF_THE_QUERY, "error": _mapping(error.detail.encode()).get("error")}
            raise
        return _mapping(body)


def read_reply(reply: Mapping[str, Any]) -> Answer:
    """From a reply of the AI surface to an answer; see `SaikuCaller.ask`."""
    extra = {"model": reply["model"]} if isinstance(reply.get("model"), str) else None
    if not isinstance(reply.get("degraded", False), bool):
        raise TargetError("INVALID_ANSWER", "`degraded` of the reply is neither true nor false")
    if reply.get("degraded"):
        return Answer(intent="REFUSED", refusal=_refusal(reply), extra=extra)
    if isinstance(reply.get("insight"), Mapping):
        markdown = reply["insight"].get("markdown")
        return Answer(intent="INSIGHT", insight=markdown if isinstance(markdown, str) else None, extra=extra)
    if isinstance(reply.get("viewChange"), Mapping):
        return Answer(intent="VIEW_CHANGE", extra={**(extra or {}), "viewChange": reply["viewChange"]})
    if isinstance(reply.get("response"), Mapping):
        return _of_query(reply, extra)
    kind = "an e-mail draft, which no case expects" if "emailDraft" in reply else f"neither rows, insight, view change nor refusal: {', '.join(sorted(reply)[:6]) or 'nothing'}"
    raise TargetError("TARGET_FAILED", f"the server replied with {excerpt(kind)}")


def _refusal(reply: Mapping[str, Any]) -> str:
    reason = reply.get("reason")
    if not isinstance(reason, str) or not reason.startswith(_OFF_TOPIC):
        raise TargetError("TARGET_FAILED", f"the server's answer is degraded: {excerpt(str(reason or 'no reason given'))}")
    return reason.removeprefix(_OFF_TOPIC).strip()


def _of_query(reply: Mapping[str, Any], extra: dict[str, Any] | None) -> Answer:
    """An executed query. One that the server refuses as wrong is the model's answer, and has neither rows nor an intent that could pass."""
    response, mdx = reply["response"], reply.get("generatedMdx")
    status = _status(response)
    if status == _OF_THE_QUERY:
        return Answer(output=f"the query was refused: {excerpt(str(response.get('error') or status))}", extra=extra)
    if status != "SUCCESS":
        raise _not_run(status, response)
    return Answer(output=mdx if isinstance(mdx, str) and mdx.strip() else None, intent="QUERY", rows=rows_of(response), extra=extra)


def rows_of(reply: Mapping[str, Any]) -> tuple[Mapping[str, Any], ...]:
    """The records of a query's reply, flat; null is no row. Raises TargetError INVALID_ANSWER for anything but records, and for data that are not there or not whole."""
    if "data" not in reply:
        raise TargetError("INVALID_ANSWER", "the reply of the query has no `data`, which is not the same as no row")
    data = reply["data"] if reply["data"] is not None else []
    if not isinstance(data, list) or not all(isinstance(row, Mapping) for row in data):
        raise TargetError("INVALID_ANSWER", "the data of the query are no list of records")
    if reply.get("totalRows", len(data)) != len(data):
        raise TargetError("INVALID_ANSWER", f"the query has {excerpt(str(reply['totalRows']), 20)} rows, and {len(data)} came: the reply is cut")
    return tuple(dict(_flat(row)) for row in data)


def _flat(row: Mapping[str, Any]) -> Iterable[tuple[str, Any]]:
    """Cells by column: a member as it is, a measure by its number, else by its formatted text; one that cannot be joined is not there."""
    for key, cell in row.items():
        if not isinstance(cell, Mapping):
            yield str(key), cell
        elif not cell.get("unavailable"):
            yield str(key), cell.get("value") if cell.get("value") is not None else cell.get("formatted")


def _status(reply: Mapping[str, Any]) -> str:
    """Raises TargetError INVALID_ANSWER without one: silence is no success."""
    if not isinstance(reply.get("status"), str):
        raise TargetError("INVALID_ANSWER", "the reply of the query has no `status`")
    return str(reply["status"])


def _not_run(status: str, reply: Mapping[str, Any]) -> TargetError:
    return TargetError("TARGET_FAILED", f"the server could not run the query: {excerpt(status, 40)}: {excerpt(str(reply.get('error') or 'no reason given'))}")


def _says(body: str, status: str) -> bool:
    """Whether the body of a refused request is a query's reply of this status."""
    try:
        reply = read_json(body)
    except ValueError:
        return False
    return isinstance(reply, Mapping) and reply.get("status") == status


def _mapping(body: bytes) -> dict[str, Any]:
    text = body.decode("utf-8-sig", "replace")
    try:
        reply = read_json(text)
    except ValueError as error:
        raise TargetError("INVALID_ANSWER", f"the reply is not JSON ({excerpt(str(error), 80)}): {excerpt(text)}", cut(text, 4096)) from None
    if not isinstance(reply, dict):
        raise TargetError("INVALID_ANSWER", f"the reply is no JSON object: {excerpt(text)}", cut(text, 4096))
    return reply


class _Server:
    """Address and login of one server. HTTP Basic, where the environment has a login: with it each call stands alone, without a session."""

    def __init__(self, spec: HttpTarget, environment: Mapping[str, str], concurrency: int) -> None:
        self._spec, self._environment, self._concurrency = spec, environment, concurrency
        faults = [*_strangers(spec), *_half_a_login(environment)]
        self._base = _base(spec.url, environment, faults)
        if faults:
            raise ConfigError(faults)

    def caller(self, path: str, body: Any) -> HttpCaller:
        """One endpoint; `body` is a template of what is posted."""
        spec, names = self._spec, {name.lower() for name in self._spec.headers}
        headers = {**spec.headers, **({} if "authorization" in names else _login(self._environment))}
        target = HttpTarget(url=f"{self._base}/{path}", headers=headers, json=body, timeout_seconds=spec.timeout_seconds, retries=spec.retries)  # type: ignore[call-arg]  # `json` is the alias of `json_`
        return HttpCaller(target, environment=self._environment, concurrency=self._concurrency)


def _base(url: str, environment: Mapping[str, str], faults: list[Fault]) -> str:
    """The AI surface below a server's base; a base that names a part of its path already is completed."""
    templates = Templates(environment)
    render = templates.url(url, "http.url")
    faults += templates.faults
    if templates.faults:
        return ""
    base = str(render({})).rstrip("/") if is_constant(render) else ""
    if urlsplit(base).scheme not in ("http", "https") or not urlsplit(base).netloc or urlsplit(base).query:
        faults.append(Fault(code="INVALID_VALUE", what="not the address of a server", fix="write its base, such as https://analytics.example.com", path="http.url"))
    known = next((part for part in (API, "/rest/saiku/api", "/rest/saiku", "/rest") if base.endswith(part)), "")
    return base.removesuffix(known) + API


def _strangers(spec: HttpTarget) -> Iterable[Fault]:
    """Keys whose place the protocol takes."""
    for name, is_given in (("json", spec.json_ is not None), ("body", spec.body is not None), ("extract", bool(spec.extract)), ("method", spec.method != "POST")):
        if is_given:
            yield Fault(code="INVALID_VALUE", what=f"`{name}` has no place beside `protocol: saiku`", fix="leave it out", path=f"http.{name}")


def _half_a_login(environment: Mapping[str, str]) -> Iterable[Fault]:
    given = {name: bool(environment.get(name)) for name in (USERNAME, PASSWORD)}
    for name in (name for name, is_set in given.items() if not is_set and any(given.values())):
        what, fix = f"the login of the Saiku server is half given: {name} is not set", f"set both {USERNAME} and {PASSWORD}, or neither"
        yield Fault(code="MISSING_SECRET", what=what, fix=fix, path="http")


def _login(environment: Mapping[str, str]) -> dict[str, str]:
    name, word = environment.get(USERNAME), environment.get(PASSWORD)
    return {"Authorization": "Basic " + base64.b64encode(f"{name}:{word}".encode()).decode()} if name and word else {}
