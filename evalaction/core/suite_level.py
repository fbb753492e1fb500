"""The statistical rule over the whole suite: each metric and each shared check, at alpha divided by the number of distinct series."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

from evalaction.core.by_tolerance import judge_suspicion
from evalaction.core.comparison import EPSILON, Rules, State, is_stuck, sign_of
from evalaction.core.plan import Look, SuiteProgress
from evalaction.core.readings import CaseReadings, Name, SuiteSeries, Values, collect
from evalaction.core.rules import runs_needed_for
from evalaction.core.sample import mean
from evalaction.core.series import Series, Whole
from evalaction.core.spec_base import RAW
from evalaction.core.stats.boschloo import MOST_RUNS
from evalaction.core.stats.pooled import PooledTest, Runs, pooled_t, smoothed_variance
from evalaction.core.stats.power import Kind, minimum_detectable
from evalaction.core.stats.stratified import ExactTest, Table, stratified_exact
from evalaction.core.verdict import MetricVerdict, Word

_NOTABLE_DROP = 0.02
"""`unchanged` says that a drop larger than this, or than the tolerance, is excluded."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Tested:
    """One series after some passes. `cases` are the values it was tested on."""

    kind: Kind
    cases: Sequence[Runs]
    pooled: PooledTest
    exact: ExactTest | None

    @property
    def p_worse(self) -> float:
        """P of a drop this large by chance; where whole passes move together, the exact test alone would be too sure."""
        return self._p(self.pooled.p_worse, self.exact.p_worse if self.exact else None)

    @property
    def p_better(self) -> float:
        """The same for a gain."""
        return self._p(self.pooled.p_better, self.exact.p_better if self.exact else None)

    def _p(self, by_t: float, by_tables: float | None) -> float:
        if by_tables is None:
            return by_t
        return max(by_tables, by_t) if self.pooled.overdispersion is not None else by_tables

    def could_say(self, alpha: float) -> bool:
        """Whether any outcome with these totals could have been significant; one that could not does not count among the tests (Tarone, Biometrics 46 (1990) 515)."""
        if self.exact is not None:
            return self.exact.smallest <= alpha
        return self.pooled.standard_error > 0 or abs(self.pooled.drop) > EPSILON


