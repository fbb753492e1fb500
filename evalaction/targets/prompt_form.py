"""The prompt of a model target as its author wrote it, compiled and checked; apart from the model, which needs a key and an SDK."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Literal

from evalaction.core.excerpts import excerpt
from evalaction.core.suite import ModelTarget
from evalaction.errors import ConfigError, Fault, TargetError
from evalaction.providers.base import Message, Prompt
from evalaction.targets.base import Request
from evalaction.targets.templates import Templates, case_values

_OWN_HISTORY = re.compile(r"\bcase\s*(?:\.\s*history\b|\[\s*['\"]history['\"]\s*\])")
_OF_A_CASE = re.compile(r"\{[{%][^}]*\b(?:case|repeat)\b")
_ROLES: Mapping[str, Literal["user", "assistant"]] = {"user": "user", "assistant": "assistant"}


class PromptForm:
    """Templates of one target; `base_url` is filled in already. Raises ConfigError with every fault of them."""

    def __init__(self, spec: ModelTarget, environment: Mapping[str, str]) -> None:
        self._spec = spec
        templates = Templates(environment)
        self._system = templates.text(spec.system or "", "model.system")
        self._prompt = templates.text(spec.prompt, "model.prompt")
        base_url = templates.text(spec.base_url or "", "model.base_url")
        if faults := [*templates.faults, *_faults(spec)]:
            raise ConfigError(faults)
        self._env = templates.env
        self.base_url = str(base_url({"env": self._env})) or None
        self._has_turns = not any(_OWN_HISTORY.search(source) for source in (spec.system or "", spec.prompt))

    @property
    def description(self) -> Mapping[str, Any]:
        """Which model, and its settings."""
        settings = {"temperature": self._spec.temperature, "max_output_tokens": self._spec.max_output_tokens}
        return {"kind": "model", "provider": self._spec.provider, "model": self._spec.model, **{name: value for name, value in settings.items() if value is not None}}

    def prompt(self, request: Request) -> Prompt:
        """What the model is asked for one trial. Raises TargetError when a template cannot be filled in."""
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


def _faults(spec: ModelTarget) -> Iterable[Fault]:
    if not spec.prompt.strip():
        yield Fault(code="BLANK_FIELD", what="the prompt is blank", fix="write a template such as {{ case.input }}", path="model.prompt")
    if spec.base_url is not None and _OF_A_CASE.search(spec.base_url):
        what = "the address is the same for all cases, and a template in it may use the environment only"
        yield Fault(code="INVALID_VALUE", what=what, fix="write {{ env.X }} or the address itself", path="model.base_url")
    if spec.provider == "anthropic" and spec.temperature is not None and spec.temperature > 1:
        yield Fault(code="INVALID_VALUE", what=f"models of anthropic take a temperature of 0..1, found {spec.temperature:g}", fix="write at most 1", path="model.temperature")
