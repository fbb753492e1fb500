"""What the rest of the program knows of a model: a prompt goes in, a completion comes out."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from typing import Any, Literal, Protocol

from evalaction.errors import ConfigError

Vendor = Literal["anthropic", "openai"]
_CARRIED = re.compile(r"[!-~]+")
"""What an HTTP header can carry as a key."""
_SURROGATE = re.compile("[\ud800-\udfff]")
_CUT_SHORT = frozenset({"max_tokens", "length", "content_filter", "refusal", "model_context_window_exceeded", "pause_turn"})
"""Stop reasons after which a reply is not what the model would have said in full."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """Which model, and where. `base_url` is the provider's API root; None is the vendor's own variable, or its public address."""

    provider: Vendor
    model: str
    base_url: str | None = None
    timeout_seconds: float = 120.0


@dataclasses.dataclass(frozen=True, slots=True)
class Message:
    """One turn of a conversation."""

    role: Literal["user", "assistant"]
    content: str


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """One request. `schema` is the JSON Schema of an object that the reply must be; `temperature` None leaves the vendor's default."""

    messages: tuple[Message, ...]
    system: str | None = None
    schema: Mapping[str, Any] | None = None
    max_tokens: int = 1024
    temperature: float | None = None


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """One reply, as it came: nothing in it has been checked against the schema.

    `text` is None where the model wrote none; `value` is the object of a structured reply; `tool_calls`
    are `{name, args}`; `tokens` are (input, output); `cost_usd` is None where no price is known.
    """

    text: str | None = None
    value: Any = None
    refusal: str | None = None
    tool_calls: tuple[Mapping[str, Any], ...] = ()
    tokens: tuple[int, int] | None = None
    cost_usd: float | None = None
    stop_reason: str | None = None

    @property
    def is_whole(self) -> bool:
        """Whether the model came to its own end: not cut off, filtered or refused."""
        return self.refusal is None and self.stop_reason not in _CUT_SHORT


class Provider(Protocol):
    """A model that can be asked, from several tasks at once. Never retries by itself: the caller has the one policy."""

    @property
    def has_price(self) -> bool:
        """Whether `Completion.cost_usd` can be known."""

    async def complete(self, prompt: Prompt) -> Completion:
        """One call.

        Raises TargetError: TARGET_UNREACHABLE, TARGET_TIMEOUT, TARGET_FAILED (any status but 2xx), INVALID_ANSWER
        (the body is not what this API replies), with `retryable`, `retry_after_seconds` and `overloaded` set.
        """

    async def close(self) -> None:
        """Close all connections; may be called twice."""


def sendable(text: str) -> str:
    """Text that can be written as UTF-8: lone surrogates become U+FFFD."""
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


def key_from(environment: Mapping[str, str], variable: str, endpoint: Endpoint) -> str:
    """The vendor's key. Raises ConfigError, naming the variable: MISSING_SECRET when it is unset or blank, INVALID_VALUE when no header can carry it."""
    key = environment.get(variable, "").strip()
    if key and _CARRIED.fullmatch(key):
        return key
    if key:
        what = f"the environment variable {variable} holds a character that no key has: a blank, a line break, or one beyond ASCII"
        raise ConfigError.one("INVALID_VALUE", what, f"set {variable} anew; quotes and invisible characters come along with copied text")
    what = f"the environment variable {variable} is not set, or is empty, and {endpoint.provider}:{endpoint.model} is asked with it"
    raise ConfigError.one("MISSING_SECRET", what, f"set {variable}; in a workflow, pass the secret on with `env:` (a server without keys takes any word)")


def missing_package(name: str) -> ConfigError:
    """The error of an SDK that is not installed."""
    return ConfigError.one("INVALID_INPUT", f"the package {name} is not installed, and models of {name} are asked through it", f"pip install 'eval-gate[{name}]'")
