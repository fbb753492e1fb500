"""Placeholders of a suite file: `{{ env.X }}` anywhere, `{{ vars.x }}` in what a case says."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from evalaction.core.scalars import spell

_ENV = re.compile(r"\{\{\s*env\.([A-Za-z_][A-Za-z0-9_]*)\s*\}\}")
_ENV_USED = re.compile(r"\benv\.([A-Za-z_][A-Za-z0-9_]*)")
_BLOCK = re.compile(r"\{\{.{0,500}?\}\}|\{%.{0,500}?%\}", re.DOTALL)  # bounded, so that a text of braces alone takes linear time
_NAME = r"[^\W\d][\w-]*(?:\.[\w-]+)*"
_VARIABLE = re.compile(r"\{\{\s*(?:(case\.vars\.|vars\.)(" + _NAME + r")|(" + _NAME + r"))\s*\}\}")
_VARIABLE_USED = re.compile(r"^\{\{\s*(?:case\.)?vars\.(.*?)\s*\}\}$", re.DOTALL)

Report = Callable[[str, str], None]
"""Takes what is unresolved and how to mend it."""


def has_placeholder(text: str) -> bool:
    """A quick look, before anything dear is done."""
    return "{{" in text or "{%" in text


def env_names(text: str) -> Iterator[str]:
    """Names of the environment variables that a template of the target block uses, in whatever expression."""
    for block in _BLOCK.finditer(text):
        yield from _ENV_USED.findall(block[0])


def is_set(name: str, environment: Mapping[str, str]) -> bool:
    """An empty variable counts as unset: a secret that is missing on GitHub is empty."""
    return bool(environment.get(name, "").strip())


def unset(name: str) -> tuple[str, str]:
    """What is wrong with an unset variable, and the remedy."""
    return f"the environment variable {name} is not set, or is empty", f"set {name}, or drop the placeholder"


def fill_env(text: str, environment: Mapping[str, str], report: Report) -> str:
    """Every `{{ env.X }}` by its value. A variable that is unset or empty, or an expression of more than the name, is reported and left."""

    def value(match: re.Match[str]) -> str:
        if is_set(match[1], environment):
            return environment[match[1]]
        report(*unset(match[1]))
        return match[0]

    for block in _BLOCK.finditer(text):
        if not _ENV.fullmatch(block[0]) and (used := _ENV_USED.search(block[0])):
            report(f"`{block[0]}` is more than the name of a variable, which is not evaluated here", f"write {{{{ env.{used[1]} }}}}")
    return _ENV.sub(value, text)


def fill_vars(text: str, variables: Mapping[str, Any], report: Report) -> str:
    """Every `{{ vars.x }}`, `{{ case.vars.x }}` and every bare `{{ x }}` that names a variable, by its value as spelled.

    An unknown `vars.x` is reported; a bare word that is no variable is text.
    """

    def value(match: re.Match[str]) -> str:
        path = match[2] or match[3]
        found = _lookup(variables, path)
        if found is not _ABSENT:
            return json.dumps(found, ensure_ascii=False) if isinstance(found, dict | list) else spell(found)
        if match[1]:
            report(f"there is no variable `{path}` in this case's `vars`", f"add `{path}` to `vars`, or correct the name")
        return match[0]

    for block in _BLOCK.finditer(text):
        if _VARIABLE_USED.match(block[0]) and not _VARIABLE.fullmatch(block[0]):
            report(f"`{block[0]}` is more than the name of a variable, which is not evaluated here", "write {{ vars.x }}, with the name only")
    return _VARIABLE.sub(value, text)


_ABSENT = object()


def _lookup(variables: Mapping[str, Any], path: str) -> Any:
    """A variable by its name, which may itself hold dots, else by the keys on the way."""
    if path in variables:
        return variables[path]
    node: Any = variables
    for step in path.split("."):
        if not isinstance(node, Mapping) or step not in node:
            return _ABSENT
        node = node[step]
    return node
