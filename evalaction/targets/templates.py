"""Templates of an http target: Jinja2 in its sandbox, compiled once, filled in with one case at a time.

A template is the suite author's; what fills it in is data: it is never rendered again, and in a URL
it is percent-encoded. A template that is one whole expression gives the value itself, with its type.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from typing import Any
from urllib.parse import quote

from jinja2 import StrictUndefined, TemplateError, TemplateSyntaxError, Undefined, nodes
from jinja2.meta import find_undeclared_variables

from evalaction.core.excerpts import excerpt
from evalaction.core.scalars import spell
from evalaction.errors import Fault, TargetError
from evalaction.targets.base import Request
from evalaction.targets.environment import is_withheld
from evalaction.targets.sandbox import REFUSED, Sandbox, check_size

Values = Mapping[str, Any]
"""`case`, `env` and `repeat`."""
Render = Callable[[Values], Any]

_ROOTS = frozenset({"case", "env", "repeat"})
_OF_A_CASE = ("id", "input", "history", "vars", "category", "tags", "metadata", "record")
_URL_SIGNS = "%/:?#[]@!$&'()*+,;=~"
"""What an author's own URL text may hold as it is; anything else is encoded."""


def case_values(request: Request) -> dict[str, Any]:
    """What `case` means inside a template."""
    case = request.case
    return {
        "id": case.id, "input": case.input, "history": [{"role": turn.role, "content": turn.content} for turn in case.history], "vars": case.vars or {},
        "category": case.category, "tags": case.tags, "metadata": case.metadata or {}, "record": case.record or {},
    }  # fmt: skip


class _Literal(str):
    """Text that is written into a URL as it is: a variable of the environment, such as the base URL."""

    __slots__ = ()


def _written(value: Any) -> str:
    """A value inside text: scalars as their author spelled them, lists and maps as JSON."""
    if isinstance(value, Mapping | list | tuple):
        return json.dumps(value, ensure_ascii=False, default=str)
    return spell(value)


def _encoded(value: Any) -> str:
    """A value inside a URL. A lone `.` or `..` would walk through the path."""
    if isinstance(value, _Literal):
        return value
    text = _written(value)
    return text.replace(".", "%2E") if text in {".", ".."} else quote(text, safe="", errors="replace")


