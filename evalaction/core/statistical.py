"""Baseline and current → Comparison under the statistical rule: the suite in stages, then its suspects, and what to run next.

Red means: run-to-run noise would cause a drop like this at most 1 time in 100 for the suite and at most 1 time in 100 for all cases
together, and it was still there after the suspicious cases were run again. Checks and metrics with too few stored runs fall back to the tolerance rule.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence

from evalaction.core.case_level import CaseLevel, Room, Ruling
from evalaction.core.comparison import Comparison, Outcome, Rules, State, is_stuck, not_compared, unconfirmed_of, unpaired_checks
from evalaction.core.pairing import Pair, pair_records
from evalaction.core.plan import Cause, SuiteProgress, Suspect, choose_suspects, follow_stages, next_runs, profile_of
from evalaction.core.produced import Produced
from evalaction.core.readings import PASSED, SCORE, CaseReadings, Name, Values, read_case
from evalaction.core.record import RunRecord
from evalaction.core.rules import runs_needed_for
from evalaction.core.sample import Sample, mean, passes_of, sample
from evalaction.core.sharing import check_verdict
from evalaction.core.sharing import runs as shared_runs
from evalaction.core.suite_level import SuiteLevel
from evalaction.core.units import Unit, units_of
from evalaction.core.verdict import CaseVerdict, CheckVerdict, MetricVerdict, Word

DRIFT_ALPHA = 0.005
"""Chance that an acceptance is refused although nothing is worse than the anchor."""
WORST_FIRST: tuple[Word, ...] = ("regressed", "inconclusive", "within_noise", "flaky", "within_tolerance", "improved", "unchanged")


def compare_statistically(baseline: RunRecord, current: RunRecord, rules: Rules) -> Comparison:
    """Compare two records. `pending` names the cases to run once more before anything is final; `plan` says why.

    With `rules.can_confirm` False nothing can be run again, and the runs that there are stand for the last stage.
    """
    return _Judging(pair_records(baseline, current), rules).comparison()


def drifted(anchor: RunRecord, record: RunRecord, rules: Rules) -> tuple[MetricVerdict, ...]:
    """Metrics and shared checks of a record to be accepted that are below the anchor, at alpha 0.005 and by more than the tolerance.

    All runs of both sides count. Where one side holds too few for statistics, a plain drop beyond the tolerance is enough.
    """
    policy = dataclasses.replace(rules.policy, fail_on=("metric", "check"))
    strict = dataclasses.replace(rules, policy=policy, alpha=DRIFT_ALPHA, can_confirm=False)
    read = (read_case(owner, pair) for owner, pair in enumerate(pair_records(anchor, record)) if pair.status == "compared")
    suite = SuiteLevel([case for case in read if case is not None], strict, both_sides=True)
    passes = 1 + max((repeat for series in suite.series.values() for _, _, now in series.rows for repeat, _ in now), default=0)
    last = SuiteProgress(passes=passes, last=True, final_passes=passes, why="all runs of both sides")
    names = [name for name in suite.series if name[0] == "metric"] + suite.distinct_families()
    found = (suite.verdict(name, last, None) if name in suite.statistical else suite.by_points(name, None)[0] for name in names)
    return tuple(verdict for verdict in found if verdict.verdict == "regressed")


class _Judging:
    """One comparison: pairs are read once, then the suite, the cases and the plan are judged from the readings."""

    def __init__(self, pairs: Sequence[Pair], rules: Rules) -> None:
        self.pairs, self.rules = pairs, rules
        read = (read_case(owner, pair) for owner, pair in enumerate(pairs) if pair.status == "compared")
        self.cases = [case for case in read if case is not None]
        self.suite = SuiteLevel(self.cases, rules)
        self.progress = self._follow()
        self.produced = self._produced()

    def _follow(self) -> SuiteProgress:
        planned = min((case.repeats for case in self.cases), default=1)
        done = min((case.attempts for case in self.cases), default=planned)
        return follow_stages(profile_of(self.rules.policy), planned, max(1, done), self.suite.look, repeatable=self.rules.can_confirm and bool(self.cases))

    def _produced(self) -> Produced:
        """Metrics over the whole suite: the passes over the suite count, the further runs of suspects do not."""
        produced, passes = Produced(), self.progress.passes
        for pair in self.pairs:
            produced.add(pair, _first(pair, passes).metrics if pair.current is not None and pair.status != "error" else {})
        return produced

    def comparison(self) -> Comparison:
        """Everything, in the order in which it depends on one another: the suite, the suspects, the cases, the plan."""
        metrics, unsettled, held, red = self._metrics()
        families = tuple(self.suite.verdict(name, self.progress, None) for name in self.suite.distinct_families())
        red = red or ("check" in self.rules.policy.fail_on and any(family.verdict == "regressed" for family in families))
        units = {case.owner: units_of(case, self.rules.policy) for case in self.cases}
        level = CaseLevel([unit for found in units.values() for unit in found], self.rules, self.progress.passes)
        picked = self._picked(level, suite_is_red=red)
        judged = {owner: self._judge(level, found, picked) for owner, found in units.items()}
        outcomes = tuple(self._outcome(owner, pair, judged) for owner, pair in enumerate(self.pairs))
        undecided = self._undecided(outcomes, picked, unsettled)
        causes = {name: _cause(picked.get(owner)) for owner, name in ((owner, outcome.pair.id) for owner, outcome in enumerate(outcomes)) if name in undecided}
        plan = next_runs(self.progress, {case.pair.id: case.attempts for case in self.cases}, undecided, causes)
        return Comparison(
            rules=self.rules, outcomes=outcomes, metrics=metrics, missing=self.produced.missing(), whole=self.produced.whole, families=families, plan=plan, progress=self.progress,
            pending=tuple(plan.runs) if self.rules.can_confirm else (), notes=tuple(self._notes(level, outcomes)),
            unconfirmed=unconfirmed_of(outcomes, held),
        )  # fmt: skip

    def _metrics(self) -> tuple[tuple[MetricVerdict, ...], dict[int, str], list[int], bool]:
        """The verdict on each metric; for metrics judged by points the owners of cases to run again, with why, and of those that cannot be; whether the suite is red."""
        verdicts, held = list[MetricVerdict](), list[int]()
        unsettled: dict[int, str] = {}
        names = [label for what, label in self.suite.series if what == "metric"]
        for label in dict.fromkeys([*names, *self.produced.whole]):
            whole = self.produced.whole.get(label)
            if ("metric", label) in self.suite.statistical:
                verdicts.append(self.suite.verdict(("metric", label), self.progress, whole))
                held += self.suite.held(("metric", label), verdicts[-1])
            elif ("metric", label) in self.suite.series:
                verdict, owners, stuck = self.suite.by_points(("metric", label), whole)
                verdicts.append(verdict)
                held += stuck
                unsettled.update(dict.fromkeys(owners, f"{label} fell, and too few runs are stored for statistics"))
            else:
                verdicts.append(MetricVerdict(metric=label, current_all=mean(whole.values) if whole and whole.values else None, verdict="added"))
        red = "metric" in self.rules.policy.fail_on and any(verdict.verdict == "regressed" for verdict in verdicts)
        return tuple(verdicts), unsettled, held, red

    def _room(self, case: CaseReadings) -> Room:
        most = max(profile_of(self.rules.policy).max_repeats, self.progress.passes, case.repeats)
        planned = max(0, most - case.attempts)
        return Room(most=most, planned=planned, possible=planned if self.rules.can_confirm else 0)

    def _picked(self, level: CaseLevel, *, suite_is_red: bool) -> dict[int, Suspect]:
        """The suspects that get more runs, by owner, chosen by the passes over the suite alone; none while those are not over.

        A suspect that has had all its runs is still one of them, so that the next in line does not take its place.
        """
        if self.progress.wanted is not None or not self.rules.can_confirm:
            return {}
        found = [level.suspect(unit, self._room(unit.case)) for unit in level.units]
        chosen = choose_suspects([suspect for suspect in found if suspect is not None], len(self.cases), suite_is_red=suite_is_red)
        return {suspect.owner: suspect for suspect in chosen}

    def _judge(self, level: CaseLevel, units: Sequence[Unit], picked: Mapping[int, Suspect]) -> list[tuple[Unit, Ruling]]:
        judged = []
        for unit in units:
            room = self._room(unit.case)
            granted = room.planned if unit.case.owner in picked and unit.is_gated(self.rules.policy) else 0
            judged.append((unit, level.rule(unit, dataclasses.replace(room, granted=granted))))
        return judged

    def _outcome(self, owner: int, pair: Pair, judged: Mapping[int, Sequence[tuple[Unit, Ruling]]]) -> Outcome:
        if owner not in judged:
            return not_compared(pair, _first(pair, self.progress.passes) if pair.current is not None and pair.status != "error" else None)
        rulings = judged[owner]
        proven = {label for unit, ruling in rulings if ruling.word == "regressed" for label in unit.labels}
        worst = min((ruling for _, ruling in rulings), key=lambda ruling: WORST_FIRST.index(ruling.word))
        gated, stuck = [ruling for unit, ruling in rulings if unit.is_gated(self.rules.policy)], is_stuck(pair)
        return Outcome(
            pair=pair, verdict=_case_verdict(rulings, worst), case_proven=None in proven, proven_checks=tuple(check.id for check in pair.compared if check.id in proven),
            pending=not stuck and any(ruling.state is State.PENDING for ruling in gated),
            unconfirmed=stuck and any(ruling.word in ("within_noise", "inconclusive") for ruling in gated),
        )  # fmt: skip

    def _undecided(self, outcomes: Sequence[Outcome], picked: Mapping[int, Suspect], unsettled: Mapping[int, str]) -> dict[str, str]:
        """Cases to run once more, with why."""
        if not self.rules.can_confirm:
            return {}
        why = {outcomes[owner].pair.id: reason for owner, reason in unsettled.items()}
        for owner, outcome in enumerate(outcomes):
            if outcome.pending and owner in picked:
                why[outcome.pair.id] = f"{picked[owner].what} looks worse by {picked[owner].z:.1f} standard errors"
            elif outcome.pending:
                why[outcome.pair.id] = "looks worse, and too few runs are stored for statistics"
        return why

    def _notes(self, level: CaseLevel, outcomes: Sequence[Outcome]) -> Iterable[str]:
        if self.progress.cut_short:
            yield f"the suite looks worse and no more passes could be run: {self.progress.passes} stand for the last stage, so less can be proven than with a finished plan"
        for name in self.suite.gated():
            yield from self._doubts_of(name)
        yield from self._thin(level)
        for outcome in outcomes:
            if outcome.verdict.verdict == "inconclusive":
                yield f"case {outcome.pair.id}: {outcome.verdict.note}"

    def _doubts_of(self, name: Name) -> Iterable[str]:
        tested = self.suite.test(name, self.progress.passes)
        for warning in tested.pooled.warnings if tested else ():
            yield f"{name[1]}: {warning}"
        if self.suite.verdict(name, self.progress, None).verdict == "inconclusive":
            runs = self.suite.runs_that_would_do(name, self.progress)
            would_do = f"{runs} runs of the suite would do" if runs else "the baseline needs more runs"
            yield f"{name[1]} looks worse, but no outcome of {self.progress.final_passes} passes could have been significant; {would_do}"

    def _thin(self, level: CaseLevel) -> Iterable[str]:
        """What is compared by points, and how to change that."""
        metrics = [label for what, label in self.suite.series if what == "metric" and (what, label) not in self.suite.statistical]
        cases = {unit.case.pair.id for unit in level.units if not unit.statistical}
        parts = ([", ".join(metrics)] if metrics else []) + ([f"{len(cases)} of {len(self.cases)} cases"] if cases else [])
        if parts:
            needed = runs_needed_for("binary", self.rules.policy)
            yield f"too few stored runs for statistics, point comparison: {' and '.join(parts)}; measure with --repeats {needed} and accept for more certainty"


def _first(pair: Pair, passes: int) -> Sample:
    """All checks of a case's runs in the first passes over the suite."""
    current = pair.current
    if current is None:
        return sample((), ())
    trials = [trial for trial in current.measured if trial.repeat < max(passes, current.repeats)] if pair.status == "compared" else passes_of(current)[0]
    return sample(trials or current.measured, current.checks)


