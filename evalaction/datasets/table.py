"""CSV, TSV and `|`-separated tables, read strictly: a quote in the wrong place shifts cells, so it is refused rather than guessed at."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from evalaction.datasets.faults import clip
from evalaction.datasets.source import Source, decode
from evalaction.errors import ConfigError, Fault

_QUOTING = 'put the whole cell into double quotes and double the quotes inside it: "{""a"": 1}"'
_BREAK = re.compile(r"\r\n|\r|\n")

SPRING = frozenset({"id", "prompt", "minimumScore"})
"""Columns that make rows those of a Spring AI evaluation, which call the input `prompt`."""
Row = tuple[list[str], int]
"""Cells and the line on which the row starts."""


def rows(source: Source, raw: bytes, delimiter: str | None = None) -> Iterator[tuple[dict[str, str], int] | ConfigError]:
    """Each row as header → cell with the line it starts on, or what is wrong with it (MALFORMED_CSV, MISSING_FIELD).

    `delimiter` None: the one of `,`, tab and `|` that the header has most of. Cells stay text exactly; blank lines are passed over,
    and a file without a header has no rows.
    """
    try:
        text = decode(source, raw, "MALFORMED_CSV")
    except ConfigError as error:
        yield error
        return
    read = _rows(source, text, delimiter or _delimiter(text))
    header = next(read, None)
    if header is None:
        return
    if isinstance(header, ConfigError):
        yield header
        return
    names, line = [name.strip() for name in header[0]], header[1]
    if faults := list(_header_faults(source, names, line)):
        yield ConfigError(faults)
        return
    for row in read:
        yield row if isinstance(row, ConfigError) else _named(source, names, row)


def _delimiter(text: str) -> str:
    header = next((line for line in text.splitlines() if line.strip()), "")
    return max(",\t|", key=header.count)


def _header_faults(source: Source, names: list[str], line: int) -> Iterator[Fault]:
    for name, count in Counter(names).items():
        if not name:
            yield source.fault("MALFORMED_CSV", "a column of the header has no name", "name every column", line, 1)
        elif count > 1:
            yield source.fault("MALFORMED_CSV", f"the header names the column `{clip(name)}` twice", "name every column once", line, 1)
    for name in ("id", "input"):
        if name not in names and not (name == "input" and set(names) >= SPRING):
            yield source.fault("MISSING_FIELD", f"the header has no column `{name}` (it has {clip(', '.join(names), 200)})", "write a header such as id,input,expected", line, 1)


def _named(source: Source, names: list[str], row: Row) -> tuple[dict[str, str], int] | ConfigError:
    cells, line = row
    if len(cells) != len(names):
        what = f"the row has {len(cells)} cells, the header {len(names)}"
        return source.refuse("MALFORMED_CSV", what, "give every column its cell; put a cell that holds the separator into double quotes", line, 1)
    return dict(zip(names, cells, strict=True)), line


def _rows(source: Source, text: str, delimiter: str) -> Iterator[Row | ConfigError]:
    """Rows one after the other; after a malformed one reading goes on at the next line."""
    cell = re.compile(rf'"((?:[^"]+|"")*+)"|([^"{re.escape(delimiter)}\r\n]*)')
    at, line = 0, 1
    while at < len(text):
        end, cells, wrong = _row(text, at, delimiter, cell)
        if wrong is not None:
            place = line + len(_BREAK.findall(text, at, wrong[1])), wrong[1] - max(text.rfind("\n", 0, wrong[1]), text.rfind("\r", 0, wrong[1]))
            yield source.refuse("MALFORMED_CSV", f"{wrong[0]} (cell {len(cells)} of its row)", _QUOTING, *place)
        elif len(cells) > 1 or cells[0].strip():
            yield cells, line
        line += len(_BREAK.findall(text, at, end))
        at = end


def _row(text: str, at: int, delimiter: str, cell: re.Pattern[str]) -> tuple[int, list[str], tuple[str, int] | None]:
    """One row from an offset on: the offset of the next row, the cells, and what is wrong with the offset of that."""
    cells: list[str] = []
    while True:
        found = cell.match(text, at)
        quoted, plain = found.groups() if found else (None, "")
        at = found.end() if found else at
        cells.append(plain if quoted is None else quoted.replace('""', '"'))
        if text.startswith(delimiter, at):
            at += 1
        elif at == len(text):
            return at, cells, None
        elif end := _BREAK.match(text, at):
            return end.end(), cells, None
        elif quoted is None and not plain:
            return len(text), cells, ("a quote is opened and never closed", at)
        else:
            next_line = _BREAK.search(text, at)
            what = "a quote stands inside a cell that is not quoted" if quoted is None else "text follows the closing quote of a cell"
            return next_line.end() if next_line else len(text), cells, (what, at)
