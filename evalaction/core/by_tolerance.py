"""The exact and the tolerance rule: means, cases and checks, each against how far it may fall.

A drop is suspicious when it is larger than its tolerance in the first pass. Where the target can be asked again, a
suspicious drop is proven only when three passes show it; one pass back inside makes it flaky. Where it cannot, the one
pass decides. docs/gate.md has the rules.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence, Set

from evalaction.core.comparison import EPSILON, Comparison, Outcome, Rules, State, is_stuck, not_compared, sign_of, unconfirmed_of, unpaired_checks
from evalaction.core.pairing import Pair, pair_records
from evalaction.core.produced import Produced
from evalaction.core.record import CaseRecord, RunRecord
from evalaction.core.sample import Sample, mean, passes_of, sample
from evalaction.core.series import Series, Whole
from evalaction.core.sharing import check_verdict
from evalaction.core.sharing import runs as shared_runs
from evalaction.core.verdict import CaseVerdict, CheckVerdict, MetricVerdict, Word


def compare_by_tolerance(baseline: RunRecord | None, current: RunRecord, rules: Rules) -> Comparison:
    """Compare two records case by case; without a baseline only the current side is summed up."""
    walk = _Walk(rules)
    for pair in pair_records(baseline, current):
        walk.add(pair)
    metrics, suspects, stuck = walk.metrics()
    outcomes = tuple(walk.outcomes)
    pending = dict.fromkeys(outcome.pair.id for outcome in outcomes if outcome.pending)
    pending.update(dict.fromkeys(outcomes[owner].pair.id for owner in suspects))
    return Comparison(
        rules=rules, outcomes=outcomes, metrics=metrics, missing=walk.produced.missing(), whole=walk.produced.whole, pending=tuple(pending),
        unconfirmed=unconfirmed_of(outcomes, stuck),
    )  # fmt: skip


Judged = dict[tuple[object, ...], tuple[CheckVerdict, State]]
"""Checks that were judged already, by name, scores and passes of both sides: a large suite has few different ones among half a million."""


class _Walk:
    """One walk over the pairs, collecting outcomes and metric series."""

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.outcomes: list[Outcome] = []
        self.series: dict[str, Series] = {}
        self.produced = Produced()
        self._judged: Judged = {}

    def add(self, pair: Pair) -> None:
        """Judge one pair and add its values to the series."""
        first: Sample | None = None
        if pair.current is not None and pair.status != "error":
            first = sample(passes_of(pair.current)[0] or pair.current.measured, pair.current.checks)
        self.produced.add(pair, first.metrics if first else {})
        if pair.status == "compared" and pair.baseline is not None and pair.current is not None:
            self.outcomes.append(self._compared(pair, pair.baseline, pair.current, first))
        else:
            self.outcomes.append(not_compared(pair, first))

    def _compared(self, pair: Pair, baseline: CaseRecord, current: CaseRecord, first: Sample | None) -> Outcome:
        passes = [trials for trials in passes_of(current) if trials]
        already = first is not None and pair.compared is current.checks and len(passes) == 1
        runs = [first] if already and first else [drawn for trials in passes if (drawn := sample(trials, pair.compared)).scores]
        # Where nothing changed, the sample of the one side is that of the other.
        before = runs[0] if already and baseline.measured == passes[0] else sample(baseline.measured, pair.compared)
        for name, values in before.metrics.items():
            now = [mean(found) for run in runs if (found := run.metrics.get(name))]
            if values and now:
                series = self.series.get(name) or self.series.setdefault(name, Series())
                series.add(len(self.outcomes), self.rules.centre(values), now)
        return judge_case(pair, before, runs, self.rules, self._judged)

    def metrics(self) -> tuple[tuple[MetricVerdict, ...], list[int], list[int]]:
        """The verdict on each metric, the owners of cases to run again for them, and of those that cannot be."""
        verdicts, suspects, unconfirmed = list[MetricVerdict](), list[int](), list[int]()
        stuck = {owner for owner, outcome in enumerate(self.outcomes) if is_stuck(outcome.pair)}
        for name in dict.fromkeys([*self.series, *self.produced.whole]):
            series = self.series.get(name)
            verdict, state, free, held = judge_suspicion(name, series, self.produced.whole.get(name), self.rules, stuck)
            verdicts.append(verdict)
            if state is State.PENDING and "metric" in self.rules.policy.fail_on:
                suspects += free
                unconfirmed += held
        return tuple(verdicts), suspects, unconfirmed


def judge_suspicion(name: str, series: Series | None, whole: Whole | None, rules: Rules, stuck: Set[int]) -> tuple[MetricVerdict, State, list[int], list[int]]:
    """One metric as `judge_metric` has it, with the owners to run again for it; where only `stuck` ones could be, these leave it unconfirmed and come last."""
    fallen = series.fallen(sign_of(name)) if series is not None and (rules.can_confirm or stuck) else []
    held = [owner for owner in fallen if owner in stuck]
    verdict, state = judge_metric(name, series, whole, dataclasses.replace(rules, can_confirm=True) if held else rules)
    free = [owner for owner in fallen if owner not in stuck] if rules.can_confirm else []
    return verdict, state, free, [] if free else held


def judge_metric(name: str, series: Series | None, whole: Whole | None, rules: Rules) -> tuple[MetricVerdict, State]:
    """One metric over the compared pairs: its means, its word, and the state of its suspicion."""
    everything = mean(whole.values) if whole and whole.values else None
    if series is None or not series.owners:
        return MetricVerdict(metric=name, current_all=everything, verdict="added"), State.FINE
    sign, baseline, current = sign_of(name), mean(series.baseline), series.current_mean(0)
    tolerance = rules.metric_tolerance(name, baseline, len(series.owners))
    drops = [sign * (baseline - series.current_mean(run)) for run in range(series.passes)]
    state = State.FINE if tolerance is None else rules.settle([drop > tolerance + EPSILON for drop in drops])
    return MetricVerdict(
        metric=name, baseline=baseline, current=current, current_all=everything, delta=current - baseline, tolerance=tolerance,
        verdict=_metric_word(state, drops[0], tolerance), cases=len(series.owners),
    ), state  # fmt: skip


def _metric_word(state: State, drop: float, tolerance: float | None) -> Word:
    if state is State.PROVEN:
        return "regressed"
    if state is State.PENDING:
        return "within_noise"
    if state is State.FLAKY:
        return "flaky"
    if tolerance is None:
        return "unchanged"
    if drop > EPSILON:
        return "within_tolerance"
    return "improved" if -drop > tolerance + EPSILON else "unchanged"


def judge_case(pair: Pair, before: Sample, runs: Sequence[Sample], rules: Rules, judged: Judged | None = None) -> Outcome:
    """One compared case: its own score and pass rate, and each of its checks."""
    policy, stuck = rules.policy, is_stuck(pair)
    if stuck:  # what is known of it is a suspicion for ever, whoever judges the record
        rules, judged = dataclasses.replace(rules, can_confirm=True), None
    score, rate = rules.centre(before.scores), rules.centre([float(passed) for passed in before.passes])
    worse = [score - mean(run.scores) > policy.case_tolerance + EPSILON or rate - run.pass_rate > policy.pass_rate_tolerance + EPSILON for run in runs]
    state = rules.settle(worse)
    known = {} if judged is None else judged
    checks = [_known_check(check.id, before, runs, rules, known) for check in pair.compared]
    states = [state, *(found for _, found in checks)]
    now = mean([value for run in runs for value in run.scores])
    better = now - score > policy.case_tolerance + EPSILON or any(check.verdict == "improved" for check, _ in checks)
    word = _case_word(states, score - now, better=better)
    gated = [state] if "case" in policy.fail_on else []
    gated += [found for _, found in checks] if "check" in policy.fail_on else []
    return Outcome(
        pair=pair, pending=State.PENDING in gated and not stuck, unconfirmed=State.PENDING in gated and stuck, case_proven=state is State.PROVEN,
        proven_checks=tuple(check.check for check, found in checks if found is State.PROVEN),
        verdict=CaseVerdict(
            case=pair.id, verdict=word, baseline=score, current=now, delta=now - score,
            checks=(*(check for check, _ in checks), *unpaired_checks(pair)),
            baseline_runs=shared_runs(sum(before.passes), len(before.passes)),
            current_runs=shared_runs(sum(sum(run.passes) for run in runs), sum(len(run.passes) for run in runs)),
        ),
    )  # fmt: skip


def _case_word(states: Sequence[State], drop: float, *, better: bool) -> Word:
    if State.PROVEN in states:
        return "regressed"
    if State.PENDING in states:
        return "within_noise"
    if State.FLAKY in states:
        return "flaky"
    if drop > EPSILON:
        return "within_tolerance"
    return "improved" if better else "unchanged"


def _known_check(name: str, before: Sample, runs: Sequence[Sample], rules: Rules, judged: Judged) -> tuple[CheckVerdict, State]:
    """The same as `_judge_check`, once for all cases that have one run on each side with the same scores and passes."""
    now = runs[0]
    if len(runs) > 1 or len(before.scores) > 1 or len(now.scores) > 1 or name not in before.check_scores or name not in now.check_scores:
        return _judge_check(name, before, runs, rules)
    key = (name, before.check_scores[name][0], before.check_passes[name][0], now.check_scores[name][0], now.check_passes[name][0])
    found = judged.get(key)
    if found is None:
        found = judged[key] = _judge_check(name, before, runs, rules)
    return found


def _judge_check(name: str, before: Sample, runs: Sequence[Sample], rules: Rules) -> tuple[CheckVerdict, State]:
    was, now = before.check_scores.get(name), [score for run in runs for score in run.check_scores.get(name, ())]
    if not was or not now:
        word: Word = "added" if now else "removed" if was else "unchanged"
        return check_verdict(name, word, mean(was) if was else None, mean(now) if now else None), State.FINE
    rate = rules.centre([float(passed) for passed in before.check_passes[name]])
    rates = [mean([float(passed) for passed in run.check_passes[name]]) for run in runs if run.check_passes.get(name)]
    allowed = rules.policy.pass_rate_tolerance + EPSILON
    state = rules.settle([rate - found > allowed for found in rates])
    reference, value = rules.centre(was), mean(now)
    better = rates[0] - rate > allowed or value - reference > rules.policy.case_tolerance + EPSILON
    word = _case_word([state], reference - value, better=better)
    return check_verdict(name, word, reference, value), state
