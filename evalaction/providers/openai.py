"""OpenAI's models, and every server that speaks the same API. The only importer of the SDK `openai`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evalaction.core.strict_json import parse_strict_json
from evalaction.errors import TargetError
from evalaction.providers.base import Completion, Endpoint, Prompt, key_from, missing_package, sendable
from evalaction.providers.prices import Prices
from evalaction.providers.wire import count_of, exchange, failed_inside, http_client, list_of_maps, malformed, text_or_none

KEY = "OPENAI_API_KEY"
BASE_URL = "OPENAI_BASE_URL"
_LIMIT_NAMES = ("max_completion_tokens", "max_tokens")
"""OpenAI's newer models refuse the second, other servers may not know the first."""
_BROKEN_OFF = ("error", "insufficient_system_resource")
"""Why a reply ends, in the words of gateways whose model failed half way: what stands there so far is no answer."""


class OpenAIProvider:
    """A model behind the Chat Completions API.

    Raises ConfigError: MISSING_SECRET without a key, INVALID_INPUT without the SDK.
    """

    def __init__(self, endpoint: Endpoint, environment: Mapping[str, str], prices: Prices) -> None:
        key = key_from(environment, KEY, endpoint)
        try:
            import openai  # noqa: PLC0415 - takes most of a second, and only those who ask a model of this API pay it
        except ImportError:
            raise missing_package("openai") from None
        self._sdk: Any = openai
        self._endpoint, self._price = endpoint, prices.of(endpoint.model)
        self._named = f"openai:{endpoint.model}"
        base_url = endpoint.base_url or environment.get(BASE_URL) or None
        self._limit_name = _LIMIT_NAMES[base_url is not None]
        self._client = openai.AsyncOpenAI(
            api_key=key, base_url=base_url, max_retries=0, timeout=endpoint.timeout_seconds,
            http_client=http_client(openai, base_url, self._named),
        )  # fmt: skip

    @property
    def has_price(self) -> bool:
        """Whether the price of this model is known."""
        return self._price is not None

    async def complete(self, prompt: Prompt) -> Completion:
        """One call of Chat Completions; with a schema in its JSON Schema mode. Raises TargetError.

        A server that refuses the name of the token limit is asked once more under the other name, which is then kept.
        """
        name = self._limit_name
        try:
            return await self._once(prompt, name)
        except TargetError as error:
            if not error.message.startswith("HTTP 400") or name not in error.detail:
                raise
            self._limit_name = _LIMIT_NAMES[1 - _LIMIT_NAMES.index(name)]
        return await self._once(prompt, self._limit_name)

    async def close(self) -> None:
        """Close all connections."""
        await self._client.close()

    async def _once(self, prompt: Prompt, limit_name: str) -> Completion:
        fields = self._fields(prompt, limit_name)
        body = await exchange(self._sdk, lambda: self._client.chat.completions.with_streaming_response.create(**fields), self._named, self._endpoint.timeout_seconds)
        return self._read(body)

    def _fields(self, prompt: Prompt, limit_name: str) -> dict[str, Any]:
        turns = [{"role": message.role, "content": sendable(message.content)} for message in prompt.messages]
        fields: dict[str, Any] = {
            limit_name: prompt.max_tokens,
            "messages": [{"role": "system", "content": sendable(prompt.system)}, *turns] if prompt.system else turns,
        }  # fmt: skip
        if prompt.temperature is not None:
            fields["temperature"] = prompt.temperature
        if prompt.schema is not None:
            fields["response_format"] = {"type": "json_schema", "json_schema": {"name": "reply", "strict": True, "schema": dict(prompt.schema)}}
        # The SDK's door for further parameters: what comes through here is not walked through type by type, which costs a sixth of a call.
        return {"model": self._endpoint.model, "messages": [], "extra_body": fields}

    def _read(self, body: Mapping[str, Any]) -> Completion:
        if body.get("error"):
            raise failed_inside(body["error"], self._named)
        choices = list_of_maps(body.get("choices"), "choices", self._named)
        if len(choices) != 1 or not isinstance(choices[0].get("message"), Mapping):
            raise malformed(self._named, f"it has {len(choices)} choices" if len(choices) != 1 else "its choice has no message")
        if choices[0].get("error") or choices[0].get("finish_reason") in _BROKEN_OFF:
            raise failed_inside(choices[0].get("error") or choices[0]["finish_reason"], self._named)
        message = choices[0]["message"]
        usage = body.get("usage")
        tokens_in, tokens_out = count_of(usage, "prompt_tokens"), count_of(usage, "completion_tokens")
        tokens = None if tokens_in is None or tokens_out is None else (tokens_in, tokens_out)
        return Completion(
            text=text_or_none(message.get("content"), "content", self._named), refusal=text_or_none(message.get("refusal"), "refusal", self._named) or None,
            tool_calls=tuple(map(self._call, list_of_maps(message.get("tool_calls") or [], "tool_calls", self._named))), tokens=tokens,
            cost_usd=None if self._price is None or tokens is None else self._price.cost_usd(*tokens),
            stop_reason=text_or_none(choices[0].get("finish_reason"), "finish_reason", self._named),
        )  # fmt: skip

    def _call(self, call: Mapping[str, Any]) -> Mapping[str, Any]:
        function = call.get("function")
        if not isinstance(function, Mapping) or not isinstance(function.get("name"), str):
            raise malformed(self._named, "a tool call has no function")
        return {"name": function["name"], "args": _arguments(function.get("arguments"))}


def _arguments(stated: Any) -> Any:
    """Arguments come as JSON in a text; what is no JSON stays text, for a check to find wrong."""
    if not isinstance(stated, str):
        return stated
    try:
        return parse_strict_json(stated) if stated.strip() else {}
    except ValueError:
        return stated
