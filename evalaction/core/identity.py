"""Identities of checks as the record keeps them: by these a later run knows whether the same was asked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from evalaction.core.checks.rubric import criterion_id, criterion_weight
from evalaction.core.fingerprint import define, digest
from evalaction.core.metrics import metric_names, type_of
from evalaction.core.model import copy_of
from evalaction.core.record import CheckInfo
from evalaction.core.specs import Rubric
from evalaction.core.suite import Case, Definition, Judge

PROMPT_VERSION = "1"
"""Of what a judge is told. It counts up with every change of wording, for answers to another question cannot be compared."""


def judged_by(cases: Iterable[Case], judge: Judge) -> tuple[Case, ...]:
    """The same cases, defined as this judge sees them: in place of a rubric its criteria, each a check of its own."""
    return tuple(copy_of(case, definition=_defined(case, judge)) for case in cases)


def _defined(case: Case, judge: Judge) -> Definition:
    known = define(case)
    return Definition(known.fingerprint, tuple(_expanded(case, known.checks, judge)))


def _expanded(case: Case, infos: Iterable[CheckInfo], judge: Judge) -> Iterator[CheckInfo]:
    for check, info in zip(case.checks, infos, strict=True):
        yield from criterion_infos(check, judge) if isinstance(check, Rubric) else (info,)


def embedded_by(cases: Iterable[Case], model: str) -> tuple[Case, ...]:
    """The same cases, their similarity checks defined under this embedding model: another one measures something else."""
    return tuple(_embedded(case, model) for case in cases)


def _embedded(case: Case, model: str) -> Case:
    known = define(case)
    if not any(info.type == "similarity" for info in known.checks):
        return case
    infos = (copy_of(info, fingerprint=digest([info.fingerprint, model])) if info.type == "similarity" else info for info in known.checks)
    return copy_of(case, definition=Definition(known.fingerprint, tuple(infos)))


def criterion_infos(check: Rubric, judge: Judge) -> tuple[CheckInfo, ...]:
    """Identities of the criteria of a rubric.

    The fingerprint is over the criterion's text, scale, field, threshold and weight, the judge's provider and model, and the prompt version.
    """
    weight, asker = criterion_weight(check), [judge.provider, judge.model, PROMPT_VERSION]
    return tuple(
        CheckInfo(id=criterion_id(check, name), type=type_of(check), fingerprint=digest([_asked(check, text), asker]), weight=weight, metrics=metric_names(check))
        for name, text in check.criteria.items()
    )


def _asked(check: Rubric, text: str) -> dict[str, Any]:
    """What is asked; parameters left at their default do not count, so that a new option changes nothing old."""
    optional = {"scale": check.scale, "field": check.field, "threshold": check.threshold, "weight": None if check.weight == 1 else check.weight}
    return {"type": "rubric", "criterion": text, **{name: value for name, value in optional.items() if value is not None}}
