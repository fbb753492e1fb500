"""What a check of a text asks: equality, needles and patterns."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import BeforeValidator, Field, ValidationInfo, field_validator
from pydantic_core import PydanticCustomError

from evalaction.core.model import model as spec
from evalaction.core.patterns import PatternError, compiled
from evalaction.core.scalars import Flag, Text, Word
from evalaction.core.spec_base import CheckSpec


def _needles(value: object) -> object:
    """A lone text is a list of one; an empty needle is found everywhere and so checks nothing."""
    values = value if isinstance(value, list | tuple) else [value]
    if not values or any(isinstance(item, str) and not item.strip() for item in values):
        raise PydanticCustomError("EMPTY_NEEDLE", "an empty or blank needle is found in every text", {"fix": "name at least one text to look for, and none that is blank"})
    return values


Needles = Annotated[tuple[Word, ...], BeforeValidator(_needles, json_schema_input_type=Text | list[Text])]


@spec
class Equals(CheckSpec):
    """The whole text is the expected one; outer blanks never count."""

    type: Literal["equals"] = "equals"
    value: Word
    normalize: Literal["none", "text", "squad"] = "none"
    ignore_case: Flag = False


@spec
class ExactMatch(CheckSpec):
    """Equal after SQuAD normalisation (lower case, no articles, no punctuation)."""

    type: Literal["exact_match"] = "exact_match"
    value: Word


@spec
class TokenF1(CheckSpec):
    """F1 of the shared tokens after SQuAD normalisation."""

    DEFAULT_THRESHOLD: ClassVar[float] = 0.5
    type: Literal["token_f1"] = "token_f1"
    value: Word


@spec
class ContainsAll(CheckSpec):
    """Share of the needles found."""

    type: Literal["contains_all"] = "contains_all"
    value: Needles
    ignore_case: Flag = True


@spec
class ContainsAny(CheckSpec):
    """1 when any needle is found, else 0."""

    type: Literal["contains_any"] = "contains_any"
    value: Needles
    ignore_case: Flag = True


@spec
class NotContains(CheckSpec):
    """Share of the needles absent."""

    type: Literal["not_contains"] = "not_contains"
    value: Needles
    ignore_case: Flag = True


@spec
class PatternSpec(CheckSpec):
    """A regular expression searched for in the text; `flags` are letters of `imsx`."""

    flags: Annotated[Text, Field(pattern="^[imsx]*$")] = ""  # before the pattern, which is compiled under them
    pattern: Word

    @field_validator("pattern")
    @classmethod
    def _compiles(cls, pattern: str, info: ValidationInfo) -> str:
        try:
            if "flags" in info.data:  # wrong flags are a fault of their own
                compiled(pattern, info.data["flags"])
        except PatternError as error:
            raise PydanticCustomError("INVALID_PATTERN", "the pattern does not compile: {why}", {"why": str(error), "fix": "correct the regular expression"}) from None
        return pattern


@spec
class Regex(PatternSpec):
    """The pattern is found."""

    type: Literal["regex"] = "regex"


@spec
class NotRegex(PatternSpec):
    """The pattern is not found."""

    type: Literal["not_regex"] = "not_regex"
