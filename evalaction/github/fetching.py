"""What baselines and results share: an artifact brought to disk as a folder, and refusals said with the permission that is missing."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterator
from pathlib import Path

from evalaction.errors import ConfigError, GitHubError
from evalaction.github.archive import PACKED_LIMIT, UNPACKED_LIMIT, check_digest, unpack
from evalaction.github.client import GitHub
from evalaction.github.facts import Artifact
from evalaction.github.names import BASELINE
from evalaction.github.provenance import expiry
from evalaction.github.storage import writing

_AGAIN = "measure and accept again"


@contextlib.contextmanager
def permitted(line: str, *, hidden: bool = False) -> Iterator[None]:
    """Turn a refusal for want of a permission into a ConfigError MISSING_PERMISSION that names the line of the workflow.

    `hidden`: what is asked for is always there, so that "not found" means "not allowed to see".
    """
    try:
        yield
    except GitHubError as error:
        if error.kind == "permission" or (hidden and error.kind == "missing"):
            fix = f"give the job `permissions:` with `{line}`, and pass its token as `github-token`"
            raise ConfigError.one("MISSING_PERMISSION", f"GitHub refuses the token ({error})", fix) from None
        raise


def bring(github: GitHub, artifact: Artifact, folder: Path, *, what: str, unpacked_limit: int = UNPACKED_LIMIT) -> None:
    """Download an artifact, check its digest and unpack it into a folder, in place of what was there. `what` names it in messages.

    Raises ConfigError: BASELINE_EXPIRED or INVALID_RECORD when it is gone, INVALID_RECORD when it is broken or too large, MISSING_PERMISSION; GitHubError on an outage.
    """
    with writing(folder):
        folder.parent.mkdir(parents=True, exist_ok=True)
        shutil.rmtree(folder, ignore_errors=True)
    archive = folder.with_name(f"{folder.name}.zip")
    try:
        with permitted("actions: read"), _gone(artifact, what):
            github.download(artifact, archive, limit=PACKED_LIMIT)
        check_digest(archive, artifact)
        unpack(archive, folder, code="INVALID_RECORD", what=what, unpacked_limit=unpacked_limit)
    finally:
        archive.unlink(missing_ok=True)


@contextlib.contextmanager
def _gone(artifact: Artifact, what: str) -> Iterator[None]:
    """Turn "missing" and "refused" into configuration errors: another artifact must not stand in for this one."""
    try:
        yield
    except GitHubError as error:
        if error.kind == "missing" and error.status == 410:
            raise expired(artifact, what) from None
        if error.kind == "missing":
            raise ConfigError.one("INVALID_RECORD", f"{what} was deleted while it was asked for, or the token may not see it", f"{_AGAIN}; the job needs `actions: read`") from None
        if error.kind == "refused":
            raise ConfigError.one("INVALID_RECORD", f"{what} cannot be used: {error}", _AGAIN) from None
        raise


def expired(artifact: Artifact, what: str) -> ConfigError:
    """The error for an artifact that expired: a baseline or results."""
    if artifact.name.startswith(BASELINE):
        fix = "start the acceptance workflow by hand to accept a new one, and let it renew the baseline on a schedule, so that none expires again"
        return ConfigError.one("BASELINE_EXPIRED", f"{what} expired on {expiry(artifact)}", fix)
    return ConfigError.one("INVALID_RECORD", f"{what} expired on {expiry(artifact)}", "run the gate again, and accept or publish its new run")
