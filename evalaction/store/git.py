"""The repository as a store of earlier states: names of commits, and their files in a folder of their own. The repository is only read."""

from __future__ import annotations

import os
import subprocess
import tarfile
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO

from evalaction.errors import MeasureError

BASE = "base"
"""Stands for the commit that the change under test starts from."""
_NEEDED = (
    "PATH", "HOME", "XDG_CONFIG_HOME", "TMPDIR", "LD_LIBRARY_PATH", "DEVELOPER_DIR", "GIT_EXEC_PATH", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM",
    "GIT_SSL_CAINFO", "SSL_CERT_FILE", "SSL_CERT_DIR", "SSH_AUTH_SOCK", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "all_proxy", "no_proxy",
)  # fmt: skip
"""Where git and its configuration are, and how it reaches a remote: a partial clone fetches what it lacks.

The other GIT_* either name another repository than the one asked about, as those of a hook do, or carry configuration, which holds credentials.
"""
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


def changed_files(repository: Path, without: Iterable[Path]) -> int:
    """How many tracked files differ from the commit that is checked out, those below some folders left out; 0 also where git cannot tell."""
    elsewhere = (path.resolve().relative_to(repository.resolve()) for path in without if path.resolve().is_relative_to(repository.resolve()))
    words = [f":(top,exclude,literal){path.as_posix()}" for path in elsewhere if path.parts]
    return len((said(repository, "status", "--porcelain", "--untracked-files=no", "--", ":(top)", *words) or "").splitlines())


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
    _run(repository, "archive", "--format=tar", commit, into=into, seconds=_ARCHIVE_SECONDS).check_returncode()


def said(repository: Path, *arguments: str) -> str | None:
    """What git prints about a repository, None when it prints nothing, fails or is not there. Bytes that are no UTF-8 become replacement characters."""
    try:
        done = _run(repository, *arguments)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.decode("utf-8", "replace").strip() or None if done.returncode == 0 else None


def _run(repository: Path, *arguments: str, into: IO[bytes] | int = subprocess.PIPE, seconds: float = _QUICK_SECONDS) -> subprocess.CompletedProcess[bytes]:
    """The one place that starts git: whoever owns the repository, without a program that its configuration names for `fsmonitor`, and without secrets."""
    command = ["git", "-c", f"safe.directory={repository}", "-c", "core.fsmonitor=false", *arguments]
    return subprocess.run(  # noqa: S603 - a list, no shell
        command, cwd=repository, stdout=into, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, env=_environment(os.environ), timeout=seconds, check=False
    )


def _environment(ours: Mapping[str, str]) -> dict[str, str]:
    """What git gets of our environment. It asks nobody for a password, and takes no lock: the repository is only read."""
    return {name: ours[name] for name in _NEEDED if name in ours} | {"GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0"}
