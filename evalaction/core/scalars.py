"""Scalars that remember how they were written, and the field types that read them.

A suite author writes `id: 012` and means the text "012"; `n: 1.50` as a variable means the number
1.5 that reads "1.50" inside a sentence. A reader therefore hands over numbers as `SpelledInt` and
`SpelledFloat`, and each field type below decides what the scalar is in its place.
"""

from __future__ import annotations

import math
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, Strict, WithJsonSchema
from pydantic_core import PydanticCustomError


class SpelledInt(int):
    """An integer that keeps its spelling in `str()`; JSON writes its value."""

    spelling: str

    def __new__(cls, value: int, spelling: str) -> SpelledInt:
        """Make one from a value and how it was written."""
        self = super().__new__(cls, value)
        self.spelling = spelling
        return self

    def __str__(self) -> str:
        return self.spelling


class SpelledFloat(float):
    """A finite float that keeps its spelling in `str()`; JSON writes its value."""

    spelling: str

    def __new__(cls, value: float, spelling: str) -> SpelledFloat:
        """Make one from a finite value and how it was written."""
        self = super().__new__(cls, value)
        self.spelling = spelling
        return self

    def __str__(self) -> str:
        return self.spelling


def spell(value: object) -> str:
    """A scalar as its author wrote it: `true`, `1.50`, `text`; `null` for nothing."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def _text(value: object) -> object:
    if isinstance(value, str):
        return value
    if value is None:
        raise PydanticCustomError("TYPE_MISMATCH", "nothing (null) stands where text is expected", {"fix": "write the text; if the word null is meant, quote it"})
    if isinstance(value, bool | int | float):
        return spell(value)
    raise PydanticCustomError("TYPE_MISMATCH", "expected text, found {kind}", {"kind": kind_of(value), "fix": "write text here; quote it when it holds special characters"})


def _nonblank(value: object) -> object:
    if isinstance(value, str) and value.strip():  # by far the most frequent, in datasets of 100,000 cases
        return value
    text = _text(value)
    if isinstance(text, str) and not text.strip():
        raise PydanticCustomError("BLANK_FIELD", "the text is blank", {"fix": "write a text that is not blank"})
    return text


def _number(value: object) -> object:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise PydanticCustomError("TYPE_MISMATCH", "expected a number, found {kind}", {"kind": kind_of(value), "fix": "write a plain number such as 0.05, without quotes"})
    if not math.isfinite(value):
        raise PydanticCustomError("INVALID_VALUE", "the number is not finite", {"fix": "write a finite number"})
    return value


def _whole(value: object) -> object:
    if isinstance(value, bool) or not isinstance(value, int):
        raise PydanticCustomError("TYPE_MISMATCH", "expected a whole number, found {kind}", {"kind": kind_of(value), "fix": "write a whole number such as 3, without quotes"})
    return int(value)


def _tolerance(value: object) -> object:
    number = _number(value)
    if isinstance(number, int | float) and number < 0:
        raise PydanticCustomError("INVALID_TOLERANCE", "a tolerance cannot be negative", {"fix": "write 0 for exact, or a positive number"})
    return number


def kind_of(value: object) -> str:
    """The word for a value's kind in a message to an author."""
    if value is None:
        return "nothing (null)"
    if isinstance(value, bool):
        return "a boolean"
    if isinstance(value, int | float):
        return f"the number {value}"
    if isinstance(value, str):
        return "text"
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list | tuple):
        return "a list"
    return type(value).__name__


_ANY_SCALAR = WithJsonSchema({"type": ["string", "number", "boolean"]})

Text = Annotated[str, BeforeValidator(_text), _ANY_SCALAR]
"""Any scalar, kept as written; null is refused."""
Word = Annotated[str, BeforeValidator(_nonblank), _ANY_SCALAR]
"""Text that is not blank."""
Flag = Annotated[bool, Strict()]
"""`true` or `false`, nothing that merely looks like it."""
Number = Annotated[float, BeforeValidator(_number)]
"""A finite number."""
Fraction = Annotated[Number, Field(ge=0, le=1)]
"""A number in 0..1."""
Positive = Annotated[Number, Field(gt=0)]
Tolerance = Annotated[float, BeforeValidator(_tolerance), WithJsonSchema({"type": "number", "minimum": 0})]
Whole = Annotated[int, BeforeValidator(_whole)]
Count = Annotated[Whole, Field(ge=1)]
"""A whole number of at least one."""
Repeats = Annotated[Whole, Field(ge=1, le=1000)]
"""Runs of a case in one pass over the suite."""
Size = Annotated[int, Field(ge=0, le=10**15)]
"""A count in a stored file, which may be a stranger's."""
Json = Any
"""Any JSON value, as it stands."""
