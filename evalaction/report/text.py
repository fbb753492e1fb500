"""Foreign text made harmless: for Markdown tables and fences, for terminals, for logs.

Everything from a model, a dataset, a pull request or an artifact passes through one of these before
it is shown. Dropped everywhere: control and bidirectional characters, terminal sequences, characters
without a width of their own that could hide something. Kept: the letters, whatever they say.
"""

from __future__ import annotations

import re

CELL_LIMIT = 300
"""Characters of foreign text in a table cell or a sentence."""
FENCE_LIMIT = 4000
"""Characters of foreign text in a fence."""

_BLANK = "(blank)"
_BREAKS = re.compile("\r\n|[\n\r\v\f\x85\u2028\u2029]")
_SEQUENCES = re.compile("\x1b\\[[0-?]{0,64}[ -/]{0,8}[@-~]|\x1b\\][^\x07\x1b\n]{0,512}(?:\x07|\x1b\\\\)")
"""Terminal sequences with a length of their own; without this a colour would leave `[31m` behind."""
_INVISIBLE = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff\U000e0000-\U000e0fff]"
)
_SURROGATES = re.compile("[\ud800-\udfff]")
_TAGS = re.compile("<(?=[A-Za-z/!?])")
_ENTITIES = re.compile(r"[^\w .-]")
_TICKS = re.compile("`+")
_MANY_TICKS = re.compile("`{33,}")
_COMMAND = re.compile(r"\s*(?:::|##\[)")
_JOINER = "\u2060"
"""WORD JOINER: no width, no break. Between `<` and a letter it keeps text from being a tag for any reader of the raw Markdown too."""


def cell(text: str, limit: int = CELL_LIMIT) -> str:
    """A code span for a cell of a Markdown table: one line, at most `limit` characters of the text, pipes escaped."""
    return span(text, limit).replace("|", "\\|")


def span(text: str, limit: int = CELL_LIMIT) -> str:
    """A code span for running Markdown: one line, at most `limit` characters; no mention, link, image, tag or formula comes alive in it."""
    line = _no_tags(_one_line(text, limit)) or _BLANK
    ticks = "`" * (_longest_run(line) + 1)
    pad = " " if line[0] == "`" or line[-1] == "`" else ""
    return f"{ticks}{pad}{line}{pad}{ticks}"


def code(text: str, limit: int = 120) -> str:
    """A code element for places where GitHub reads HTML but no Markdown; every character that could mean anything is an entity."""
    line = _one_line(text, limit) or _BLANK
    return f"<code>{_ENTITIES.sub(lambda found: f'&#{ord(found.group())};', line)}</code>"


def fence(text: str, limit: int = FENCE_LIMIT) -> str:
    """A fenced block, longer than any run of backticks inside; at most `limit` characters, line breaks kept."""
    inside = _no_tags(_bounded(_clean(text, limit).strip("\n"), limit))
    ticks = "`" * max(3, _longest_run(inside) + 1)
    return f"{ticks}text\n{inside}\n{ticks}"


def bare(text: str, limit: int = CELL_LIMIT) -> str:
    """One line without hostile characters, at most `limit` long; whoever lays it out escapes it."""
    return _one_line(text, limit) or _BLANK


def bare_block(text: str, limit: int = FENCE_LIMIT) -> str:
    """The same with its line breaks."""
    return _bounded(_clean(text, limit).strip("\n"), limit)


def plain(text: str, limit: int = 500) -> str:
    """One harmless line for a terminal or a log, at most `limit` characters: it is no workflow command wherever it stands in a line."""
    line = _one_line(text, limit).replace("##[", "## [")
    return f"| {line}" if _COMMAND.match(line) else line


def block(text: str, limit: int = FENCE_LIMIT) -> str:
    """Several harmless lines for a terminal or a log, each behind `| `; at most `limit` characters of the text."""
    lines = _bounded(_clean(text, limit).strip("\n"), limit).replace("##[", "## [").split("\n")
    return "\n".join(f"| {line}".rstrip() for line in lines)


def guard(text: str) -> str:
    """Finished terminal output in which no line is a workflow command, whatever wrapping has done."""
    return "\n".join(f"| {line.strip()}" if _COMMAND.match(_SEQUENCES.sub("", line)) else line for line in text.split("\n"))


def _clean(text: str, limit: int) -> str:
    """Line breaks as line feeds, hostile characters gone. Only as much is looked at as may be needed, so that a huge text costs little."""
    text = _SURROGATES.sub("\ufffd", text[: 4 * limit + 1024])
    return _INVISIBLE.sub("", _BREAKS.sub("\n", _SEQUENCES.sub("", text)))


def _one_line(text: str, limit: int) -> str:
    return _bounded(_clean(text, limit).strip().replace("\t", " ").replace("\n", " ⏎ "), limit)


def _bounded(text: str, limit: int) -> str:
    """Cut with a mark. A run of backticks that no parser would close (CommonMark's gives up at 80) is cut as well."""
    text = _MANY_TICKS.sub("`" * 32 + "…", text)
    return text if len(text) <= limit else text[: max(limit - 1, 0)].rstrip() + "…"


def _no_tags(text: str) -> str:
    return _TAGS.sub("<" + _JOINER, text)


def _longest_run(text: str) -> int:
    return max(map(len, _TICKS.findall(text)), default=0)
