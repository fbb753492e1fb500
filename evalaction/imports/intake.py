"""Where all readers of foreign results hand in what they find: every fault is kept, and every case has an id of its own."""

from __future__ import annotations

import dataclasses
import json
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar, cast, dataclass_transform

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass

from evalaction.core.checks.base import visible
from evalaction.core.fingerprint import digest
from evalaction.core.foreign import Foreign, ForeignCase, ForeignTrial
from evalaction.core.record import MOST_REPEATS, Failure
from evalaction.core.scalars import kind_of
from evalaction.core.spec_base import RESERVED
from evalaction.errors import ConfigError, Fault
from evalaction.imports.files import Place

T = TypeVar("T")
MOST_FAULTS = 1000
MOST_CASES = 1_000_000
LONGEST_ID = 200
_KINDS = {
    "tuple_type": "a list", "list_type": "a list", "dict_type": "a mapping", "dataclass_type": "a mapping", "bool_type": "true or false", "string_type": "text",
    "int_type": "a whole number", "float_type": "a number", "invalid_key": "text as key",
}  # fmt: skip
_ADAPTERS: dict[Any, TypeAdapter[Any]] = {}


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(Field,))
def foreign_form(cls: type[T]) -> type[T]:
    """A frozen type for a part of a foreign file: what it names is checked, and keys that it does not name are the other tool's own affair."""
    return cast("type[T]", dataclass(frozen=True, slots=True, kw_only=True, config=ConfigDict(extra="ignore", allow_inf_nan=False))(cls))


@dataclasses.dataclass(frozen=True, slots=True)
class Spot:
    """One thing in a foreign file: the file, its line where lines count, the way to it, and the case it belongs to."""

    place: Place
    line: int | None = None
    path: str = ""
    case: str | None = None


