"""What a record of each kind of dataset looks like, and the case it becomes."""

from __future__ import annotations

import dataclasses
import json
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Annotated, Any

from pydantic import BeforeValidator, Field
from pydantic_core import PydanticCustomError

from evalaction.core.foreign import POLICIES
from evalaction.core.metrics import type_of
from evalaction.core.model import adapter, copy_of, default_of
from evalaction.core.model import model as spec
from evalaction.core.scalars import Text, Word, kind_of
from evalaction.core.specs import CheckSpec, ContainsAll, Equals, ExactMatch, Needles, RagbenchGroundedness, RagbenchRetrieval, Rubric, TokenF1
from evalaction.core.suite import Case, Policy, Turn
from evalaction.datasets.faults import Steps, clip
from evalaction.datasets.native import Defaults, NativeCase
from evalaction.datasets.templates import fill_vars, has_placeholder

DEFAULT_K = 10


def _list(value: object) -> object:
    """A list, or nothing; a lone text is none, since these formats know lists only."""
    if value is None:
        return ()
    if not isinstance(value, list):
        raise PydanticCustomError("TYPE_MISMATCH", "expected a list, found {kind}", {"kind": kind_of(value), "fix": 'write a list, such as ["one", "two"]'})
    return value


def _phrases(value: object) -> object:
    """Phrases to look for; a blank one is found in every text."""
    phrases = _list(value)
    if isinstance(phrases, list) and any(isinstance(item, str) and not item.strip() for item in phrases):
        raise PydanticCustomError("EMPTY_NEEDLE", "an empty or blank phrase is found in every text", {"fix": "drop the blank phrase"})
    return phrases


def _split(value: object) -> object:
    return [part.strip() for part in value.split(";")] if isinstance(value, str) and value.strip() else None


Words = Annotated[tuple[Word, ...], BeforeValidator(_list)]
Phrases = Annotated[tuple[Word, ...], BeforeValidator(_phrases)]


@spec
class RagbenchRecord:
    """One line of a ragbench dataset."""

    id: Word
    question: Word
    expected_answer: Text | None = None
    relevant_docs: Words = ()
    must_contain: Phrases = ()
    tags: Words = ()
    notes: Text | None = None


@spec
class GoldenRecord:
    """One case of a golden set: exactly one of the three expectations."""

    id: Word
    input: Text
    category: Text | None = None
    expectedExact: Text | None = None  # noqa: N815 - the format's own names
    mustContain: Phrases = ()  # noqa: N815 - as above
    rubric: Words = ()


@spec
class TableRow:
    """One row of a table; `vars` are the columns that have no meaning of their own."""

    id: Word
    input: Text
    expected: Text | None = None
    contains: Annotated[Needles | None, BeforeValidator(_split)] = None
    vars: dict[str, str] = Field(default_factory=dict)


def _points(value: object) -> object:
    """A cell with a number of 0..100."""
    try:
        points = float(value) if isinstance(value, str) else math.nan
    except ValueError:
        points = math.nan
    if not 0 <= points <= 100:
        raise PydanticCustomError("INVALID_VALUE", "`{cell}` is no number of points", {"cell": clip(value), "fix": "write points from 0 to 100, such as 80"})
    return points


@spec
class SpringRow:
    """One row of a Spring AI evaluation. `minimumScore`, in points of 100, is what the case's score must reach."""

    id: Word
    prompt: Text
    minimumScore: Annotated[float, BeforeValidator(_points)]  # noqa: N815 - the format's own names
    vars: dict[str, str] = Field(default_factory=dict)


