"""Equal small values as one object: a large suite repeats few different ones, and memory is what limits its size."""

from __future__ import annotations

from functools import lru_cache

from evalaction.core.model import copy_of
from evalaction.core.record import CheckInfo, CheckResult
from evalaction.core.verdict import CheckVerdict, Runs, Word

_MOST = 200_000


@lru_cache(maxsize=_MOST)
def check_verdict(check: str, verdict: Word, baseline: float | None, current: float | None) -> CheckVerdict:
    """The verdict on a check, with the change where both sides are known."""
    delta = None if baseline is None or current is None else current - baseline
    return CheckVerdict(check=check, verdict=verdict, baseline=baseline, current=current, delta=delta)


@lru_cache(maxsize=_MOST)
def runs(passed: int, measured: int) -> Runs:
    """Passes and runs of a case on one side."""
    return Runs(passed=passed, measured=measured)


def without_detail(result: CheckResult) -> CheckResult:
    """A check's result without its text."""
    values = None if result.values is None else tuple(result.values.items())
    return _result(result.id, result.score, result.passed, values)


@lru_cache(maxsize=_MOST)
def _result(name: str, score: float, passed: bool, values: tuple[tuple[str, float], ...] | None) -> CheckResult:
    return CheckResult(id=name, score=score, passed=passed, values=None if values is None else dict(values))


def checks(infos: tuple[CheckInfo, ...]) -> tuple[CheckInfo, ...]:
    """The checks of a case: both sides of a comparison mostly have the same, and all cases have few different metrics."""
    compact = tuple(copy_of(info, metrics=_metrics(info.metrics), weight=1.0 if info.weight == 1 else info.weight) for info in infos)
    return _CHECKS.setdefault(compact, compact)


_CHECKS: dict[tuple[CheckInfo, ...], tuple[CheckInfo, ...]] = {}


@lru_cache(maxsize=_MOST)
def _metrics(names: tuple[str, ...]) -> tuple[str, ...]:
    return names
