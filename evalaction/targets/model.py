"""The system under test is a model, asked through its vendor's own SDK."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from evalaction.core.answer import Answer
from evalaction.core.suite import ModelTarget
from evalaction.providers.base import Completion, Endpoint
from evalaction.providers.build import open_provider
from evalaction.targets.base import Request
from evalaction.targets.prompt_form import PromptForm


class ModelCaller:
    """Asks a model: the system text, the history as turns (unless a template places it itself), then the filled-in prompt.

    Raises ConfigError: every fault of the templates, MISSING_SECRET, INVALID_INPUT without the SDK.
    """

    repeatable = True

    def __init__(self, spec: ModelTarget, *, environment: Mapping[str, str], cwd: Path) -> None:
        self.retries, self._form = spec.retries, PromptForm(spec, environment)
        endpoint = Endpoint(provider=spec.provider, model=spec.model, base_url=self._form.base_url, timeout_seconds=spec.timeout_seconds)
        self._provider = open_provider(endpoint, environment=environment, cwd=cwd)

    @property
    def description(self) -> Mapping[str, Any]:
        """Which model, and its settings."""
        return self._form.description

    @property
    def has_price(self) -> bool:
        """Whether answers come with their cost."""
        return self._provider.has_price

    async def close(self) -> None:
        """Close all connections."""
        await self._provider.close()

    async def ask(self, request: Request) -> Answer:
        """The model's answer, with tokens, and cost where the price is known. Raises TargetError; see `Provider.complete`."""
        return _answer(await self._provider.complete(self._form.prompt(request)))


def _answer(completion: Completion) -> Answer:
    """A refusal is a part of its own, and what was said with it stays the output."""
    return Answer(
        output=completion.text, refusal=completion.refusal, tool_calls=completion.tool_calls or None, cost_usd=completion.cost_usd, tokens=completion.tokens
    )
