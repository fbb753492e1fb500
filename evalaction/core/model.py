"""The one decorator of all validated types: frozen, slotted, keyword-only, strict about unknown keys."""

from __future__ import annotations

import dataclasses
import functools
import json
import operator
from collections.abc import Callable
from typing import Any, NoReturn, TypeVar, cast, dataclass_transform

from pydantic import ConfigDict, Field, TypeAdapter
from pydantic.dataclasses import dataclass, rebuild_dataclass
from pydantic_core import PydanticSerializationError

T = TypeVar("T")


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(Field,))
def model(cls: type[T]) -> type[T]:
    """Turn a class into a frozen, slotted pydantic dataclass that refuses unknown keys, NaN and infinity.

    Slots keep a case of a large dataset small; strictness matters since files may come from strangers. A validator is
    built when it is first needed: building all of them takes longer than checking a suite.
    """
    decorate = dataclass(repr=False, eq=False, slots=True, kw_only=True, config=ConfigDict(extra="forbid", allow_inf_nan=False, serialize_by_alias=True, defer_build=True))
    made = cast("type[T]", decorate(cls))
    for name, method in {**_METHODS, "__init__": _built_first(made)}.items():
        setattr(made, name, method)
    return made


def _build(kind: Any) -> None:
    """Build the validator of a model, unless that is done.

    Without the empty namespace pydantic would look for the names of types among the variables of whoever needs it first.
    """
    rebuild_dataclass(kind, _types_namespace={})


def _built_first(kind: Any) -> Callable[..., None]:
    """A constructor that builds the validator; building puts pydantic's own constructor in its place."""

    def construct(self: object, *args: Any, **kwargs: Any) -> None:
        _build(kind)
        kind.__init__(self, *args, **kwargs)

    return construct


@functools.cache
def _getter(kind: Any) -> operator.attrgetter[Any]:
    return operator.attrgetter(*(name for name, _, _ in _slots(kind)))


def _equal(self: Any, other: Any) -> bool:
    values = _getter(self.__class__)
    return bool(values(self) == values(other)) if other.__class__ is self.__class__ else NotImplemented


def _hash(self: Any) -> int:
    return hash(_getter(self.__class__)(self))


def _repr(self: Any) -> str:
    return f"{self.__class__.__qualname__}({', '.join(f'{name}={read(self)!r}' for name, read, _ in _slots(self.__class__))})"


def _refuse_setting(_: object, name: str, _value: object) -> NoReturn:
    raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_deleting(_: object, name: str) -> NoReturn:
    raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")


def _state(self: Any) -> list[Any]:
    return [read(self) for _, read, _ in _slots(self.__class__)]


def _restore(self: Any, state: list[Any]) -> None:
    for (_, _, write), value in zip(_slots(self.__class__), state, strict=True):
        write(self, value)


_METHODS = {
    "__eq__": _equal, "__hash__": _hash, "__repr__": _repr, "__setattr__": _refuse_setting, "__delattr__": _refuse_deleting, "__getstate__": _state, "__setstate__": _restore,
}  # fmt: skip
"""What `frozen`, `eq` and `repr` stand for. The standard library compiles each of them anew for every class, which was a good part of the time that any command took to start."""


def copy_of(instance: T, **changed: Any) -> T:
    """A copy with other values, which are known to be valid: the constructor would validate everything again, at several times the cost."""
    kind: Any = type(instance)
    copy: T = object.__new__(kind)
    for name, read, write in _slots(kind):
        write(copy, changed[name] if name in changed else read(instance))
    return copy


def known_good(kind: type[T], *values: Any) -> T:
    """One of a model from the values of all its fields, in their order, which are known to be valid and are not looked at."""
    made, fields = object.__new__(kind), _slots(cast("Any", kind))
    for (_, _, write), value in zip(fields, values, strict=True):
        write(made, value)
    return made


def default_of(kind: type[T], **stated: Any) -> T:
    """One of a model from some values that are known to be valid, the other fields at their defaults; nothing is validated, so no validator is built."""
    fields = cast("Any", kind).__pydantic_fields__
    return known_good(kind, *(stated[name] if name in stated else fields[name].get_default(call_default_factory=True) for name, _, _ in _slots(cast("Any", kind))))


_ADAPTERS: dict[Any, TypeAdapter[Any]] = {}


def adapter(kind: type[T]) -> TypeAdapter[T]:
    """The reader and writer of one type, built at the first use. A model's own constructor then uses the same validator."""
    if kind not in _ADAPTERS:
        if hasattr(kind, "__pydantic_complete__"):
            _build(kind)
        made = TypeAdapter(kind)
        made.rebuild()
        _ADAPTERS[kind] = made
    return _ADAPTERS[kind]


@functools.cache
def _slots(kind: Any) -> tuple[tuple[str, Callable[[Any], Any], Callable[[Any, Any], None]], ...]:
    """Name, getter and setter of each field. The slots' own: going through `getattr` and `object.__setattr__` takes twice the time."""
    slots = {field.name: getattr(kind, field.name) for field in dataclasses.fields(kind)}
    return tuple((name, slot.__get__, slot.__set__) for name, slot in slots.items())


def json_bytes(kind: Any, value: Any, indent: int | None = None) -> bytes:
    """A value of a stated type as strict JSON. Half characters, such as stand for a byte of a file's name that is no UTF-8, become question marks."""
    try:
        return adapter(kind).dump_json(value, indent=indent)
    except PydanticSerializationError:
        plain = adapter(kind).dump_python(value)
        separators = None if indent else (",", ":")
        return json.dumps(plain, ensure_ascii=False, allow_nan=False, indent=indent, separators=separators).encode("utf-8", "replace")