class Finish:
    """What a suite adds to each case: default checks and tags, ids for checks without one, values for placeholders.

    `object` takes the code of what is wrong with the case at hand, what it is, the remedy, and the steps to the part.
    `keeps_records` is false where no target will be told of the cases: by the hundred thousand, foreign records fill the memory.
    """

    def __init__(self, defaults: Defaults, k: int = DEFAULT_K, *, keeps_records: bool = True) -> None:
        self.defaults, self.k, self.keeps_records = defaults, k, keeps_records
        self.object: Callable[[str, str, str, Steps], None] = lambda _code, _what, _fix, _steps: None
        self._copies: dict[tuple[int, str], CheckSpec] = {}

    def checks(self, own: Iterable[CheckSpec]) -> tuple[CheckSpec, ...]:
        """The case's checks and the default ones, each with an id of its own: the type, and `-2`, `-3` where that is taken."""
        own = tuple(own)
        if not self.defaults.checks and all(check.id is not None for check in own):
            return own
        everything = own + self.defaults.checks
        taken = Counter(check.id for check in everything if check.id is not None)
        for name in sorted(name for name, count in taken.items() if count > 1):
            self.object("DUPLICATE_ID", f"the check id `{clip(name)}` of a default check is taken in this case", "give the default check another id", ())
        last: Counter[str] = Counter()
        return tuple(check if check.id is not None else self._named(check, taken, last, shared=index >= len(own)) for index, check in enumerate(everything))

    def _named(self, check: CheckSpec, taken: Counter[str], last: Counter[str], *, shared: bool) -> CheckSpec:
        """A copy under the first free name; `last` is the number that each type has come to."""
        base = type_of(check)
        last[base] += 1
        name = base if last[base] == 1 else f"{base}-{last[base]}"
        while name in taken:
            last[base] += 1
            name = f"{base}-{last[base]}"
        taken[name] = 1
        if not shared:
            return copy_of(check, id=name)
        if (id(check), name) not in self._copies:
            self._copies[id(check), name] = copy_of(check, id=name)
        return self._copies[id(check), name]

    def tags(self, own: tuple[str, ...]) -> tuple[str, ...]:
        """The case's tags and the default ones, each once."""
        return tuple(dict.fromkeys(own + self.defaults.tags)) if self.defaults.tags else own

    def foreign(self, raw: Mapping[str, Any]) -> str | None:
        """The foreign record as JSON, where it is kept."""
        return _as_json(raw) if self.keeps_records else None

    def text(self, text: str, variables: Mapping[str, Any], steps: Steps) -> str:
        """A text of the case with its variables filled in."""
        return fill_vars(text, variables, lambda what, fix: self.object("UNRESOLVED_VARIABLE", what, fix, steps)) if has_placeholder(text) else text


_EXACT, _F1 = default_of(ExactMatch, id="exact_match", value="-"), default_of(TokenF1, id="token_f1", value="-")
_RETRIEVAL, _CONTAINS = default_of(RagbenchRetrieval, id="retrieval", relevant=("-",)), default_of(ContainsAll, id="contains_all", value=("-",))
_GROUNDED = default_of(RagbenchGroundedness, id="groundedness")
"""Patterns of the checks that ragbench records have."""


def _ragbench(record: RagbenchRecord, raw: Mapping[str, Any], line: int, finish: Finish) -> Case:
    checks: list[CheckSpec] = []
    if record.expected_answer and record.expected_answer.strip():
        checks += (copy_of(_EXACT, value=record.expected_answer), copy_of(_F1, value=record.expected_answer))
    if record.relevant_docs:
        checks.append(copy_of(_RETRIEVAL, relevant=record.relevant_docs, k=finish.k))
    if record.must_contain:
        checks.append(copy_of(_CONTAINS, value=record.must_contain))
    checks.append(_GROUNDED)
    return Case(id=record.id, input=record.question, checks=finish.checks(checks), tags=finish.tags(record.tags), foreign=finish.foreign(raw), line=line)


def _golden(record: GoldenRecord, raw: Mapping[str, Any], line: int, finish: Finish) -> Case:
    checks: list[CheckSpec] = []
    if record.expectedExact and record.expectedExact.strip():
        checks.append(Equals(id="equals", value=record.expectedExact))
    if record.mustContain:
        checks.append(ContainsAll(id="contains_all", value=record.mustContain))
    if record.rubric:
        checks.append(Rubric(id="rubric", criteria=list(record.rubric), scale=5))  # type: ignore[arg-type]  # a list is what authors write; the model names its items
    return Case(id=record.id, input=record.input, checks=finish.checks(checks), category=record.category, tags=finish.tags(()), foreign=finish.foreign(raw), line=line)


