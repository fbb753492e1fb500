"""GitHub's own description of its API (`github-openapi.json`, MIT licence): fills answers of the fake, and checks every request and answer.

The file keeps the structure of the endpoints we use, from https://github.com/github/rest-api-description.
"""

from __future__ import annotations

import copy
import dataclasses
import functools
import json
import threading
from pathlib import Path
from typing import Any

from jsonschema_path import SchemaPath
from openapi_core import Config, OpenAPI
from openapi_core.testing import MockRequest, MockResponse

_LOCK = threading.Lock()
_PLACES = 100_000
"""How many places of the document are remembered once they were found: more than it has."""
_SAME = 20_000
"""How many requests and answers are remembered with what is wrong with them: most tests begin with the same ones."""
_BY_TYPE = {"integer": 0, "number": 0, "boolean": False, "array": [], "string": ""}
_BY_FORMAT = {"date-time": "2026-01-01T00:00:00Z", "uri": "https://example.invalid/"}


@dataclasses.dataclass(frozen=True, slots=True)
class Asked:
    """A request, as far as the description says anything of it."""

    method: str
    path: str
    query: tuple[tuple[str, str], ...]
    body: bytes
    content_type: str

    def taken(self) -> MockRequest:
        """As the validator takes it."""
        return MockRequest("https://api.github.com", self.method.lower(), self.path, args=dict(self.query), data=self.body or None, content_type=self.content_type)


class Description:
    """The document, with nulls allowed where GitHub's answers have them."""

    def __init__(self, document: dict[str, Any]) -> None:
        _allow_null(document)
        _correct(document)
        self._schemas = document["components"]["schemas"]
        spec = SchemaPath.from_dict(document, resolved_cache_maxsize=_PLACES)
        self._api = OpenAPI(spec, config=Config(spec_validator_cls=None))  # type: ignore[arg-type]  # None is what its documentation asks for

    def filled(self, schema: str, **known: Any) -> dict[str, Any]:
        """An object of a schema: what is known, and the least that its required fields may hold."""
        return _merged(copy.deepcopy(self._least(schema)), known)  # type: ignore[no-any-return]  # JSON of a file in this repository

    @functools.cache  # noqa: B019 - there is one description for a whole process
    def _least(self, schema: str) -> Any:
        return self._of(self._schemas[schema])

    def _of(self, schema: dict[str, Any]) -> Any:
        if "$ref" in schema:
            return copy.deepcopy(self._least(schema["$ref"].rsplit("/", 1)[1]))
        for several in ("oneOf", "anyOf"):  # first, for null is none of them even where `nullable` stands beside
            if several in schema:
                return self._of(schema[several][0])
        if schema.get("nullable"):
            return None
        if "enum" in schema:
            return schema["enum"][0]
        if "allOf" in schema:
            return functools.reduce(_merged, map(self._of, schema["allOf"]), {})
        if schema.get("type") == "object" or "properties" in schema:
            return {name: self._of(schema["properties"][name]) for name in schema.get("required", ()) if name in schema.get("properties", {})}
        return _BY_FORMAT.get(schema.get("format", ""), copy.copy(_BY_TYPE.get(schema.get("type", ""))))

    @functools.lru_cache(_SAME)  # noqa: B019 - there is one description for a whole process
    def fault_of_request(self, request: Asked) -> str | None:
        """What is wrong with a request, None when nothing is."""
        return _complaint(self._api.validate_request, request.taken())

    @functools.lru_cache(_SAME)  # noqa: B019 - as above
    def fault_of_answer(self, request: Asked, status: int, body: bytes) -> str | None:
        """What is wrong with an answer, None when nothing is."""
        return _complaint(self._api.validate_response, request.taken(), MockResponse(body, status_code=status, content_type="application/json"))


def _complaint(validate: Any, *about: Any) -> str | None:
    with _LOCK:
        try:
            validate(*about)
        except Exception as error:  # noqa: BLE001 - any complaint is the answer
            inner = "; ".join(str(each.message)[:200] for each in getattr(error.__cause__, "schema_errors", []))
            return f"{type(error).__name__}: {str(error)[:200]} {inner}".strip()
    return None


def _merged(base: Any, more: Any) -> Any:
    if not (isinstance(base, dict) and isinstance(more, dict)):
        return more
    return {**base, **{name: _merged(base.get(name), value) for name, value in more.items()}}


def _allow_null(node: Any) -> None:
    """`nullable: true` beside an enum without null: GitHub's own answers have the null."""
    for value in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
        _allow_null(value)
    if isinstance(node, dict) and node.get("nullable") and isinstance(node.get("enum"), list) and None not in node["enum"]:
        node["enum"].append(None)


def _correct(document: dict[str, Any]) -> None:
    """Where GitHub's answers differ from its description: a head's repository may be gone, and an account is of one kind, not of exactly one of two that overlap."""
    for schema in ("pull-request", "pull-request-simple"):
        document["components"]["schemas"][schema]["properties"]["head"]["properties"]["repo"] = {"type": "object", "nullable": True}
    document["paths"]["/user"]["get"]["responses"]["200"]["content"]["application/json"]["schema"] = {"$ref": "#/components/schemas/private-user"}


@functools.cache
def description() -> Description:
    """The description, read once."""
    return Description(json.loads((Path(__file__).parent / "github-openapi.json").read_text(encoding="utf-8")))


def asked(method: str, path: str, query: dict[str, str], body: bytes, content_type: str) -> Asked:
    """A request to be checked."""
    return Asked(method, path, tuple(sorted(query.items())), body, content_type or "application/json")