class Templates:
    """Compiles the templates of one target; `faults` collects what is wrong with them, all of it."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self.env = {name: _Literal(value) for name, value in environment.items() if not is_withheld(name)}
        self.faults: list[Fault] = []
        self._text = Sandbox(undefined=StrictUndefined, keep_trailing_newline=True, finalize=_written)
        self._url = Sandbox(undefined=StrictUndefined, finalize=_encoded)
        self._text.policies["json.dumps_kwargs"] = {"sort_keys": False}

    def text(self, source: str, path: str) -> Render:
        """A renderer that gives text. `path` is the template's place in the suite, for messages."""
        return self._compiled(self._text, source, path)

    def url(self, source: str, path: str) -> Render:
        """A renderer that gives a percent-encoded URL."""
        render = self._compiled(self._url, source, path)
        if isinstance(render, _Constant):
            return _Constant(quote(render.value, safe=_URL_SIGNS, errors="replace"))
        return lambda values: quote(render(values), safe=_URL_SIGNS, errors="replace")

    def value(self, source: Any, path: str) -> Render:
        """A renderer of any JSON value, whose texts are templates and whose keys are not."""
        if isinstance(source, Mapping):
            fields = {key: self.value(item, f"{path}.{key}") for key, item in source.items()}
            return _joined(fields.values(), lambda items: dict(zip(fields, items, strict=True)))
        if isinstance(source, list | tuple):
            return _joined([self.value(item, f"{path}[{index}]") for index, item in enumerate(source)], list)
        if not isinstance(source, str) or not _is_template(source):
            return _Constant(source)
        return self._whole(source, path) or self.text(source, path)

    def _compiled(self, jinja: Sandbox, source: str, path: str) -> Render:
        tree = self._parsed(source, path) if _is_template(source) else None
        if tree is None:
            return _Constant(source)
        render = jinja.from_string(source).render
        return self._settled(tree, lambda values: _guarded(jinja, lambda: render(values), path))

    def _whole(self, source: str, path: str) -> Render | None:
        """A renderer that keeps the type, when the template is nothing but one expression."""
        tree = self._parsed(source, path)
        if tree is None:
            return _Constant(None)
        if not (len(tree.body) == 1 and isinstance(tree.body[0], nodes.Output) and len(tree.body[0].nodes) == 1 and not isinstance(tree.body[0].nodes[0], nodes.TemplateData)):
            return None
        if (name := _field_of_case(tree.body[0].nodes[0])) is not None:
            return lambda values: _sized(values["case"][name], path)
        inner = source.strip()[2:-2]
        evaluate = self._text.compile_expression(inner.removeprefix("-").removeprefix("+").removesuffix("-").removesuffix("+"), undefined_to_none=False)
        return self._settled(tree, lambda values: _guarded(self._text, lambda: _defined(evaluate(values)), path))

    def _settled(self, tree: nodes.Template, render: Render) -> Render:
        """What depends on the environment alone, such as a header with a key, is filled in once."""
        if find_undeclared_variables(tree) & {"case", "repeat"}:
            return render
        try:
            return _Constant(render({"env": self.env}))
        except TargetError:
            return render

    def _parsed(self, source: str, path: str) -> nodes.Template | None:
        """The syntax tree, None when something is wrong with it, which is then in `faults`."""
        try:
            tree = self._text.parse(source)
        except TemplateSyntaxError as error:
            self._fault("INVALID_VALUE", path, f"the template does not parse: {error.message}", "correct the template")
            return None
        before = len(self.faults)
        self._check_names(tree, path)
        return tree if len(self.faults) == before else None

    def _check_names(self, tree: nodes.Template, path: str) -> None:
        if any(True for _ in tree.find_all(REFUSED)) or any(loop.recursive for loop in tree.find_all(nodes.For)):
            fix = "keep to values, `if`, `set` and plain `for`"
            self._fault("INVALID_VALUE", path, "macros, blocks, includes and loops that call themselves have no place in a template of a target", fix)
        for name in sorted(find_undeclared_variables(tree) - _ROOTS):
            self._fault("UNRESOLVED_VARIABLE", path, f"the template names an unknown variable `{name}`", "use case, env or repeat")
        excused = {id(node.node) for kind in (nodes.Filter, nodes.Test) for node in tree.find_all(kind) if node.name in {"default", "d", "defined", "undefined"}}
        members: list[tuple[nodes.Expr, nodes.Expr, Any]] = [(node, node.node, node.attr) for node in tree.find_all(nodes.Getattr)]
        members += [(node, node.node, getattr(node.arg, "value", None)) for node in tree.find_all(nodes.Getitem)]
        for node, owner, name in members:
            if isinstance(name, str) and isinstance(owner, nodes.Name) and id(node) not in excused:
                self._check_member(owner.name, name, path)

    def _check_member(self, root: str, name: str, path: str) -> None:
        if root == "env" and not self.env.get(name):
            fix = "it is never handed to a target; put a token of your own into another variable" if is_withheld(name) else f"set {name} for this step"
            self._fault("UNRESOLVED_VARIABLE", path, f"the environment variable {name} is not set or empty", fix)
        elif root == "case" and name not in _OF_A_CASE:
            near = get_close_matches(name, _OF_A_CASE, 1)
            self._fault("UNRESOLVED_VARIABLE", path, f"a case has no `{name}`", f"did you mean case.{near[0]}?" if near else f"use one of {', '.join(_OF_A_CASE)}")

    def _fault(self, code: str, path: str, what: str, fix: str) -> None:
        fault = Fault(code=code, what=what, fix=fix, path=path)
        if fault not in self.faults:
            self.faults.append(fault)


class _Constant:
    """A renderer without any template in it."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __call__(self, _values: Values) -> Any:
        return self.value


def is_constant(render: Render) -> bool:
    """Whether a renderer gives the same for every case."""
    return isinstance(render, _Constant)


def _is_template(source: str) -> bool:
    return any(mark in source for mark in ("{{", "{%", "{#"))


def _joined(renders: Any, join: Callable[[list[Any]], Any]) -> Render:
    parts: list[Render] = list(renders)
    if all(map(is_constant, parts)):
        return _Constant(join([part({}) for part in parts]))
    return lambda values: join([part(values) for part in parts])


def _field_of_case(node: nodes.Node) -> str | None:
    """The field that an expression such as `case.input` names and does nothing else with: by far the most frequent, and it needs no engine."""
    alone = isinstance(node, nodes.Getattr) and isinstance(node.node, nodes.Name) and node.node.name == "case" and node.attr in _OF_A_CASE
    return node.attr if alone and isinstance(node, nodes.Getattr) else None


def _sized(value: Any, path: str) -> Any:
    try:
        check_size(value)
    except TemplateError as error:
        raise _unfilled(path, error) from None
    return value


def _defined(value: Any) -> Any:
    if isinstance(value, Undefined):
        str(value)  # raises UndefinedError, which names what is missing
    return value


def _guarded(jinja: Sandbox, render: Callable[[], Any], path: str) -> Any:
    jinja.turns = 0
    try:
        value = render()
        check_size(value)
    except (TemplateError, ArithmeticError, LookupError, TypeError, ValueError, RecursionError) as error:
        raise _unfilled(path, error) from None
    return value


def _unfilled(path: str, error: Exception) -> TargetError:
    return TargetError("TARGET_FAILED", f"the template {path} cannot be filled in: {excerpt(str(error))}")
