"""What a check asks: one frozen type per check type of the suite file. Those of texts stand in `spec_text`; this is the door to all of them.

Each type carries its parameters only; how it scores stands in `core.checks`. `type` tells the types
apart in the file; `id` is unique within a case once a suite is read.
"""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import BeforeValidator, Discriminator, Field, field_validator
from pydantic_core import PydanticCustomError

from evalaction.core.model import default_of
from evalaction.core.model import model as spec
from evalaction.core.scalars import Count, Flag, Json, Number, Positive, Text, Tolerance, Word, kind_of
from evalaction.core.spec_base import RESERVED, CheckSpec
from evalaction.core.spec_text import ContainsAll, ContainsAny, Equals, ExactMatch, Needles, NotContains, NotRegex, PatternSpec, Regex, TokenF1

__all__ = [
    "Check", "CheckSpec", "Closeness", "ContainsAll", "ContainsAny", "Equals", "ExactMatch", "Groundedness", "Intent", "JsonCheck", "JsonSubset", "MaxCost",
    "MaxLatency", "MaxTokens", "Needles", "NotContains", "NotRegex", "NumberCheck", "PatternSpec", "PythonCheck", "RagbenchGroundedness", "RagbenchRetrieval", "Refusal",
    "Regex", "Retrieval", "Rows", "Rubric", "Similarity", "TokenF1", "ToolCall", "ToolCalls",
]  # fmt: skip


def _listed(value: object) -> object:
    if not isinstance(value, list | tuple):
        raise PydanticCustomError("TYPE_MISMATCH", "expected a list, found {kind}", {"kind": kind_of(value), "fix": "write a list, such as [one, two]"})
    return value


def _relevant(value: object) -> object:
    values = _listed(value)
    if not values:
        raise PydanticCustomError("NOTHING_TO_CHECK", "an empty list of relevant documents checks nothing", {"fix": "name at least one relevant document, or leave the check out"})
    return values


Relevant = Annotated[tuple[Word, ...], BeforeValidator(_relevant)]


@spec
class Closeness:
    """How far a number may be off: a cell is right when either tolerance holds; both 0 means exact."""

    absolute: Tolerance = 0.0
    relative: Tolerance = 0.0


@spec
class NumberCheck(CheckSpec):
    """A number in the text has the expected value."""

    type: Literal["number"] = "number"
    value: Number
    tolerance: Closeness = default_of(Closeness)
    pick: Literal["last", "first", "only"] = "last"


@spec
class JsonCheck(CheckSpec):
    """The answer is valid under a JSON Schema."""

    type: Literal["json"] = "json"
    schema_: Annotated[dict[str, Json] | Flag, Field(alias="schema")]

    @field_validator("schema_")
    @classmethod
    def _is_schema(cls, schema: dict[str, Json] | bool) -> dict[str, Json] | bool:
        from jsonschema import Draft202012Validator, SchemaError  # noqa: PLC0415 - only suites with schemas pay for the import

        try:
            Draft202012Validator.check_schema(schema)
        except SchemaError as error:
            raise PydanticCustomError("INVALID_VALUE", "not a JSON Schema: {why}", {"why": error.message, "fix": "correct the schema (draft 2020-12)"}) from None
        return schema


@spec
class JsonSubset(CheckSpec):
    """Share of the expected leaves that the answer holds."""

    type: Literal["json_subset"] = "json_subset"
    value: dict[str, Json] | list[Json]


@spec
class Rows(CheckSpec):
    """A table of records, cell by cell; `reference` is asked live for the expected rows."""

    DEFAULT_FIELD: ClassVar[str] = "rows"
    type: Literal["rows"] = "rows"
    value: tuple[dict[str, Json], ...] | None = None
    reference: dict[str, Json] | None = None
    order_matters: Flag = True
    tolerance: Closeness = default_of(Closeness)

    def __post_init__(self) -> None:
        if (self.value is None) == (self.reference is None):
            found = "neither" if self.value is None else "both"
            raise PydanticCustomError("INVALID_VALUE", "expected either `value` or `reference`, found {found}", {"found": found, "fix": "write exactly one of the two"})


@spec
class Intent(CheckSpec):
    """The answer's intent, in any case; `contains` looks into the output as well."""

    DEFAULT_FIELD: ClassVar[str] = "intent"
    type: Literal["intent"] = "intent"
    value: Word
    contains: Word | None = None


