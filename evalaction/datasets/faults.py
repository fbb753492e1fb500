"""The customs post: what pydantic objects to becomes a fault with our code, the place in the author's file, and a remedy."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from pydantic import ValidationError

from evalaction.core.excerpts import cut
from evalaction.core.scalars import kind_of
from evalaction.datasets.known import field_names, misplaced, nearest, suggestion
from evalaction.datasets.source import Source
from evalaction.errors import Fault

Steps = tuple[str | int, ...]
"""Keys and indices from the top of a document to one of its parts."""

OWN_CODES = frozenset({"TYPE_MISMATCH", "BLANK_FIELD", "INVALID_VALUE", "INVALID_TOLERANCE", "EMPTY_NEEDLE", "INVALID_PATTERN", "NOTHING_TO_CHECK", "MIXED_EXPECTATIONS"})
"""Codes that the models themselves raise, with their remedy in the context's `fix`."""
_KINDS = {
    "tuple_type": "a list", "list_type": "a list", "dict_type": "a mapping", "dataclass_type": "a mapping", "model_attributes_type": "a mapping", "bool_type": "true or false",
    "string_type": "text", "int_type": "a whole number", "float_type": "a number", "invalid_key": "text as key",
}  # fmt: skip
_LIMITS = {"greater_than": "greater than {gt}", "greater_than_equal": "at least {ge}", "less_than": "less than {lt}", "less_than_equal": "at most {le}"}
CODES = {
    "missing": "MISSING_FIELD", "union_tag_not_found": "MISSING_FIELD", "unexpected_keyword_argument": "UNKNOWN_FIELD", "union_tag_invalid": "UNKNOWN_CHECK",
    "literal_error": "INVALID_VALUE", "too_short": "INVALID_VALUE", "string_pattern_mismatch": "INVALID_VALUE", **dict.fromkeys(_LIMITS, "INVALID_VALUE"),
    **dict.fromkeys(_KINDS, "TYPE_MISMATCH"),
}  # fmt: skip
"""Every kind of pydantic's errors that the models can raise, and our code for it."""

_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]+")


def clip(text: object, length: int = 80) -> str:
    """Text of an author's for a one-line message: control characters become blanks, a long text is cut."""
    return cut(_UNPRINTABLE.sub(" ", str(text)), length)


def dotted(steps: Iterable[str | int]) -> str:
    """`cases[3].checks[0].value`; a key that is not a plain word stands in brackets."""
    parts = [f"[{step}]" if isinstance(step, int) else f".{step}" if re.fullmatch(r"[\w@-]{1,80}", step) else f"[`{clip(step)}`]" for step in steps]
    return "".join(parts).removeprefix(".")


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """What was validated: the raw value, where it came from, and how to find the place of a part of it.

    `prefix` is the way from the top of the document to `raw`; `place` takes steps from the top;
    `owner` names the case that steps from the top lead into, if any.
    """

    source: Source
    raw: Any
    model: type
    place: Callable[[Steps], tuple[int, int]]
    owner: Callable[[Steps], str | None] = lambda _steps: None
    prefix: Steps = ()

    def fault(self, code: str, what: str, fix: str, steps: Steps, at: Steps | None = None) -> Fault:
        """A fault at steps below `raw`; `at` when another part is the one to look at."""
        full = self.prefix + steps
        line, column = self.place(self.prefix + (steps if at is None else at))
        owner = self.owner(full)
        named = f"in case `{clip(owner)}`: {what}" if owner else what
        return Fault(code=code, what=clip(named, 400), fix=clip(fix, 600), file=self.source.name, line=line, column=column, path=dotted(full))


@dataclasses.dataclass(slots=True)
class _Objection:
    """One of pydantic's errors with its way through the raw value; `branch` is the way to the union it belongs to."""

    error: Any
    steps: Steps
    branch: Steps | None
    depth: int
    rivals: list[_Objection] = dataclasses.field(default_factory=list)
    """Everything that was said of the same union, this objection among it; empty outside of unions."""

    @property
    def rank(self) -> tuple[int, bool]:
        """How far the branch got: how deep, and whether the value was of the right kind."""
        kind = self.error["type"]
        return self.depth, CODES.get(kind, kind) != "TYPE_MISMATCH"

    @property
    def speaks(self) -> bool:
        """Of a union's branches only the one that got furthest speaks (the first, when equal): it is the one the author meant."""
        if self.branch is None:
            return True
        furthest = max(other.rank for other in self.rivals)
        return self.rank == furthest and (len(self.steps) > len(self.branch) or self is next(other for other in self.rivals if other.rank == furthest))

    @property
    def wanted(self) -> str:
        """The kinds of value that would have been right."""
        equals = [other for other in self.rivals if other.rank == self.rank] or [self]
        return " or ".join(dict.fromkeys(_KINDS.get(other.error["type"], "text") for other in equals))


