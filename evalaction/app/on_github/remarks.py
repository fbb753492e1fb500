"""Remarks on lines of the repository's files: faults where they stand, cases that got worse where they are defined."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from evalaction.core.verdict import CaseVerdict, Reason, SuiteVerdict, Verdict
from evalaction.github.facts import Annotation
from evalaction.report.details import Details
from evalaction.report.figures import number
from evalaction.report.text import plain

_REACH = 5
"""Lines from the beginning of a case within which its id stands."""
_LONGEST = 8 * 1024 * 1024
_MESSAGE = 1000


def remarks_on(verdict: Verdict, details: Mapping[str, Details], cwd: Path, root: Path) -> Iterator[Annotation]:
    """One for each fault that knows its file and for each case that got worse. Paths are relative to `root`; files outside of it get none."""
    for reason in (*verdict.reasons, *(reason for suite in verdict.suites if suite.verdict == "config_error" for reason in suite.reasons)):
        path = _inside(reason.file, cwd, root)
        if path is not None:
            yield Annotation(path=path, line=reason.line or 1, level="failure", title=reason.code, message=plain(reason.message, _MESSAGE))
    for suite in verdict.suites:
        path = _inside(suite.file, cwd, root)
        if path is not None:
            yield from _worse(suite, details.get(suite.key) or Details(), path, root)


def _worse(suite: SuiteVerdict, details: Details, path: str, root: Path) -> Iterator[Annotation]:
    worse = [case for case in suite.cases if case.verdict == "regressed"]
    lines = _lines(root / path) if worse else []
    for case in worse:
        line = _line(lines, details.lines.get(case.case), case.case)
        yield Annotation(path=path, line=line, level="failure", title=plain(f"{case.case} got worse", 200), message=_message(case, suite.reasons))


def _message(case: CaseVerdict, reasons: Iterable[Reason]) -> str:
    said = [reason.message for reason in reasons if reason.case == case.case]
    score = f"{case.case}: {number(case.baseline)} to {number(case.current)}"
    return plain("; ".join([score, *said[:3]]), _MESSAGE)


def _line(lines: list[str], line: int | None, case_id: str) -> int:
    """Where the case is defined in the suite's own file; the file's first line for a case of a dataset or of a file that has changed."""
    if line is None or not any(case_id in text for text in lines[line - 1 : line - 1 + _REACH]):
        return 1
    return line


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8", errors="replace").splitlines() if path.stat().st_size <= _LONGEST else []
    except OSError:
        return []


def _inside(file: str | None, cwd: Path, root: Path) -> str | None:
    if not file:
        return None
    path = (cwd / file).resolve()
    base = root.resolve()
    return path.relative_to(base).as_posix() if path.is_relative_to(base) and path.is_file() else None
