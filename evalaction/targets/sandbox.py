"""The sandbox of target templates: Jinja2's own, and nothing in it grows or runs without bound.

Jinja2 keeps a template from reaching out, but not from `{{ 'a' * 999999999 }}`. Whatever makes a larger value out of smaller
ones (operators, concatenation, filters, methods) is therefore asked beforehand how large the result would be at most.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from jinja2 import nodes
from jinja2.exceptions import SecurityError
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.visitor import NodeTransformer

LARGEST = 1024 * 1024
"""Characters of a text, or texts and items of a list, that a template may make."""
MOST_TURNS = 10_000
"""Turns of all loops of one rendering."""
REFUSED = (nodes.Macro, nodes.CallBlock, nodes.FilterBlock, nodes.AssignBlock, nodes.Block, nodes.Extends, nodes.Include, nodes.Import, nodes.FromImport)
"""Statements that collect text out of sight, call themselves or read files."""
_MOST_BITS = 4096
_MOST_INDENT = 16
_PERCENT = re.compile(r"%(?:\([^)]*\))?[-+ #0]*(\*|[0-9]*)(?:\.(\*|[0-9]*))?")
_COUNTED = "counted turns"  # a name that no author can write
_WHOLE = float("inf")


class Sandbox(ImmutableSandboxedEnvironment):
    """A mapping's keys come before its methods: `case.vars.items` is the author's variable."""

    intercepted_binops = frozenset({"+", "*", "**", "%"})

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.turns = 0
        """Turns of loops since the rendering began; whoever renders sets it to 0."""
        self.filters = {name: _bounded(function, _FILTERS.get(name)) for name, function in self.filters.items()}
        self.filters[_COUNTED] = self._counted

    def getattr(self, obj: Any, attribute: str) -> Any:
        """`obj.attribute`."""
        return self.getitem(obj, attribute) if isinstance(obj, Mapping) else super().getattr(obj, attribute)

    def getitem(self, obj: Any, argument: Any) -> Any:
        """`obj[argument]`."""
        if isinstance(obj, Mapping):
            return obj[argument] if argument in obj else self.undefined(obj=obj, name=argument)
        return super().getitem(obj, argument)

    def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
        """`left operator right`, unless the result would be too large."""
        _refuse(_OPERATORS[operator](left, right))
        return super().call_binop(context, operator, left, right)

    def call(self, context: Any, obj: Any, /, *args: Any, **kwargs: Any) -> Any:
        """A method, unless the result would be too large."""
        stated = [*args, *kwargs.values()]
        method = getattr(obj, "__wrapped__", obj)
        owner = getattr(method, "__self__", None)
        _refuse(_of_numbers(stated))
        if isinstance(owner, str | bytes):
            growth: Callable[..., float] = _METHODS.get(method.__name__, _no_growth)
            _refuse(growth(owner, *stated))
        return super().call(context, obj, *args, **kwargs)

    def concat(self, pieces: Iterable[str]) -> str:
        """The pieces of a rendering as one text, unless it is too large."""
        return "".join(_counting(pieces))

    def _generate(self, source: nodes.Template, *args: Any, **kwargs: Any) -> str:
        return super()._generate(_Rewritten().visit(source), *args, **kwargs)

    def _counted(self, items: Iterable[Any]) -> Iterator[Any]:
        for item in items:
            self.turns += 1
            if self.turns > MOST_TURNS:
                raise SecurityError(f"its loops take more than {MOST_TURNS:,} turns")
            yield item


class _Rewritten(NodeTransformer):
    """`a ~ b` as the bounded filter `join`, and every loop over counted turns."""

    def visit_Concat(self, node: nodes.Concat) -> nodes.Node:  # noqa: N802 - the visitor finds it by this name
        parts = nodes.List([self.visit(part) for part in node.nodes], lineno=node.lineno)
        return nodes.Filter(parts, "join", [], [], None, None, lineno=node.lineno, environment=node.environment)

    def visit_For(self, node: nodes.For) -> nodes.Node:  # noqa: N802 - the visitor finds it by this name
        self.generic_visit(node)
        node.iter = nodes.Filter(node.iter, _COUNTED, [], [], None, None, lineno=node.lineno, environment=node.environment)
        return node


def check_size(value: Any) -> None:
    """Raise SecurityError for a finished value of more than `LARGEST`."""
    _refuse(weight(value))


def weight(value: Any) -> int:
    """Characters of a text, of all texts in a list or map, plus one for each item; counting ends beyond the bound."""
    total, waiting = 0, [value]
    while waiting and total <= LARGEST:
        item = waiting.pop()
        if isinstance(item, str | bytes | list | tuple | Mapping):
            total += len(item)
            if isinstance(item, list | tuple | Mapping) and total <= LARGEST:
                waiting += [*item, *item.values()] if isinstance(item, Mapping) else item
    return total


def _refuse(size: float) -> None:
    if size > LARGEST:
        raise SecurityError("the value would be larger than 1 MiB")


def _counting(items: Iterable[Any]) -> Iterator[Any]:
    """The items of something that is still being made, as long as they are not too many, or too large together."""
    total = 0
    for item in items:
        total += 1 + weight(item)
        _refuse(total - 1)
        yield item


def _bounded(function: Callable[..., Any], growth: Callable[..., float] | None) -> Callable[..., Any]:
    """A filter that looks at its arguments first. Some take a context before their value."""
    at = 1 if hasattr(function, "jinja_pass_arg") else 0

    @functools.wraps(function)
    def filtered(*args: Any, **kwargs: Any) -> Any:
        before, value, stated = args[:at], args[at], [*args[at + 1 :], *kwargs.values()]
        if isinstance(value, Iterator):
            value = _counting(value) if growth is None else list(_counting(value))
        _refuse(_of_numbers(stated))
        if growth is not None:
            _refuse(growth(value, *stated))
        return function(*before, value, *args[at + 1 :], **kwargs)

    return filtered


def _of_numbers(stated: list[Any]) -> float:
    """A width, a count or a number of digits is at most as large as a value may be."""
    return max((abs(number) for number in stated if isinstance(number, int)), default=0)


def _no_growth(*_stated: Any) -> float:
    return 0


def _padded(value: Any, *stated: Any) -> float:
    return weight(value) + _of_numbers(list(stated))


def _for_each(value: Any, *stated: Any) -> float:
    """Each character or item may bring all that was stated."""
    if any(isinstance(item, Iterator) for item in stated):
        return _WHOLE  # nobody knows how much is still to come
    return weight(value) * (1 + weight(stated) + _of_numbers(list(stated)))


def _joined(value: Any, *stated: Any) -> float:
    return weight(value) + len(value) * weight(stated) if isinstance(value, str | list | tuple | Mapping) else weight(value)


def _method_join(owner: Any, items: Any = (), *_more: Any) -> float:
    return _WHOLE if isinstance(items, Iterator) else _joined(items, owner)


def _replaced(value: Any, *stated: Any) -> float:
    if len(stated) < 2 or not all(isinstance(text, type(stated[0])) for text in stated[:2]) or not isinstance(stated[0], str | bytes):
        return _for_each(value, *stated)
    text = value if isinstance(value, str | bytes) else str(value)
    return len(text) + text.count(stated[0]) * len(stated[1])  # type: ignore[arg-type]  # both are of one kind, else Python itself objects


def _indented(value: Any, *stated: Any) -> float:
    widths = weight(stated) + _of_numbers(list(stated)) + 4
    return weight(value) + (str(value).count("\n") + 1) * widths


def _as_json(_value: Any, *stated: Any) -> float:
    return _WHOLE if _of_numbers(list(stated)) > _MOST_INDENT or weight(stated) > _MOST_INDENT else 0


def _times(left: Any, right: Any) -> float:
    for items, count in ((left, right), (right, left)):
        if isinstance(items, str | bytes | list | tuple) and isinstance(count, int):
            return max(len(items), weight(items)) * max(count, 0)
    return _digits(_bits(left) + _bits(right))


def _power(left: Any, right: Any) -> float:
    return _digits(_bits(left) * abs(right)) if isinstance(left, int) and isinstance(right, int) else 0


def _bits(value: Any) -> int:
    return value.bit_length() if isinstance(value, int) else 0


def _digits(bits: int) -> float:
    return 0 if bits <= _MOST_BITS else _WHOLE


def _percent(text: Any, *stated: Any) -> float:
    """`text % arguments`: each place as wide as it says, or as its argument is."""
    return _places(_PERCENT.findall(text), text, stated) if isinstance(text, str) else 0


def _format(text: Any, *stated: Any) -> float:
    """`text.format(arguments)`; a width that is an argument itself is refused."""
    places = re.findall(r"\{([^{}]*)", text) if isinstance(text, str) else []
    if isinstance(text, str) and re.search(r"\{[^{}]*:[^{}]*\{", text):
        return _WHOLE
    return _places([re.findall("[0-9]+", place) for place in places], str(text), stated)


def _places(places: list[Any], text: str, stated: Any) -> float:
    numbers = [number for place in places for number in place if number]
    if any(number == "*" or len(number) > 7 for number in numbers):
        return _WHOLE
    return len(text) + sum(map(int, numbers)) + len(places) * 2 * weight(stated)


_OPERATORS: Mapping[str, Callable[[Any, Any], float]] = {"+": lambda left, right: weight(left) + weight(right), "*": _times, "**": _power, "%": _percent}
_FILTERS: Mapping[str, Callable[..., float]] = {
    "center": _padded, "batch": _padded, "slice": _padded, "indent": _indented, "format": _percent, "join": _joined, "replace": _replaced, "tojson": _as_json,
    "wordwrap": _for_each, "urlize": _for_each,
}  # fmt: skip
_METHODS: Mapping[str, Callable[..., float]] = {
    "center": _padded, "ljust": _padded, "rjust": _padded, "zfill": _padded, "expandtabs": _for_each, "replace": _replaced, "join": _method_join, "format": _format,
    "format_map": _format, "translate": _for_each,
}  # fmt: skip
"""What each makes of a value and its arguments, in characters or items at most."""
