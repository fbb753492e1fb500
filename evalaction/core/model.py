"""The one decorator of all validated types: frozen, slotted, keyword-only, strict about unknown keys."""

from __future__ import annotations

import dataclasses
import functools
from typing import Any, TypeVar, cast, dataclass_transform

from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass

T = TypeVar("T")


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(Field,))
def model(cls: type[T]) -> type[T]:
    """Turn a class into a frozen, slotted pydantic dataclass that refuses unknown keys, NaN and infinity.

    Slots keep a case of a large dataset small; strictness matters since files may come from strangers.
    """
    decorate = dataclass(frozen=True, slots=True, kw_only=True, config=ConfigDict(extra="forbid", allow_inf_nan=False, serialize_by_alias=True))
    return cast("type[T]", decorate(cls))


def copy_of(instance: T, **changed: Any) -> T:
    """A copy with other values, which are known to be valid: the constructor would validate everything again, at several times the cost."""
    made = object.__new__(type(instance))
    for name in _names(type(instance)):
        object.__setattr__(made, name, changed[name] if name in changed else getattr(instance, name))
    return made


@functools.cache
def _names(kind: Any) -> tuple[str, ...]:
    return tuple(field.name for field in dataclasses.fields(kind))
