"""Earlier states of a repository: which commit a change starts from, and its files in a folder of their own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess

import pytest

from evalaction.errors import MeasureError
from evalaction.settings import Settings
from evalaction.store.checkouts import checkouts
from evalaction.store.git import base_commit, check_out, commit_of, is_measured_itself


class Repository:
    """A repository with one commit on main."""

    def __init__(self, folder):
        self.folder = folder
        self.git("init", "-q", "-b", "main")
        self.first = self.commit("one")

    def git(self, *arguments):
        """One git command."""
        identity = ("-c", "user.name=Ada", "-c", "user.email=ada@example.invalid")
        return subprocess.run(["git", *identity, *arguments], cwd=self.folder, check=True, capture_output=True, text=True).stdout.strip()

    def commit(self, text):
        """A commit that changes `a.txt`."""
        (self.folder / "a.txt").write_text(text)
        self.git("add", "-A")
        self.git("commit", "-qm", text)
        return self.git("rev-parse", "HEAD")


@pytest.fixture
def repository(tmp_path):
    """A repository in a folder of its own."""
    folder = tmp_path / "repository"
    folder.mkdir()
    return Repository(folder)


def test_base__is_the_merge_base_where_no_event_states_it(repository):
    """A branch starts where it left main, whatever main did since; the default branch may have another name."""
    repository.git("checkout", "-qb", "change")
    repository.commit("two")
    repository.git("checkout", "-q", "main")
    repository.commit("three")
    repository.git("checkout", "-q", "change")
    repository.git("branch", "-qm", "main", "trunk")

    assert base_commit(repository.folder, None, "trunk") == repository.first
    assert base_commit(repository.folder, None, None) is None


def test_base__stated_by_an_event_must_be_there(repository):
    """A commit that was not fetched is None, and no other one stands in for it."""
    assert base_commit(repository.folder, repository.first, "main") == repository.first
    assert base_commit(repository.folder, "0123456789" * 4, "main") is None


@pytest.mark.parametrize("ref", ["--all", "-h", "--output=x", "nowhere", "main..main", "main:a.txt", ""])
def test_commit__of_what_is_no_commit_is_none(repository, ref):
    """Options in disguise, ranges, files and unknown names mean no commit."""
    assert commit_of(repository.folder, ref) is None
    assert sorted(path.name for path in repository.folder.iterdir()) == [".git", "a.txt"]


def test_commit__outside_of_a_repository_is_none(tmp_path):
    """Without a repository there is no commit."""
    assert commit_of(tmp_path, "HEAD") is None


def test_check_out__writes_the_files_of_then_and_leaves_the_repository_alone(repository, tmp_path):
    """The folder holds the file as it was; the working copy and the list of worktrees are as before."""
    repository.commit("two")
    into = tmp_path / "base"
    into.mkdir()

    check_out(repository.folder, repository.first, into)

    assert ((into / "a.txt").read_text(), (repository.folder / "a.txt").read_text()) == ("one", "two")
    assert repository.git("worktree", "list").count("\n") == 0
    assert not (into / ".git").exists()


def test_check_out__a_link_out_of_the_folder_is_refused(repository, tmp_path):
    """A commit cannot make the gate write elsewhere: a link that leaves the folder is a measuring error."""
    (repository.folder / "out").symlink_to("/etc")
    commit = repository.commit("with a link")
    into = tmp_path / "base"
    into.mkdir()

    with pytest.raises(MeasureError, match="could not be checked out"):
        check_out(repository.folder, commit, into)


def test_measured_itself__needs_a_clean_checkout_of_that_commit(repository):
    """HEAD without changes is what was measured; with a changed file, or another commit, it is not. Untracked files do not count."""
    (repository.folder / "results").write_text("x")
    assert is_measured_itself(repository.folder, repository.first)
    (repository.folder / "a.txt").write_text("changed")
    assert not is_measured_itself(repository.folder, repository.first)
    repository.commit("two")
    assert not is_measured_itself(repository.folder, repository.first)


@pytest.mark.parametrize(
    ("event", "base"),
    [
        ({"pull_request": {"number": 1, "base": {"sha": "a" * 40}, "head": {"sha": "b" * 40}}}, "a" * 40), ({"merge_group": {"base_sha": "c" * 40}}, "c" * 40),
        ({"before": "d" * 40}, "d" * 40),
        ({"before": "0" * 40}, None), ({"pull_request": {"base": "x"}}, None), ({"merge_group": []}, None), ([], None),
    ],
)  # fmt: skip
def test_settings__read_the_base_of_every_kind_of_event(tmp_path, event, base):
    """Pull request, merge group and push name it; a first push, other events and nonsense do not."""
    (tmp_path / "event.json").write_text(json.dumps(event))

    assert Settings.read({"GITHUB_EVENT_PATH": str(tmp_path / "event.json")}, tmp_path).base == base


@pytest.mark.parametrize(
    "ask",
    [
        lambda folder: commit_of(folder, "HEAD"),
        lambda folder: Settings.read({}, folder).person(),
        lambda folder: Settings.read({}, folder).last_change(folder / "a.txt"),
        lambda folder: list(checkouts(folder)),
        lambda folder: check_out(folder, "HEAD", folder.parent / "out"),
    ],
)
def test_git__gets_what_it_needs_and_no_secret_of_ours(repository, tmp_path, monkeypatch, ask):
    """A filter or hook that a repository's configuration names would inherit what git is given: that holds no token, no key and no credential in a GIT_CONFIG_ of its own."""
    (tmp_path / "out").mkdir()
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin/git"
    program.write_text(f'#!/bin/sh\nenv >>"{tmp_path}/seen"\nexec {shutil.which("git")} "$@"\n')
    program.chmod(0o755)
    secret = {"GITHUB_TOKEN": "s3cr3t-1", "MY_API_KEY": "s3cr3t-2", "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "http.extraheader", "GIT_CONFIG_VALUE_0": "s3cr3t-3"}
    for name, value in {**secret, "GIT_DIR": "/nowhere", "PATH": f"{program.parent}{os.pathsep}{os.environ['PATH']}", "HOME": str(tmp_path)}.items():
        monkeypatch.setenv(name, value)
    ask(repository.folder)

    seen = (tmp_path / "seen").read_text()
    assert f"HOME={tmp_path}" in seen
    assert not [name for name in ("s3cr3t", "GIT_DIR", "GIT_CONFIG_COUNT") if name in seen]


def test_git__says_bytes_that_are_no_utf8__with_replacement_characters(repository):
    """A name in another encoding is no reason to fail."""
    configuration = repository.folder / ".git/config"
    configuration.write_bytes(configuration.read_bytes() + b"[user]\n\tname = J\xfcrgen\n")

    assert Settings.read({}, repository.folder).person() == "J\ufffdrgen"
