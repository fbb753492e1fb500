"""Where a policy is looser than the one a person accepted: a pull request that widens a tolerance says so in its headline."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from evalaction.core.metrics import lower_is_better
from evalaction.core.record import CaseRecord
from evalaction.core.spec_base import RAW
from evalaction.core.suite import Policy

_WIDER_IS_LOOSER = ("tolerance", "case_tolerance", "pass_rate_tolerance", "max_errors")


def loosened(accepted: Mapping[str, Any], current: Mapping[str, Any]) -> tuple[str, ...]:
    """Every looser part, one line each; both policies as a record's header stores them."""
    before, now = Policy(**accepted), Policy(**current)
    return (*_numbers(before, now), *_words(before, now), *_tolerances(before, now), *_thresholds(before, now))


def lowered_floors(before: Mapping[str, CaseRecord], now: Mapping[str, CaseRecord]) -> Iterable[str]:
    """Cases that need a lower score than the accepted ones did, one line each."""
    for case_id, case in now.items():
        accepted = before.get(case_id)
        if accepted is None or accepted.floor is None:
            continue
        if case.floor is None or case.floor < accepted.floor:
            yield f"minimum of case {case_id} {accepted.floor:g} → {'none' if case.floor is None else f'{case.floor:g}'}"


def _numbers(before: Policy, now: Policy) -> Iterable[str]:
    for name in _WIDER_IS_LOOSER:
        was, is_now = getattr(before, name), getattr(now, name)
        if is_now > was:
            yield f"{name} {was:g} → {is_now:g}"
    if now.min_comparable < before.min_comparable:
        yield f"min_comparable {before.min_comparable:g} → {now.min_comparable:g}"


def _words(before: Policy, now: Policy) -> Iterable[str]:
    if before.removed_cases == "fail" and now.removed_cases == "warn":
        yield "removed_cases fail → warn"
    for name in before.fail_on:
        if name not in now.fail_on:
            yield f"fail_on no longer has {name}"


def _tolerances(before: Policy, now: Policy) -> Iterable[str]:
    for name in dict.fromkeys([*before.tolerances, *now.tolerances]):
        was, is_now = _effective(before, name), _effective(now, name)
        if is_now is None and was is not None:
            yield f"tolerance of {name} ({was:g}) is gone"
        elif is_now is not None and was is not None and is_now > was:
            yield f"tolerance of {name} {was:g} → {is_now:g}"


def _effective(policy: Policy, metric: str) -> float | None:
    """What holds for a metric: its own tolerance, else the suite's; a raw metric without its own is not gated at all."""
    return policy.tolerances.get(metric, None if metric in RAW else policy.tolerance)


def _thresholds(before: Policy, now: Policy) -> Iterable[str]:
    for name, was in before.thresholds.items():
        is_now = now.thresholds.get(name)
        if is_now is None:
            yield f"threshold on {name} ({was:g}) is gone"
        elif (is_now > was) if lower_is_better(name) else (is_now < was):
            yield f"threshold on {name} {was:g} → {is_now:g}"
