"""Raw records to cases, one after the other: every fault of every record is kept, and so is every id."""

from __future__ import annotations

import dataclasses
import unicodedata
from collections.abc import Callable, Mapping
from typing import Any

from pydantic import ValidationError

from evalaction.core.scalars import kind_of, spell
from evalaction.core.suite import Case
from evalaction.datasets.dialects import Dialect, Finish, validator
from evalaction.datasets.faults import Steps, Subject, clip, translate
from evalaction.datasets.source import Source
from evalaction.datasets.templates import fill_env, has_placeholder
from evalaction.datasets.yaml_tree import Document
from evalaction.errors import Fault


@dataclasses.dataclass(slots=True)
class Record:
    """A raw record and where it stands: on a line, or at `prefix` in a document."""

    source: Source
    raw: Any
    line: int
    prefix: Steps = ()
    document: Document | None = None

    def place(self, steps: Steps) -> tuple[int, int]:
        """Line and column of a part of the document."""
        return (self.line, 1) if self.document is None else self.document.place(steps)


def normal(name: str) -> str:
    """An id without the differences that nobody sees: Unicode composition and blanks."""
    return unicodedata.normalize("NFC", " ".join(name.split()))


def says_something(value: Any) -> bool:
    """Whether an expectation is there at all: no null, blank text or empty list."""
    return bool(value.strip()) if isinstance(value, str) else value is not None and value not in ([], {})


def _choice(dialect: Dialect) -> str:
    return " or ".join(f"`{name}`" for name in dialect.expectations)


class Intake:
    """Collects the cases of one suite. With `has_defaults` a case needs no check of its own."""

    def __init__(self, finish: Finish, environment: Mapping[str, str], *, has_defaults: bool = False) -> None:
        self.finish, self.environment, self.has_defaults = finish, environment, has_defaults
        self.cases: list[Case] = []
        self.faults: list[Fault] = []
        self.seen = 0
        self._ids: dict[str, tuple[str, int]] = {}
        self._validators: dict[str, Callable[[Any], Any]] = {}

    def take(self, record: Record, dialect: Dialect) -> None:
        """Read one record; its case is kept only when nothing is wrong with it."""
        self.seen += 1
        before = len(self.faults)
        if not isinstance(record.raw, dict):
            self._object(record, dialect, "TYPE_MISMATCH", f"expected a case with its fields, found {kind_of(record.raw)}", "write one mapping a case")
            return
        if dialect.templates and record.document is None:
            self._fill_env(record, dialect)
        model = self._validated(record, dialect)
        self._claim(record, dialect)
        self._expects(record, dialect)
        if model is not None and len(self.faults) == before:
            self.finish.object = lambda code, what, fix, steps: self._object(record, dialect, code, what, fix, steps)
            case = dialect.convert(model, record.raw, record.line, self.finish)
            if len(self.faults) == before:
                self.cases.append(case)

    def _subject(self, record: Record, dialect: Dialect) -> Subject:
        raw_id = record.raw.get(dialect.key) if isinstance(record.raw, dict) else None
        owner = spell(raw_id) if isinstance(raw_id, str | int | float) else None
        return Subject(source=record.source, raw=record.raw, model=dialect.model, place=record.place, owner=lambda _steps: owner, prefix=record.prefix)

    def _object(self, record: Record, dialect: Dialect, code: str, what: str, fix: str, steps: Steps = ()) -> None:
        self.faults.append(self._subject(record, dialect).fault(code, what, fix, steps))

    def _validated(self, record: Record, dialect: Dialect) -> Any:
        validate = self._validators.get(dialect.name) or self._validators.setdefault(dialect.name, validator(dialect))
        try:
            return validate(record.raw)
        except ValidationError as error:
            self.faults += translate(error, self._subject(record, dialect))
            return None

    def _fill_env(self, record: Record, dialect: Dialect) -> None:
        """Placeholders of a record that stands outside the suite file."""

        def filled(node: Any, steps: Steps) -> Any:
            if isinstance(node, str):
                report = lambda what, fix: self._object(record, dialect, "UNRESOLVED_VARIABLE", what, fix, steps)  # noqa: E731 - two words long, used at once
                return fill_env(node, self.environment, report) if has_placeholder(node) else node
            if isinstance(node, dict):
                return {key: filled(item, (*steps, key)) for key, item in node.items()}
            return [filled(item, (*steps, index)) for index, item in enumerate(node)] if isinstance(node, list) else node

        record.raw = filled(record.raw, ())

    def _claim(self, record: Record, dialect: Dialect) -> None:
        raw = record.raw.get(dialect.key)
        if not isinstance(raw, str | int | float) or not (name := spell(raw)).strip():
            return
        key = normal(name)
        first = self._ids.get(key)
        if first is None:
            self._ids[key] = (record.source.name, record.place((*record.prefix, dialect.key))[0])
        else:
            what = f"the {dialect.key} `{clip(name)}` is taken already, at {first[0]}:{first[1]}"
            self._object(record, dialect, "DUPLICATE_ID", what, f"give every case its own {dialect.key}", (dialect.key,))

    def _expects(self, record: Record, dialect: Dialect) -> None:
        stated = [name for name in dialect.expectations if says_something(record.raw.get(name)) or (name in dialect.empty_says and record.raw.get(name) == [])]
        if not stated and not self.has_defaults:
            self._object(record, dialect, "NOTHING_TO_CHECK", "the case checks nothing, so it would pass whatever is answered", f"give it {_choice(dialect)}")
        if dialect.exclusive and len(stated) > 1:
            self._object(record, dialect, "MIXED_EXPECTATIONS", f"the case has {' and '.join(stated)}, each scored in its own way", f"keep exactly one of {_choice(dialect)}")
        if "checks" in dialect.expectations and stated:
            self._check_ids(record, dialect)

    def _check_ids(self, record: Record, dialect: Dialect) -> None:
        """Ids that checks were given; each criterion of a rubric is a check of its own, `tone.polite`."""
        taken = {check.id for check in self.finish.defaults.checks if check.id is not None}
        checks = record.raw["checks"]
        for index, check in enumerate(checks if isinstance(checks, list) else ()):
            given = check.get("id") if isinstance(check, dict) else None
            if not isinstance(given, str | int | float):
                continue
            criteria = check.get("criteria")
            for name in (spell(given), *(f"{spell(given)}.{key}" for key in (criteria if isinstance(criteria, dict) else ()))):
                if name in taken:
                    what, fix = f"the check id `{clip(name)}` is given twice", "give every check of the case an id of its own"
                    self._object(record, dialect, "DUPLICATE_ID", what, fix, ("checks", index, "id"))
                taken.add(name)
