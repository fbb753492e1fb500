"""Which names an author could have meant: the fields of a model at a place, and the nearest of several words."""

from __future__ import annotations

import dataclasses
import difflib
import functools
import typing
from collections.abc import Iterable, Sequence
from typing import Any


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known word that looks most like `word`; None when none does.

    A word that another one begins with is meant by it: `contains` is nearer to `contains_all` than to
    `not_contains`, which says the opposite.
    """
    words = list(known)
    longer = [other for other in words if word and other.startswith(f"{word}_")]
    found = longer or difflib.get_close_matches(word[:80], [other for other in words if not other.startswith("not_") or word.startswith("not")], n=1, cutoff=0.7)
    return found[0] if found else None


def suggestion(word: str, known: Sequence[str]) -> str:
    """A remedy for a word that is not known: the nearest one, and the choice."""
    near = nearest(word, known)
    choice = ", ".join(known)
    return f"did you mean `{near}`? Known here: {choice}" if near else f"use one of {choice}"


def misplaced(steps: Sequence[str | int], known: Sequence[str]) -> str | None:
    """The remedy for a field whose meaning is clear and whose place is another; None for others. `steps` lead to it, `known` may stand beside it."""
    match tuple(steps):
        case ("target", "command" | "protocol" | "env" as name):
            return f"write it inside: exec: {{ command: …, {name}: … }}"
        case (*_, "expected" | "expected_output" | "expected_answer") if "checks" in known:
            return "use a check of type equals: checks: [{ type: equals, value: … }]"
    return None


def field_names(model: type, loc: Sequence[str | int]) -> tuple[str, ...]:
    """Names of the fields that may stand at a place of pydantic's error (keys, indices and type tags), in the model's order."""
    candidates: tuple[type, ...] = (model,)
    for step in loc:
        if isinstance(step, str):
            candidates = tuple(dict.fromkeys(child for candidate in candidates for child in _below(candidate, step))) or candidates
    return tuple(dict.fromkeys(name for candidate in candidates for name in _fields(candidate)))


def _below(model: type, step: str) -> tuple[type, ...]:
    fields = _fields(model)
    if step in fields:
        return fields[step]
    return (model,) if type_tag(model) == step else ()


def type_tag(model: type) -> object:
    """The constant of a model's `type` field, None without one; slots hide the default from the class itself."""
    return next((field.default for field in dataclasses.fields(model) if field.name == "type"), None)


@functools.cache
def _fields(model: type) -> dict[str, tuple[type, ...]]:
    """Each field of a model under the name that files use, with the models that its value may be."""
    hints = typing.get_type_hints(model, include_extras=True)
    return {_alias(hints[field.name]) or field.name: tuple(_models(hints[field.name])) for field in dataclasses.fields(model)}


def _alias(hint: Any) -> str | None:
    return next((alias for meta in getattr(hint, "__metadata__", ()) if isinstance(alias := getattr(meta, "alias", None), str)), None)


def _models(hint: Any) -> Iterable[type]:
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        yield hint
    for part in typing.get_args(hint):
        yield from _models(part)
