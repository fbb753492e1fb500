"""The files that `init` writes: a commented suite and the workflows, copied from the package and never over a file that is there."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

from evalaction.errors import ConfigError
from evalaction.store.files import translated

PLACES = {
    "starter.eval.yaml": Path("evals/starter.eval.yaml"),
    "eval-gate.yml": Path(".github/workflows/eval-gate.yml"),
    "accept-baseline.yml": Path(".github/workflows/accept-baseline.yml"),
    "eval-gate-report.yml": Path(".github/workflows/eval-gate-report.yml"),
}
"""Name within the package → place below the project's folder."""


def write_starter(folder: Path) -> tuple[list[Path], list[Path]]:
    """Write the starter files below `folder`, which is made when it is missing; returns (written, kept), both as `folder / place`.

    A place that is taken, be it by a dangling link, is kept as it is. Raises ConfigError OUTSIDE_WORKSPACE when a
    link would lead out of the folder, before anything is written, and CANNOT_WRITE when the system refuses.
    """
    _require_inside(folder)
    written: list[Path] = []
    kept: list[Path] = []
    for name, place in PLACES.items():
        path = folder / place
        with translated(path):
            path.parent.mkdir(parents=True, exist_ok=True)
        (written if _create(path, _packaged(name)) else kept).append(path)
    return written, kept


def _packaged(name: str) -> bytes:
    return resources.files("evalaction.store").joinpath("starter", name).read_bytes()


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
