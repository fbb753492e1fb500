"""Hostile zips."""

from __future__ import annotations

import io
import ntpath
import os
import posixpath
import stat
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalaction.errors import ConfigError
from evalaction.github.archive import check_digest, is_safe, unpack
from evalaction.github.facts import Artifact
from tests.github.fake import zip_of

GOOD = {"key/record.json": "{}", "key/cases/a.json": "1" * 5000}


def _unpacked(tmp_path, data, **limits):
    (tmp_path / "x.zip").write_bytes(data)
    unpack(tmp_path / "x.zip", tmp_path / "out", code="INVALID_RECORD", what="artifact 7", **limits)
    return tmp_path / "out"


def _refused(tmp_path, data, **limits):
    with pytest.raises(ConfigError) as said:
        _unpacked(tmp_path, data, **limits)
    assert [path.name for path in tmp_path.iterdir()] == ["x.zip"], "something was left behind"
    (fault,) = said.value.faults
    assert (fault.code, "artifact 7 cannot be used" in fault.what) == ("INVALID_RECORD", True)
    return fault.what


def _zip(*members, **more):
    """A zip of (ZipInfo or name, data) pairs, names as they are."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", **more) as packed:
        for name, data in members:
            packed.writestr(name, data)
    return out.getvalue()


def test_unpack__files_and_folders(tmp_path):
    """Files come out as they went in, readable and not executable, with or without entries for folders."""
    member = zipfile.ZipInfo("key/run.sh")
    member.external_attr = (stat.S_IFREG | 0o777) << 16
    folder = _unpacked(tmp_path, _zip(("key/", ""), ("key/cases/", ""), *GOOD.items(), (member, "echo")))
    assert {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()} == {*GOOD, "key/run.sh"}
    assert (folder / "key/cases/a.json").read_text() == "1" * 5000
    assert not os.access(folder / "key/run.sh", os.X_OK)


@pytest.mark.parametrize(
    "name",
    ["../x", "/x", "a/../../x", "a/./b", "a//b", "..\\x", "a\\b", "C:/x", "C:x", "a\nb", "a\x00b",
      "\u202ea", "", ".", "..", "a/..", "~/x", "a/" * 20 + "x", "y" * 300, "a/b/../c", "a/.../b", " ", "//x"],
)  # fmt: skip
def test_names__unsafe(tmp_path, name):
    """A name that could mean a place outside, or another one elsewhere, refuses the whole archive and writes nothing anywhere."""
    member = zipfile.ZipInfo("x" * len(name) or "x")
    data = _zip(*GOOD.items(), (member, "escaped"))
    if name and name.isascii():  # zipfile cuts some names itself, so they are put in afterwards
        data = data.replace(member.filename.encode(), name.encode())
    else:
        member.filename = name
        data = _zip(*GOOD.items(), (member, "escaped"))
    before = set(tmp_path.parent.iterdir())
    assert "named" in _refused(tmp_path, data)
    assert set(tmp_path.parent.iterdir()) == before


@pytest.mark.parametrize("mode", [stat.S_IFLNK, stat.S_IFCHR, stat.S_IFBLK, stat.S_IFIFO, stat.S_IFSOCK])
def test_members__no_regular_file(tmp_path, mode):
    """Links and devices refuse the archive."""
    member = zipfile.ZipInfo("key/link")
    member.external_attr = (mode | 0o777) << 16
    assert "no regular file" in _refused(tmp_path, _zip(*GOOD.items(), (member, "/etc/passwd")))


@pytest.mark.parametrize("second", ["key/record.json", "KEY/Record.json", "key/record.json/"])
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_members__twice(tmp_path, second):
    """Two members of one name refuse the archive, also where only some systems see one name in them, or one is a file and a folder."""
    assert "twice" in _refused(tmp_path, _zip(*GOOD.items(), (second, "")))


@pytest.mark.parametrize("names", [("a", "a/b"), ("a/b", "a")])
def test_members__a_file_and_a_folder_at_once(tmp_path, names):
    """A name that is a file in one member and a folder in another refuses the archive."""
    assert "file and a folder" in _refused(tmp_path, _zip(*((name, "x") for name in names)))


def test_members__encrypted(tmp_path):
    """An encrypted member refuses the archive; nobody is asked for a password."""
    data = bytearray(_zip(*GOOD.items()))
    data[data.index(b"PK\x01\x02") + 8] |= 1
    assert "encrypted" in _refused(tmp_path, bytes(data))


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_members__unusual_packing(tmp_path, method):
    """Only the two ways of packing that artifacts use are unpacked."""
    assert "unusual way" in _refused(tmp_path, _zip(*GOOD.items(), compression=method))


def test_archive__of_a_version_that_the_library_does_not_know(tmp_path):
    """An archive that asks for a later version of the format is refused like a broken one, and is no crash."""
    data = bytearray(_zip(*GOOD.items()))
    data[data.index(b"PK\x01\x02") + 6] = 99
    assert "no whole zip archive (NotImplementedError)" in _refused(tmp_path, bytes(data))


@pytest.mark.parametrize("kind", ["text", "nothing", "half", "flipped byte", "tail only", "html"])
def test_archive__broken(tmp_path, kind):
    """What is no zip, breaks off or fails its checksum is refused."""
    good = _zip(*GOOD.items(), compression=zipfile.ZIP_STORED)
    flipped = good.replace(b"11111", b"11211", 1)
    data = {"text": b"hello" * 99, "nothing": b"", "half": good[: len(good) // 2], "flipped byte": flipped, "tail only": good[-22:], "html": b"<html>"}[kind]
    if kind == "tail only":
        data = data.replace(b"\x02\x00\x02\x00", b"\x09\x00\x09\x00")
    assert "no whole zip archive" in _refused(tmp_path, data)


@given(st.data())
def test_archive__any_damage(tmp_path_factory, data):
    """An archive with any bytes changed or cut off unpacks inside its folder, or is refused with nothing left."""
    tmp_path = tmp_path_factory.mktemp("damage")
    damaged = bytearray(zip_of({"k/a": "abc" * 50, "k/b/c": "x"}))
    for _ in range(data.draw(st.integers(1, 4))):
        damaged[data.draw(st.integers(0, len(damaged) - 1))] = data.draw(st.integers(0, 255))
    try:
        folder = _unpacked(tmp_path, bytes(damaged[: data.draw(st.integers(0, len(damaged)))] or damaged))
    except ConfigError:
        assert [path.name for path in tmp_path.iterdir()] == ["x.zip"]
    else:
        assert {path.name for path in tmp_path.iterdir()} == {"x.zip", "out"}
        assert all(path.resolve().is_relative_to(folder) for path in folder.rglob("*"))


@given(st.text(st.sampled_from("ab./\\:~ \u202e\x00\n"), max_size=12) | st.text(max_size=30))
def test_names__safe_ones_stay_below(name):
    """A name that is called safe is a path below the folder, on POSIX and on Windows, with as many parts as it shows."""
    if is_safe(name):
        assert not posixpath.isabs(name)
        assert not ntpath.splitdrive(name)[0]
        assert posixpath.normpath(name) == name
        assert ".." not in name.split("/")
        assert "\\" not in name


def test_limits__packed(tmp_path):
    """An archive larger than its limit is not opened."""
    assert "larger than 100 bytes" in _refused(tmp_path, _zip(*GOOD.items()), packed_limit=100)


def test_limits__unpacked_as_it_says(tmp_path):
    """An archive that says it unpacks to too much is refused before anything is written."""
    assert "unpacks to more than 1,000 bytes" in _refused(tmp_path, _zip(*GOOD.items()), unpacked_limit=1000)


def test_limits__unpacked_more_than_it_says(tmp_path):
    """An archive that lies about its size is refused at the limit, or at its own word."""
    data = _zip(*GOOD.items(), compression=zipfile.ZIP_DEFLATED)
    lying = data.replace((5000).to_bytes(4, "little"), (50).to_bytes(4, "little"))
    assert lying != data
    assert "no whole zip archive" in _refused(tmp_path, lying, unpacked_limit=1000)


BOMB = """
import sys, zipfile, pathlib, resource
from evalaction.errors import ConfigError
from evalaction.github.archive import unpack
base = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    unpack(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), code="INVALID_RECORD", what="it")
except ConfigError as error:
    print(error)
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - base) // 1024)
"""


def _bomb(tmp_path, kind):
    path = tmp_path / "bomb.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as packed:
        if kind == "zeros":
            with packed.open("key/zeros.json", "w", force_zip64=True) as member:
                for _ in range(600):
                    member.write(b"0" * 1_000_000)
        else:
            packed.writestr("key/x", "")
    if kind == "members":
        _many(path, 200_001)
    return path


def _many(path, count):
    """A zip whose list has so many empty members; all share one local header, as bombs do."""
    entries = [zipfile.ZipInfo(f"key/{number:06}") for number in range(count)]
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as out:
        out.writestr("key/000000", "")
        out.filelist = entries
        out._didModify = True
        for entry in entries:
            entry.header_offset, entry.file_size, entry.compress_size, entry.CRC = 0, 0, 0, 0
    path.write_bytes(packed.getvalue())


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "said"), [("zeros", "unpacks to more than 500,000,000 bytes"), ("members", "more than 200,000 members")])
def test_bombs__bounded_memory(tmp_path, kind, said):
    """A small archive of 600 MB of zeros, or of too many members, is refused within 120 MB of memory and with an empty disk."""
    done = subprocess.run([sys.executable, "-c", BOMB, str(_bomb(tmp_path, kind)), str(tmp_path / "out")], capture_output=True, text=True, check=True, cwd=Path.cwd())
    *lines, grown = done.stdout.splitlines()
    assert said in lines[0]
    assert int(grown) < 120
    assert not (tmp_path / "out").exists()


def test_disk__full(tmp_path):
    """A folder that cannot be made is a fault of the disk, not of the archive."""
    (tmp_path / "file").write_text("")
    (tmp_path / "x.zip").write_bytes(_zip(*GOOD.items()))
    with pytest.raises(ConfigError, match="CANNOT_WRITE"):
        unpack(tmp_path / "x.zip", tmp_path / "file" / "out", code="INVALID_RECORD", what="it")


@pytest.mark.parametrize("digest", ["sha256:" + "0" * 64, "sha1:abc", "", "sha256:"])
def test_digest__another(tmp_path, digest):
    """Bytes with another digest, or one of another kind, are refused; the message names artifact and run."""
    (tmp_path / "x.zip").write_bytes(b"hello")
    artifact = Artifact(id=7, name="x", size_in_bytes=5, expired=False, created_at="", run_id=9, digest=digest)
    with pytest.raises(ConfigError, match="INVALID_RECORD: artifact 7 of run 9"):
        check_digest(tmp_path / "x.zip", artifact)


HELLO = "sha256:2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"


@pytest.mark.parametrize("digest", [None, HELLO, HELLO.upper()])
def test_digest__right_or_none(tmp_path, digest):
    """The right digest passes, and a server without digests gives nothing to compare."""
    (tmp_path / "x.zip").write_bytes(b"hello")
    check_digest(tmp_path / "x.zip", Artifact(id=7, name="x", size_in_bytes=5, expired=False, created_at="", digest=digest))
