"""What repeated runs of one commit say about noise: case by case, over the suite, and what a gate could see through it."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Sequence
from statistics import NormalDist
from typing import Literal

from evalaction.core.accept import rules_of
from evalaction.core.comparison import Rules
from evalaction.core.pairing import pair_records
from evalaction.core.plan import profile_of
from evalaction.core.readings import Name, read_case
from evalaction.core.record import CaseRecord, RunRecord
from evalaction.core.rules import RuleName
from evalaction.core.sample import mean, sample
from evalaction.core.stats.pooled import PooledTest, Runs, smoothed_variance, squares
from evalaction.core.stats.power import Kind, minimum_detectable
from evalaction.core.suite_level import SuiteLevel, Tested

Noise = Literal["deterministic", "noisy", "flaky"]
STORED_RUNS = (5, 10, 20)
"""Sizes of a baseline for which the smallest visible drop is stated."""
_STEP = 0.005
"""Recommended tolerances are whole half points."""
_ONE_IN_A_HUNDRED = NormalDist().inv_cdf(0.99)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class CaseNoise:
    """One case over its runs: `mean` and `sd` of its score, 0..1; flaky when some runs pass and some fail, deterministic when all runs score alike."""

    case: str
    runs: int
    mean: float
    sd: float
    pass_rate: float
    word: Noise


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Visible:
    """The smallest drop seen four times in five, with so many stored runs and so many passes of a pull request."""

    stored: int
    passes: int
    mde: float


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class SeriesNoise:
    """A metric, or a check of the whole suite that no metric stands for, in fractions of its range.

    `standard_errors` are (passes, standard error of the mean over so many passes). `overdispersion` is how much more whole passes scatter
    than their cases explain (1: not at all), and `moves_together` whether that is beyond chance.
    `tolerance` is what a comparison by points (one run against these stored ones) needs so that noise alone exceeds it once in a hundred times.
    """

    metric: str
    kind: Kind
    cases: int
    mean: float
    standard_errors: tuple[tuple[int, float], ...]
    overdispersion: float | None
    moves_together: bool
    visible: tuple[Visible, ...]
    tolerance: float


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """Everything that the runs of one commit say; `rule` is the one that a pull request would meet, with these runs as the baseline."""

    suite: str
    key: str
    commit: str | None
    runs: int
    rule: RuleName
    profile: str
    tolerance: float
    cases: tuple[CaseNoise, ...]
    series: tuple[SeriesNoise, ...]
    errors: int
    """Cases that could not be measured, of which nothing is said."""

    def count(self, word: Noise) -> int:
        """How many cases are such."""
        return sum(case.word == word for case in self.cases)


def calibrate(record: RunRecord) -> Calibration:
    """The noise of a record that holds several runs of each case."""
    rules = rules_of(record, baseline=record)
    measured = [case for case in record.cases.values() if not case.is_error]
    header = record.header
    return Calibration(
        suite=header.suite, key=header.key, commit=header.commit, runs=min((len(case.measured) for case in measured), default=0), rule=rules.name,
        profile=rules.policy.profile, tolerance=rules.policy.tolerance, cases=tuple(map(case_noise, measured)), series=tuple(_series(record, rules)),
        errors=len(record.cases) - len(measured),
    )  # fmt: skip


def case_noise(case: CaseRecord) -> CaseNoise:
    """One measured case."""
    runs = sample(case.measured, case.checks)
    centre = mean(runs.scores)
    spread = math.sqrt(squares(runs.scores, centre) / (len(runs.scores) - 1)) if len(runs.scores) > 1 else 0.0
    alike = all(len(set(values)) <= 1 for column in (runs.check_scores, runs.check_passes) for values in column.values())
    word: Noise = "flaky" if len(set(runs.passes)) > 1 else "deterministic" if alike else "noisy"
    return CaseNoise(case=case.id, runs=len(runs.scores), mean=centre, sd=spread, pass_rate=runs.pass_rate, word=word)


def _series(record: RunRecord, rules: Rules) -> Iterable[SeriesNoise]:
    """The distinct gated series, each compared with itself: what is left is noise. One run of a case has none to show."""
    read = (read_case(owner, pair) for owner, pair in enumerate(pair_records(record, record)) if pair.status == "compared")
    insistent = dataclasses.replace(rules, policy=dataclasses.replace(rules.policy, rule="statistical"))
    suite = SuiteLevel([case for case in read if case is not None], insistent)
    for name in suite.gated():
        passes = suite.series[name].stored_runs
        tested = suite.test(name, passes)
        if tested is not None and passes > 1:
            yield _noise(name, tested, suite, passes)


def _noise(name: Name, tested: Tested, suite: SuiteLevel, stored: int) -> SeriesNoise:
    pooled, policy = tested.pooled, suite.rules.policy
    tolerance = suite.tolerance(name) or 0.0
    alpha = suite.alpha(stored)
    passes = sorted({*profile_of(policy).passes, stored})
    visible = tuple(
        Visible(stored=runs, passes=count, mde=minimum_detectable(tested.kind, pooled.cases, _error(pooled, tested.cases, runs, count), alpha, tolerance))
        for runs in STORED_RUNS
        for count in profile_of(policy).passes
    )
    return SeriesNoise(
        metric=name[1], kind=tested.kind, cases=pooled.cases, mean=abs(mean([mean(case.current) for case in tested.cases])),
        standard_errors=tuple((count, pooled.standard_error_between(math.inf, count)) for count in passes), overdispersion=pooled.scatter,
        moves_together=pooled.overdispersion is not None, visible=visible, tolerance=_recommended(pooled, stored, policy.tolerance),
    )  # fmt: skip


def _error(pooled: PooledTest, cases: Sequence[Runs], stored: int, passes: int) -> float:
    """The standard error of a difference; never 0, since runs that were all alike so far need not stay so."""
    found = pooled.standard_error_between(stored, passes)
    if found > 0:
        return found
    return math.sqrt(math.fsum(smoothed_variance(Runs(case.baseline, ())) for case in cases) * (1 / stored + 1 / passes)) / len(cases)


def _recommended(pooled: PooledTest, stored: int, least: float) -> float:
    """At least the policy's own; the noise that one run against `stored` exceeds once in a hundred times, rounded up to half a point."""
    noise = _ONE_IN_A_HUNDRED * pooled.standard_error_between(stored, 1)
    return max(least, round(math.ceil(noise / _STEP - 1e-9) * _STEP, 4))
