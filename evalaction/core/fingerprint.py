"""Digests that say whether two definitions are the same: canonical JSON under SHA-256, cut to 128 bits."""

from __future__ import annotations

import functools
import hashlib
import json
import re
import unicodedata
from collections.abc import Callable, Iterable
from typing import Any

from evalaction.core import sharing
from evalaction.core.metrics import metric_names, type_of
from evalaction.core.model import adapter, copy_of, known_good
from evalaction.core.record import CheckInfo
from evalaction.core.specs import CheckSpec, JsonCheck, JsonSubset, Rows, Rubric, ToolCalls
from evalaction.core.suite import Case, Definition

_canonical = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode


def digest(value: Any) -> str:
    """32 hex digits over a JSON value; equal values have equal digests, whatever their key order."""
    return hashlib.sha256(_canonical(value).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def case_fingerprint(case: Case) -> str:
    """Over what is asked: input, history and variables."""
    asked: dict[str, Any] = {"input": case.input}
    if case.history:
        asked["history"] = [[turn.role, turn.content] for turn in case.history]
    if case.vars:
        asked["vars"] = case.vars
    return digest(asked)


def check_fingerprint(check: CheckSpec) -> str:
    """Over type and parameters; parameters left at their default do not count, so that a new option changes nothing old."""
    kind: Any = type(check)
    stated = _to_json(kind)(check, exclude=_NAME, exclude_defaults=True)
    if kind in _WITH_MAPS:
        stated = _canonical(json.loads(stated)).encode("utf-8", "surrogatepass")
    return hashlib.sha256(f"{type_of(check)}:".encode() + stated).hexdigest()[:32]


_NAME = {"id"}
_WITH_MAPS = frozenset({JsonCheck, JsonSubset, Rows, Rubric, ToolCalls})
"""Types with maps of the author's, whose key order means nothing; the others have one order of keys, that of their definition."""


@functools.cache
def _to_json(kind: Any) -> Callable[..., bytes]:
    """The serializer of one type itself: half a million checks go through it, and `TypeAdapter.dump_json` only adds options that are not used here."""
    to_json: Callable[..., bytes] = adapter(kind).serializer.to_json
    return to_json


def define(case: Case) -> Definition:
    """The definition that the reader left with the case, or made now."""
    return case.definition or Definition(case_fingerprint(case), sharing.new_checks(tuple([_info(check) for check in case.checks])))


def _info(check: CheckSpec) -> CheckInfo:
    return known_good(CheckInfo, str(check.id), type_of(check), check_fingerprint(check), check.weight, metric_names(check))


def defined(cases: Iterable[Case]) -> tuple[Case, ...]:
    """The same cases, each with its definition."""
    return tuple(copy_of(case, definition=define(case)) for case in cases)


def suite_digest(cases: Iterable[Case]) -> str:
    """Over ids and definitions of all cases, in any order: the version of a dataset."""
    return digest(sorted(_case_digest(case.id, define(case)) for case in cases))


def _case_digest(name: str, definition: Definition) -> str:
    return digest([name, definition.fingerprint, {check.id: check.fingerprint for check in definition.checks}])


_SAFE = re.compile(r"[a-z0-9][a-z0-9._-]{0,79}")
_RESERVED = re.compile(r"(con|prn|aux|nul|com[0-9]|lpt[0-9]|verdict|history|labels)(\..*)?|report\.md")


def slug(name: str) -> str:
    """A name as a file or artifact name, safe on every system; different names never share one.

    A name that is safe already stays as it is; any other is cleaned and gets `~` and ten digits of its digest.
    """
    if _SAFE.fullmatch(name) and not name.endswith(".") and not _RESERVED.fullmatch(name):
        return name
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    stem = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:60]
    return f"{stem or 'x'}~{digest(name)[:10]}"
