"""The system under test is a model, asked through its vendor's own SDK."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal

from evalaction.core.answer import Answer
from evalaction.core.suite import ModelTarget
from evalaction.errors import ConfigError, Fault, TargetError
from evalaction.providers.base import Completion, Endpoint, Message, Prompt
from evalaction.providers.build import open_provider
from evalaction.targets.base import Request
from evalaction.targets.reading import excerpt
from evalaction.targets.templates import Templates, case_values

_OWN_HISTORY = re.compile(r"\bcase\s*(?:\.\s*history\b|\[\s*['\"]history['\"]\s*\])")
_OF_A_CASE = re.compile(r"\{[{%][^}]*\b(?:case|repeat)\b")
_ROLES: Mapping[str, Literal["user", "assistant"]] = {"user": "user", "assistant": "assistant"}


class ModelCaller:
    """Asks a model: the system text, the history as turns (unless a template places it itself), then the filled-in prompt.

    Raises ConfigError: every fault of the templates, MISSING_SECRET, INVALID_INPUT without the SDK.
    """

    repeatable = True

    def __init__(self, spec: ModelTarget, *, environment: Mapping[str, str], cwd: Path) -> None:
        self._spec, self.retries = spec, spec.retries
        templates = Templates(environment)
        self._system = templates.text(spec.system or "", "model.system")
        self._prompt = templates.text(spec.prompt, "model.prompt")
        base_url = templates.text(spec.base_url or "", "model.base_url")
        if faults := [*templates.faults, *_faults(spec)]:
            raise ConfigError(faults)
        self._env = templates.env
        self._has_turns = not any(_OWN_HISTORY.search(source) for source in (spec.system or "", spec.prompt))
        endpoint = Endpoint(provider=spec.provider, model=spec.model, base_url=str(base_url({"env": self._env})) or None, timeout_seconds=spec.timeout_seconds)
        self._provider = open_provider(endpoint, environment=environment, cwd=cwd)

    @property
    def description(self) -> Mapping[str, Any]:
        """Which model, and its settings."""
        settings = {"temperature": self._spec.temperature, "max_output_tokens": self._spec.max_output_tokens}
        return {"kind": "model", "provider": self._spec.provider, "model": self._spec.model, **{name: value for name, value in settings.items() if value is not None}}

    @property
    def has_price(self) -> bool:
        """Whether answers come with their cost."""
        return self._provider.has_price

    async def close(self) -> None:
        """Close all connections."""
        await self._provider.close()

    async def ask(self, request: Request) -> Answer:
        """The model's answer, with tokens, and cost where the price is known. Raises TargetError; see `Provider.complete`."""
        return _answer(await self._provider.complete(self._asked(request)))

    def _asked(self, request: Request) -> Prompt:
        values = {"case": case_values(request), "env": self._env, "repeat": request.repeat}
        told, turns = self._history(request) if self._has_turns else ([], [])
        system = "\n\n".join(filter(None, (str(self._system(values)), *told)))
        return Prompt(
            system=system or None, messages=(*turns, Message("user", str(self._prompt(values)))), max_tokens=self._spec.max_output_tokens, temperature=self._spec.temperature
        )

    def _history(self, request: Request) -> tuple[list[str], list[Message]]:
        """System texts of the history, and its turns."""
        told = [turn.content for turn in request.case.history if turn.role == "system"]
        return told, [Message(_role(turn.role), turn.content) for turn in request.case.history if turn.role != "system"]


def _role(role: str) -> Literal["user", "assistant"]:
    if role not in _ROLES:
        raise TargetError("TARGET_FAILED", f"the history has a turn of the role {excerpt(role, 40)}; models know user, assistant and system")
    return _ROLES[role]


def _answer(completion: Completion) -> Answer:
    """A refusal is a part of its own, and what was said with it stays the output."""
    return Answer(
        output=completion.text, refusal=completion.refusal, tool_calls=completion.tool_calls or None, cost_usd=completion.cost_usd, tokens=completion.tokens
    )


def _faults(spec: ModelTarget) -> Iterable[Fault]:
    if not spec.prompt.strip():
        yield Fault(code="BLANK_FIELD", what="the prompt is blank", fix="write a template such as {{ case.input }}", path="model.prompt")
    if spec.base_url is not None and _OF_A_CASE.search(spec.base_url):
        what = "the address is the same for all cases, and a template in it may use the environment only"
        yield Fault(code="INVALID_VALUE", what=what, fix="write {{ env.X }} or the address itself", path="model.base_url")
    if spec.provider == "anthropic" and spec.temperature is not None and spec.temperature > 1:
        yield Fault(code="INVALID_VALUE", what=f"models of anthropic take a temperature of 0..1, found {spec.temperature:g}", fix="write at most 1", path="model.temperature")