_as_json = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode


def _native(record: NativeCase, _raw: Mapping[str, Any], line: int, finish: Finish) -> Case:
    history = tuple(Turn(role=turn.role, content=finish.text(turn.content, record.vars, ("history", index, "content"))) for index, turn in enumerate(record.history))
    return Case(
        id=record.id, input=finish.text(record.input, record.vars, ("input",)), checks=finish.checks(record.checks), repeats=record.repeats, category=record.category,
        history=history, vars=record.vars or None, tags=finish.tags(record.tags), metadata=record.metadata or None, line=line,
    )  # fmt: skip


def _table(record: TableRow, _raw: Mapping[str, Any], line: int, finish: Finish) -> Case:
    checks: list[CheckSpec] = []
    if record.expected and record.expected.strip():
        checks.append(Equals(id="equals", value=record.expected))
    if record.contains:
        checks.append(ContainsAll(id="contains_all", value=record.contains))
    text = finish.text(record.input, record.vars, ("input",))
    return Case(id=record.id, input=text, checks=finish.checks(checks), vars=record.vars or None, tags=finish.tags(()), line=line)


def _spring(record: SpringRow, _raw: Mapping[str, Any], line: int, finish: Finish) -> Case:
    text = finish.text(record.prompt, record.vars, ("prompt",))
    return Case(id=record.id, input=text, checks=finish.checks(()), vars=record.vars or None, tags=finish.tags(()), floor=record.minimumScore / 100, line=line)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """One kind of record. `expectations` are the fields that say what to check; with `exclusive` exactly one of them.

    `policy` is the gate policy that the document itself brings, None when it has none; `templates`
    says whether texts may hold placeholders; `key` is the field that names a case; `empty_says` are
    expectations of which an empty list is one.
    """

    name: str
    model: type
    expectations: tuple[str, ...]
    convert: Callable[[Any, Mapping[str, Any], int, Finish], Case]
    exclusive: bool = False
    policy: Policy | None = None
    templates: bool = False
    key: str = "id"
    empty_says: frozenset[str] = frozenset()

    @property
    def fields(self) -> frozenset[str]:
        """Names of the record's fields."""
        return frozenset(field.name for field in dataclasses.fields(self.model))


RAGBENCH = Dialect(
    name="ragbench", model=RagbenchRecord, expectations=("expected_answer", "relevant_docs", "must_contain"), convert=_ragbench,
    policy=default_of(Policy, fail_on=("metric", "threshold"), tolerance=0.01),
)  # fmt: skip
GOLDEN = Dialect(
    name="golden", model=GoldenRecord, expectations=("expectedExact", "mustContain", "rubric"), convert=_golden, exclusive=True,
    policy=default_of(Policy, fail_on=("metric", "threshold"), tolerance=0.02, tolerances={"pass_rate": 0.02}),
)  # fmt: skip
NATIVE = Dialect(name="native", model=NativeCase, expectations=("checks",), convert=_native, templates=True)
TABLE = Dialect(name="csv", model=TableRow, expectations=("expected", "contains"), convert=_table, templates=True)
SPRING = Dialect(name="spring", model=SpringRow, expectations=("defaults.checks",), convert=_spring, templates=True, policy=POLICIES["spring"])
RECORDS = {dialect.name: dialect for dialect in (RAGBENCH, GOLDEN, NATIVE)}
"""The kinds that stand in JSON or YAML."""


def recognise(record: object) -> Dialect:
    """The kind whose own fields a record has most of; ragbench when nothing tells."""
    keys = set(record) if isinstance(record, dict) else set()
    shared = {"id", "input", "category", "tags"}
    return max((RAGBENCH, GOLDEN, NATIVE), key=lambda dialect: (len(keys & (dialect.fields - shared)), dialect is not RAGBENCH and "input" in keys))


def validator(dialect: Dialect) -> Callable[[Any], Any]:
    """Reads a raw record into the dialect's model; raises pydantic's ValidationError."""
    return adapter(dialect.model).validate_python
