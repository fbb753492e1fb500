"""A judge's verdicts beside those of people: which labels found one, and how far the two agree."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from pydantic import Field

from evalaction.core.agreement import Confusion, Correlation, rank_correlation
from evalaction.core.answer import as_text
from evalaction.core.answer_text import TEXT_LIMIT
from evalaction.core.checks.base import is_blank, no_part
from evalaction.core.model import model as stated
from evalaction.core.record import CaseRecord, CheckResult, Trial
from evalaction.core.scalars import Flag, Text, Whole, Word

_CUT = re.compile(r"… \[cut: ([0-9,]{1,20}) characters in all\] …")
_AMOUNTS = frozenset({"cost_usd", "tokens", "latency_ms"})
"""Parts of an answer that are no words of the system."""
_UNASKED = re.compile(r"the answer has no `(?P<lacks>.+)`|`(?P<blank>.+)` of the answer is empty")


@stated
class Label:
    """What a person says of one answer. `criterion` is a check's id such as `tone.polite`, or the criterion's own name; `repeat` counts from 0."""

    case: Word
    criterion: Word
    passed: Annotated[Flag, Field(alias="pass")]
    repeat: Annotated[Whole, Field(ge=0)] | None = None
    suite: Word | None = None
    note: Text | None = None


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Labelled:
    """A label and the verdict it speaks of: suite key, case, check and run as the record spells them. `is_assumed`: it named none of several runs."""

    label: Label
    suite: str
    case: str
    check: str
    repeat: int
    is_assumed: bool = False


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """Two verdicts on one answer: `score` 0..1, `passed` and `words` are the judge's; `answer` is what was judged, `length` its characters."""

    labelled: Labelled
    score: float
    passed: bool
    words: str
    answer: str
    length: int


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Missing:
    """A label without a verdict. `why` is judge_error, not_measured or not_judged (the answer was empty, so no judge was asked)."""

    labelled: Labelled
    why: str
    message: str


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """The verdicts on some criteria: counted, and how the scores of judge and people go with the length of the answer."""

    confusion: Confusion
    verbosity: Correlation | None
    verbosity_of_people: Correlation | None


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Audit:
    """All labels of a file, those with two verdicts and those with one."""

    compared: tuple[Compared, ...]
    missing: tuple[Missing, ...]

    @property
    def overall(self) -> Agreement:
        """Over all criteria together."""
        return _agreement(self.compared)

    @property
    def criteria(self) -> Mapping[str, Agreement]:
        """Criterion by criterion, in alphabetical order."""
        names = sorted({one.labelled.check for one in self.compared})
        return {name: _agreement([one for one in self.compared if one.labelled.check == name]) for name in names}

    @property
    def false_passes(self) -> tuple[Compared, ...]:
        """What the judge passed and people did not."""
        return tuple(one for one in self.compared if one.passed and not one.labelled.label.passed)

    @property
    def false_fails(self) -> tuple[Compared, ...]:
        """What people passed and the judge did not."""
        return tuple(one for one in self.compared if not one.passed and one.labelled.label.passed)


def audit(labels: Sequence[Labelled], cases: Mapping[tuple[str, str], CaseRecord]) -> Audit:
    """Compare labels with the record; `cases` are whole, by suite key and case id. Every label becomes either Compared or Missing."""
    found = [_found(labelled, cases[labelled.suite, labelled.case]) for labelled in labels]
    return Audit(compared=tuple(one for one in found if isinstance(one, Compared)), missing=tuple(one for one in found if isinstance(one, Missing)))


def _agreement(compared: Sequence[Compared]) -> Agreement:
    lengths = [one.length for one in compared]
    return Agreement(
        confusion=Confusion.of((one.passed, one.labelled.label.passed) for one in compared), verbosity=rank_correlation([one.score for one in compared], lengths),
        verbosity_of_people=rank_correlation([float(one.labelled.label.passed) for one in compared], lengths),
    )  # fmt: skip


def _found(labelled: Labelled, case: CaseRecord) -> Compared | Missing:
    trial = next(trial for trial in case.trials if trial.repeat == labelled.repeat)
    if trial.error is not None:
        why = "judge_error" if trial.error.code == "JUDGE_FAILED" else "not_measured"
        return Missing(labelled=labelled, why=why, message=f"{trial.error.code}: {trial.error.message}")
    result = next((result for result in trial.checks if result.id == labelled.check), None)
    if result is None:
        return Missing(labelled=labelled, why="not_measured", message="the run has no result of this criterion")
    if not _was_judged(result, trial):
        return Missing(labelled=labelled, why="not_judged", message=result.detail)
    answer = _judged_text(trial)
    return Compared(labelled=labelled, score=result.score, passed=result.passed, words=result.detail, answer=answer, length=_length(answer))


def _parts(trial: Trial) -> Mapping[str, Any]:
    return trial.answer if isinstance(trial.answer, Mapping) else {}


def _was_judged(result: CheckResult, trial: Trial) -> bool:
    """Whether a judge was asked: an answer without the judged part scores 0 unasked, and says so in words that are believed only where the answer bears them out."""
    parts = _parts(trial)
    if all(is_blank(value) for name, value in parts.items() if name not in _AMOUNTS):
        return False
    unasked = _UNASKED.fullmatch(result.detail)
    if result.score or unasked is None:
        return True
    name = unasked["lacks"] or unasked["blank"]
    part = parts.get(name)
    return not (is_blank(part) and no_part(name, part).detail == result.detail)


def _judged_text(trial: Trial) -> str:
    """The output, else all that was answered; of a rubric on another part the record does not say which."""
    parts = _parts(trial)
    return as_text(parts.get("output")) or as_text(dict(parts)) or ""


def _length(answer: str) -> int:
    """Characters of an answer as it was given. A stored one that was cut holds its length where the cut is, and nowhere else."""
    mark = _CUT.match(answer, TEXT_LIMIT - TEXT_LIMIT // 2) if len(answer) > TEXT_LIMIT else None
    return int(mark[1].replace(",", "")) if mark else len(answer)