@spec
class Refusal(CheckSpec):
    """The answer's refusal: its text is `value` in any case, or holds `contains` with its case."""

    DEFAULT_FIELD: ClassVar[str] = "refusal"
    type: Literal["refusal"] = "refusal"
    value: Word | None = None
    contains: Word | None = None


@spec
class Retrieval(CheckSpec):
    """Retrieved documents against the relevant ones, at cut-off `k`; the score is recall."""

    DEFAULT_FIELD: ClassVar[str] = "retrieved"
    DEFAULT_THRESHOLD: ClassVar[float] = 0.5
    type: Literal["retrieval"] = "retrieval"
    relevant: Relevant
    k: Count = 10


@spec
class Groundedness(CheckSpec):
    """Share of the answer's content words found in its contexts."""

    DEFAULT_THRESHOLD: ClassVar[float] = 0.5
    type: Literal["groundedness"] = "groundedness"


@spec
class Similarity(CheckSpec):
    """Cosine similarity to a text under a local embedding model."""

    DEFAULT_THRESHOLD: ClassVar[float] = 0.5
    type: Literal["similarity"] = "similarity"
    value: Word


@spec
class ToolCall:
    """One call the system is expected to make."""

    name: Word
    args: dict[str, Json] = Field(default_factory=dict)


@spec
class ToolCalls(CheckSpec):
    """The tools called, by order and arguments; the score is the share of expected calls made."""

    DEFAULT_FIELD: ClassVar[str] = "tool_calls"
    type: Literal["tool_calls"] = "tool_calls"
    value: Annotated[tuple[ToolCall, ...], BeforeValidator(_listed)]
    match: Literal["exact", "in_order", "any_order"] = "exact"
    args: Literal["exact", "subset", "ignore"] = "exact"


def _criteria(value: object) -> object:
    """A list of sentences gets the ids c1, c2, …; a mapping names its own."""
    if isinstance(value, list | tuple):
        return {f"c{index}": sentence for index, sentence in enumerate(value, 1)}
    return value


@spec
class Rubric(CheckSpec):
    """Criteria that a judge applies, each on its own."""

    type: Literal["rubric"] = "rubric"
    criteria: Annotated[dict[Word, Word], BeforeValidator(_criteria, json_schema_input_type=dict[str, Text] | list[Text]), Field(min_length=1)]
    scale: Literal[5] | None = None


@spec
class MaxLatency(CheckSpec):
    """The answer took at most `value` milliseconds."""

    type: Literal["max_latency_ms"] = "max_latency_ms"
    value: Positive


@spec
class MaxCost(CheckSpec):
    """The answer cost at most `value` US dollars."""

    type: Literal["max_cost_usd"] = "max_cost_usd"
    value: Positive


@spec
class MaxTokens(CheckSpec):
    """The answer used at most `value` tokens, input and output together."""

    type: Literal["max_tokens"] = "max_tokens"
    value: Positive


@spec
class PythonCheck(CheckSpec):
    """A function of the author's: `(case, answer) -> float | bool | {score, reason}`."""

    type: Literal["python"] = "python"
    callable: Annotated[Word, Field(pattern=r"^[A-Za-z_][\w.]*:[A-Za-z_][\w.]*$")]

    @field_validator("id")
    @classmethod
    def _is_free(cls, name: str | None) -> str | None:
        """Its id names its metric."""
        if name in RESERVED:
            what = "`{name}` is the name of a metric that every answer has"
            raise PydanticCustomError("INVALID_VALUE", what, {"name": name, "fix": "give the check another id, since its id names its metric"})
        return name


@spec
class RagbenchRetrieval(Retrieval):
    """Retrieval under ragbench's names (a literal `@k`) and its own precision; never read from a suite file."""

    type: Literal["ragbench_retrieval"] = "ragbench_retrieval"  # type: ignore[assignment]


@spec
class RagbenchGroundedness(Groundedness):
    """Groundedness that applies only where the answer has contexts; never read from a suite file."""

    type: Literal["ragbench_groundedness"] = "ragbench_groundedness"  # type: ignore[assignment]


Check = Annotated[
    Equals | ExactMatch | TokenF1 | ContainsAll | ContainsAny | NotContains | Regex | NotRegex | NumberCheck | JsonCheck | JsonSubset | Rows | Intent | Refusal
    | Retrieval | Groundedness | Similarity | ToolCalls | Rubric | MaxLatency | MaxCost | MaxTokens | PythonCheck,
    Discriminator("type"),
]
"""Any check of a suite file, told apart by `type`."""
