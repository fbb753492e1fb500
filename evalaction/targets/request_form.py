"""The request of an http target as its author wrote it, compiled and checked; apart from the client, which is slow to import."""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import urlsplit

from evalaction.core.suite import HttpTarget
from evalaction.errors import ConfigError, Fault
from evalaction.targets.replies import Replies
from evalaction.targets.templates import Templates

_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")


class RequestForm:
    """Templates and expressions of one target. Raises ConfigError with every fault of them."""

    def __init__(self, spec: HttpTarget, environment: Mapping[str, str]) -> None:
        templates = Templates(environment)
        self.url = templates.url(spec.url, "http.url")
        self.headers = {name: templates.text(value, f"http.headers.{name}") for name, value in spec.headers.items()}
        self.json = None if spec.json_ is None else templates.value(spec.json_, "http.json")
        self.body = None if spec.body is None else templates.text(spec.body, "http.body")
        self.replies = Replies(spec.extract)
        self.env = templates.env
        if faults := [*templates.faults, *self.replies.faults, *_faults(spec)]:
            raise ConfigError(faults)


def _faults(spec: HttpTarget) -> list[Fault]:
    faults = [
        Fault(code="INVALID_VALUE", what="not the name of a header", fix="use letters, digits and hyphens", path=f"http.headers.{name}")
        for name in spec.headers
        if not _HEADER_NAME.fullmatch(name)
    ]
    if spec.json_ is not None and spec.body is not None:
        faults.append(Fault(code="INVALID_VALUE", what="both `json` and `body` are given", fix="keep one of them", path="http.body"))
    if not spec.url.startswith("{") and (urlsplit(spec.url).scheme not in {"http", "https"} or not urlsplit(spec.url).netloc):
        faults.append(Fault(code="INVALID_VALUE", what="not an http or https address", fix="write a URL such as https://host/path", path="http.url"))
    return faults
