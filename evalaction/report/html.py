"""The view as one self-contained HTML page: no script, nothing from elsewhere, foreign text escaped by the template engine."""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING, Any

from evalaction.report.said import Said
from evalaction.report.text import bare, bare_block
from evalaction.report.view import ReportView

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

_BOLD = re.compile(r"\*\*(.+?)\*\*")
_CODE = re.compile(r"`([^`]+)`")
_HOLE = "\x00"
"""Stands for a foreign word while the Markdown marks of ours are turned into tags; `bare` lets none through."""


def render_html(view: ReportView) -> str:
    """A page for a browser, light or dark as its reader likes."""
    return environment().get_template("report.html.j2").render(view=view)


@functools.cache
def environment() -> Environment:
    """The template engine of all pages: everything that is printed is escaped."""
    from jinja2 import Environment, PackageLoader, StrictUndefined  # noqa: PLC0415 - only runs that render pay for the import

    made = Environment(loader=PackageLoader("evalaction.report"), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, finalize=_print)
    made.filters.update(block=bare_block)
    return made


def _print(value: Any) -> Any:
    """Sentences with their foreign words as code; any other text on one line without hostile characters."""
    from markupsafe import Markup  # noqa: PLC0415 - as above

    if isinstance(value, Said):
        return _sentence(value)
    return bare(value, 4000) if isinstance(value, str) and not isinstance(value, Markup) and "\n" not in value else value


def _sentence(said: Said) -> Markup:
    from markupsafe import Markup, escape  # noqa: PLC0415 - as above

    ours = str(escape("".join(part if isinstance(part, str) else _HOLE for part in said.parts)))
    pieces = _CODE.sub(r"<code>\1</code>", _BOLD.sub(r"<strong>\1</strong>", ours)).split(_HOLE)
    words = [f"<code>{escape(bare(part.text))}</code>" for part in said.parts if not isinstance(part, str)]
    return Markup("".join(piece + word for piece, word in zip(pieces, [*words, ""], strict=True)))  # noqa: S704 - ours and foreign words are both escaped above
