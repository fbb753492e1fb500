"""What both SDKs have in common on the wire: bounded reading, strict JSON, and errors in our words."""

from __future__ import annotations

import asyncio
import contextlib
import math
import ssl
import time
from collections.abc import AsyncIterator, Callable, Mapping
from http import HTTPStatus
from typing import Any, Protocol

from evalaction.core.answer import LARGEST
from evalaction.core.checks.base import one_line
from evalaction.core.excerpts import cut
from evalaction.core.retry_after import retry_after_seconds
from evalaction.core.strict_json import parse_strict_json
from evalaction.errors import TargetError

BODY_LIMIT = 16 * 1024 * 1024
"""Bytes of one reply that are read; no model writes more."""
_SHOWN = 160
_KEPT = 4096
_REFUSED = 64 * 1024
"""Bytes of an error's body that are read."""


class Body(Protocol):
    """A reply whose body has not been read yet."""

    def iter_bytes(self, chunk_size: int | None = None) -> Any:
        """Its bytes, unpacked, in pieces."""


class Refused(Protocol):
    """A reply that is no success, whose body has not been read yet."""

    status_code: int
    headers: Mapping[str, str]

    def aiter_bytes(self) -> AsyncIterator[bytes]:
        """Its bytes, unpacked, in pieces."""


def http_client(sdk: Any, address: str | None, named: str) -> Any:
    """What an SDK speaks HTTP with: aiohttp where the release can, for a third less of the processor. Redirects would carry prompts and keys to a host that nobody named.

    Replies that are no success are read and refused here: an SDK reads all of them, however long, and lets errors on the way through as they are.
    """

    async def check(response: Any) -> None:
        """Raise for a reply that is no success, before an SDK reads it."""
        if not 200 <= response.status_code < 300:
            raise refusal(response.status_code, await _beginning(response), response.headers.get("Retry-After"), named)

    options = {"follow_redirects": False, "verify": tls_for(address), "event_hooks": {"response": [check]}}
    try:
        return sdk.DefaultAioHttpClient(**options)
    except (AttributeError, RuntimeError):  # an older release, or one that needs a package more
        return sdk.DefaultAsyncHttpxClient(**options)


async def _beginning(response: Refused) -> str:
    """As much of an error's body as is told; what cannot be read says nothing, and the status stands."""
    body = bytearray()
    with contextlib.suppress(Exception):  # whatever the HTTP library says of a body that is cut or badly packed
        async for chunk in response.aiter_bytes():
            body += chunk
            if len(body) > _REFUSED:
                break
    return body[:_REFUSED].decode("utf-8", "replace")


def tls_for(address: str | None) -> ssl.SSLContext | bool:
    """What an HTTP client verifies servers with: its own certificates, and, where the address says http, none at all.

    Reading the system's certificates takes longer than all else that a client does to get ready, and redirects, the only way from http to https, are not followed.
    The context for http trusts nobody, so that nothing can go through it unverified.
    """
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT) if address and address.lower().startswith("http:") else True


async def exchange(sdk: Any, opened: Callable[[], contextlib.AbstractAsyncContextManager[Body]], named: str, seconds: float) -> Mapping[str, Any]:
    """The object that one call replies with. Raises TargetError and nothing else, whatever happens on the way."""
    try:
        async with asyncio.timeout(seconds), opened() as response:
            return await read_json_body(response, named)
    except TargetError:
        raise
    except TimeoutError:
        raise too_slow(named, seconds) from None
    except sdk.APIStatusError as error:  # a reply that the SDK itself finds wanting
        raise refusal(error.status_code, "", error.response.headers.get("Retry-After"), named) from None
    except Exception as error:  # noqa: BLE001 - the SDKs let errors of their HTTP library through, and one odd reply is no reason to lose a whole run
        raise lost(error, named, seconds) from None


async def read_json_body(response: Body, named: str) -> Mapping[str, Any]:
    """The object in a reply. Raises TargetError: INVALID_ANSWER when there is none, TARGET_UNREACHABLE when it was cut."""
    body = bytearray()
    try:
        async for chunk in response.iter_bytes():
            body += chunk
            if len(body) > BODY_LIMIT:
                break
    except Exception as error:  # noqa: BLE001 - the SDK lets errors of its HTTP library through, whose very name changes between releases
        raise TargetError("TARGET_UNREACHABLE", f"the reply of {named} was cut: {type(error).__name__}", retryable=True) from None
    if len(body) > BODY_LIMIT:
        raise TargetError("INVALID_ANSWER", f"{named} replied with more than {BODY_LIMIT // 2**20} MiB")
    return _object_in(body.decode("utf-8-sig", "replace"), named)


