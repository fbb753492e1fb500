"""What is checked out: the same facts by git here and by the Action's script."""

from __future__ import annotations

import os
import subprocess

import pytest

from evalaction.store.checkouts import checkouts, told_of
from tests.action.stage import Stage


def git(folder, *words):
    """What git prints, without a person's own settings."""
    named = {f"GIT_{who}_{what}": value for who in ("AUTHOR", "COMMITTER") for what, value in (("NAME", "t"), ("EMAIL", "t@example.invalid"))}
    known = {"PATH": os.environ["PATH"], "HOME": str(folder), "GIT_CONFIG_NOSYSTEM": "1", **named}
    return subprocess.run(["git", *words], cwd=folder, env=known, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def pull(tmp_path):
    """A repository with a test merge as GitHub keeps it; gives its folder, the head and the merge."""
    there = tmp_path / "octo" / "demo.git"
    there.mkdir(parents=True)
    git(there, "init", "-q", "-b", "main")
    git(there, "commit", "-q", "--allow-empty", "-m", "base")
    git(there, "checkout", "-q", "-b", "change")
    git(there, "commit", "-q", "--allow-empty", "-m", "head")
    head = git(there, "rev-parse", "HEAD")
    git(there, "checkout", "-q", "main")
    git(there, "merge", "-q", "--no-ff", "-m", "merge", "change")
    git(there, "update-ref", "refs/pull/7/merge", "HEAD")
    return there, head, git(there, "rev-parse", "HEAD")


def shallow(workspace, there, name):
    """The test merge in a folder of the workspace, as actions/checkout fetches it: one commit, no parents."""
    place = workspace / name
    place.mkdir(parents=True)
    git(place, "init", "-q")
    git(place, "remote", "add", "origin", there.as_uri())
    git(place, "fetch", "-q", "--depth=1", "origin", "+refs/pull/7/merge:refs/remotes/pull/7/merge")
    git(place, "checkout", "-q", "--detach", "refs/remotes/pull/7/merge")
    assert git(place, "rev-list", "--parents", "-1", "HEAD") == git(place, "rev-parse", "HEAD")
    return place


def by_git(workspace):
    """What git here finds."""
    return list(checkouts(workspace))


def by_script(workspace):
    """What the Action's script tells the image."""
    stage = Stage(workspace.parent / "stage").with_docker()
    stage.workspace = workspace
    return list(told_of(stage.run(GITHUB_EVENT_NAME="workflow_run").environment["EVAL_GATE_CHECKOUT"]))


@pytest.mark.parametrize("find", [by_git, by_script])
def test_checkouts__test_merge_of_one_commit_names_its_parents(tmp_path, pull, find):
    """A merge that was fetched alone is known with its parents, its ref and its remote, wherever in the workspace it lies."""
    there, head, merge = pull
    workspace = tmp_path / "work space"
    shallow(workspace, there, "own/pr")
    (found,) = find(workspace)
    assert (found.folder, found.head, found.parents[1:]) == (workspace / "own" / "pr", merge, (head,))
    assert found.is_of_a_pull_request
    assert found.holds(head)
    assert found.measures(head)
    assert not found.measures(found.parents[0])
    assert found.repositories == {"octo/demo"}


@pytest.mark.parametrize("find", [by_git, by_script])
def test_checkouts__without_a_commit_or_a_repository(tmp_path, find):
    """A repository without a commit has no head, and a folder without one has no checkouts."""
    workspace = tmp_path / "workspace"
    (workspace / "empty").mkdir(parents=True)
    assert list(checkouts(workspace)) == []
    git(workspace / "empty", "init", "-q")
    (found,) = find(workspace)
    assert (found.head, found.parents, found.is_of_a_pull_request) == (None, (), False)


@pytest.mark.parametrize(
    "address", ["https://x-access-token:ghs_1@github.com/Octo/demo", "https://github.com/octo/demo.git", "git@github.com:octo/demo.git", "ssh://git@host:22/octo/demo/"]
)
def test_told__remote_is_owner_and_name(address):
    """However an address is spelled, owner and name are read from it."""
    (found,) = told_of(f"/w\t{'a' * 40} {address}")
    assert found.repositories == {"octo/demo"}
