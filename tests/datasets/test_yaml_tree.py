"""YAML with positions: text stays text, and nothing misleading gets through."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from evalaction.core.scalars import spell
from evalaction.datasets.source import Source
from evalaction.datasets.yaml_tree import _Builder, read_yaml, resolve

SOURCE = Source(Path("s.yaml"), "s.yaml")


def read(text):
    """Document and faults of a text or bytes."""
    return read_yaml(SOURCE, text if isinstance(text, bytes) else text.encode())


def value(text):
    """The value of a text without faults."""
    document, faults = read(text)
    assert not faults
    return document.value


@pytest.mark.parametrize("word", ["NO", "no", "on", "Off", "True", "FALSE", "Null", "2026-08-17", "12:30", "1_000", ".inf", ".nan", "1e999", "0b1", "~x", "1.2.3", "-x", "."])
def test_plain_scalar__that_other_loaders_convert__stays_text(word):
    """Only what YAML 1.2's core calls a number, and true, false and null, is not text."""
    assert value(f"a: {word}") == {"a": word}


@pytest.mark.parametrize(("word", "number"), [("012", 12), ("5319E7", 5319e7), ("1.50", 1.5), ("-0", 0), ("0x1F", 31), ("0o17", 15), (".5", 0.5), ("+3", 3)])
def test_number__of_any_spelling__keeps_it(word, number):
    """A number has its value, and its text is the spelling of the author."""
    found = value(f"a: {word}")["a"]
    assert (found, spell(found)) == (number, word)


@pytest.mark.parametrize(("text", "expected"), [("true", True), ("false", False), ("null", None), ("~", None), ("", None)])
def test_word__with_a_meaning__has_it(text, expected):
    """true, false, null, ~ and nothing are the only words with a meaning."""
    assert value(f"a: {text}")["a"] is expected


@pytest.mark.parametrize("text", ["'12'", '"12"', "!!str 12", '! "12"', "|-\n  12"])
def test_quoted_scalar__that_looks_like_a_number__is_text(text):
    """Quotes, a block and `!!str` force text."""
    assert value(f"a: {text}") == {"a": "12"}


def test_key_written_twice__in_one_mapping__names_both_lines_and_goes_on():
    """The fault names key and lines, the first one stands, later duplicates are found too."""
    document, faults = read("a: 1\nb:\n  c: 1\n  c: 2\na: 3\n")
    assert document.value == {"a": 1, "b": {"c": 1}}
    assert [(fault.code, fault.line) for fault in faults] == [("DUPLICATE_KEY", 4), ("DUPLICATE_KEY", 5)]
    assert "`c` is written twice in one mapping, on lines 3 and 4" in faults[0].what
    assert "`a` is written twice in one mapping, on lines 1 and 5" in faults[1].what
    assert all("\n" not in str(fault) for fault in faults)


def test_merge_key__with_an_override__is_no_duplicate():
    """`<<` fills in what is not written, from the first mapping that has it."""
    assert value("x: &x {a: 1, b: 1}\ny: &y {b: 2, c: 2}\nz: {<<: [*x, *y], a: 3}")["z"] == {"a": 3, "b": 1, "c": 2}
    assert value("x: &x {a: 1}\nz: {a: 3, <<: *x}")["z"] == {"a": 3}
    assert value('z: {"<<": 1}') == {"z": {"<<": 1}}


def test_position__of_keys_items_and_what_is_missing__is_exact():
    """Line and column are 1-based; a part that is not there has the place of what would hold it."""
    document, _ = read("cases:\n  - id: a\n    checks:\n      - {type: x}\n")
    assert document.place(("cases", 0, "checks", 0, "type")) == (4, 10)
    assert document.place(("cases", 0)) == (2, 5)
    assert document.place(("cases", 0, "nope")) == document.place(("cases", 0, 7)) == (2, 5)


BOMB = "a: &a [" + ",".join("x" * 9) + "]\n" + "".join(f"{b}: &{b} [{','.join([f'*{a}'] * 9)}]\n" for a, b in zip("abcdef", "bcdefg", strict=True))


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("", 1, "empty"),
        ("# only a comment\n", 1, "empty"),
        ("a: 1\n---\nb: 2\n", 2, "second document"),
        ("a: 1\nb: [1,\n", 3, ""),
        ("a: &x [*x]", 1, "contains itself"),
        ("a: *nobody", 1, "no anchor"),
        ("a: !!python/object/apply:os.system [id]", 1, "tag"),
        ("a: !mine x", 1, "tag"),
        ("a: !!int x", 1, "tag"),
        ("a: {{ x }}", 1, "quote"),
        ("[" * 150, 1, "100 deep"),
        ("[" * 100_000, 1, "nest"),
        ("- " * 5000, 1, "100 deep"),
        ("<<: 3", 1, "mappings only"),
        (BOMB, 6, "200000"),
        ("a: b\nc: \x00", 2, "U+0000"),
        (b"\xff\xfea\x00", 1, "UTF-16"),
        (b"a: 1\nb: \xe9", 2, "UTF-8"),
        ('a: "\\ud800"', 1, ""),
        ("a:\tb\n\tc: d", 2, "tab"),
    ],
)
def test_document__that_cannot_be_read_safely__is_one_fault_with_its_line(text, line, says):
    """MALFORMED_YAML with the line and a reason, never an exception of another kind."""
    document, faults = read(text)
    assert document is None
    assert [(fault.code, fault.line) for fault in faults] == [("MALFORMED_YAML", line)]
    assert says in faults[0].what + faults[0].fix


def test_carriage_returns__in_the_file__do_no_harm():
    """CRLF is a line end, also inside a block."""
    assert value("a: b\r\nc: |\r\n  x\r\n  y\r\n") == {"a": "b", "c": "x\ny\n"}


@pytest.mark.parametrize("text", ["a: 1\nb: [x, 'y', {c: ~}]\n", "x: &x {a: 1}\nz: {<<: *x, b: 'q'}\n", 'a: "1"\nb: ! "2"\nc: !!str 3\nd: |\n  q\n'])
def test_parser_without_c__reads__the_same(text):
    """A machine without libyaml gets the same values and positions."""
    with_c, _ = read(text)
    plain = _Builder(SOURCE).build(yaml.parse(text, Loader=yaml.BaseLoader))
    assert plain.value == with_c.value
    assert sorted(map(repr, plain.marks.values())) == sorted(map(repr, with_c.marks.values()))


@given(st.text(max_size=40))
def test_resolve__any_text__is_spelled_as_written(text):
    """Whatever a plain scalar resolves to, as text it is what was written, or one of the five words."""
    found = resolve(text)
    assert text in {"true", "false", "null", "~", ""} or spell(found) == text


@given(st.text(alphabet=st.sampled_from("ab:-[]{}&*!|>'\"#%@ \n,?<0.~é\t"), max_size=60))
def test_read__any_scribble__gives_a_document_or_faults(scribble):
    """No text ends in anything but a document or faults with a line."""
    document, faults = read(scribble)
    assert (document is not None) or faults
    assert all(fault.line and fault.line >= 1 for fault in faults)