def translate(error: ValidationError, subject: Subject) -> list[Fault]:
    """All objections as faults, each thing once."""
    objections = [_followed(item, subject.raw) for item in error.errors(include_url=False)]
    unions: dict[Steps, list[_Objection]] = {}
    for objection in objections:
        if objection.branch is not None:
            objection.rivals = unions.setdefault(objection.branch, [])
            objection.rivals.append(objection)
    return [_fault(objection, subject) for objection in objections if objection.speaks]


def _followed(error: Any, raw: Any) -> _Objection:
    """Follow pydantic's way through the raw value. Steps that are not in it are type tags, or labels of a union's branches."""
    node, steps, branch = raw, list[str | int](), None
    loc: Sequence[str | int] = error["loc"]
    for index, step in enumerate(loc):
        last = index == len(loc) - 1
        is_key = isinstance(node, dict) and step in node and not (node.get("type") == step and isinstance(steps[-1] if steps else None, int))
        if is_key or (isinstance(step, int) and isinstance(node, list | tuple) and step < len(node)):
            node = node[step]
        elif not (last and error["type"] == "missing"):
            is_tag = isinstance(node, dict) and node.get("type") == step
            branch = tuple(steps) if branch is None and not is_tag and step != "[key]" and not _is_short_form(node, step) else branch
            continue
        steps.append(step)
    return _Objection(error, tuple(steps), branch, len(loc))


def _is_short_form(node: Any, step: str | int) -> bool:
    """`exec: text` stands for `exec: {command: text}`: the step that the short form leaves out."""
    return not isinstance(node, dict) and step in ("command", "path", "callable")


def _fault(objection: _Objection, subject: Subject) -> Fault:
    error, steps = objection.error, objection.steps
    kind, found, context = error["type"], _found(error["input"]), error.get("ctx", {})
    if kind in OWN_CODES:
        return subject.fault(kind, error["msg"], context.get("fix", "correct the value"), steps)
    code = CODES.get(kind, "INVALID_VALUE")
    if kind in ("missing", "union_tag_not_found"):
        name = error["loc"][-1] if kind == "missing" else "type"
        return subject.fault(code, f"`{name}` is missing", f"add `{name}`", steps)
    if code == "UNKNOWN_FIELD":
        known = field_names(subject.model, error["loc"][:-1])
        return subject.fault(code, f"`{clip(steps[-1])}` is not a known field", misplaced(steps, known) or suggestion(str(steps[-1]), known), steps)
    if code == "UNKNOWN_CHECK":
        known = tuple(tag.strip("' ") for tag in context["expected_tags"].split(","))
        return subject.fault(code, f"`{clip(context['tag'])}` is no type of check", suggestion(context["tag"], known), (*steps, "type"))
    if code == "TYPE_MISMATCH":
        return subject.fault(code, f"expected {objection.wanted}, found {kind_of(error['input'])}", f"write {objection.wanted}", steps)
    return subject.fault(code, *_bounded(kind, found, context), steps)


def _bounded(kind: str, found: str, context: dict[str, Any]) -> tuple[str, str]:
    """What is wrong with a value of the right type, and the remedy."""
    if kind == "literal_error":
        choice = context["expected"].replace("'", "`")
        near = nearest(found.strip("`"), re.findall(r"`(.*?)`", choice))
        return f"expected {choice}, found {found}", f"write `{near}`" if near else f"write {choice}"
    if kind in _LIMITS:
        limit = _LIMITS[kind].format(**context)
        return f"the value must be {limit}, found {found}", f"write a number that is {limit}"
    if kind == "too_short":
        return "the list is empty", "write at least one item, or leave the field out"
    if kind == "string_pattern_mismatch":
        return f"{found} does not have the form {context['pattern']}", f"write a text of the form {context['pattern']}"
    return f"{found} is not allowed here", "correct the value"


def _found(value: Any) -> str:
    return f"`{clip(value)}`" if isinstance(value, str) else kind_of(value)
