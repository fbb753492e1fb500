"""The system under test behind a URL: one request per trial."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, NamedTuple, NoReturn
from urllib.request import proxy_bypass_environment  # type: ignore[attr-defined]  # missing from the type stubs, documented for getproxies_environment

import aiohttp
from yarl import URL

from evalaction.core.answer import Answer
from evalaction.core.cassette import without_credentials
from evalaction.core.excerpts import cut, excerpt
from evalaction.core.suite import HttpTarget
from evalaction.errors import TargetError
from evalaction.targets.base import Request, case_line
from evalaction.targets.reading import OUTPUT_LIMIT
from evalaction.targets.replies import retry_after
from evalaction.targets.request_form import RequestForm
from evalaction.targets.templates import Render, Values, case_values

_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1", "0.0.0.0"})  # noqa: S104  # recognised, not bound


class _Call(NamedTuple):
    """One request, filled in. `body` is bytes on the wire, None for no body."""

    url: URL
    headers: Mapping[str, str]
    body: bytes | None


class HttpCaller:
    """Asks over HTTP. Redirects are not followed: they would carry the headers to a host that nobody named.

    Raises ConfigError with every fault of the templates, headers and JMESPath expressions.
    """

    repeatable = True

    def __init__(self, spec: HttpTarget, *, environment: Mapping[str, str], concurrency: int) -> None:
        self._spec, self._concurrency = spec, concurrency
        self.retries = spec.retries
        form = RequestForm(spec, environment)
        self._url, self._headers, self._json, self._body = form.url, form.headers, form.json, form.body
        self._replies, self._env = form.replies, form.env
        self._proxies = {name.lower().removesuffix("_proxy"): value for name, value in environment.items() if name.lower().endswith("_proxy") and value}
        self._defaults = self._default_headers()
        self._timeout = aiohttp.ClientTimeout(total=spec.timeout_seconds)
        self._session: aiohttp.ClientSession | None = None

    @property
    def description(self) -> Mapping[str, Any]:
        """Method and address as written, without query and user name, which may hold secrets."""
        return {"kind": "http", "method": self._spec.method, "url": self._place}

    @property
    def _place(self) -> str:
        return without_credentials(self._spec.url)

    async def close(self) -> None:
        """Close all connections."""
        if self._session is not None:
            session, self._session = self._session, None
            await session.close()
            await asyncio.sleep(0)  # transports close in the loop's next round

    async def ask(self, request: Request) -> Answer:
        """The reply, read as an answer. Raises what `exchange` raises, and MeasureError INVALID_ANSWER."""
        return self._replies.answer(*await self.exchange(request))

    async def exchange(self, request: Request) -> tuple[bytes, str]:
        """The body of the reply and its content type.

        Raises TargetError TARGET_UNREACHABLE, TARGET_TIMEOUT, TARGET_FAILED (any status but 2xx, or a template that
        cannot be filled in), and INVALID_ANSWER for one that is too long.
        """
        call = self._call(request)
        try:
            async with self._connected().request(
                self._spec.method, call.url, headers=call.headers, data=call.body, allow_redirects=False, proxy=self._proxy(call.url)
            ) as response:
                body = await self._whole(response)
        except TimeoutError:
            raise TargetError("TARGET_TIMEOUT", f"no complete reply from {self._named} within {self._spec.timeout_seconds:g} s", retryable=True) from None
        except (aiohttp.ClientError, OSError, ValueError) as error:
            self._translate(error, call.url)
        if response.status // 100 != 2:
            self._refuse(response, body)
        return body, response.headers.get("Content-Type", "")

    @property
    def _named(self) -> str:
        return f"{self._spec.method} {self._place}"

    def _call(self, request: Request) -> _Call:
        values = {"case": case_values(request), "env": self._env, "repeat": request.repeat}
        headers = self._defaults if not self._headers else {**self._defaults, **{name: self._header(name, render, values) for name, render in self._headers.items()}}
        return _Call(self._address(values), headers, self._payload(request, values))

    def _address(self, values: Values) -> URL:
        try:
            url = URL(self._url(values), encoded=True)
        except ValueError:
            url = URL()
        if url.scheme not in {"http", "https"} or not url.host:
            raise TargetError("TARGET_FAILED", f"the filled-in url is no http or https address: {self._place}")
        return url

    def _header(self, name: str, render: Render, values: Values) -> str:
        value = str(render(values))
        if any(sign in value for sign in "\r\n\0"):
            raise TargetError("TARGET_FAILED", f"the filled-in header {name} holds a line break")
        return value

    def _payload(self, request: Request, values: Values) -> bytes | None:
        if self._body is not None:
            return str(self._body(values)).encode("utf-8", "replace")
        if self._json is None and self._spec.method == "GET":
            return None
        try:
            # ASCII, so that lone surrogates of an input can be sent at all
            return json.dumps(case_line(request) if self._json is None else self._json(values), allow_nan=False).encode()
        except (TypeError, ValueError) as error:
            raise TargetError("TARGET_FAILED", f"the filled-in json cannot be written: {excerpt(str(error))}") from None

    def _default_headers(self) -> dict[str, str]:
        given = {name.lower() for name in self._spec.headers}
        kind = "text/plain; charset=utf-8" if self._body is not None else "application/json"
        defaults = {"User-Agent": "eval-gate"}
        if self._body is not None or self._json is not None or self._spec.method != "GET":
            defaults["Content-Type"] = kind
        return {name: value for name, value in defaults.items() if name.lower() not in given}

    def _connected(self) -> aiohttp.ClientSession:
        if self._session is None:
            connector = aiohttp.TCPConnector(limit=self._concurrency)
            self._session = aiohttp.ClientSession(connector=connector, timeout=self._timeout, cookie_jar=aiohttp.DummyCookieJar())
        return self._session

    def _proxy(self, url: URL) -> str | None:
        """The proxy that the usual variables name for this host; nothing else of the environment is used, no netrc."""
        if not self._proxies:
            return None
        proxy = self._proxies.get(url.scheme) or self._proxies.get("all")
        return None if proxy is None or proxy_bypass_environment(url.host or "", self._proxies) else proxy

    async def _whole(self, response: aiohttp.ClientResponse) -> bytes:
        body = bytearray()
        while chunk := await response.content.readany():
            body += chunk
            if len(body) > OUTPUT_LIMIT:
                raise TargetError("INVALID_ANSWER", f"{self._named} replied with more than {OUTPUT_LIMIT // 2**20} MiB")
        return bytes(body)

    def _translate(self, error: Exception, url: URL) -> NoReturn:
        """Foreign errors in our words; their own may spell out the URL with its query."""
        if isinstance(error, aiohttp.ClientSSLError | aiohttp.ClientConnectorCertificateError):
            raise TargetError("TARGET_UNREACHABLE", f"no secure connection for {self._named}: {type(error).__name__}") from None
        if isinstance(error, aiohttp.ClientConnectionError | aiohttp.ClientPayloadError) or (isinstance(error, OSError) and not isinstance(error, aiohttp.ClientError)):
            raise TargetError("TARGET_UNREACHABLE", f"the connection for {self._named} failed: {_cause(error)}{_hint(error, url)}", retryable=True) from None
        raise TargetError("TARGET_FAILED", f"{self._named} could not be asked: {type(error).__name__}") from None

    def _refuse(self, response: aiohttp.ClientResponse, body: bytes) -> NoReturn:
        status, text = response.status, cut(body[:8192].decode("utf-8", "replace"), 4096)
        phrase = HTTPStatus(status).phrase if status in HTTPStatus.__members__.values() else ""
        said = excerpt(text, 160)
        message = " ".join(filter(None, (f"HTTP {status}", phrase, "from", self._named))) + (f": {said}" if said else "")
        if 300 <= status < 400:
            message += "; redirects are not followed, name the final address"
        busy = status in {429, 503}
        raise TargetError(
            "TARGET_FAILED", message, text, retryable=status == 429 or status >= 500, retry_after_seconds=retry_after(response.headers.get("Retry-After")), overloaded=busy
        )


def _cause(error: Exception) -> str:
    if isinstance(error, aiohttp.ClientConnectorDNSError):
        return "the host name is not known"
    if isinstance(error, aiohttp.ClientPayloadError):
        return "it was cut in the middle of the reply"
    if isinstance(error, aiohttp.ServerDisconnectedError):
        return "the server closed it without a reply"
    return (error.strerror if isinstance(error, OSError) else None) or type(error).__name__


def _hint(error: Exception, url: URL) -> str:
    refused = isinstance(error, aiohttp.ClientConnectorError) and url.host in _LOOPBACK
    return "; inside a container localhost is the container itself" if refused else ""
