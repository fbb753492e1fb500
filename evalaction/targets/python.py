"""The system under test as a function of the author's, called with one plain dict per trial."""

from __future__ import annotations

import asyncio
import contextlib
import copy
import functools
import importlib
import inspect
import json
import sys
import threading
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from pathlib import Path
from typing import Any, TextIO, cast

from evalaction.core.answer import Answer, read_answer
from evalaction.core.excerpts import excerpt
from evalaction.core.suite import PythonTarget
from evalaction.errors import ConfigError, TargetError
from evalaction.targets.base import Request, case_line
from evalaction.threads import in_daemon_thread

_is_aside: ContextVar[bool] = ContextVar("is_aside", default=False)


class _Stdout:
    """Stands in for `sys.stdout`: what an author's function prints, and every other thread than the main one, goes to stderr."""

    def __init__(self, stdout: TextIO) -> None:
        self._stdout = stdout

    def __getattr__(self, name: str) -> Any:
        aside = _is_aside.get() or threading.current_thread() is not threading.main_thread()
        return getattr(sys.stderr if aside else self._stdout, name)


@contextlib.contextmanager
def printing_aside() -> Iterator[None]:
    """Within it `print` goes to stderr: stdout belongs to the report. A function that hangs in it takes nothing else along."""
    if not isinstance(sys.stdout, _Stdout):
        sys.stdout = cast("TextIO", _Stdout(sys.stdout))
    token = _is_aside.set(True)
    try:
        yield
    finally:
        _is_aside.reset(token)


def described(spec: PythonTarget) -> Mapping[str, Any]:
    """A target of this kind, for the record."""
    return {"kind": "python", "callable": spec.callable}


def load_callable(reference: str, cwd: Path) -> Callable[..., Any]:
    """The function `pkg.mod:fn`, its prints sent to stderr; coroutine functions stay such.

    `cwd` leads the import path while importing and ends it afterwards, so that imports inside the
    function still work and no file of the author's hides a module of ours.
    Raises ConfigError FILE_NOT_FOUND (no such module) or INVALID_VALUE (it does not import, or has no such function).
    """
    module_name, _, attribute = reference.partition(":")
    with first_on_path(str(cwd)), printing_aside():
        module = _imported(module_name, reference)
    try:
        function = functools.reduce(getattr, attribute.split("."), module)
    except AttributeError:
        raise no_name(reference) from None
    if not callable(function):
        raise ConfigError.one("INVALID_VALUE", f"{reference} cannot be called", "name a function")
    return _aside_async(function) if _is_async(function) else _aside_plain(function)


@contextlib.contextmanager
def first_on_path(folder: str) -> Iterator[None]:
    """Within it a folder leads the import path; afterwards it ends it."""
    sys.path.insert(0, folder)
    try:
        yield
    finally:
        sys.path.remove(folder)
        if folder not in sys.path:
            sys.path.append(folder)


def _imported(name: str, reference: str) -> Any:
    importlib.invalidate_caches()
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is not None and (name == error.name or name.startswith(f"{error.name}.")):
            raise no_module(reference) from None
        raise broken(reference, error) from None
    except (Exception, SystemExit) as error:  # noqa: BLE001  # an author's module may raise anything while it is imported
        raise broken(reference, error) from None


def no_module(reference: str) -> ConfigError:
    """What is said of `pkg.mod:fn` without such a module."""
    return ConfigError.one("FILE_NOT_FOUND", f"{reference}: no module named {reference.partition(':')[0]}", "name a module that can be imported from the working directory")


def no_name(reference: str) -> ConfigError:
    """What is said of `pkg.mod:fn` without such a name in the module."""
    return ConfigError.one("INVALID_VALUE", f"{reference}: the module has no `{reference.partition(':')[2]}`", "name a function that the module defines")


def broken(reference: str, error: BaseException) -> ConfigError:
    """What is said of `pkg.mod:fn` whose module cannot be imported."""
    return ConfigError.one("INVALID_VALUE", f"{reference}: the import failed: {_named(error)}{_place(error)}", "make the module importable on its own")


def _is_async(function: Callable[..., Any]) -> bool:
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(getattr(type(function), "__call__", None))  # noqa: B004  # the method itself is looked at, not whether there is one


def _aside_plain(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function, updated=())
    def call(*args: Any) -> Any:
        with printing_aside():
            return function(*args)

    return call


def _aside_async(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function, updated=())
    async def call(*args: Any) -> Any:
        with printing_aside():
            return await function(*args)

    return call


class PythonCallable:
    """Calls a function per trial: plain ones in a thread of their own, coroutine functions on the loop."""

    repeatable = True
    retries = 0

    def __init__(self, spec: PythonTarget, *, cwd: Path) -> None:
        self._spec = spec
        self._function = load_callable(spec.callable, cwd)

    @property
    def description(self) -> Mapping[str, Any]:
        """Which function."""
        return described(self._spec)

    async def close(self) -> None:
        """Nothing is held."""

    async def ask(self, request: Request) -> Answer:
        """The function's answer. Raises TargetError TARGET_FAILED or TARGET_TIMEOUT, and MeasureError INVALID_ANSWER."""
        case = copy.deepcopy(case_line(request))
        try:
            async with asyncio.timeout(self._spec.timeout_seconds) as clock:
                result = await self._result(case)
        except (Exception, SystemExit) as error:  # noqa: BLE001  # an author's function may raise anything
            if isinstance(error, TimeoutError) and clock.expired():
                raise TargetError("TARGET_TIMEOUT", f"{self._spec.callable} did not return within {self._spec.timeout_seconds:g} s") from None
            raise TargetError("TARGET_FAILED", f"{self._spec.callable} raised {_named(error)}", _last_frame(error)) from None
        return read_answer(_plain(result, self._spec.callable))

    async def _result(self, case: dict[str, Any]) -> Any:
        result = self._function(case) if inspect.iscoroutinefunction(self._function) else await in_daemon_thread(lambda: self._function(case))
        return await result if inspect.isawaitable(result) else result


def _plain(result: Any, name: str) -> Any:
    """The result as JSON sees it, apart from anything the function may still hold and change."""
    try:
        return json.loads(json.dumps(result, allow_nan=False))
    except (TypeError, ValueError, RecursionError) as error:
        raise TargetError("INVALID_ANSWER", f"{name} returned {type(result).__name__}, which is not plain JSON: {excerpt(str(error))}") from None


def _named(error: BaseException) -> str:
    text = excerpt(str(error))
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _frame(error: BaseException) -> traceback.FrameSummary | None:
    frames = traceback.extract_tb(error.__traceback__)
    return frames[-1] if frames else None


def _place(error: BaseException) -> str:
    frame = _frame(error)
    return f" ({Path(frame.filename).name}:{frame.lineno})" if frame else ""


def _last_frame(error: BaseException) -> str:
    frame = _frame(error)
    return f"{frame.filename}:{frame.lineno} in {frame.name}\n    {frame.line or ''}".rstrip() if frame else ""
