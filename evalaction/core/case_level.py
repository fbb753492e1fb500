"""The statistical rule for single cases: each case and each of its checks, at alpha divided by how many could regress."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Sequence

from evalaction.core.comparison import EPSILON, Rules, State, is_stuck
from evalaction.core.plan import Suspect
from evalaction.core.sample import mean
from evalaction.core.stats.boschloo import boschloo_table, critical_passes, runs_needed
from evalaction.core.stats.pooled import squares
from evalaction.core.stats.shrunk import FIRST_LOOK, ShrunkTest, Stored, look_alpha, shrunk_t, stored
from evalaction.core.suite_level import by_pass
from evalaction.core.units import Unit
from evalaction.core.verdict import Word

_FEW = 5
"""A check that fewer cases share has no typical noise of its own; all graded scores together lend theirs."""
_HOPELESS_T = 2.0
"""Below this t no look can be significant at one in a hundred."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Ruling:
    """What the runs so far say of one unit."""

    state: State
    word: Word
    note: str | None = None


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """Runs of a case: at `most` in all, `planned` until then, `possible` when it can be run again at all, `granted` by the plan."""

    most: int
    planned: int = 0
    possible: int = 0
    granted: int = 0


class CaseLevel:
    """All units of one comparison, judged after `passes` over the suite and whatever runs single cases got since."""

    def __init__(self, units: Sequence[Unit], rules: Rules, passes: int) -> None:
        self.units, self.rules, self.passes = units, rules, passes
        able = [unit for unit in units if unit.statistical]
        self.alpha_worse = rules.alpha / max(1, sum(unit.can_regress for unit in able))
        self.alpha_better = rules.alpha / max(1, sum(unit.can_improve for unit in able))
        self._typical = _typical_variances(able)

    def suspect(self, unit: Unit, room: Room) -> Suspect | None:
        """The unit as a suspect: it looks worse in the suite's passes, and further runs, had they been made or not, could prove it."""
        first = unit.first(self.passes)
        if not unit.statistical or len(first) >= room.most or not unit.is_gated(self.rules.policy):
            return None
        z = self._binary_z(unit, first, room) if unit.kind == "binary" else self._graded_z(unit, first)
        return None if z is None else Suspect(owner=unit.case.owner, case=unit.case.pair.id, z=z, what=unit.name)

    def _binary_z(self, unit: Unit, first: Sequence[float], room: Room) -> float | None:
        before, now = unit.baseline_mean, mean(first)
        limit = self._limit(unit, len(unit.values) + room.planned)
        if now >= before - EPSILON or limit is None or math.fsum(first) > limit:
            return None
        rate = (math.fsum(unit.baseline) + math.fsum(first)) / (len(unit.baseline) + len(first))
        return (before - now) / math.sqrt(rate * (1 - rate) * (1 / len(unit.baseline) + 1 / len(first)) + EPSILON)

    def _graded_z(self, unit: Unit, first: Sequence[float]) -> float | None:
        if unit.baseline_mean - mean(first) <= unit.tolerance + EPSILON:
            return None
        test = shrunk_t(self._stored(unit), first)
        return test.t if test.t > 1 else None

    def rule(self, unit: Unit, room: Room) -> Ruling:
        """The ruling on one unit."""
        if not unit.statistical:
            return self._by_points(unit)
        state = self._binary(unit, room) if unit.kind == "binary" else self._graded(unit, room)
        if state is not State.FINE:
            return Ruling(state=state, word="regressed" if state is State.PROVEN else "within_noise")
        return self._unproven(unit, room)

    def _limit(self, unit: Unit, runs: int) -> int | None:
        return critical_passes(len(unit.baseline), unit.stored_passes, runs, self.alpha_worse, unit.tolerance)

    def _binary(self, unit: Unit, room: Room) -> State:
        """Proven when not even passing all runs that are left would help; fine when one more pass than allowed was seen. Both lose nothing."""
        runs, passed = len(unit.values), round(math.fsum(unit.values))
        limit = self._limit(unit, runs + room.granted)
        if limit is None or passed > limit:
            return State.FINE
        return State.PROVEN if passed + room.granted <= limit else State.PENDING

    def _graded(self, unit: Unit, room: Room) -> State:
        """A look after every run from the fourth on; the last look is that at the most runs, or at the last there will be."""
        values, most = unit.values, len(unit.values) + room.planned
        first = len(unit.first(self.passes))
        if not room.granted and unit.drop <= unit.tolerance + EPSILON and len(values) <= first:
            return State.FINE
        baseline = self._stored(unit)
        test = shrunk_t(baseline, values)
        if not room.granted and _proves(test, unit.tolerance, look_alpha(len(values), len(values), self.alpha_worse)):
            return State.PROVEN
        for runs in range(max(first, FIRST_LOOK), len(values) + 1):
            seen = test if runs == len(values) else shrunk_t(baseline, values[:runs])
            if _proves(seen, unit.tolerance, look_alpha(runs, most, self.alpha_worse)):
                return State.PROVEN
        return State.PENDING if room.granted and test.drop > unit.tolerance + EPSILON and test.t > 1 else State.FINE

    def _stored(self, unit: Unit) -> Stored:
        return stored(unit.baseline, self._typical.get(unit.labels[-1], self._typical[None]))

    def _unproven(self, unit: Unit, room: Room) -> Ruling:
        if unit.drop > unit.tolerance + EPSILON:
            return self._beyond_tolerance(unit, room)
        first = unit.first(unit.case.repeats)
        if len(unit.values) > len(first) and unit.baseline_mean - mean(first) > unit.tolerance + EPSILON:
            return Ruling(state=State.FINE, word="flaky", note=f"{unit.name} looked worse at first; all {len(unit.values)} runs together are inside the tolerance")
        if unit.drop > EPSILON:
            return Ruling(state=State.FINE, word="within_tolerance")
        return Ruling(state=State.FINE, word="improved" if self._is_better(unit) else "unchanged")

    def _beyond_tolerance(self, unit: Unit, room: Room) -> Ruling:
        runs = len(unit.values) + room.possible
        if unit.kind == "graded":
            if runs >= FIRST_LOOK:
                return Ruling(state=State.FINE, word="within_noise")
            return Ruling(state=State.FINE, word="inconclusive", note=f"{unit.name} looks worse; with {len(unit.values)} runs nothing can be proven, {FIRST_LOOK} would do")
        if self._limit(unit, runs) is not None:
            return Ruling(state=State.FINE, word="within_noise")
        needed = runs_needed(len(unit.baseline), unit.stored_passes, self.alpha_worse, unit.tolerance)
        would_do = f"{needed} runs would do" if needed else "no number of runs would do with this baseline: it passed too rarely, or holds too few runs"
        note = f"{unit.name} looks worse, but with {unit.stored_passes} of {len(unit.baseline)} passed before no outcome of {runs} runs could prove it; {would_do}"
        return Ruling(state=State.FINE, word="inconclusive", note=note)

    def _is_better(self, unit: Unit) -> bool:
        """The same test mirrored, without further runs: it is only reported."""
        if -unit.drop <= unit.tolerance + EPSILON:
            return False
        stored_runs, runs = len(unit.baseline), len(unit.values)
        if unit.kind == "binary":
            failed = runs - round(math.fsum(unit.values))
            return boschloo_table(stored_runs, runs)[stored_runs - unit.stored_passes][failed] <= self.alpha_better
        mirrored = stored([-value for value in unit.baseline], self._stored(unit).typical)
        return runs >= FIRST_LOOK and _proves(shrunk_t(mirrored, [-value for value in unit.values]), unit.tolerance, self.alpha_better)

    def _by_points(self, unit: Unit) -> Ruling:
        """The tolerance rule, where too few runs are stored."""
        means = by_pass(unit.current, unit.case.repeats)
        stuck = is_stuck(unit.case.pair)
        rules = dataclasses.replace(self.rules, name="tolerance", can_confirm=self.rules.can_confirm or stuck)
        state = rules.settle([unit.baseline_mean - found > unit.tolerance + EPSILON for found in means])
        if state is State.PENDING and stuck:
            return Ruling(state=state, word="within_noise")
        if state is not State.FINE:
            return Ruling(state=state, word="flaky" if state is State.FLAKY else "regressed")
        if unit.drop > EPSILON:
            return Ruling(state=state, word="within_tolerance")
        return Ruling(state=state, word="improved" if -unit.drop > unit.tolerance + EPSILON else "unchanged")


def _proves(test: ShrunkTest, tolerance: float, alpha: float) -> bool:
    """A drop of mean and median beyond the tolerance, so that one misfire of a judge proves nothing, and a p inside alpha."""
    if test.t < _HOPELESS_T or test.drop <= tolerance + EPSILON or test.median_drop <= tolerance + EPSILON:
        return False
    return test.p <= alpha


def _typical_variances(units: Iterable[Unit]) -> dict[str | None, float]:
    """The mean variance of a case's stored runs, per check that enough cases share, and over all graded units under None."""
    found: dict[str | None, list[float]] = {}
    for unit in units:
        if unit.kind == "graded" and len(unit.baseline) > 1:
            variance = squares(unit.baseline, unit.baseline_mean) / (len(unit.baseline) - 1)
            for label in {unit.labels[-1], None}:
                found.setdefault(label, []).append(variance)
    typical = {label: mean(variances) for label, variances in found.items() if label is None or len(variances) >= _FEW}
    return {None: 0.0, **typical}
