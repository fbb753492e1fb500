"""The files that `init` writes: a commented suite and the workflows, copied from the package and never over a file that is there."""

from __future__ import annotations

import re
from importlib import resources
from pathlib import Path

from evalaction.errors import ConfigError
from evalaction.store.files import translated, write_atomic

PLACEHOLDER = "org/eval-gate@v1"
"""What stands in the packaged workflows for the repository and version of the Action."""
_ACTION = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,38})/[A-Za-z0-9._-]{1,100}@[A-Za-z0-9._/-]{1,200}")
_IGNORED = "eval-results/"

PLACES = {
    "starter.eval.yaml": Path("evals/starter.eval.yaml"),
    "eval-gate.yml": Path(".github/workflows/eval-gate.yml"),
    "accept-baseline.yml": Path(".github/workflows/accept-baseline.yml"),
    "eval-gate-report.yml": Path(".github/workflows/eval-gate-report.yml"),
}
"""Name within the package → place below the project's folder."""


def write_starter(folder: Path, action: str = PLACEHOLDER) -> tuple[list[Path], list[Path]]:
    """Write the starter files below `folder`, which is made when it is missing; returns (written, kept), both as `folder / place`.

    `action` is OWNER/REPO@REF, as the workflows use it. A place that is taken, be it by a dangling link, is kept as it
    is. Raises ConfigError INVALID_INPUT for another `action` and OUTSIDE_WORKSPACE when a link would lead out of the
    folder, before anything is written, and CANNOT_WRITE when the system refuses.
    """
    if not _ACTION.fullmatch(action):
        raise ConfigError.one("INVALID_INPUT", f"{action!r} is not OWNER/REPO@REF", f"write it as a workflow does, such as {PLACEHOLDER}", path="--action")
    _require_inside(folder)
    written: list[Path] = []
    kept: list[Path] = []
    for name, place in PLACES.items():
        path = folder / place
        with translated(path):
            path.parent.mkdir(parents=True, exist_ok=True)
        (written if _create(path, _packaged(name, action)) else kept).append(path)
    return written, kept


def ignore_results(folder: Path) -> bool:
    """Let git ignore the results: one line at the end of `.gitignore`, made when missing. False where it stands there already, or where a link stands in its place.

    Raises ConfigError CANNOT_WRITE.
    """
    path = folder / ".gitignore"
    if path.is_symlink() or (path.exists() and not path.is_file()):
        return False
    with translated(path):
        there = path.read_bytes() if path.exists() else b""
    if any(line.strip().strip(b"/") == _IGNORED.strip("/").encode() for line in there.splitlines()):
        return False
    write_atomic(path, there + (b"\n" if there and not there.endswith(b"\n") else b"") + f"{_IGNORED}\n".encode())
    return True


def _packaged(name: str, action: str) -> bytes:
    return resources.files("evalaction.store").joinpath("starter", name).read_bytes().replace(PLACEHOLDER.encode(), action.encode())


def _require_inside(folder: Path) -> None:
    root = folder.resolve()
    outside = [folder / place for place in PLACES.values() if not (root / place).parent.resolve().is_relative_to(root)]
    if outside:
        raise ConfigError.one("OUTSIDE_WORKSPACE", "a link on the way leads out of the folder", "replace the link by a folder, or choose another folder", file=str(outside[0]))


def _create(path: Path, data: bytes) -> bool:
    """Create a file whole or not at all; False when the place is taken."""
    with translated(path):
        try:
            file = path.open("xb")
        except FileExistsError:
            return False
        try:
            with file:
                file.write(data)
        except BaseException:
            path.unlink(missing_ok=True)
            raise
    return True