def _case_verdict(rulings: Sequence[tuple[Unit, Ruling]], worst: Ruling) -> CaseVerdict:
    case = rulings[0][0].case
    was, found = (_mean(side[SCORE]) for side in (case.baseline, case.current))
    runs = [shared_runs(sum(value == 1 for _, value in side[PASSED]), len(side[PASSED])) for side in (case.baseline, case.current)]
    return CaseVerdict(
        case=case.pair.id, verdict=worst.word, baseline=was, current=found, delta=found - was, note=worst.note, baseline_runs=runs[0], current_runs=runs[1],
        checks=(*(_check(check.id, rulings, case) for check in case.pair.compared), *unpaired_checks(case.pair)),
    )  # fmt: skip


def _check(name: str, rulings: Sequence[tuple[Unit, Ruling]], case: CaseReadings) -> CheckVerdict:
    was, found = (_mean(values) if (values := side.get(("check", name))) else None for side in (case.baseline, case.current))
    if was is None or found is None:
        gone: Word = "added" if found is not None else "removed" if was is not None else "unchanged"
        return check_verdict(name, gone, was, found)
    words = [ruling.word for unit, ruling in rulings if name in unit.labels]
    return check_verdict(name, min(words, key=WORST_FIRST.index, default="unchanged"), was, found)


def _cause(suspect: Suspect | None) -> Cause:
    """Why a single case is run again; one that is no suspect is judged by points."""
    if suspect is None:
        return Cause(stage="confirmation", cause="points")
    return Cause(stage="case", cause="case_worse", subject=None if suspect.what == "the case" else suspect.what.removeprefix("check "), z=suspect.z)


def _mean(values: Values) -> float:
    return mean([value for _, value in values])
