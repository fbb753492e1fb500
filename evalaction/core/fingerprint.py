"""Digests that say whether two definitions are the same: canonical JSON under SHA-256, cut to 128 bits."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import json
import re
import unicodedata
from collections.abc import Iterable, Mapping
from typing import Any

from evalaction.core.specs import CheckSpec
from evalaction.core.suite import Case

_canonical = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode


def digest(value: Any) -> str:
    """32 hex digits over a JSON value; equal values have equal digests, whatever their key order."""
    return hashlib.sha256(_canonical(value).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def case_fingerprint(case: Case) -> str:
    """Over what is asked: input, history and variables."""
    return digest(_asked(case))


def _asked(case: Case) -> dict[str, Any]:
    asked: dict[str, Any] = {"input": case.input}
    if case.history:
        asked["history"] = [[turn.role, turn.content] for turn in case.history]
    if case.vars:
        asked["vars"] = case.vars
    return asked


def check_fingerprint(check: CheckSpec) -> str:
    """Over type and parameters; parameters left at their default do not count, so that a new option changes nothing old."""
    return digest(_defined(check))


def _defined(check: CheckSpec) -> dict[str, Any]:
    return {name: _plain(value) for name, value in _parameters(check)}


def _parameters(check: CheckSpec) -> Iterable[tuple[str, Any]]:
    kind: Any = type(check)
    for name, default in _declared(kind):
        value = getattr(check, name)
        if name == "type" or value != default:
            yield name, value


@functools.cache
def _declared(kind: Any) -> tuple[tuple[str, Any], ...]:
    """Parameters of a check type with their defaults; looked up once, for a dataset may have half a million checks."""
    fields = (field for field in dataclasses.fields(kind) if field.name != "id")
    return tuple((field.name, field.default if field.default_factory is dataclasses.MISSING else field.default_factory()) for field in fields)


def _plain(value: Any) -> Any:
    if isinstance(value, str | int | float):
        return value
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: _plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    return value


def suite_digest(cases: Iterable[Case]) -> str:
    """Over ids and definitions of all cases, in any order: the version of a dataset."""
    return digest(sorted(digest([case.id, _asked(case), {str(check.id): _defined(check) for check in case.checks}]) for case in cases))


_SAFE = re.compile(r"[a-z0-9][a-z0-9._-]{0,79}")
_RESERVED = re.compile(r"(con|prn|aux|nul|com[0-9]|lpt[0-9])(\..*)?")


def slug(name: str) -> str:
    """A name as a file or artifact name, safe on every system; different names never share one.

    A name that is safe already stays as it is; any other is cleaned and gets `~` and ten digits of its digest.
    """
    if _SAFE.fullmatch(name) and not name.endswith(".") and not _RESERVED.fullmatch(name):
        return name
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    stem = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:60]
    return f"{stem or 'x'}~{digest(name)[:10]}"
