"""From trials to numbers: scores, passes and metric values of one case on one side, over chosen checks."""

from __future__ import annotations

import dataclasses
import math
import statistics
from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence

from evalaction.core.metrics import PASS_RATE
from evalaction.core.record import CaseRecord, CheckInfo, Trial

Centre = Callable[[Sequence[float]], float]
"""Mean or median: how the runs of one case become one number."""


def mean(values: Sequence[float]) -> float:
    """Exactly rounded mean, so that the order of values never matters. Needs at least one value."""
    return float(values[0]) if len(values) == 1 else math.fsum(values) / len(values)


def median(values: Sequence[float]) -> float:
    """Median; the reference of the exact rule."""
    return float(statistics.median(values))


@dataclasses.dataclass(frozen=True, slots=True)
class Sample:
    """Some measured trials of one case, restricted to some of its checks; every list has one value per trial.

    `scores` are weighted means over the checks, `passes` whether all of them passed, `metrics` one list
    per metric (a check that did not apply to an answer leaves its metric's list shorter). Checks of weight 0
    count in neither, unless no others are left.
    """

    scores: tuple[float, ...]
    passes: tuple[bool, ...]
    check_scores: Mapping[str, list[float]]
    check_passes: Mapping[str, list[bool]]
    metrics: Mapping[str, list[float]]

    @property
    def pass_rate(self) -> float:
        """Share of the trials whose checks all passed."""
        return sum(self.passes) / len(self.passes)


def sample(trials: Sequence[Trial], checks: Sequence[CheckInfo]) -> Sample:
    """The sample of measured trials over these checks."""
    if (usual := _sample_in_columns(trials, checks)) is not None:
        return usual
    by_id = {check.id: check for check in checks}
    some_alone = not all(check.weight for check in checks)
    scores: list[float] = []
    passes: list[bool] = []
    check_scores: dict[str, list[float]] = {}
    check_passes: dict[str, list[bool]] = {}
    metrics: dict[str, list[float]] = {PASS_RATE: []}
    for trial in trials:
        weights: list[float] = []
        weighted: list[float] = []
        passed = True
        bare = some_alone and not any(by_id[result.id].weight for result in trial.checks if result.id in by_id)
        values: dict[str, list[float]] = {}
        for result in trial.checks:
            info = by_id.get(result.id)
            if info is None:
                continue
            weight = 1.0 if bare else info.weight
            weights.append(weight)
            weighted.append(weight * result.score)
            passed = passed and (result.passed or not weight)
            check_scores.setdefault(result.id, []).append(result.score)
            check_passes.setdefault(result.id, []).append(result.passed)
            for name in info.metrics:
                values.setdefault(name, []).append(result.score if result.values is None else result.values[name])
        if not weights:
            continue
        scores.append(math.fsum(weighted) / math.fsum(weights))
        passes.append(passed)
        metrics[PASS_RATE].append(float(passed))
        for name, found in values.items():
            metrics.setdefault(name, []).append(mean(found))
        _add_raw(metrics, trial)
    return Sample(tuple(scores), tuple(passes), check_scores, check_passes, metrics)


def _sample_in_columns(trials: Sequence[Trial], checks: Sequence[CheckInfo]) -> Sample | None:
    """The same for the usual case, at a third of the cost: every trial has just these checks in their order, of one weight, no two of which share a metric; None for any other."""
    count = len(checks)
    if not trials or not checks or any(len(trial.checks) != count for trial in trials):
        return None
    check_scores: dict[str, list[float]] = {}
    check_passes: dict[str, list[bool]] = {}
    metrics: dict[str, list[float]] = {PASS_RATE: []}
    weight, names = checks[0].weight, 1
    for place, info in enumerate(checks):
        column = [trial.checks[place] for trial in trials]
        if info.weight != weight or any(result.id != info.id for result in column):
            return None
        check_scores[info.id] = [result.score for result in column]
        check_passes[info.id] = [result.passed for result in column]
        for metric in info.metrics:
            metrics[metric] = [result.score if result.values is None else result.values[metric] for result in column]
        names += len(info.metrics)
    if names != len(metrics):
        return None
    passes = [all(row) for row in zip(*check_passes.values(), strict=True)]
    metrics[PASS_RATE] = [float(passed) for passed in passes]
    for trial in trials:
        _add_raw(metrics, trial)
    rows = zip(*check_scores.values(), strict=True)
    return Sample(tuple([math.fsum(row) / count for row in rows]), tuple(passes), check_scores, check_passes, metrics)


def _add_raw(metrics: dict[str, list[float]], trial: Trial) -> None:
    if trial.latency_ms is not None:
        metrics.setdefault("latency_ms", []).append(trial.latency_ms)
    if trial.cost_usd is not None:
        metrics.setdefault("cost_usd", []).append(trial.cost_usd)
    if trial.tokens is not None:
        metrics.setdefault("tokens", []).append(float(trial.tokens.input + trial.tokens.output))


def passes_of(case: CaseRecord) -> tuple[tuple[Trial, ...], ...]:
    """Measured trials by pass over the suite, the first pass first; a later pass without a measured trial is left out.

    The first is always there, empty when none of its trials was measured.
    """
    if len(case.trials) == 1 == case.repeats:
        return (case.measured,)
    by_pass: dict[int, list[Trial]] = {0: []}
    for trial in sorted(case.measured, key=lambda trial: trial.repeat):
        by_pass.setdefault(trial.repeat // case.repeats, []).append(trial)
    return tuple(tuple(trials) for _, trials in sorted(by_pass.items()) if trials or not _)


def suite_metrics(cases: Iterable[CaseRecord]) -> dict[str, float]:
    """Means over all measured cases, each case by the mean of its first pass: `current_all`."""
    values: dict[str, array[float]] = {}
    for case in cases:
        if case.is_error:
            continue
        trials = passes_of(case)[0] or case.measured
        for name, found in sample(trials, case.checks).metrics.items():
            if found:
                (values.get(name) or values.setdefault(name, array("d"))).append(mean(found))
    return {name: mean(found) for name, found in values.items()}
