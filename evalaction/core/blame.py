"""Who is to blame for a red finding: the change under test, or what surrounds it. The base system is asked now and compared with both sides.

If the base is itself worse than the stored baseline (p <= .05) the surroundings moved, and the finding stands only if the head is worse than
the base of today at .05. Otherwise the base's runs join the baseline, and the head must still be worse at .01.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterable, Mapping, Sequence

from evalaction.core.comparison import Comparison, Rules, sign_of
from evalaction.core.model import copy_of
from evalaction.core.pairing import pair_records
from evalaction.core.readings import CaseReadings, Name, read_case
from evalaction.core.record import CaseRecord, RunRecord
from evalaction.core.sample import mean
from evalaction.core.stats.boschloo import boschloo_p
from evalaction.core.stats.pooled import squares
from evalaction.core.stats.shrunk import shrunk_t, stored
from evalaction.core.suite_level import SuiteLevel
from evalaction.core.units import Label, Unit, units_of
from evalaction.core.verdict import BlameFinding, Reason, SuiteVerdict

MOVED_ALPHA = 0.05
"""The base system now against the stored baseline, and the head against the base where it moved."""
JOINED_ALPHA = 0.01
"""The head against baseline and base together, where nothing moved."""
RUNS_OF_A_CASE = 8
"""Runs of the base, and fresh ones of the head, for each red case: the runs that made it red were chosen for being bad."""
PASSES = 5
"""Passes of both over the suite under the tolerance rule, which has one of the head only."""
_ALL = 1_000_000
_ASSIGNABLE = frozenset({"CASE_REGRESSED", "CHECK_REGRESSED", "METRIC_REGRESSED"})
_UNDECIDED = frozenset({"TOO_FEW_COMPARABLE"})
"""Reasons that may stand beside a red one without making a verdict of their own."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class BlamePlan:
    """What to ask: runs of each case by id, of the base system and of the head anew; the red series and the red cases with what of them is red."""

    base: Mapping[str, int]
    head: Mapping[str, int]
    series: tuple[Name, ...]
    cases: tuple[tuple[str, Label], ...]
    passes: int
    """Passes of the head that series are judged by; those of `head` where it is asked anew, else those of the record."""


def plan_blame(verdict: SuiteVerdict, comparison: Comparison, current: RunRecord) -> BlamePlan | None:
    """What to ask before a suite is called red; None where no answer of the base could make it anything else."""
    if verdict.verdict != "regressed" or comparison.rules.name == "exact" or {reason.code for reason in verdict.reasons} - _ASSIGNABLE - _UNDECIDED:
        return None
    if "inconclusive" in comparison.rules.policy.fail_on and "inconclusive" in {*(case.verdict for case in verdict.cases), *(metric.verdict for metric in verdict.metrics)}:
        return None
    red = [reason for reason in verdict.reasons if reason.code in _ASSIGNABLE]
    series: tuple[Name, ...] = tuple(("metric", reason.metric) if reason.metric else ("check", reason.check or "") for reason in red if reason.case is None)
    cases = tuple((reason.case, reason.check) for reason in red if reason.case is not None)
    again = dict.fromkeys((name for name, _ in cases), RUNS_OF_A_CASE)
    compared = [outcome.pair.id for outcome in comparison.outcomes if outcome.pair.status == "compared"] if series else []
    fresh = bool(series) and comparison.rules.name == "tolerance"
    passes = PASSES if fresh else min((len(current.cases[name].trials) for name in compared), default=1)
    return BlamePlan(
        base={**dict.fromkeys(compared, passes), **{name: max(passes, runs) for name, runs in again.items()}}, head={**(dict.fromkeys(compared, passes) if fresh else {}), **again},
        series=series, cases=cases, passes=passes,
    )  # fmt: skip


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Sides:
    """The records that are compared: the stored baseline, the head's run, the base system now, and the head's fresh runs (None where none were needed)."""

    stored: RunRecord
    current: RunRecord
    base: RunRecord
    head: RunRecord | None


def assign(plan: BlamePlan, sides: Sides, rules: Rules) -> tuple[BlameFinding, ...]:
    """A finding for each red series and case."""
    return _Assigning(plan, sides, rules).findings()


