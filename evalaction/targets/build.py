"""From a suite's `target:` block to the target that is asked."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from evalaction.core.model import adapter
from evalaction.core.suite import SAIKU_SERVER, ExecTarget, HttpTarget, ImportTarget, ModelTarget, PredictionsTarget, PythonTarget, TargetSpec
from evalaction.errors import ConfigError, Fault
from evalaction.targets.base import BatchTarget, SingleTarget


def build_target(spec: TargetSpec, *, environment: Mapping[str, str], cwd: Path, concurrency: int) -> SingleTarget | BatchTarget:
    """The target of a suite. Commands run in `cwd`, and a relative path of predictions starts there.

    Nothing is called yet, but everything that can be known to be wrong is: raises ConfigError with all of it.
    """
    if isinstance(spec, ExecTarget):
        from evalaction.targets.exec import JsonlCommand, TextCommand  # noqa: PLC0415  # only the kind in use is loaded: aiohttp and Jinja2 are slow to import

        return (TextCommand if spec.protocol == "text" else JsonlCommand)(spec, environment=environment, cwd=cwd)
    if isinstance(spec, HttpTarget):
        from evalaction.targets.http import HttpCaller  # noqa: PLC0415  # only the kind in use is loaded: aiohttp and Jinja2 are slow to import
        from evalaction.targets.saiku import SaikuCaller  # noqa: PLC0415  # as above

        return (SaikuCaller if spec.protocol == "saiku" else HttpCaller)(spec, environment=environment, concurrency=concurrency)
    if isinstance(spec, PythonTarget):
        from evalaction.targets.python import PythonCallable  # noqa: PLC0415  # only the kind in use is loaded: aiohttp and Jinja2 are slow to import

        return PythonCallable(spec, cwd=cwd)
    if isinstance(spec, PredictionsTarget):
        from evalaction.targets.predictions import Predictions  # noqa: PLC0415  # only the kind in use is loaded: aiohttp and Jinja2 are slow to import

        return Predictions(spec, cwd=cwd)
    if isinstance(spec, ImportTarget):
        raise TypeError("an import is read, not asked")
    return _model(spec, environment, cwd)


def check_target(spec: TargetSpec, *, environment: Mapping[str, str], cwd: Path) -> None:
    """Raise ConfigError for what can be known to be wrong without a client, a call or an author's code.

    A python target is looked up but not imported, and a model's key may be missing where a suite is only read.
    """
    if isinstance(spec, HttpTarget) and spec.protocol == "saiku":
        from evalaction.targets.saiku import SaikuCaller  # noqa: PLC0415  # as below, and so is its client

        SaikuCaller(spec, environment=environment, concurrency=1)
    elif isinstance(spec, HttpTarget):
        from evalaction.targets.request_form import RequestForm  # noqa: PLC0415  # Jinja2 is slow to import

        RequestForm(spec, environment)
    elif isinstance(spec, PythonTarget):
        from evalaction.targets.lookup import look_up  # noqa: PLC0415  # only the kind in use is loaded

        look_up(spec.callable, cwd)
    elif isinstance(spec, PredictionsTarget):
        from evalaction.targets.predictions import Predictions  # noqa: PLC0415  # as above

        asyncio.run(Predictions(spec, cwd=cwd).close())


def _model(spec: ModelTarget, environment: Mapping[str, str], cwd: Path) -> SingleTarget:
    from evalaction.targets.model import ModelCaller  # noqa: PLC0415  # only the kind in use is loaded: the vendors' SDKs are slow to import

    return ModelCaller(spec, environment=environment, cwd=cwd)


def build_reference(block: Mapping[str, Any], asked: TargetSpec | None = None, *, environment: Mapping[str, str], concurrency: int) -> SingleTarget:
    """The target of a `reference:` block of a rows check, which has the keys of an http target, or `saiku` with a query.

    `asked` is the suite's own target: where it is a Saiku server, that one is asked, else the one of the environment. Raises ConfigError.
    """
    if set(block) == {"saiku"}:
        return _saiku_query(block["saiku"], asked, environment, concurrency)
    from evalaction.targets.http import HttpCaller  # noqa: PLC0415  # only the kind in use is loaded: aiohttp and Jinja2 are slow to import

    return HttpCaller(reference_spec(block), environment=environment, concurrency=concurrency)


def _saiku_query(query: Any, asked: TargetSpec | None, environment: Mapping[str, str], concurrency: int) -> SingleTarget:
    from evalaction.targets.saiku import SaikuQuery  # noqa: PLC0415  # only the kind in use is loaded: aiohttp and Jinja2 are slow to import

    server = asked if isinstance(asked, HttpTarget) and asked.protocol == "saiku" else HttpTarget(url=environment.get(SAIKU_SERVER) or "http://", protocol="saiku")
    if not isinstance(query, Mapping):
        raise ConfigError.one("TYPE_MISMATCH", "expected a query of Saiku's", "write the query as a mapping", path="reference.saiku")
    return SaikuQuery(server, query, environment=environment, concurrency=concurrency)


def reference_spec(block: Mapping[str, Any]) -> HttpTarget:
    """A `reference:` block as the http target that it describes. Raises ConfigError."""
    try:
        return adapter(HttpTarget).validate_python(dict(block))
    except ValidationError as error:
        fix = "write the keys of an http target"
        raise ConfigError(Fault(code="INVALID_VALUE", what=found["msg"], fix=fix, path=".".join(["reference", *map(str, found["loc"])])) for found in error.errors()) from None
