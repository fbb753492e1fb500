"""What a comparison is made by and what comes of it: rules, the state of a suspicion, outcomes case by case, and the whole."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Literal

from evalaction.core.metrics import lower_is_better
from evalaction.core.pairing import Pair
from evalaction.core.plan import Plan, SuiteProgress
from evalaction.core.produced import Lost
from evalaction.core.sample import Centre, Sample, mean, median
from evalaction.core.series import Whole
from evalaction.core.spec_base import PASS_RATE, RAW
from evalaction.core.suite import Policy
from evalaction.core.verdict import CaseVerdict, CheckVerdict, MetricVerdict, Runs, Word

EPSILON = 1e-9
PASSES_TO_PROVE = 3


class State(Enum):
    """What the passes say of one suspicion."""

    FINE = "fine"
    PENDING = "pending"
    PROVEN = "proven"
    FLAKY = "flaky"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """How to compare: rule and tolerances, and whether the target can be asked again."""

    name: Literal["exact", "tolerance", "statistical"]
    policy: Policy
    floor: bool = True
    can_confirm: bool = False
    alpha: float = 0.01
    """Under the statistical rule: chance of a false alarm for the whole suite, and again for all cases together."""

    @property
    def centre(self) -> Centre:
        """Median of the baseline's runs under the exact rule, mean under the tolerance rule."""
        return median if self.name == "exact" else mean

    def settle(self, worse: Sequence[bool]) -> State:
        """The state of a suspicion, given for each pass whether it was worse."""
        if not worse or not worse[0]:
            return State.FINE
        if not all(worse):
            return State.FLAKY
        return State.PENDING if self.can_confirm and len(worse) < PASSES_TO_PROVE else State.PROVEN

    def metric_tolerance(self, metric: str, baseline: float, cases: int) -> float | None:
        """How far a metric's mean may fall, in the metric's unit; None for a raw metric that no tolerance names."""
        named = self.policy.tolerances.get(metric)
        if metric in RAW:
            return None if named is None else named * abs(baseline)
        if named is not None:
            return named
        if self.name != "tolerance" or not self.floor:
            return self.policy.tolerance
        own = self.policy.pass_rate_tolerance if metric == PASS_RATE else self.policy.case_tolerance
        return max(self.policy.tolerance, own / cases)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What came of one pair; `proven_checks` and `case_proven` are what a policy may call red."""

    pair: Pair
    verdict: CaseVerdict
    pending: bool = False
    unconfirmed: bool = False
    """It would be red, and asking again failed too often to prove or to clear it."""
    case_proven: bool = False
    proven_checks: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Every outcome, every metric, and the cases to run again before anything is called red."""

    rules: Rules
    outcomes: tuple[Outcome, ...]
    metrics: tuple[MetricVerdict, ...]
    missing: tuple[str, ...]
    """Metrics the baseline has and this run did not produce, although nothing that would produce them failed."""
    lost: tuple[Lost, ...] = ()
    """Checks that single cases no longer produce, where others still do."""
    whole: Mapping[str, Whole]
    pending: tuple[str, ...]
    """Ids of cases to run again: they would be red and are not proven yet."""
    unconfirmed: tuple[str, ...] = ()
    """Ids of cases that look worse, alone or in a metric, and could not be asked again with any success: never red, and never fine."""
    families: tuple[MetricVerdict, ...] = ()
    """Checks over the whole suite, by check id, where no metric has the same values; only the statistical rule looks at them."""
    plan: Plan | None = None
    """Under the statistical rule: what to run next, with reasons, or why nothing more is run."""
    progress: SuiteProgress | None = None
    """Under the statistical rule: how far the suite is in its stages."""
    notes: tuple[str, ...] = ()
    """Doubts that the statistics leave, one line each."""


def sign_of(metric: str) -> int:
    """-1 where lower is better, else 1."""
    return -1 if lower_is_better(metric) else 1


def unconfirmed_of(outcomes: Sequence[Outcome], owners: Sequence[int]) -> tuple[str, ...]:
    """Ids of the cases that stay unconfirmed for their own sake, and of these owners, which do for a metric's."""
    own = (outcome.pair.id for outcome in outcomes if outcome.unconfirmed)
    return tuple(dict.fromkeys([*own, *(outcomes[owner].pair.id for owner in owners)]))


def is_stuck(pair: Pair) -> bool:
    """Whether asking this case again has failed too often to go on."""
    return pair.current is not None and pair.current.is_stuck


def unpaired_checks(pair: Pair) -> tuple[CheckVerdict, ...]:
    """The checks of a compared case that have no partner."""
    words: tuple[tuple[Word, tuple[str, ...]], ...] = (("changed", pair.changed), ("added", pair.added), ("removed", pair.removed))
    return tuple(CheckVerdict(check=name, verdict=word) for word, names in words for name in names)


def not_compared(pair: Pair, first: Sample | None) -> Outcome:
    """Added, changed, removed, or an error: listed, in no mean of the comparison."""
    if first is None or not first.scores or pair.current is None:
        gone: Word = "removed" if pair.status == "removed" else "error"
        return Outcome(pair=pair, verdict=CaseVerdict(case=pair.id, verdict=gone, note=_first_failure(pair)))
    word: Word = "changed" if pair.status == "changed" else "added"
    checks = tuple(CheckVerdict(check=name, verdict=word, current=mean(scores)) for name, scores in first.check_scores.items())
    runs = Runs(passed=sum(first.passes), measured=len(first.passes))
    return Outcome(pair=pair, verdict=CaseVerdict(case=pair.id, verdict=word, current=mean(first.scores), checks=checks, current_runs=runs))


def _first_failure(pair: Pair) -> str | None:
    if pair.current is None:
        return None
    failures = [trial.error for trial in pair.current.trials if trial.error is not None]
    return f"{failures[0].code}: {failures[0].message}" if failures else None