class Intake:
    """Collects cases, faults and doubts of one import."""

    def __init__(self) -> None:
        self.cases: dict[str, ForeignCase] = {}
        self.faults: list[Fault] = []
        self.notes: list[str] = []
        self.version: str | None = None
        self.unfinished: str | None = None
        self._spots: dict[str, Spot] = {}
        self._names: dict[str, str] = {}

    def fault(self, spot: Spot, code: str, what: str, fix: str) -> None:
        """Keep one fault; a thousand of them end the reading."""
        named = f"in case `{spot.case[:80]}`: {what}" if spot.case else what
        self.faults.append(Fault(code=code, what=visible(named[:400]), fix=fix, file=spot.place.name, line=spot.line, path=visible(spot.path[:200])))
        if len(self.faults) >= MOST_FAULTS:
            raise ConfigError(self.faults)

    def refused(self, error: ConfigError) -> None:
        """Keep the faults of something that could not be read."""
        self.faults += error.faults
        if len(self.faults) >= MOST_FAULTS:
            raise ConfigError(self.faults)

    def readable(self, found: Iterable[tuple[Any, int] | ConfigError]) -> Iterable[tuple[Any, int]]:
        """What could be read; the rest goes to the faults."""
        for one in found:
            if isinstance(one, ConfigError):
                self.refused(one)
            else:
                yield one

    def read(self, model: type[T], raw: Any, spot: Spot) -> T | None:
        """A raw value as a foreign form, or None with every fault of it."""
        if model not in _ADAPTERS:
            _ADAPTERS[model] = TypeAdapter(model)
        try:
            return cast("T", _ADAPTERS[model].validate_python(raw))
        except ValidationError as error:
            for item in error.errors(include_url=False):
                self._object(item, spot)
            return None

    def _object(self, item: Any, spot: Spot) -> None:
        kind, steps = item["type"], ".".join(str(step) for step in item["loc"])
        place = dataclasses.replace(spot, path=".".join(part for part in (spot.path, steps) if part))
        if kind == "missing":
            self.fault(place, "MISSING_FIELD", f"`{item['loc'][-1]}` is missing", "write the results anew, or name the right format")
        elif kind.isupper():
            self.fault(place, kind, item["msg"], item.get("ctx", {}).get("fix", "correct the value"))
        elif kind in _KINDS:
            self.fault(place, "TYPE_MISMATCH", f"expected {_KINDS[kind]}, found {kind_of(item['input'])}", f"write {_KINDS[kind]}")
        else:
            self.fault(place, "INVALID_VALUE", f"{item['msg'][:1].lower()}{item['msg'][1:]}, found {kind_of(item['input'])}", "correct the value")

    def fraction(self, value: float, spot: Spot, what: str, most: float = 1.0) -> float:
        """A score of 0..`most` as a fraction; a fault and 0 for any other."""
        if 0 <= value <= most:
            return value / most
        self.fault(spot, "INVALID_VALUE", f"{what} must lie in 0..{most:g}, found {value:g}", f"write a score from 0 to {most:g}")
        return 0.0

    def add(self, case: ForeignCase, spot: Spot, *, repeats: bool = False) -> None:
        """Take a case. An id that is taken is DUPLICATE_ID; with `repeats` the same case again is a further run of it."""
        for metric in sorted({name for trial in case.trials for check in trial.checks for name in check.metrics if name in RESERVED}):
            what = f"the metric `{metric}` has the name of one that is made of every answer here, and would be mixed with it"
            self.fault(spot, "INVALID_VALUE", what, f"give it another name, such as `their_{metric}`")
        name = _bounded(case.id)
        key = unicodedata.normalize("NFC", " ".join(name.split()))
        if not key:
            self.fault(spot, "BLANK_FIELD", "the id of the case is blank", "give every case an id")
            return
        known = self.cases.get(self._names.get(key, ""))
        if known is None:
            self._names[key], self.cases[name], self._spots[name] = name, dataclasses.replace(case, id=name), spot
            if len(self.cases) > MOST_CASES:
                raise spot.place.refuse("INVALID_VALUE", f"more than {MOST_CASES:,} cases", "import a part of them at a time")
        elif repeats and known.input == case.input and len(known.trials) + len(case.trials) <= MOST_REPEATS:
            self.cases[known.id] = dataclasses.replace(known, trials=known.trials + case.trials)
        else:
            first = self._spots[known.id]
            where = ":".join(str(part) for part in (first.place.name, first.line) if part is not None)
            self.fault(spot, "DUPLICATE_ID", f"the id `{name[:80]}` is taken already, in {where}", "give every case an id of its own")

    def complete(self, spot: Spot, stated: int | None, found: int, what: str, fix: str = "write the results anew") -> None:
        """Refuse results that state more of something than they hold: the rest, with its failures, is missing."""
        if stated is not None and stated > found:
            self.fault(spot, "INVALID_INPUT", f"the file counts {stated} {what} and holds {found}: it was cut short", fix)

    def finished(self) -> Foreign:
        """Everything that was read. Raises ConfigError with all faults."""
        if self.faults:
            raise ConfigError(self.faults)
        return Foreign(cases=tuple(self.cases.values()), version=self.version, notes=tuple(self.notes), unfinished=self.unfinished)

    def versioned(self, version: object, known: Sequence[object], tool: str) -> None:
        """Note the version that a file states; one that is not known is said, and read as the newest known one."""
        self.version = None if version is None else str(version)[:40]
        if version not in known:
            stated = "states no version" if version is None else f"is of version {visible(str(version)[:40])}"
            self.notes.append(f"the {tool} results {stated}; known are {', '.join(map(str, known))}: read as {known[-1]}")


def failed(message: str, code: str = "TARGET_FAILED", **fields: Any) -> ForeignTrial:
    """A run that the other tool could not measure either: an error here too, never a pass or a fail."""
    return ForeignTrial(error=Failure(code=code, message=message.strip()[:2000] or "the other tool reported an error without a message"), **fields)


def text_of(value: Any) -> str:
    """A foreign value as one text: text as it stands, anything else as JSON."""
    if value is None or isinstance(value, str):
        return value or ""
    return json.dumps(value, ensure_ascii=False)


def _bounded(name: str) -> str:
    return name if len(name) <= LONGEST_ID else f"{name[:LONGEST_ID]}~{digest(name)[:10]}"


ReadFormat = Callable[[Place, Intake], None]
"""A reader of one format: takes the place, hands everything to the intake."""
