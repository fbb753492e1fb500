"""Reading only regular files, and writing where a person asked."""

from __future__ import annotations

import os
import select
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from evalaction.errors import ConfigError
from evalaction.store.files import hold, hold_in_turn, read_bytes, write_named


@pytest.mark.parametrize("kind", ["pipe", "device", "folder", "link to a pipe"])
def test_read_bytes__no_regular_file__is_refused_at_once(tmp_path, kind):
    """A pipe without a writer, an endless device and a folder are no records, and nobody waits for them."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("pipe")
    path = {"pipe": tmp_path / "pipe", "device": Path("/dev/zero"), "folder": tmp_path, "link to a pipe": tmp_path / "link"}[kind]

    with pytest.raises(ConfigError, match=r"INVALID_RECORD .*not a regular file"):
        read_bytes(path)


def test_write_named__a_link__keeps_it_and_changes_what_it_points_to(tmp_path):
    """Links over several steps, also to a file that is not there yet."""
    (tmp_path / "real.md").write_text("before")
    (tmp_path / "middle").symlink_to("real.md")
    (tmp_path / "report.md").symlink_to(tmp_path / "middle")
    (tmp_path / "new").symlink_to("fresh.md")

    write_named(tmp_path / "report.md", b"now")
    write_named(tmp_path / "new", b"first")

    assert (tmp_path / "real.md").read_text() == "now"
    assert (tmp_path / "fresh.md").read_text() == "first"
    assert all((tmp_path / name).is_symlink() for name in ("report.md", "middle", "new"))


def test_write_named__links_in_a_circle__are_a_clear_error(tmp_path):
    """Nobody follows them for ever."""
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")

    with pytest.raises(ConfigError, match="CANNOT_WRITE"):
        write_named(tmp_path / "a", b"x")


def test_write_named__a_pipe__gets_the_text_and_stays_a_pipe(tmp_path):
    """More than a pipe holds at once arrives whole; without a reader it is an error at once."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(ConfigError, match="CANNOT_WRITE"):
        write_named(pipe, b"x")
    got: list[bytes] = []
    handle = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    os.set_blocking(handle, True)
    with os.fdopen(handle, "rb") as file:
        reader = threading.Thread(target=lambda: got.append(file.read()))
        writer = threading.Thread(target=write_named, args=(pipe, b"y" * 300_000))
        writer.start()
        select.select([file], [], [], 60)  # before the writer has opened the pipe, a read would find its end
        first = file.read(1)
        reader.start()
        writer.join()
        reader.join()

    assert first + got[0] == b"y" * 300_000
    assert pipe.is_fifo()


def test_write_named__a_full_device__is_a_clear_error_and_stays():
    """/dev/full says that there is no space, as a disk does."""
    with pytest.raises(ConfigError, match=r"CANNOT_WRITE /dev/full: .*No space"):
        write_named(Path("/dev/full"), b"x")
    assert Path("/dev/full").is_char_device()


@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"])
def test_write_named__our_own_stream__is_written_to_where_it_stands(tmp_path, name):
    """Whether stdout is a pipe or a file that the shell has opened: what was printed before stays before."""
    code = f"import os, pathlib; from evalaction.store.files import write_named; os.write(1, b'a'); write_named(pathlib.Path({name!r}), b'report'); os.write(1, b'z')"
    piped = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, timeout=60)
    with (tmp_path / "out").open("wb") as file:
        subprocess.run([sys.executable, "-c", code], stdout=file, check=True, timeout=60)

    assert piped.stdout == (tmp_path / "out").read_bytes() == b"areportz"


def test_hold_in_turn__waits_for_the_other_and_not_for_ever(tmp_path):
    """A folder that is let go is taken; one that somebody keeps, as a system under test could, is a clear error when the time is up."""
    other = hold(tmp_path, "w", "f")
    with pytest.raises(ConfigError, match=r"CANNOT_WRITE .*somebody writes there"):
        hold_in_turn(tmp_path, "somebody writes there", "wait", seconds=0.1)
    threading.Timer(0.2, os.close, [other]).start()
    os.close(hold_in_turn(tmp_path, "somebody writes there", "wait"))
