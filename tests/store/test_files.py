"""Writing and reading single files: whole, bounded, and every refusal in our words."""

from __future__ import annotations

import pytest

from evalaction.errors import ConfigError
from evalaction.store.files import read_bytes, write_atomic, write_new


def test_write_new__replaces_a_file_that_is_there(tmp_path):
    """The second writing of a case leaves nothing of a longer first one."""
    path = tmp_path / "a.json"
    write_new(str(path), b"long and earlier")
    write_new(str(path), b"new")

    assert path.read_bytes() == b"new"
    assert [found.name for found in tmp_path.iterdir()] == ["a.json"]


def test_write_new__a_missing_folder_is_a_configuration_error(tmp_path):
    """What the system refuses is said with the place, not raised as it comes."""
    with pytest.raises(ConfigError) as caught:
        write_new(str(tmp_path / "no" / "a.json"), b"x")

    (fault,) = caught.value.faults
    assert (fault.code, fault.file) == ("CANNOT_WRITE", str(tmp_path / "no" / "a.json"))


def test_write_atomic__takes_pieces_and_keeps_the_earlier_file_when_one_fails(tmp_path):
    """Pieces become one file; an error between two of them leaves the earlier file and nothing beside it."""

    def broken():
        yield b"new"
        raise RuntimeError("stop")

    path = tmp_path / "v.json"
    write_atomic(path, iter((b"a", b"", b"b")))
    with pytest.raises(RuntimeError, match="stop"):
        write_atomic(path, broken())

    assert path.read_bytes() == b"ab"
    assert [found.name for found in tmp_path.iterdir()] == ["v.json"]


@pytest.mark.parametrize("size", [0, 1, 64 * 1024 - 1, 64 * 1024, 64 * 1024 + 1, 300_000])
def test_read_bytes__gives_a_file_of_any_size_whole(tmp_path, size):
    """Files shorter and longer than one piece come back as they were written; one byte above the limit is refused."""
    path, data = tmp_path / "a", bytes(number % 251 for number in range(size))
    path.write_bytes(data)

    assert read_bytes(path, limit=max(size, 1)) == data
    if size > 1:
        with pytest.raises(ConfigError, match="larger than"):
            read_bytes(path, limit=size - 1)
