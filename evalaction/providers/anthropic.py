"""Anthropic's models. The only importer of the SDK `anthropic`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evalaction.errors import TargetError
from evalaction.providers.base import Completion, Endpoint, Prompt, key_from, missing_package, sendable
from evalaction.providers.prices import Prices
from evalaction.providers.wire import count_of, exchange, failed_inside, http_client, list_of_maps, malformed, text_or_none

KEY = "ANTHROPIC_API_KEY"
BASE_URL = "ANTHROPIC_BASE_URL"
TOOL = "submit"
"""Name of the tool that a structured reply is submitted with."""


class AnthropicProvider:
    """A model behind the Messages API.

    Raises ConfigError: MISSING_SECRET without a key, INVALID_INPUT without the SDK.
    """

    def __init__(self, endpoint: Endpoint, environment: Mapping[str, str], prices: Prices) -> None:
        key = key_from(environment, KEY, endpoint)
        try:
            import anthropic  # noqa: PLC0415 - takes a second, and only those who ask a model of this vendor pay it
        except ImportError:
            raise missing_package("anthropic") from None
        self._sdk: Any = anthropic
        self._endpoint, self._price = endpoint, prices.of(endpoint.model)
        self._named = f"anthropic:{endpoint.model}"
        self._forces_tool = True
        base_url = endpoint.base_url or environment.get(BASE_URL) or None
        self._client = anthropic.AsyncAnthropic(
            api_key=key, base_url=base_url, max_retries=0, timeout=endpoint.timeout_seconds, http_client=http_client(anthropic, base_url, self._named),
        )  # fmt: skip

    @property
    def has_price(self) -> bool:
        """Whether the price of this model is known."""
        return self._price is not None

    async def complete(self, prompt: Prompt) -> Completion:
        """One call of the Messages API; with a schema the model must call a tool whose input is the reply. Raises TargetError.

        A model that cannot be made to call a tool, because it always thinks, is asked once more in the JSON Schema mode, which is then kept.
        """
        forced = self._forces_tool
        try:
            return await self._once(self._fields(prompt, force_tool=forced))
        except TargetError as error:
            if prompt.schema is None or not forced or not error.message.startswith("HTTP 400") or "tool_choice" not in error.detail:
                raise
            self._forces_tool = False
        return await self._once(self._fields(prompt, force_tool=False))

    async def _once(self, fields: Mapping[str, Any]) -> Completion:
        body = await exchange(self._sdk, lambda: self._client.messages.with_streaming_response.create(**fields), self._named, self._endpoint.timeout_seconds)
        return self._read(body)

    async def close(self) -> None:
        """Close all connections."""
        await self._client.close()

    def _fields(self, prompt: Prompt, *, force_tool: bool) -> dict[str, Any]:
        fields: dict[str, Any] = {"messages": [{"role": message.role, "content": sendable(message.content)} for message in prompt.messages]}
        if prompt.system:
            fields["system"] = sendable(prompt.system)
        if prompt.temperature is not None:
            fields["temperature"] = prompt.temperature
        if prompt.schema is not None and not force_tool:
            fields["output_config"] = {"format": {"type": "json_schema", "schema": dict(prompt.schema)}}
        elif prompt.schema is not None:
            fields["tools"] = [{"name": TOOL, "description": "Submits the reply.", "input_schema": dict(prompt.schema)}]
            fields["tool_choice"] = {"type": "tool", "name": TOOL, "disable_parallel_tool_use": True}
        # The SDK's door for further parameters: no release has them all, and what comes through here is not walked through type by type.
        return {"model": self._endpoint.model, "max_tokens": prompt.max_tokens, "messages": [], "extra_body": fields}

    def _read(self, body: Mapping[str, Any]) -> Completion:
        if body.get("error"):
            raise failed_inside(body["error"], self._named)
        blocks = list_of_maps(body.get("content"), "content", self._named)
        texts = [text_or_none(block.get("text"), "content[].text", self._named) or "" for block in blocks if block.get("type") == "text"]
        calls = tuple({"name": str(block.get("name")), "args": block.get("input")} for block in blocks if block.get("type") == "tool_use")
        unknown = {str(block.get("type")) for block in blocks} - {"text", "tool_use", "thinking", "redacted_thinking"}
        if unknown:
            raise malformed(self._named, f"it has content of the type {min(unknown)}")
        usage = body.get("usage")
        tokens_in, tokens_out = count_of(usage, "input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"), count_of(usage, "output_tokens")
        tokens = None if tokens_in is None or tokens_out is None else (tokens_in, tokens_out)
        stop = text_or_none(body.get("stop_reason"), "stop_reason", self._named)
        return Completion(
            text="".join(texts) if texts else None, value=_submitted(calls, texts), tool_calls=calls, tokens=tokens, stop_reason=stop,
            refusal="".join(texts) or "the model refused" if stop == "refusal" else None, cost_usd=None if self._price is None or tokens is None else self._price.cost_usd(*tokens),
        )  # fmt: skip


def _submitted(calls: tuple[Mapping[str, Any], ...], texts: list[str]) -> Any:
    """The input of the one tool call, when the reply is nothing else."""
    alone = len(calls) == 1 and calls[0]["name"] == TOOL and not "".join(texts).strip()
    return calls[0]["args"] if alone else None
