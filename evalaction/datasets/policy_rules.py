"""Names and ranges in a gate policy: what thresholds and tolerances may speak of."""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Collection, Iterator, Sequence
from typing import Any

from evalaction.core.metrics import is_metric, metric_names
from evalaction.core.spec_base import PASS_RATE, RAW
from evalaction.core.specs import Check, PythonCheck
from evalaction.core.suite import Case
from evalaction.datasets.faults import clip
from evalaction.datasets.known import nearest, type_tag
from evalaction.datasets.overrides import Overrides
from evalaction.errors import Fault

_AT_K = ("precision", "recall", "ndcg")
_SHOWN = 5
"""Metrics that a remedy names as examples."""


def python_ids(checks: Any) -> Iterator[str]:
    """Ids of the python checks in a raw list of checks; each is a metric's name too."""
    for check in checks if isinstance(checks, list | tuple) else ():
        if isinstance(check, dict) and check.get("type") == "python":
            yield str(check.get("id") or "python")


@dataclasses.dataclass(frozen=True, slots=True)
class Metrics:
    """The metrics of a suite: `own` names are those of imported results and of python checks, `cases` have checks that produce the others."""

    own: Collection[str] = ()
    cases: Sequence[Case] = ()

    @classmethod
    def of(cls, cases: Sequence[Case], also: Collection[str] = ()) -> Metrics:
        """Of read cases; `also` are names that cases with faults would have had."""
        return cls({*also, *(check.id or "" for case in cases for check in case.checks if isinstance(check, PythonCheck))}, cases)

    def produced(self) -> list[str]:
        """Every name once, in the order of the checks."""
        return [*dict.fromkeys(name for case in self.cases for check in case.checks for name in metric_names(check)), *self.own]


def wrong_name(name: str, metrics: Metrics) -> tuple[str, str] | None:
    """What is wrong with a name that is no metric, and the remedy: what the suite has goes before what it could have. None when it is one."""
    if is_metric(name, metrics.own):
        return None
    produced = metrics.produced()
    near = nearest(name, produced) or nearest(name, _candidates(name, metrics.own))
    examples = ", ".join(clip(one) for one in [PASS_RATE, *(one for one in produced if one != PASS_RATE)][:_SHOWN]) if produced else "pass_rate, exact_match or recall@10"
    return f"`{clip(name)}` is no metric", f"write `{clip(near)}`, if that is meant" if near else f"use a metric of the suite's checks, such as {examples}"


def wrong_threshold(name: str, value: float) -> tuple[str, str] | None:
    """What is wrong with a threshold's value, and the remedy; None when it is in the metric's range."""
    if name in RAW and value >= 0:
        return None
    if name in RAW:
        return f"a threshold of {name} cannot be negative, found {value}", "write a positive number"
    return None if 0 <= value <= 1 else (f"a threshold of {clip(name)} lies in 0..1, found {value}", "write a fraction, such as 0.8 for 80 %")


def _candidates(name: str, own: Collection[str]) -> list[str]:
    suffix = name.partition("@")[2] or "10"
    types = [tag for kind in typing.get_args(typing.get_args(Check)[0]) if is_metric(tag := str(type_tag(kind)))]
    return [*(f"{base}@{suffix}" for base in _AT_K), PASS_RATE, "mrr", "hit_rate", *RAW, *own, *types]


def flag_faults(overrides: Overrides, metrics: Metrics) -> Iterator[Fault]:
    """Thresholds of the command line on names that are no metric, or out of range."""
    for name, value in overrides.thresholds:
        if wrong := wrong_name(name, metrics):
            yield Fault(code="UNKNOWN_METRIC", what=wrong[0], fix=wrong[1], path=f"--threshold {clip(name)}")
        elif wrong := wrong_threshold(name, value):
            yield Fault(code="INVALID_VALUE", what=wrong[0], fix=wrong[1], path=f"--threshold {clip(name)}")
