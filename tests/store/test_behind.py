"""Files that are written behind: all of them, in order, and a refusal is never lost."""

from __future__ import annotations

import os
import threading

import pytest

from evalaction.errors import ConfigError
from evalaction.store.behind import MOST_WAITING, WriteBehind


@pytest.fixture
def behind():
    """A writer that is closed at the end."""
    writer = WriteBehind()
    yield writer
    writer.close()


def test_flush__everything_is_there_and_a_later_file_replaces_an_earlier_one(tmp_path, behind):
    """More files than may wait, and one name twice: after the flush each has its last contents."""
    for number in range(2 * MOST_WAITING):
        behind.write(str(tmp_path / str(number)), b"%d" % number)
    behind.write(str(tmp_path / "0"), b"again")
    behind.flush()

    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {str(number): b"%d" % number for number in range(2 * MOST_WAITING)} | {"0": b"again"}


def test_refusal__is_raised_by_what_comes_next_and_nothing_more_is_written(tmp_path, behind):
    """A folder that is gone is told at the next write or flush, and every time after; a close keeps it to itself, for it was told."""
    behind.write(str(tmp_path / "gone" / "a"), b"x")
    with pytest.raises(ConfigError, match=r"CANNOT_WRITE .*gone"):
        behind.flush()
    with pytest.raises(ConfigError, match=r"CANNOT_WRITE .*gone"):
        behind.write(str(tmp_path / "b"), b"x")
    behind.close()

    assert os.listdir(tmp_path) == []  # noqa: PTH208 - names are all that is asked for


def test_close__ends_the_thread_and_needs_none(tmp_path, behind):
    """Without a file there is no thread; after a close the files are there and the thread is gone."""
    behind.close()
    before = threading.active_count()
    behind.write(str(tmp_path / "a"), b"x")
    behind.close()

    assert ((tmp_path / "a").read_bytes(), threading.active_count()) == (b"x", before)
