"""Tables with a column per metric: what `Dataset.to_pandas().to_csv()` of ragas writes, and any CSV of the same form."""

from __future__ import annotations

import csv
import io
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from evalaction.core.answer import LARGEST
from evalaction.core.fingerprint import digest
from evalaction.core.foreign import PASSING, ForeignCase, ForeignCheck, ForeignTrial
from evalaction.core.record import Tokens
from evalaction.core.spec_base import RAW
from evalaction.imports.files import Place, Reader
from evalaction.imports.intake import Intake, Spot, failed

_ASKED = ("user_input", "question", "input")
_ANSWERED = ("response", "answer", "output")
_TEXTS = frozenset({
    *_ASKED, *_ANSWERED, "id", "category", "error", "retrieved_contexts", "contexts", "reference_contexts", "retrieved_context_ids", "reference_context_ids", "reference",
    "ground_truth", "ground_truths", "reference_topics", "multi_responses", "rubrics", "persona_name", "query_style", "query_length", "synthesizer_name", "",
})  # fmt: skip
"""Columns that are texts whatever they hold; the unnamed one is the index that pandas writes."""
_LONGEST_CELL = 16 * 1024 * 1024
_SHOWN = 80

Row = tuple[dict[str, str], int]


def read(place: Place, intake: Intake) -> None:
    """Each row is a case, each column of numbers a check; a blank number makes its row an error. Without a column `id` a case is named by its question."""
    file = place.file()
    rows = list(_rows(Reader().text(file, "MALFORMED_CSV"), file, intake))
    columns = list(rows[0][0]) if rows else []
    metrics = [name for name in columns if name not in _TEXTS and name not in RAW and any(_is_number(cells[name]) for cells, _ in rows)]
    texts = [name for name in columns if name not in _TEXTS and name not in RAW and name not in metrics]
    if texts:
        intake.notes.append(f"columns without any number are no metrics: {', '.join(texts[:10])}")
    if rows and not metrics:
        intake.fault(Spot(file, 1), "NOTHING_TO_CHECK", "no column holds numbers", "write a column per metric, with scores in 0..1")
        return
    for cells, line in rows:
        name = cells.get("id") or _named(_first(cells, _ASKED))
        spot = Spot(file, line, case=name)
        intake.add(ForeignCase(id=name, input=_first(cells, _ASKED), category=cells.get("category") or None, trials=(_trial(cells, metrics, spot, intake),), line=line), spot)


def _named(question: str) -> str:
    line = " ".join(question.split())
    return line if len(line) <= _SHOWN else f"{line[:_SHOWN]}~{digest(line)[:8]}"


def _first(cells: Mapping[str, str], names: Sequence[str]) -> str:
    return next((cells[name] for name in names if cells.get(name)), "")


def _rows(text: str, file: Place, intake: Intake) -> Iterator[Row]:
    """Rows by column with the line each ends on. A row of another width is a fault."""
    before = csv.field_size_limit(_LONGEST_CELL)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter(text), strict=True)
    try:
        header = [name.strip() for name in next(reader, [])]
        for name, count in Counter(header).items():
            if count > 1:
                intake.fault(Spot(file, 1), "MALFORMED_CSV", f"the header names the column `{name}` twice", "name every column once")
        for cells in reader:
            if len(cells) == len(header):
                yield dict(zip(header, cells, strict=True)), reader.line_num
            elif any(cells):
                intake.fault(Spot(file, reader.line_num), "MALFORMED_CSV", f"the row has {len(cells)} cells, the header {len(header)}", "give every column its cell")
    except csv.Error as error:
        intake.fault(Spot(file, reader.line_num), "MALFORMED_CSV", str(error), "put a cell that holds quotes or separators into double quotes, and double the quotes inside")
    finally:
        csv.field_size_limit(before)


def _delimiter(text: str) -> str:
    header = next((line for line in io.StringIO(text) if line.strip()), "")
    return max(",\t;|", key=header.count)


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _trial(cells: Mapping[str, str], metrics: Sequence[str], spot: Spot, intake: Intake) -> ForeignTrial:
    answer = {"output": _first(cells, _ANSWERED)}
    checks, blank = [], []
    for name in metrics:
        cell = cells[name].strip()
        if not cell:
            blank.append(name)
        elif not _is_number(cell) or not math.isfinite(float(cell)):
            intake.fault(spot, "INVALID_VALUE", f"`{name}` is `{cell[:40]}`, which is no finite number", "leave the cell blank where the metric could not be computed")
        else:
            score = intake.fraction(float(cell), spot, f"`{name}`")
            checks.append(ForeignCheck(id=name, type="column", score=score, passed=score >= PASSING, threshold=PASSING, asked=name, metrics=(name,)))
    amounts: dict[str, Any] = {name: found for name in RAW if (found := _amount(cells, name, spot, intake)) is not None}
    if "tokens" in amounts:
        amounts["tokens"] = Tokens(output=int(amounts["tokens"]))
    if cells.get("error", "").strip():
        return failed(cells["error"], answer=answer, **amounts)
    return failed(f"no value for {', '.join(blank)}", code="SCORER_FAILED", answer=answer, **amounts) if blank else ForeignTrial(checks=tuple(checks), answer=answer, **amounts)


def _amount(cells: Mapping[str, str], name: str, spot: Spot, intake: Intake) -> float | None:
    """What a row cost, in the unit that its column names; None where the cell is blank."""
    cell = cells.get(name, "").strip()
    if not cell:
        return None
    value = float(cell) if _is_number(cell) else math.nan
    if not 0 <= value <= LARGEST[name] or (name == "tokens" and value != int(value)):
        what = f"`{name}` is `{cell[:40]}`, which is no amount in 0..{LARGEST[name]:,}"
        intake.fault(spot, "INVALID_VALUE", what, "write the amount in the column's unit, or leave the cell blank")
        return None
    return value
