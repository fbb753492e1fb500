"""The rows check: a table of records against the expected one, cell by cell.

Keys compare without case, blanks, `_` and `-`. An expected key that a row lacks is a mismatch, a further
key is not. A cell whose expected value reads as a number is compared as a number under the tolerance,
any other as trimmed text (null is the empty text, booleans are `true` and `false`).
"""

from __future__ import annotations

import dataclasses
import json
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from evalaction.core.answer import Answer
from evalaction.core.checks.base import RIGHT, CheckScore, is_blank, is_deep, listed, no_part, quoted, visible
from evalaction.core.checks.data import parse_json
from evalaction.core.checks.matching import assign
from evalaction.core.checks.number import bounds, is_close, number_of, show
from evalaction.core.patterns import fold
from evalaction.core.scalars import spell
from evalaction.core.specs import Closeness, Rows
from evalaction.errors import MeasureError

MOST_UNORDERED = 5_000
"""Rows that are matched to one another; longer tables are compared in order only."""
Row = Mapping[str, Any]


@dataclasses.dataclass(frozen=True, slots=True)
class Cell:
    """One value as a number, if it is one, and as trimmed text."""

    number: int | float | None
    text: str

    @classmethod
    def of(cls, value: Any) -> Cell:
        """Read any JSON value; nested ones are text."""
        return cls(number_of(value), _text(value))

    def holds(self, actual: Cell | None, tolerance: Closeness) -> bool:
        """Whether `actual` is this expected value; None is a missing key."""
        if actual is None:
            return False
        if self.number is None:
            return self.text == actual.text
        return actual.number is not None and is_close(self.number, actual.number, tolerance)


@dataclasses.dataclass(frozen=True, slots=True)
class Expected:
    """One expected row: normalised key → (key as written, value as written, cell)."""

    cells: tuple[tuple[str, str, Any, Cell], ...]

    @classmethod
    def of(cls, row: Row) -> Expected:
        """Read a row of the author's."""
        return cls(tuple((plain_key(key), str(key), value, Cell.of(value)) for key, value in row.items()))


def plain_key(key: str) -> str:
    """A column's name without case, blanks of any kind, `_` and `-`."""
    plain = "".join(str(key).split()).replace("_", "").replace("-", "").casefold()
    return plain if plain.isascii() else unicodedata.normalize("NFC", plain)


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return fold(value).strip()
    return spell(value) if isinstance(value, bool | int | float) else json.dumps(value, ensure_ascii=False, default=list)


def _actual(row: Row) -> dict[str, Cell]:
    return {plain_key(key): Cell.of(value) for key, value in row.items()}


def read_rows(spec: Rows, answer: Answer) -> tuple[Sequence[Row], CheckScore | None]:
    """The answer's rows (a list of maps, or text that is one as JSON), and 0 with the reason when there are none to compare."""
    part = answer.part(spec.part)
    if is_blank(part):
        return (), no_part(spec.part, part)
    if isinstance(part, str):
        try:
            part = parse_json(part)
        except ValueError as error:
            return (), CheckScore(0.0, f"`{spec.part}` of the answer is no list of rows: {quoted(str(error))}")
    if not isinstance(part, list | tuple) or not all(isinstance(row, Mapping) for row in part):
        return (), CheckScore(0.0, f"`{spec.part}` of the answer is no list of rows")
    return part, CheckScore(0.0, f"`{spec.part}` of the answer is nested too deeply") if is_deep(part) else None


def score_rows(spec: Rows, answer: Answer) -> CheckScore:
    """`score_rows_against` the rows of the suite file. Raises MeasureError SCORER_FAILED when they were to be fetched and were not."""
    if spec.value is None:
        raise MeasureError("SCORER_FAILED", f"the expected rows of the check `{spec.id or spec.type}` were not fetched")
    return score_rows_against(spec, answer, spec.value)


