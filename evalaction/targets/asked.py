"""What a target is asked, as data: the settings, the endpoint and the filled-in request, from which a cassette makes its keys.

Secrets of the environment stand there by their names, so that a recorded answer can be found without them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlsplit

from pydantic import TypeAdapter

from evalaction.core.masking import looks_secret
from evalaction.core.suite import ExecTarget, HttpTarget, ModelTarget, TargetSpec
from evalaction.providers.build import address_of
from evalaction.targets.base import Request, case_line

_HOW = frozenset({"timeout_seconds", "retries"})
"""How patiently is asked changes no answer."""


@dataclasses.dataclass(frozen=True, slots=True)
class Asked:
    """The questions of one target. `of` gives endpoint and request of one trial, and may raise TargetError where a template cannot be filled in."""

    settings: Mapping[str, Any]
    of: Callable[[Request], tuple[str, Any]]


def asked_of(spec: TargetSpec, environment: Mapping[str, str]) -> Asked:
    """What a target of this kind is asked. Raises ConfigError with the faults of its templates."""
    named = {name: f"${{{name}}}" if looks_secret(name) else value for name, value in environment.items()}
    if isinstance(spec, HttpTarget):
        return _http(spec, named)
    if isinstance(spec, ModelTarget):
        return _model(spec, named)
    if isinstance(spec, ExecTarget):
        return _exec(spec, named)
    where = str(getattr(spec, "url", ""))
    return Asked(_settings(spec), lambda request: (where, case_line(request)))


def asked_query(query: Any) -> Asked:
    """A reference query to the server that answers the cases; which server that is follows from theirs."""
    return Asked({"kind": "query"}, lambda _request: ("", query))


def _settings(spec: TargetSpec) -> Mapping[str, Any]:
    stated: Mapping[str, Any] = TypeAdapter(type(spec)).dump_python(spec, mode="json")
    return {"kind": type(spec).__name__, **{name: value for name, value in stated.items() if name not in _HOW}}


def _exec(spec: ExecTarget, environment: Mapping[str, str]) -> Asked:
    """Variables that the author names count, those that a glob catches do not: they would differ from machine to machine."""
    settings = {**_settings(spec), "env": {name: environment.get(name) for name in sorted(spec.env)}}
    return Asked(settings, lambda request: ("", request.case.input if spec.protocol == "text" else case_line(request)))


def _http(spec: HttpTarget, environment: Mapping[str, str]) -> Asked:
    from evalaction.targets.request_form import RequestForm  # noqa: PLC0415  # Jinja2 is slow to import
    from evalaction.targets.templates import case_values  # noqa: PLC0415  # as above

    form = RequestForm(spec, environment)

    def of(request: Request) -> tuple[str, Any]:
        values = {"case": case_values(request), "env": form.env, "repeat": request.repeat}
        url = str(form.url(values))
        body = case_line(request) if form.json is None and form.body is None and spec.method != "GET" else (form.json or form.body or _nothing)(values)
        headers = {name.lower(): str(render(values)) for name, render in form.headers.items()}
        return urlsplit(url)._replace(path="", query="", fragment="").geturl(), {"url": url, "headers": headers, "body": body}

    return Asked({"kind": "http", "method": spec.method, "extract": dict(spec.extract)}, of)


def _nothing(_values: Mapping[str, Any]) -> None:
    """A request without a body."""


def _model(spec: ModelTarget, environment: Mapping[str, str]) -> Asked:
    from evalaction.targets.prompt_form import PromptForm  # noqa: PLC0415  # Jinja2 is slow to import

    form = PromptForm(spec, environment)
    address = address_of(spec.provider, form.base_url, environment)
    return Asked(form.description, lambda request: (address, dataclasses.asdict(form.prompt(request))))
