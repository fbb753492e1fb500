"""Whether a function of the author's can be there at all: its module is found and read as text, and nothing of it runs."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import sys
from collections.abc import Iterator
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import Any

from evalaction.targets.python import broken, first_on_path, no_module, no_name

_MOST = 4_000_000
"""Characters of a module that is read; a larger one is left to the import."""
_OPEN_CALLS = frozenset({"globals", "locals", "vars", "exec", "eval", "setattr"})
_OPEN_ATTRIBUTES = frozenset({"__dict__", "modules"})
"""With one of these a module may have names that its text does not show."""


def look_up(reference: str, cwd: Path) -> None:
    """Raise ConfigError, as `load_callable` would, when the module of `pkg.mod:fn` is not there, cannot be parsed, or shows no such name.

    In doubt nothing is raised: names may come to be in ways that a text does not show.
    """
    module, _, attribute = reference.partition(":")
    with first_on_path(str(cwd)):
        importlib.invalidate_caches()
        spec, name = _found(module, reference), attribute.split(".")[0]
        tree = _tree(spec, reference) if spec is not None else None
        if spec is None or tree is None or _is_open(tree) or name in set(_bound(tree)) or hasattr(sys.modules.get(module), name):
            return
        if spec.submodule_search_locations is not None and _spec(f"{module}.{name}", spec) is not None:
            return
    raise no_name(reference)


def _found(module: str, reference: str) -> ModuleSpec | None:
    """The spec of a module, found without importing the packages above it; None where only an import can tell."""
    spec: ModuleSpec | None = None
    parts = module.split(".")
    for depth in range(1, len(parts) + 1):
        name = ".".join(parts[:depth])
        if name in sys.modules and (spec := getattr(sys.modules[name], "__spec__", None)) is None:
            return None
        if name not in sys.modules and (spec := _spec(name, spec)) is None:
            raise no_module(reference)
    return spec


def _spec(name: str, parent: ModuleSpec | None) -> ModuleSpec | None:
    path = None if parent is None else list(parent.submodule_search_locations or ())
    if parent is not None and not path:
        return None
    searches = (finder.find_spec(name, path) for finder in sys.meta_path if hasattr(finder, "find_spec"))
    return next((found for found in searches if found is not None), None)


def _tree(spec: ModuleSpec, reference: str) -> ast.Module | None:
    """The module's text, parsed; None for one without a text."""
    source = getattr(spec.loader, "get_source", None)
    try:
        text = source(spec.name) if source is not None else None
        return ast.parse(text) if text is not None and len(text) <= _MOST else None
    except (ImportError, SyntaxError, ValueError) as error:
        raise broken(reference, error) from None
    except (RecursionError, MemoryError):  # nested too deep for the parser that is asked here
        return None


def _is_open(tree: ast.Module) -> bool:
    return any(
        (isinstance(node, ast.Name) and node.id in _OPEN_CALLS)
        or (isinstance(node, ast.Attribute) and node.attr in _OPEN_ATTRIBUTES)
        or (isinstance(node, ast.ImportFrom) and any(alias.name == "*" for alias in node.names))
        or (isinstance(node, ast.FunctionDef) and node.name == "__getattr__")
        for node in ast.walk(tree)
    )


def _bound(tree: ast.Module) -> Iterator[str]:
    """Names that the module's text binds: at its top level, in whatever block, or as a `global` of a function."""
    yield from (name for node in ast.walk(tree) if isinstance(node, ast.Global) for name in node.names)
    waiting: list[ast.AST] = list(tree.body)
    while waiting:
        node = waiting.pop()
        yield from _names(node)
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            waiting += ast.iter_child_nodes(node)


def _names(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Import | ast.ImportFrom):
        yield from (alias.asname or alias.name.partition(".")[0] for alias in node.names)
    elif isinstance(node, ast.Name):
        yield from [node.id] if isinstance(node.ctx, ast.Store) else []
    else:
        named: Any = getattr(node, "name", None) or getattr(node, "rest", None)
        yield from [named] if isinstance(named, str) else []
