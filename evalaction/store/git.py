"""The repository as a store of earlier states: names of commits, and their files in a folder of their own. The repository is only read."""

from __future__ import annotations

import subprocess
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from evalaction.errors import MeasureError

BASE = "base"
"""Stands for the commit that the change under test starts from."""
_QUICK_SECONDS = 10.0
_ARCHIVE_SECONDS = 300.0


def commit_of(repository: Path, ref: str) -> str | None:
    """The full name of the commit that a ref means; None when there is none. A ref is never an option: it stands behind `--end-of-options`."""
    return said(repository, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}")


def base_commit(repository: Path, stated: str | None, default_branch: str | None) -> str | None:
    """The commit that a change starts from: the one `stated` by an event, else the merge base of HEAD and the default branch; None when it is not known here."""
    if stated is not None:
        return commit_of(repository, stated)
    branch = next((commit for name in _default_branches(default_branch) if (commit := commit_of(repository, name))), None)
    return said(repository, "merge-base", "HEAD", branch) if branch else None


def _default_branches(named: str | None) -> Iterator[str]:
    yield "refs/remotes/origin/HEAD"
    for name in (*([named] if named else ()), "main", "master"):
        yield f"refs/remotes/origin/{name}"
        yield f"refs/heads/{name}"


def is_measured_itself(repository: Path, commit: str) -> bool:
    """Whether a commit is the very state that is checked out, without any change to tracked files."""
    if said(repository, "rev-parse", "HEAD") != commit:
        return False
    return said(repository, "status", "--porcelain", "--untracked-files=no") is None


def check_out(repository: Path, commit: str, into: Path) -> None:
    """Write the files of a commit into a folder that exists. Raises MeasureError TARGET_FAILED when that fails; submodules and large files kept elsewhere stay out."""
    with tempfile.TemporaryFile() as archive:
        try:
            _archive(repository, commit, archive)
            archive.seek(0)
            with tarfile.open(fileobj=archive) as files:
                files.extractall(into, filter="data")
        except (OSError, tarfile.TarError, subprocess.SubprocessError) as error:
            raise MeasureError("TARGET_FAILED", f"commit {commit[:12]} could not be checked out: {type(error).__name__}: {str(error)[:300]}") from None


def _archive(repository: Path, commit: str, into: IO[bytes]) -> None:
    command = _command(repository, "archive", "--format=tar", commit)
    subprocess.run(command, cwd=repository, stdout=into, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, timeout=_ARCHIVE_SECONDS, check=True)  # noqa: S603 - a list, no shell


def _command(repository: Path, *arguments: str) -> list[str]:
    return ["git", "-c", f"safe.directory={repository}", "-c", "core.fsmonitor=false", *arguments]


def said(repository: Path, *arguments: str) -> str | None:
    """What git prints about a repository, None when it prints nothing, fails or is not there."""
    try:
        done = subprocess.run(_command(repository, *arguments), cwd=repository, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=_QUICK_SECONDS, check=False)  # noqa: S603 - a list, no shell
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip() or None if done.returncode == 0 else None
