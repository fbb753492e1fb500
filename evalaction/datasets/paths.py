"""Which files the words on the command line mean."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from evalaction.datasets.faults import clip
from evalaction.datasets.source import Source, is_file, shown
from evalaction.errors import Fault

_MAGIC = frozenset("*?[")
SUITES = "**/*.eval.yaml"


@dataclasses.dataclass(slots=True)
class Found:
    """Files in the order they were named, each once, and what was named in vain."""

    sources: list[Source]
    faults: list[Fault]


def find(patterns: Sequence[str], cwd: Path) -> Found:
    """Files, folders (all `*.eval.yaml` below) and globs; a literal path wins over a pattern of the same spelling.

    A folder or pattern without a suite is NO_SUITE, a missing literal file FILE_NOT_FOUND. Hidden
    folders are searched only when the pattern names them; links to folders are not followed.
    """
    found = Found([], [])
    seen: set[Path] = set()
    for pattern in patterns:
        for path in _matches(pattern, cwd, found.faults):
            if (real := path.resolve()) not in seen:
                seen.add(real)
                found.sources.append(Source(path, shown(path, cwd)))
    if not patterns:
        found.faults.append(Fault(code="NO_SUITE", what="no suite was named", fix="name a suite file, a folder or a pattern"))
    return found


def means(patterns: Iterable[str], file: str) -> bool:
    """Whether folders or globs among these words mean a suite's file, named as messages name it, were it there. A word that names a file means none but that."""
    name = os.path.normpath(file)
    return any(_means(os.path.normpath(pattern), name) for pattern in patterns)


def _means(pattern: str, name: str) -> bool:
    if _MAGIC & set(pattern):
        return _is_like(pattern.split("/"), name.split("/"))
    return name.endswith(".eval.yaml") and (pattern == "." or name.startswith(f"{pattern}/")) and not _is_hidden(name.removeprefix(f"{pattern}/").split("/"), SUITES)


def _is_like(pattern: Sequence[str], parts: Sequence[str]) -> bool:
    """`**` stands for any folders, none of them too; a wildcard matches no hidden name that the pattern does not spell."""
    reached = {0}
    for part in pattern:
        if part == "**":
            reached = {end for start in reached for end in range(start, len(parts) + 1) if not any(one.startswith(".") for one in parts[start:end])}
        else:
            reached = {at + 1 for at in reached if at < len(parts) and fnmatchcase(parts[at], part) and (part.startswith(".") or not parts[at].startswith("."))}
    return len(parts) in reached


def _matches(pattern: str, cwd: Path, faults: list[Fault]) -> list[Path]:
    literal, name = cwd / pattern, clip(pattern, 200)
    if is_file(literal):
        return [literal]
    if _is_dir(literal):
        files = _glob(literal, SUITES)
        if not files:
            faults.append(Fault(code="NO_SUITE", what=f"the folder `{name}` holds no *.eval.yaml", fix="name the suite file, or another folder"))
        return files
    if not _MAGIC & set(pattern):
        faults.append(Fault(code="FILE_NOT_FOUND", what=f"there is no file or folder `{name}`", fix="correct the path", file=name))
        return []
    files = _expanded(pattern, cwd)
    if not files:
        faults.append(Fault(code="NO_SUITE", what=f"the pattern `{name}` matches no file", fix="correct the pattern; `**` stands for any folders"))
    return files


def _is_dir(path: Path) -> bool:
    try:
        return path.is_dir()
    except (OSError, ValueError):  # a name that no file system takes
        return False


def _expanded(pattern: str, cwd: Path) -> list[Path]:
    """Matches of a pattern; the part before its first wildcard is a plain folder."""
    parts = Path(pattern).parts
    first = next(index for index, part in enumerate(parts) if _MAGIC & set(part))
    return _glob(cwd.joinpath(*parts[:first]), "/".join(parts[first:]))


def _glob(base: Path, pattern: str) -> list[Path]:
    try:
        return sorted(path for path in base.glob(pattern) if is_file(path) and not _is_hidden(path.relative_to(base).parts, pattern))
    except (OSError, ValueError):  # a folder that cannot be read or a pattern that is none matches nothing, and NO_SUITE says so
        return []


def _is_hidden(parts: Iterable[str], pattern: str) -> bool:
    return any(part.startswith(".") for part in parts) and "/." not in f"/{pattern}"