class _Assigning:
    """Comparisons are made when the first finding needs them."""

    def __init__(self, plan: BlamePlan, sides: Sides, rules: Rules) -> None:
        insistent = dataclasses.replace(rules.policy, rule="statistical")
        self.plan, self.sides, self.rules = plan, sides, dataclasses.replace(rules, policy=insistent)
        self.joined = RunRecord(header=sides.stored.header, cases={name: _joined(case, sides.base.cases.get(name)) for name, case in sides.stored.cases.items()})
        fresh = sides.head is not None and not set(plan.base) - set(plan.head)
        self.judged = sides.head if fresh and sides.head is not None else sides.current

    def findings(self) -> tuple[BlameFinding, ...]:
        """Series first."""
        return (*map(self._of_series, self.plan.series), *(self._of_case(name, label) for name, label in self.plan.cases))

    @functools.cached_property
    def _moved(self) -> SuiteLevel:
        return self._level(self.sides.stored, self.sides.base)

    @functools.cached_property
    def _against_base(self) -> SuiteLevel:
        return self._level(self.sides.base, self.judged)

    @functools.cached_property
    def _against_both(self) -> SuiteLevel:
        return self._level(self.joined, self.judged)

    def _level(self, before: RunRecord, now: RunRecord) -> SuiteLevel:
        return SuiteLevel(list(_readings(before, now).values()), self.rules)

    def _of_series(self, name: Name) -> BlameFinding:
        before = _series_p(self._moved, name, _ALL)
        moved = before is not None and before.p <= MOVED_ALPHA
        now = _series_p(self._against_base if moved else self._against_both, name, self.plan.passes)
        subject = {"metric" if name[0] == "metric" else "check": name[1]}
        return _finding(before, now, MOVED_ALPHA if moved else JOINED_ALPHA, moved=moved, **subject)

    def _of_case(self, case: str, label: Label) -> BlameFinding:
        """At alpha divided by the number of red cases and checks of cases."""
        head = self.sides.head or self.sides.current
        before = self._case_p(self.sides.stored, self.sides.base, case, label)
        moved = before is not None and before.p <= MOVED_ALPHA
        now = self._case_p(self.sides.base if moved else self.joined, head, case, label)
        return _finding(before, now, (MOVED_ALPHA if moved else JOINED_ALPHA) / len(self.plan.cases), moved=moved, case=case, check=label)

    def _case_p(self, before: RunRecord, now: RunRecord, case: str, label: Label) -> _Test | None:
        """P of the worst of the units that a label has, times their number, and the means of both sides."""
        only = (RunRecord(header=side.header, cases={case: side.cases[case]}) for side in (before, now))
        read = _readings(*only).get(case)
        units = [unit for unit in units_of(read, self.rules.policy) if label in unit.labels] if read else []
        if not units:
            return None
        worst = min(units, key=unit_p)
        return _Test(min(1.0, len(units) * unit_p(worst)), worst.baseline_mean, mean(worst.values))


@dataclasses.dataclass(frozen=True, slots=True)
class _Test:
    """One comparison: its p and the means of both sides."""

    p: float
    before: float
    now: float


def _finding(before: _Test | None, now: _Test | None, alpha: float, *, moved: bool, **subject: str | None) -> BlameFinding:
    """What could not be tested stands: no answer is no excuse."""
    return BlameFinding(
        **subject, baseline=before.before if before else None, base_now=before.now if before else None, current=now.now if now else None,
        p_moved=before.p if before else None, moved=moved, p_change=now.p if now else None, stands=now is None or before is None or now.p <= alpha,
    )  # fmt: skip


def _readings(before: RunRecord, now: RunRecord) -> dict[str, CaseReadings]:
    pairs = ((owner, pair) for owner, pair in enumerate(pair_records(before, now)) if pair.status == "compared")
    return {pair.id: found for owner, pair in pairs if (found := read_case(owner, pair)) is not None}


def _joined(case: CaseRecord, more: CaseRecord | None) -> CaseRecord:
    """A stored case with further runs of the base system."""
    if more is None:
        return case
    start = max((trial.repeat for trial in case.trials), default=-1) + 1
    return copy_of(case, trials=(*case.trials, *(copy_of(trial, repeat=start + trial.repeat) for trial in more.measured)))


def _series_p(level: SuiteLevel, name: Name, passes: int) -> _Test | None:
    """The test of one series; None where a side does not have it."""
    tested = level.test(name, passes) if name in level.series else None
    if tested is None:
        return None
    sign = sign_of(name[1]) if name[0] == "metric" else 1
    before, now = (sign * mean([mean(side) for side in sides]) for sides in ([case.baseline for case in tested.cases], [case.current for case in tested.cases]))
    return _Test(tested.p_worse, before, now)


def unit_p(unit: Unit) -> float:
    """One-sided p that a case's current runs are worse than its baseline's: Boschloo's for passes, shrunk t for scores."""
    if unit.drop <= 0:
        return 1.0
    if unit.kind == "binary":
        return boschloo_p(len(unit.baseline), len(unit.values), unit.stored_passes, round(sum(unit.values)))
    runs = len(unit.baseline)
    typical = squares(unit.baseline, unit.baseline_mean) / (runs - 1) if runs > 1 else 0.0
    return shrunk_t(stored(unit.baseline, typical), unit.values).p


def unmeasured(plan: BlamePlan, sides: Sides) -> tuple[str, str] | None:
    """What keeps the base system from being heard: whose trial failed, and why; None when every case that was to be asked has an answer."""
    for who, asked, record in (("the base system", plan.base, sides.base), ("the system under test", plan.head, sides.head)):
        for name in asked:
            case = record.cases.get(name) if record else None
            if case is None or case.is_error:
                failed = [trial.error for trial in (case.trials if case else ()) if trial.error is not None]
                return who, f"{failed[0].code}: {failed[0].message}" if failed else "it was not asked to its end"
    return None


def fallen(findings: Sequence[BlameFinding], reasons: Iterable[Reason]) -> tuple[Reason, ...]:
    """The reasons that are left when what does not stand has fallen."""
    gone = {(one.case, one.check, one.metric) for one in findings if not one.stands}
    return tuple(reason for reason in reasons if (reason.case, reason.check, reason.metric) not in gone)
