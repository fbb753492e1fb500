"""The view as Markdown for comments, job summaries, checks and files."""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from evalaction.errors import EvalGateError
from evalaction.report.cut import fit
from evalaction.report.said import Said
from evalaction.report.tables import Row, Table
from evalaction.report.text import cell, code, fence, span
from evalaction.report.view import ReportView

if TYPE_CHECKING:
    from jinja2 import Template

_COMMENT = re.compile("<!--.*?(?:-->|$)", re.DOTALL)


class Markdown(str):
    """Text that is Markdown of ours already. Any other text that a template prints is foreign and becomes a code span."""

    __slots__ = ()


def render_markdown(view: ReportView, *, marker: str | None = None) -> str:
    """GitHub-flavoured Markdown of at most `view.limit` bytes. With `marker`, a key, it begins with a hidden `<!-- eval-gate:KEY -->`.

    Raises EvalGateError when the finished text holds any hidden comment but that one.
    """
    hidden = marker_comment(marker) if marker is not None else None
    text = fit(view, lambda trimmed: _lay_out(trimmed, hidden), _row)
    if _COMMENT.findall(text) != ([hidden] if hidden else []):
        raise EvalGateError("the finished report holds a hidden comment that is not the report's own")
    return text


def marker_comment(key: str) -> str:
    """The hidden comment that tells one report of a pull request from another; any key gives a well-formed one."""
    return f"<!-- eval-gate:{quote(key, safe='')} -->"


def _lay_out(view: ReportView, hidden: str | None) -> str:
    return _template().render(view=view, hidden=Markdown(hidden) if hidden else None).strip("\n") + "\n"


@functools.cache
def _template() -> Template:
    from jinja2 import Environment, PackageLoader, StrictUndefined  # noqa: PLC0415 - only runs that render pay for the import

    environment = Environment(
        loader=PackageLoader("evalaction.report"),
        autoescape=False,  # noqa: S701 - HTML escapes mean nothing in a code span: `_print` quotes foreign text the Markdown way
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_print,
    )
    environment.filters.update(table=table_markdown, fence=_fence, code=_code)
    return environment.get_template("report.md.j2")


def _print(value: Any) -> str:
    """What a template's `{{ }}` prints: sentences with their foreign words quoted, numbers, our own Markdown; any other text as a code span."""
    if isinstance(value, Said):
        return said_markdown(value)
    if isinstance(value, Markdown | int):
        return str(value)
    return span(str(value))


def said_markdown(sentence: Said) -> str:
    """A sentence of ours with its foreign words in code spans."""
    return sentence.render(span)


def table_markdown(table: Table) -> Markdown:
    """A table without its last line break; what was left out stands below it, since a row of it would not be a row."""
    header = f"| {' | '.join(table.header)} |\n|{'---|' * len(table.header)}\n"
    more = f"\n{table.more:,} more in {table.whole}" if table.more else ""
    return Markdown((header + "".join(map(_row, table.rows)) + more).rstrip("\n"))


def _row(row: Row) -> str:
    return f"| {' | '.join(part.render(cell) for part in row)} |\n"


def _fence(text: str, limit: int = 4000) -> Markdown:
    return Markdown(fence(text, limit))


def _code(text: str) -> Markdown:
    return Markdown(code(text))
