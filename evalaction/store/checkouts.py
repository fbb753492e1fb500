"""What is checked out below a folder: facts of git, read without running anything that a repository holds."""

from __future__ import annotations

import dataclasses
import os
import re
from collections.abc import Iterator
from pathlib import Path

from evalaction.store.git import said

_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_ADDRESS = re.compile(r"([^/:\s]+/[^/:\s]+?)(?:\.git)?/?")
_PULLS = ("refs/pull/", "refs/remotes/pull/")
"""Where the heads and test merges of pull requests stand, on GitHub and after a checkout of one."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Checkout:
    """One working tree. `parents` are the commit's own, also where a shallow clone hides them; `refs` point at it; `repositories` are its remotes, as `owner/name`."""

    folder: Path
    head: str | None = None
    parents: tuple[str, ...] = ()
    refs: tuple[str, ...] = ()
    repositories: frozenset[str] = frozenset()

    @property
    def is_of_a_pull_request(self) -> bool:
        """Whether the commit was fetched as some pull request's head or test merge."""
        return any(ref.startswith(_PULLS) for ref in self.refs)

    def holds(self, commit: str) -> bool:
        """Whether a commit is checked out here, or a merge of it."""
        return commit == self.head or commit in self.parents

    def measures(self, commit: str) -> bool:
        """Whether what is measured here speaks of a commit: it is checked out, or merged into what was there before."""
        return commit == self.head or self.parents[1:] == (commit,)


def checkouts(root: Path) -> Iterator[Checkout]:
    """Every working tree at or below a folder, as git here tells it; none where there is no git."""
    for place, folders, files in os.walk(root):
        if ".git" in folders or ".git" in files:
            yield told(Path(place), _facts(Path(place)))
        folders[:] = [name for name in folders if name != ".git"]


def told_of(text: str) -> Iterator[Checkout]:
    """The same from the scripts of the Action: a line for each working tree, its folder, a tab and its facts."""
    for line in text.splitlines():
        folder, _, facts = line.rpartition("\t")
        yield told(Path(folder), facts.split())


def told(folder: Path, facts: list[str]) -> Checkout:
    """A checkout from the words that git said of it: the commit, its parents, refs that point at it, and addresses of remotes."""
    commits = [word for word in facts if _COMMIT.fullmatch(word)]
    names = (_ADDRESS.fullmatch(_tail(word)) for word in facts if not word.startswith("refs/"))
    return Checkout(
        folder=folder, head=commits[0] if commits else None, parents=tuple(commits[1:]), refs=tuple(word for word in facts if word.startswith("refs/")),
        repositories=frozenset(name[1].lower() for name in names if name),
    )  # fmt: skip


def _tail(address: str) -> str:
    """The last two parts of an address: `git@host:octo/demo.git` → `octo/demo.git`."""
    return "/".join(address.replace(":", "/").rstrip("/").rsplit("/", 2)[-2:])


def _facts(folder: Path) -> list[str]:
    head = said(folder, "rev-parse", "--verify", "--quiet", "HEAD")
    if head is None:
        return []
    written = said(folder, "--no-replace-objects", "cat-file", "commit", "HEAD") or ""  # `log` and `rev-list` would hide the parents in a shallow clone
    parents = [line.removeprefix("parent ") for line in written.partition("\n\n")[0].splitlines() if line.startswith("parent ")]
    refs = said(folder, "for-each-ref", "--points-at", "HEAD", "--format=%(refname)") or ""
    remotes = said(folder, "config", "--get-regexp", r"^remote\..*\.url$") or ""
    return [head, *parents, *refs.split(), *(line.partition(" ")[2] for line in remotes.splitlines())]
