"""Digests that say whether two definitions are the same: canonical JSON under SHA-256, cut to 128 bits."""

from __future__ import annotations

import functools
import hashlib
import json
import re
import unicodedata
from collections.abc import Iterable
from typing import Any

from pydantic import TypeAdapter

from evalaction.core.metrics import type_of
from evalaction.core.specs import CheckSpec, JsonCheck, JsonSubset, Rows, Rubric, ToolCalls
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
    kind: Any = type(check)
    stated = _adapter(kind).dump_json(check, exclude={"id"}, exclude_defaults=True)
    if kind in _WITH_MAPS:
        stated = _canonical(json.loads(stated)).encode("utf-8", "surrogatepass")
    return hashlib.sha256(f"{type_of(check)}:".encode() + stated).hexdigest()[:32]


_WITH_MAPS = frozenset({JsonCheck, JsonSubset, Rows, Rubric, ToolCalls})
"""Types with maps of the author's, whose key order means nothing; the others have one order of keys, that of their definition."""


@functools.cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


def suite_digest(cases: Iterable[Case]) -> str:
    """Over ids and definitions of all cases, in any order: the version of a dataset."""
    return digest(sorted(digest([case.id, _asked(case), {str(check.id): check_fingerprint(check) for check in case.checks}]) for case in cases))


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
