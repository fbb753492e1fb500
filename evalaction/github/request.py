"""What is asked over the wire: one request, of which repository and host, and the JSON of what is written."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from evalaction.errors import ConfigError
from evalaction.github.facts import CheckOutput

_REPOSITORY = re.compile(r"(?!\.{1,2}/)[A-Za-z0-9._-]{1,100}/(?!\.{1,2}\Z)[A-Za-z0-9._-]{1,100}")


@dataclasses.dataclass(frozen=True, slots=True)
class Request:
    """One request to the API. `path` is below its root."""

    method: str
    path: str
    query: Mapping[str, str | int] = dataclasses.field(default_factory=dict)
    body: Mapping[str, Any] | None = None
    adds: bool = False
    """Whether it adds something each time it takes effect."""

    @property
    def is_repeatable(self) -> bool:
        """What adds something may have taken effect though its answer was lost: whoever knows how to look for it asks again, not we."""
        return self.method != "POST" and not self.adds

    def __str__(self) -> str:
        return f"{self.method} {self.path}"


def output_json(output: CheckOutput) -> dict[str, Any]:
    """The `output` of a check run; what is empty is left out."""
    annotations = [
        {"path": one.path, "start_line": one.line, "end_line": one.line, "annotation_level": one.level, "title": one.title, "message": one.message} for one in output.annotations
    ]
    found: dict[str, Any] = {"title": output.title, "summary": output.summary}
    return {**found, **({"text": output.text} if output.text else {}), **({"annotations": annotations} if annotations else {})}


def checked_repository(repository: str) -> str:
    """`owner/name` as it stands. Raises ConfigError for anything else."""
    if not _REPOSITORY.fullmatch(repository):
        raise ConfigError.one("INVALID_INPUT", "the repository is not named `owner/name`", "set GITHUB_REPOSITORY as GitHub does")
    return repository


def checked_scheme(api_url: str) -> str:
    """`http` or `https`. Raises ConfigError for what is no address of the web."""
    try:
        parts = urlsplit(api_url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        host = None
    if not host or parts.scheme not in ("http", "https") or parts.username or parts.query:
        raise ConfigError.one("INVALID_INPUT", "the address of GitHub's API is no http or https address", "set GITHUB_API_URL as GitHub does")
    return parts.scheme
