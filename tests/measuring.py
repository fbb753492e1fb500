"""Systems that answer from seeded chance, and a gate that measures them as the plan says."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Any

from evalaction.core.acceptance import Baseline
from evalaction.core.compare import compare
from evalaction.core.comparison import Comparison, Rules
from evalaction.core.decide import decide
from evalaction.core.evidence import Evidence
from evalaction.core.pairing import pair_records
from evalaction.core.readings import read_case
from evalaction.core.record import CaseRecord, RunRecord
from evalaction.core.suite import Policy
from evalaction.core.suite_level import SuiteLevel
from evalaction.core.verdict import SuiteVerdict
from tests.making import case, record

Answer = Callable[[int], float | Mapping[str, float | None] | None]
"""Number of the run → score of the run, or of each check."""


def always(score: float) -> Answer:
    """The same score in every run."""
    return lambda _: score


def noisy(rate: float, seed: Any) -> Answer:
    """Passes at this rate, the same runs every time it is asked."""
    return lambda run: float(Random(f"{seed} {run}").random() < rate)


def graded(level: float, seed: Any, noise: float = 0.05) -> Answer:
    """Scores about this level."""
    return lambda run: min(1.0, max(0.0, level + Random(f"{seed} {run}").gauss(0, noise)))


def taken(answers: Mapping[str, Answer], runs: int, **options: Any) -> list[CaseRecord]:
    """So many runs of every case, as one pass."""
    return [case(name, *map(answer, range(runs)), repeats=runs, required=0.5, **options) for name, answer in answers.items()]


@dataclasses.dataclass
class Gate:
    """Measures as the plan says, and remembers how often each case was asked."""

    before: Baseline
    policy: Policy = dataclasses.field(default_factory=Policy)
    repeats: int = 1
    runs: dict[str, int] = dataclasses.field(default_factory=dict)

    def measured(self, answers: Mapping[str, Answer]) -> RunRecord:
        """The record of the runs made so far."""
        cases = [case(name, *map(answer, range(self.runs[name])), repeats=self.repeats, required=0.5) for name, answer in answers.items()]
        return record(*cases, policy=self.policy)

    def compared(self, now: RunRecord, *, can_confirm: bool) -> Comparison:
        """One comparison."""
        return compare(self.before.record, now, Rules(name="statistical", policy=self.policy, can_confirm=can_confirm))

    def judge(self, answers: Mapping[str, Answer]) -> SuiteVerdict:
        """Measure and compare until the plan is finished."""
        self.runs = dict.fromkeys(answers, self.repeats)
        while (found := self.compared(self.measured(answers), can_confirm=True)).pending:
            assert found.plan is not None
            assert set(found.pending) == set(found.plan.runs)
            assert all(found.plan.runs.values())
            for name in found.pending:
                self.runs[name] += 1
        return self.decided(answers, found)

    def decided(self, answers: Mapping[str, Answer], found: Comparison) -> SuiteVerdict:
        """The verdict on a comparison."""
        return decide(Evidence(current=self.measured(answers), comparison=found, baseline=self.before, age_days=1.0))

    def judged_again(self, answers: Mapping[str, Answer]) -> SuiteVerdict:
        """What the stored record says, when nothing can be run."""
        return self.decided(answers, self.compared(self.measured(answers), can_confirm=False))


def world(cases: int, seed: Any, kind: str = "binary") -> dict[str, Answer]:
    """Cases of which most pass nearly always and some hardly ever, or graded ones."""
    chance = Random(f"{seed}")
    if kind == "binary":
        return {f"c{number:03}": noisy(chance.betavariate(0.6, 0.15), f"{seed} {number}") for number in range(cases)}
    return {f"c{number:03}": graded(chance.uniform(0.6, 0.95), f"{seed} {number}") for number in range(cases)}


def fresh(answers: Mapping[str, Answer]) -> dict[str, Answer]:
    """The same systems, other runs."""
    return {name: (lambda run, answer=answer: answer(run + 1000)) for name, answer in answers.items()}


def rubric(rates: Sequence[float], seed: str) -> dict[str, Answer]:
    """Forty cases with one check per criterion, each passing at its rate."""

    def answer(number: int) -> Answer:
        return lambda run: {f"tone.c{place}": float(Random(f"{seed} {number} {run} {place}").random() < rate) for place, rate in enumerate(rates)}

    return {f"c{number}": answer(number) for number in range(40)}


def chaotic(seed: str) -> Answer:
    """Half of the runs pass, and three in ten fail to be measured, never the first."""
    return lambda run: None if run and Random(f"{seed} {run}").random() < 0.3 else float(Random(f"{run} {seed}").random() < 0.5)


def alpha_of(before: Sequence[CaseRecord], now: Sequence[CaseRecord], policy: Policy | None = None) -> float:
    """Alpha of one series of these records."""
    pairs = pair_records(record(*before), record(*now))
    read = [found for owner, pair in enumerate(pairs) if (found := read_case(owner, pair)) is not None]
    return SuiteLevel(read, Rules(name="statistical", policy=policy or Policy())).alpha(5)


def level_of(before: Sequence[CaseRecord], now: Sequence[CaseRecord]) -> SuiteLevel:
    """All series of these records."""
    pairs = pair_records(record(*before), record(*now))
    read = [found for owner, pair in enumerate(pairs) if (found := read_case(owner, pair)) is not None]
    return SuiteLevel(read, Rules(name="statistical", policy=Policy()))