def score_rows_against(spec: Rows, answer: Answer, wanted: Sequence[Row]) -> CheckScore:
    """Share of the expected cells that hold; 0 when the numbers of rows differ.

    Without order, rows are matched one to one with the fewest mismatching cells. Raises MeasureError
    SCORER_FAILED when more than 5,000 rows would have to be matched.
    """
    rows, refused = read_rows(spec, answer)
    if refused:
        return refused
    expected = [Expected.of(row) for row in wanted]
    if len(rows) != len(expected):
        return _other_length(spec, expected, rows)
    actual = [_actual(row) for row in rows]
    partner = range(len(actual)) if spec.order_matters else _match(spec, expected, actual)
    wrong = list(_mismatches(spec, expected, [actual[index] for index in partner]))
    cells = sum(len(row.cells) for row in expected)
    return CheckScore((cells - len(wrong)) / cells, listed(wrong, len(wrong))) if wrong else RIGHT


def _other_length(spec: Rows, expected: Sequence[Expected], rows: Sequence[Row]) -> CheckScore:
    """Another number of rows: 0, and in order also what differs in those that both have."""
    shared = min(len(expected), len(rows)) if spec.order_matters else 0
    wrong = list(_mismatches(spec, expected[:shared], [_actual(row) for row in rows[:shared]]))
    return CheckScore(0.0, listed([f"rows: expected {len(expected)} row(s), got {len(rows)}", *wrong], 1 + len(wrong)))


def _mismatches(spec: Rows, expected: Sequence[Expected], actual: Sequence[Mapping[str, Cell]]) -> Iterator[str]:
    for index, (row, found) in enumerate(zip(expected, actual, strict=True)):
        for key, written, value, cell in row.cells:
            if not cell.holds(found.get(key), spec.tolerance):
                yield f"rows[{index}].{visible(written[:60])}: {_complaint(cell, value, found.get(key))}"


def _complaint(cell: Cell, value: Any, actual: Cell | None) -> str:
    if actual is None:
        return "expected key not present in the row"
    if cell.number is None:
        return f"expected {quoted(cell.text)}, got {quoted(actual.text)}"
    wanted = show(value if isinstance(value, int | float) else cell.number)
    return f"expected {wanted}, no number found in {quoted(actual.text)}" if actual.number is None else f"expected {wanted}, got {show(actual.number)}"


def _match(spec: Rows, expected: Sequence[Expected], actual: Sequence[Mapping[str, Cell]]) -> Sequence[int]:
    """For each expected row the index of its partner, with the fewest mismatching cells in all."""
    if len(expected) > MOST_UNORDERED:
        raise MeasureError("SCORER_FAILED", f"{len(expected):,} rows cannot be matched without order (at most {MOST_UNORDERED:,}); sort them and compare in order")
    everyone = (1 << len(actual)) - 1
    columns = {key: _Column(key, actual) for key in {key for row in expected for key, *_ in row.cells}}
    costs = [_by_mismatches([columns[key].holding(cell, spec.tolerance) for key, _, _, cell in row.cells], everyone) for row in expected]
    return assign(costs, len(actual))


def _by_mismatches(sets: Sequence[int], everyone: int) -> dict[int, int]:
    """Mismatches → the rows with so many, given for each cell the rows where it holds."""
    counts = [everyone, *[0] * len(sets)]
    for number, holding in enumerate(sets, 1):
        for count in range(number, 0, -1):
            counts[count] = counts[count] & holding | counts[count - 1] & ~holding
        counts[0] &= holding
    return dict(enumerate(counts))


class _Column:
    """One column of the answer, indexed: which rows hold a value, as a bit set."""

    def __init__(self, key: str, actual: Sequence[Mapping[str, Cell]]) -> None:
        self.by_text: dict[str, int] = {}
        numbers = []
        for index, row in enumerate(actual):
            if (cell := row.get(key)) is not None:
                self.by_text[cell.text] = self.by_text.get(cell.text, 0) | 1 << index
                if cell.number is not None:
                    numbers.append((cell.number, index))
        numbers.sort()
        self.numbers = [number for number, _ in numbers]
        self.up_to = list(_prefixes(index for _, index in numbers))

    def holding(self, cell: Cell, tolerance: Closeness) -> int:
        """The rows in which this expected value holds."""
        if cell.number is None:
            return self.by_text.get(cell.text, 0)
        low, high = bounds(cell.number, tolerance)
        return self.up_to[bisect_right(self.numbers, high)] ^ self.up_to[bisect_left(self.numbers, low)]


def _prefixes(indices: Iterable[int]) -> Iterator[int]:
    mask = 0
    yield mask
    for index in indices:
        mask |= 1 << index
        yield mask
