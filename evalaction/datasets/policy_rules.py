"""Names and ranges in a gate policy: what thresholds and tolerances may speak of."""

from __future__ import annotations

import typing
from collections.abc import Collection, Iterator
from typing import Any

from evalaction.core.metrics import PASS_RATE, RAW, is_metric
from evalaction.core.specs import Check
from evalaction.datasets.faults import clip
from evalaction.datasets.known import nearest, type_tag
from evalaction.datasets.overrides import Overrides
from evalaction.errors import Fault

_AT_K = ("precision", "recall", "ndcg")


def python_ids(checks: Any) -> Iterator[str]:
    """Ids of the python checks in a raw list of checks; each is a metric's name too."""
    for check in checks if isinstance(checks, list | tuple) else ():
        if isinstance(check, dict) and check.get("type") == "python":
            yield str(check.get("id") or "python")


def wrong_name(name: str, own: Collection[str]) -> tuple[str, str] | None:
    """What is wrong with a name that is no metric, and the remedy; None when it is one."""
    if is_metric(name, own):
        return None
    near = nearest(name, _candidates(name, own))
    remedy = f"write `{near}`, if that is meant" if near else "use a metric of the suite's checks, such as pass_rate, exact_match or recall@10"
    return f"`{clip(name)}` is no metric", remedy


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


def flag_faults(overrides: Overrides, own: set[str]) -> Iterator[Fault]:
    """Thresholds of the command line on names that are no metric, or out of range. `own` are names of the suite's own metrics."""
    for name, value in overrides.thresholds:
        if wrong := wrong_name(name, own):
            yield Fault(code="UNKNOWN_METRIC", what=wrong[0], fix=wrong[1], path=f"--threshold {clip(name)}")
        elif wrong := wrong_threshold(name, value):
            yield Fault(code="INVALID_VALUE", what=wrong[0], fix=wrong[1], path=f"--threshold {clip(name)}")