def _object_in(text: str, named: str) -> Mapping[str, Any]:
    try:
        value = parse_strict_json(text)
    except ValueError as error:
        raise TargetError("INVALID_ANSWER", f"the reply of {named} is not JSON ({one_line(str(error), 80)}): {one_line(text, _SHOWN)}", cut(text, _KEPT)) from None
    if not isinstance(value, Mapping):
        raise malformed(named, "it is no object")
    return value


def malformed(named: str, why: str) -> TargetError:
    """The error of a reply that is JSON, but not of this API."""
    return TargetError("INVALID_ANSWER", f"the reply of {named} is not one of its API: {why}")


def refusal(status: int, text: str, retry_after: str | None, named: str) -> TargetError:
    """The error of a status that is not 2xx; 429 and 5xx may be asked again."""
    phrase = HTTPStatus(status).phrase if status in HTTPStatus.__members__.values() else ""
    message = " ".join(filter(None, ("HTTP", str(status), phrase, "from", named))) + (f": {one_line(text, _SHOWN)}" if text else "")
    if 300 <= status < 400:
        message += "; redirects are not followed, name the final address"
    return TargetError(
        "TARGET_FAILED", message, cut(text, _KEPT), retryable=status in {408, 409, 429} or status >= 500,
        retry_after_seconds=retry_after_seconds(retry_after, time.time()), overloaded=status in {429, 503, 529},
    )  # fmt: skip


def failed_inside(error: Any, named: str) -> TargetError:
    """The error that a gateway reports within a reply of status 200, when the model behind it broke off. It passes like a 5xx."""
    said = error.get("message") if isinstance(error, Mapping) else error
    why = one_line(said, _SHOWN) if isinstance(said, str) else "it does not say why"
    return TargetError("TARGET_FAILED", f"{named} replied with an error in place of an answer: {why}", retryable=True)


def lost(error: BaseException, named: str, seconds: float) -> TargetError:
    """The error of a connection that failed, or of a call that took too long; the cause is the innermost error, in a few words.

    The SDKs' own name for it is not asked: some of their HTTP libraries call a connection that was closed a timeout.
    """
    cause: BaseException = error
    while cause.__cause__ is not None:
        cause = cause.__cause__
        if isinstance(cause, TargetError):  # ours, which some releases wrap
            return cause
        if isinstance(cause, TimeoutError):
            return too_slow(named, seconds)
    words = cause.strerror if isinstance(cause, OSError) and cause.strerror else str(cause) or type(cause).__name__
    return TargetError("TARGET_UNREACHABLE", f"the connection to {named} failed: {one_line(words, _SHOWN)}", retryable=True)


def too_slow(named: str, seconds: float) -> TargetError:
    """The error of a call that did not end in time."""
    return TargetError("TARGET_TIMEOUT", f"no complete reply from {named} within {seconds:g} s", retryable=True)


def text_or_none(value: Any, place: str, named: str) -> str | None:
    """A text of the reply that may be missing. Raises TargetError when it is something else."""
    if value is None or isinstance(value, str):
        return value
    raise malformed(named, f"`{place}` is no text")


def list_of_maps(value: Any, place: str, named: str) -> list[Mapping[str, Any]]:
    """A list of objects of the reply. Raises TargetError when it is something else."""
    if isinstance(value, list) and all(isinstance(item, Mapping) for item in value):
        return value
    raise malformed(named, f"`{place}` is no list of objects")


def count_of(usage: Any, *names: str) -> int | None:
    """The sum of these counts of tokens; None when the first is no count, or the sum is more than any reply can have taken."""
    found = [usage.get(name) if isinstance(usage, Mapping) else None for name in names]
    counts = [int(value) if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value) and value >= 0 else None for value in found]
    total = sum(count for count in counts if count is not None)
    return None if counts[0] is None or total > LARGEST["tokens"] else total