class SuiteLevel:
    """All series of one comparison; tests are made when asked for and kept."""

    def __init__(self, cases: Sequence[CaseReadings], rules: Rules, *, both_sides: bool = False) -> None:
        self.rules = rules
        self.cases = {case.owner: case for case in cases}
        self.series = collect(cases)
        self.kinds: dict[Name, Kind] = {name: series.kind for name, series in self.series.items()}
        self.statistical = {name for name, series in self.series.items() if self._has_enough(series, both_sides=both_sides)}
        self._distinct = self._one_of_each()
        self._tests: dict[tuple[Name, int], Tested | None] = {}
        self._counts: dict[int, int] = {}

    def _has_enough(self, series: SuiteSeries, *, both_sides: bool) -> bool:
        needed = runs_needed_for(self.kinds[series.name], self.rules.policy)
        if both_sides and sorted(len(now) for _, _, now in series.rows)[len(series.rows) // 2] < needed:
            return False
        return series.stored_runs >= needed

    def _one_of_each(self) -> dict[Name, Name]:
        """Series → the first with the same values; gated ones first, so that what stands for others is gated where one of them is."""
        first: dict[tuple[tuple[int, Values, Values], ...], Name] = {}
        ordered = sorted(self.series, key=lambda name: (not self.is_gated(name), name[0] == "check", name[1]))
        return {name: first.setdefault(tuple(sorted(self.series[name].rows)), name) for name in ordered}

    def is_gated(self, name: Name) -> bool:
        """Whether a drop of this series may be red."""
        what, label = name
        if what == "metric" and label in RAW and label not in self.rules.policy.tolerances:
            return False
        return what in self.rules.policy.fail_on

    def test(self, name: Name, passes: int) -> Tested | None:
        """The test of one series over its first passes; None when no case has a value in them."""
        if (name, passes) not in self._tests:
            self._tests[name, passes] = self._tested(self.series[name], passes)
        return self._tests[name, passes]

    def _tested(self, series: SuiteSeries, passes: int) -> Tested | None:
        sign = sign_of(series.name[1]) if series.name[0] == "metric" else 1
        cases = series.first(passes, sign)
        if not cases:
            return None
        kind = self.kinds[series.name]
        return Tested(kind=kind, cases=cases, pooled=pooled_t(cases), exact=stratified_exact(map(_table, cases)) if kind == "binary" else None)

    def gated(self) -> list[Name]:
        """The distinct series that statistics may call red, always in the same order."""
        return [name for name, first in self._distinct.items() if name == first and name in self.statistical and self.is_gated(name)]

    def _counted(self, passes: int) -> list[Tested]:
        """Those of them that could be significant."""
        found = [self.test(name, passes) for name in self.gated()]
        return [tested for tested in found if tested is not None and tested.could_say(self.rules.alpha)]

    def alpha(self, passes: int) -> float:
        """Alpha of one series: that of the suite divided by the number of distinct ones."""
        if passes not in self._counts:
            self._counts[passes] = max(1, len(self._counted(passes)))
        return self.rules.alpha / self._counts[passes]

    def look(self, passes: int) -> Look | None:
        """How bad the worst gated series looks; its p counts as that of the smallest of m (Šidák), so that more series do not mean more passes."""
        gated = [(tested.p_worse, name) for name in self.gated() if (tested := self.test(name, passes))]
        if not gated:
            return None
        p, name = min(gated)
        series = round(self.rules.alpha / self.alpha(passes))
        return Look(p=1 - (1 - p) ** series, series=name[1])

    def tolerance(self, name: Name) -> float | None:
        """How far the mean of a series may fall."""
        if name[0] == "check":
            return self.rules.policy.tolerance
        return self.rules.metric_tolerance(name[1], mean([_mean(before) for _, before, _ in self.series[name].rows]), len(self.series[name].rows))

    def verdict(self, name: Name, progress: SuiteProgress, whole: Whole | None) -> MetricVerdict:
        """The verdict on one series at the stage that was reached."""
        tested, tolerance = self.test(name, progress.passes), self.tolerance(name)
        everything = mean(whole.values) if whole and whole.values else None
        if tested is None:
            return MetricVerdict(metric=name[1], current_all=everything, verdict="added")
        sign = sign_of(name[1]) if name[0] == "metric" else 1
        before, now = (sign * mean([mean(side) for side in sides]) for sides in ([case.baseline for case in tested.cases], [case.current for case in tested.cases]))
        plain = MetricVerdict(metric=name[1], baseline=before, current=now, current_all=everything, delta=now - before, tolerance=tolerance, cases=len(tested.cases))
        if tolerance is None:
            return plain
        alpha = self.alpha(progress.passes)
        mde = minimum_detectable(tested.kind, len(tested.cases), _last_error(tested, progress.final_passes), alpha, tolerance)
        return dataclasses.replace(plain, verdict=_word(tested, progress, tolerance, alpha), p_value=tested.p_worse, mde=mde)

    def by_points(self, name: Name, whole: Whole | None) -> tuple[MetricVerdict, list[int], list[int]]:
        """The tolerance rule for a metric with too few stored runs: its verdict, the owners of cases to run again, and of those that cannot be."""
        series = Series()
        for owner, before, current in self.series[name].rows:
            series.add(owner, _mean(before), by_pass(current, self._repeats(owner)))
        stuck = {owner for owner, case in self.cases.items() if is_stuck(case.pair)}
        verdict, state, free, held = judge_suspicion(name[1], series, whole, dataclasses.replace(self.rules, name="tolerance"), stuck)
        return (verdict, free, held) if state is State.PENDING and self.is_gated(name) else (verdict, [], [])

    def held(self, name: Name, verdict: MetricVerdict) -> list[int]:
        """Owners that fell and cannot be asked again, where a gated series looks worse beyond its tolerance and their lost runs could have proven it."""
        sign, stuck = sign_of(name[1]), [row for row in self.series[name].rows if is_stuck(self.cases[row[0]].pair)]
        fell = -sign * (verdict.delta or 0.0) > (verdict.tolerance or 0.0) + EPSILON
        if not stuck or not fell or not self.is_gated(name) or verdict.verdict not in ("within_noise", "inconclusive"):
            return []
        return [owner for owner, before, now in stuck if sign * (_mean(before) - _mean(now)) > EPSILON]

    def _repeats(self, owner: int) -> int:
        return self.cases[owner].repeats

    def distinct_families(self) -> list[Name]:
        """Checks over the suite that statistics can look at and that no metric stands for."""
        metrics = {self._distinct[name] for name in self.series if name[0] == "metric"}
        return [name for name, first in self._distinct.items() if name[0] == "check" and name in self.statistical and first not in metrics and name == first]

    def runs_that_would_do(self, name: Name, progress: SuiteProgress) -> int | None:
        """The fewest passes with which even a total failure of an inconclusive binary series would be significant."""
        tested = self.test(name, progress.passes)
        if tested is None or tested.exact is None:
            return None
        alpha = self.alpha(progress.passes)
        return next((runs for runs in range(1, MOST_RUNS + 1) if _all_fail(tested.cases, runs) <= alpha), None)


def by_pass(values: Values, repeats: int) -> list[float]:
    """Means of the passes that have a value, the first pass first."""
    passes: dict[int, list[float]] = {}
    for repeat, value in values:
        passes.setdefault(repeat // repeats, []).append(value)
    return [mean(passes[number]) for number in sorted(passes)]


def _mean(values: Values) -> float:
    return mean([value for _, value in values])


def _table(case: Runs) -> Table:
    return Table(
        baseline_runs=len(case.baseline), baseline_passes=round(sum(case.baseline)), current_runs=len(case.current), current_passes=round(sum(case.current))
    )


def _all_fail(cases: Sequence[Runs], runs: int) -> float:
    """P of the worst outcome there is: nothing passes in `runs` runs of each case."""
    return stratified_exact(Table(baseline_runs=len(case.baseline), baseline_passes=round(sum(case.baseline)), current_runs=runs, current_passes=0) for case in cases).p_worse


def _last_error(tested: Tested, passes: int) -> float:
    """The standard error of the last stage; never 0, since runs that were all alike so far need not stay so."""
    found = tested.pooled.standard_error_after(passes)
    return found if found > 0 else _smoothed_error(tested.cases, passes)


def _smoothed_error(cases: Sequence[Runs], passes: int) -> float:
    """The standard error when each case's rate is (x + 1/2)/(m + 1)."""
    total = math.fsum(smoothed_variance(case) * (1 / len(case.baseline) + 1 / passes) for case in cases)
    return math.sqrt(total) / len(cases)


def _word(tested: Tested, progress: SuiteProgress, tolerance: float, alpha: float) -> Word:
    drop = tested.pooled.drop
    if drop > tolerance + EPSILON:
        if progress.last and tested.p_worse <= alpha:
            return "regressed"
        possible = tested.exact is None or _all_fail(tested.cases, progress.final_passes) <= alpha
        return "within_noise" if possible else "inconclusive"
    if drop > EPSILON:
        return "within_tolerance"
    if -drop > tolerance + EPSILON and tested.p_better <= alpha:
        return "improved"
    return "unchanged" if tested.pooled.excludes(max(_NOTABLE_DROP, tolerance)) else "within_noise"
