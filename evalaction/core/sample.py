"""From trials to numbers: scores, passes and metric values of one case on one side, over chosen checks."""

from __future__ import annotations

import dataclasses
import math
import statistics
from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence

from evalaction.core.record import UNCOMMITTED, CaseRecord, CheckInfo, CheckResult, Trial
from evalaction.core.spec_base import PASS_RATE

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
    """The sample of measured trials over these checks; nobody changes its lists."""
    if len(trials) == 1 and _is_bare(trials[0]):
        return _sample_of_one(trials[0], checks)
    return _sample(trials, checks)


def _is_bare(trial: Trial) -> bool:
    """Whether it is no more than its results: such trials are shared (`core.sharing`), so that one of them stands for many cases."""
    return trial.answer is None and trial.latency_ms is None and trial.cost_usd is None and trial.tokens is None


def _sample_of_one(trial: Trial, checks: Sequence[CheckInfo]) -> Sample:
    """The sample of one shared trial, made once for all cases whose checks have the same ids, weights and metrics."""
    key = (id(trial), *[(check.id, check.weight, check.metrics) for check in checks])
    known = _KNOWN.get(key)
    if known is not None:
        return known[1]
    made = _sample((trial,), checks)
    if len(_KNOWN) < _MOST_KNOWN:
        _KNOWN[key] = trial, made
    return made


_MOST_KNOWN = 4096
_KNOWN: dict[tuple[object, ...], tuple[Trial, Sample]] = {}
"""By the identity of the trial, which the entry keeps alive."""


def _sample(trials: Sequence[Trial], checks: Sequence[CheckInfo]) -> Sample:
    if (usual := _sample_in_columns(trials, checks)) is not None:
        return usual
    gathered = _Gathered({check.id: check for check in checks}, some_alone=not all(check.weight for check in checks))
    for trial in trials:
        gathered.add(trial)
    return Sample(tuple(gathered.scores), tuple(gathered.passes), gathered.check_scores, gathered.check_passes, gathered.metrics)


@dataclasses.dataclass(slots=True)
class _Gathered:
    """A sample while its trials are read; `some_alone`: a check of weight 0 is among them."""

    checks: Mapping[str, CheckInfo]
    some_alone: bool
    scores: list[float] = dataclasses.field(default_factory=list)
    passes: list[bool] = dataclasses.field(default_factory=list)
    check_scores: dict[str, list[float]] = dataclasses.field(default_factory=dict)
    check_passes: dict[str, list[bool]] = dataclasses.field(default_factory=dict)
    metrics: dict[str, list[float]] = dataclasses.field(default_factory=lambda: {PASS_RATE: []})

    def add(self, trial: Trial) -> None:
        """One measured trial; one without any of the checks does not count."""
        counted = [(info, result) for result in trial.checks if (info := self.checks.get(result.id)) is not None]
        if not counted:
            return
        bare = self.some_alone and not any(info.weight for info, _ in counted)
        weighted = [(1.0 if bare else info.weight, result) for info, result in counted]
        self.scores.append(math.fsum([weight * result.score for weight, result in weighted]) / math.fsum([weight for weight, _ in weighted]))
        self.passes.append(all(result.passed or not weight for weight, result in weighted))
        self.metrics[PASS_RATE].append(float(self.passes[-1]))
        self._add_checks(counted)
        _add_raw(self.metrics, trial)

    def _add_checks(self, counted: Sequence[tuple[CheckInfo, CheckResult]]) -> None:
        values: dict[str, list[float]] = {}
        for info, result in counted:
            self.check_scores.setdefault(info.id, []).append(result.score)
            self.check_passes.setdefault(info.id, []).append(result.passed)
            for name in info.metrics:
                values.setdefault(name, []).append(result.score if result.values is None else result.values[name])
        for name, found in values.items():
            self.metrics.setdefault(name, []).append(mean(found))


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
    return tuple(tuple(by_pass[number]) for number in sorted(by_pass))


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


def suite_counts(cases: Iterable[CaseRecord], uncommitted: int = 0) -> dict[str, int]:
    """The counts of a record's header; `uncommitted` files are named where there are some."""
    known = list(cases)
    counts = {"cases": len(known), "errors": sum(case.is_error for case in known), "trials": sum(len(case.trials) for case in known)}
    return {**counts, UNCOMMITTED: uncommitted} if uncommitted else counts
