"""Cassettes on disk: whole or not at all, strict and bounded."""

import json
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalaction.core.cassette import Exchange, Key
from evalaction.errors import ConfigError, MeasureError
from evalaction.store import cassettes
from evalaction.store.cassettes import cassette_file, read_cassette, write_cassette

KEY = Key(case="c", settings="s", endpoint="", request="r")
VALUES = st.recursive(st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(), lambda inner: st.lists(inner, max_size=3))


def exchange(repeat=0, **reply):
    """One exchange."""
    return Exchange(case="a", repeat=repeat, kind="target", reply=reply, key=KEY)


def anything(_exchange):
    """No reply is refused."""


def faults(path, check=anything):
    """Line and text of every fault of a file."""
    with pytest.raises(ConfigError) as caught:
        read_cassette(path, "s", check)
    assert {fault.code for fault in caught.value.faults} == {"INVALID_RECORD"}
    return [(fault.line, fault.what) for fault in caught.value.faults]


@given(st.dictionaries(st.text(), VALUES, max_size=4))
def test_exchange__comes_back_as_it_was_written(tmp_path_factory, reply):
    """Any reply survives the file, lone surrogates and line separators included."""
    path = cassette_file(tmp_path_factory.mktemp("tape"), "s")
    write_cassette(path, "s", [exchange(output=reply)])
    assert read_cassette(path, "s", anything) == [exchange(output=reply)]
    assert len(path.read_bytes().split(b"\n")) == 3


def test_file__that_is_not_there_is_no_cassette(tmp_path):
    """None is no error here: a first recording starts with nothing."""
    assert read_cassette(tmp_path / "s.jsonl", "s", anything) is None


def test_file__with_a_byte_order_mark_and_windows_line_ends_is_read(tmp_path):
    """What an editor on Windows makes of a cassette is still that cassette."""
    path = tmp_path / "s.jsonl"
    write_cassette(path, "s", [exchange(output="x")])
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n"))

    assert read_cassette(path, "s", anything) == [exchange(output="x")]


def test_head__of_another_suite_is_refused(tmp_path):
    """A cassette that was recorded for another suite is not replayed for this one, and both are named."""
    path = tmp_path / "s.jsonl"
    write_cassette(path, "other", [exchange(output="x")])

    ((line, what),) = faults(path)

    assert (line, "suite other, not of s" in what) == (1, True)


def test_faults__of_all_lines_come_at_once(tmp_path):
    """Each damaged line is named, up to a bound, and so is what the reader of a reply refuses."""
    path = tmp_path / "s.jsonl"
    write_cassette(path, "s", [exchange(number, output="x") for number in range(3)])
    lines = path.read_text().splitlines()
    lines[1], lines[3] = "{", lines[3].replace('"kind": "target"', '"kind": "wish"')
    path.write_text("\n".join(lines) + "\n")

    def refuse(one):
        raise MeasureError("INVALID_ANSWER", f"run {one.repeat} is odd")

    assert [(line, "run 1 is odd" in what) for line, what in faults(path, refuse)] == [(2, False), (3, True), (4, False)]
    path.write_text(lines[0] + "\n" + "{\n" * 1000)
    assert len(faults(path)) == cassettes.MOST_FAULTS


@pytest.mark.parametrize("head", ["", "[]", '{"cassette": 1}', '{"cassette": 2, "suite": "s"}', '{"cassette": 1, "suite": "s", "x": 1}', "root:x:0:0"])
def test_head__of_another_form_is_no_cassette(tmp_path, head):
    """A file that is something else is refused at its first line, and its text is not repeated."""
    path = tmp_path / "s.jsonl"
    path.write_text(head + "\n")
    ((line, what),) = faults(path)
    assert (line, what.startswith("not a cassette: "), "root:x" in what) == (1, True, False)


def test_size__is_bounded_both_ways(tmp_path, monkeypatch):
    """What is too large is neither read nor written, and the file that was there stays."""
    path = tmp_path / "s.jsonl"
    write_cassette(path, "s", [exchange(output="x")])
    before = path.read_bytes()
    monkeypatch.setattr(cassettes, "LARGEST_CASSETTE", 1000)
    with pytest.raises(ConfigError) as caught:
        write_cassette(path, "s", [exchange(output="x" * 2000)])
    assert ([fault.code for fault in caught.value.faults], path.read_bytes()) == (["CANNOT_WRITE"], before)
    path.write_bytes(before + b" " * 2000)
    assert "larger than" in faults(path)[0][1]


def test_pipe__in_the_place_of_a_cassette_is_refused(tmp_path):
    """Only a regular file is read: a pipe would hold the run up."""
    os.mkfifo(tmp_path / "s.jsonl")
    assert "not a regular file" in faults(tmp_path / "s.jsonl")[0][1]


def test_line__reads_well(tmp_path):
    """Whose answer it is and what it says come first, the digests last."""
    write_cassette(tmp_path / "s.jsonl", "s", [exchange(output="ünï")])
    line = (tmp_path / "s.jsonl").read_text().splitlines()[1]
    assert list(json.loads(line)) == ["case", "repeat", "kind", "number", "reply", "key"]
    assert "ünï" in line
