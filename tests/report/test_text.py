"""Foreign text made harmless, judged by GitHub's own Markdown parser and by the runner's own rules for commands."""

from __future__ import annotations

import html
import re

import cmarkgfm
import pytest
from cmarkgfm.cmark import Options
from hypothesis import given
from hypothesis import strategies as st

from evalaction.report.text import block, cell, code, fence, guard, plain, span

NASTY = [
    "|",
    "\\",
    "\\|",
    "`",
    "``",
    "```",
    "~~~",
    "`" * 90,
    "\n",
    "\r\n",
    "\u2028",
    "<",
    "<b>",
    "</details>",
    "<!--",
    "-->",
    "<script>",
    "@octo-team",
    "#1",
    "GH-2",
    "octo/demo#1",
    "$x$",
    "![i](http://e.invalid/i.png)",
    "[a](b)",
    "http://e.invalid/",
    "www.e.invalid",
    "\u202e",
    "\x1b[31m",
    "\x1b]0;t\x07",
    "\x00",
    "\ud800",
    "\u200b",
    "\u2060",
    "&lt;",
    "&#64;",
    "::error::x",
    "##[error]x",
    " ",
    "\t",
    "a",
    "é",
    "漢",
    "👩\u200d💻",
    "# h",
    "- l",
    "> [!NOTE]",
]
texts = st.one_of(st.text(max_size=60), st.lists(st.sampled_from(NASTY), max_size=12).map("".join))
FORBIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")


def page(markdown: str) -> str:
    """What GitHub makes of it: its own parser, nothing sanitised."""
    return cmarkgfm.github_flavored_markdown_to_html(markdown, Options.CMARK_OPT_UNSAFE)


@given(texts, texts)
def test_cell__any_two_texts_in_a_row_of_three(one, two):
    """Any text in a cell is one code span in one cell: the row keeps its three cells and nothing outside code comes alive."""
    found = page(f"| a | b | c |\n|---|---|---|\n| {cell(one)} | {cell(two)} | end |\n")

    (row,) = re.findall(r"<tr>\n(.*?)</tr>", found.split("<tbody>")[1], re.DOTALL)
    assert re.sub(r"<code>[^<]*</code>", "CODE", row) == "<td>CODE</td>\n<td>CODE</td>\n<td>end</td>\n"


@given(texts)
def test_span__any_text_in_a_sentence(text):
    """Any text in running Markdown is exactly one code span, and a backtick in it closes nothing."""
    assert re.fullmatch(r"<ul>\n<li>before <code>[^<]*</code> after</li>\n</ul>\n", page(f"- before {span(text)} after\n"))


@given(texts)
def test_fence__any_text_between_two_paragraphs(text):
    """Any text in a fence stays in it, and what follows is a paragraph again."""
    assert re.fullmatch(r'<p>before</p>\n<pre lang="text"><code>[^<]*</code></pre>\n<p>after</p>\n', page(f"before\n\n{fence(text)}\n\nafter\n"))


@given(texts)
def test_code__any_text_in_a_summary(text):
    """Any text in a code element consists of letters and entities only, so that neither HTML nor Markdown finds anything in it."""
    assert re.fullmatch(r"<code>(?:[\w .-]|&#\d+;)+</code>", code(text))


@given(texts)
def test_every_form__drops_control_and_direction_characters(text):
    """No form lets a control, direction or invisible character through."""
    for form in (cell, span, plain, code):
        assert not FORBIDDEN.search(form(text)), form
    for form in (fence, block):
        assert not FORBIDDEN.search(form(text)), form


@given(texts)
def test_no_tag__even_for_a_reader_of_the_raw_text(text):
    """No form of Markdown has `<` in front of a letter or `!`: no comment can be forged, no element closed."""
    assert not re.search(r"<[A-Za-z/!?]", cell(text) + span(text) + fence(text))


@given(st.text(alphabet=st.characters(categories=["L", "N"], include_characters="|\\`<>&*_ @#$"), min_size=1, max_size=40).map(str.strip).filter(bool))
def test_cell__is_read_back_as_written(text):
    """What a reader sees in a cell is the text itself, backslashes, pipes and backticks included."""
    (shown,) = re.findall(r"<td><code>(.*?)</code></td>", page(f"| a |\n|---|\n| {cell(text)} |\n"), re.DOTALL)

    assert html.unescape(shown).replace("\u2060", "") == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("refund-window", "`refund-window`"),
        ("a|b", "`a\\|b`"),
        ("a\r\nb", "`a ⏎ b`"),
        ("`x`", "`` `x` ``"),
        ("", "`(blank)`"),
        ("\x1b[31mred\x1b[0m", "`red`"),
        ("x" * 400, "`" + "x" * 299 + "…`"),
    ],
)
def test_cell__examples(text, shown):
    """A plain id stays readable, pipes and breaks are shown, long texts end in a mark."""
    assert cell(text) == shown


@given(texts)
def test_plain__is_no_command(text):
    """One line that no runner takes for a workflow command, old form or new, wherever it is printed."""
    line = plain(text)

    assert len(line.splitlines()) <= 1
    assert not line.lstrip().startswith("::")
    assert "##[" not in line


@given(texts)
def test_block__is_no_command(text):
    """Every line of a block begins with a bar."""
    assert all(line.startswith("|") and "##[" not in line for line in block(text).splitlines())


@pytest.mark.parametrize("line", ["::error::x", "  ::add-mask::a", "\x1b[31m::stop-commands::t\x1b[0m", "##[error]x", "\u3000::warning::x"])
def test_guard__disarms_a_line_that_wrapping_made(line):
    """A finished line that begins with a command gets a bar in front; other lines stay as they are."""
    assert guard(f"first\n{line}\nlast").split("\n")[::2] == ["first", "last"]
    assert guard(line).startswith("| ")


def test_fence__a_huge_text_is_cut_quickly_and_with_a_mark():
    """Ten megabytes cost no more than what is shown, and the cut is visible."""
    shown = fence("`" * 10_000_000, 4000)

    assert len(shown) < 200
    assert "…" in shown
