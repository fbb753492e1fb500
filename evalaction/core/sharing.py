"""Equal small values as one object: a large suite repeats few different ones, and memory is what limits its size."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from evalaction.core.model import copy_of
from evalaction.core.record import CheckInfo, CheckResult, Trial
from evalaction.core.verdict import CheckVerdict, Runs, Word

_MOST = 20_000
"""Different values that are kept; a suite that has more gains nothing by sharing, and the keys themselves need memory."""


@lru_cache(maxsize=_MOST)
def check_verdict(check: str, verdict: Word, baseline: float | None, current: float | None) -> CheckVerdict:
    """The verdict on a check, with the change where both sides are known."""
    delta = None if baseline is None or current is None else current - baseline
    return CheckVerdict(check=check, verdict=verdict, baseline=baseline, current=current, delta=delta)


@lru_cache(maxsize=_MOST)
def runs(passed: int, measured: int) -> Runs:
    """Passes and runs of a case on one side."""
    return Runs(passed=passed, measured=measured)


def check_result(name: str, score: float, passed: bool, detail: str, values: Mapping[str, float] | None) -> CheckResult:
    """The result of a check; those without a text are shared."""
    if detail:
        return CheckResult(id=name, score=score, passed=passed, detail=detail, values=values)
    return _result(name, score, passed, None if values is None else tuple(values.items()))


def without_detail(result: CheckResult) -> CheckResult:
    """A check's result without its text."""
    values = result.values
    return _result(result.id, result.score, result.passed, None if values is None else tuple(values.items()))


@lru_cache(maxsize=_MOST)
def _result(name: str, score: float, passed: bool, values: tuple[tuple[str, float], ...] | None) -> CheckResult:
    return CheckResult(id=name, score=score, passed=passed, values=None if values is None else dict(values))


def without_texts(trial: Trial) -> Trial:
    """A trial without its answer and the texts of its results. Those that differ in nothing else, as most of a file of answers do, are shared."""
    checks = tuple([without_detail(result) for result in trial.checks])
    if trial.error is not None or trial.latency_ms is not None or trial.cost_usd is not None or trial.tokens is not None:
        return copy_of(trial, checks=checks, answer=None)
    # Results are known by their identity, for they hold maps, which have no hash; a kept trial keeps its results alive.
    key = (trial.repeat, trial.score, trial.passed, *map(id, checks))
    found = _TRIALS.get(key)
    if found is None:
        found = copy_of(trial, checks=checks, answer=None)
        if len(_TRIALS) < _MOST:
            _TRIALS[key] = found
    return found


_TRIALS: dict[tuple[float | None, ...], Trial] = {}


def checks(infos: tuple[CheckInfo, ...]) -> tuple[CheckInfo, ...]:
    """The checks of a case: both sides of a comparison mostly have the same, and all cases have few different metrics."""
    known = _CHECKS.get(infos)
    return known or new_checks(tuple([copy_of(info, metrics=_metrics(info.metrics), weight=1.0 if info.weight == 1 else info.weight) for info in infos]))


def new_checks(infos: tuple[CheckInfo, ...]) -> tuple[CheckInfo, ...]:
    """The same for checks that were made here, whose parts are shared as far as they can be."""
    return _CHECKS.setdefault(infos, infos)


_CHECKS: dict[tuple[CheckInfo, ...], tuple[CheckInfo, ...]] = {}


@lru_cache(maxsize=_MOST)
def _metrics(names: tuple[str, ...]) -> tuple[str, ...]:
    return names
