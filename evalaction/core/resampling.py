"""Pull requests that change nothing, drawn from stored runs and sent through the gate's own comparison and plan."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import Protocol

from evalaction.core.accept import rules_of
from evalaction.core.acceptance import Acceptance, Baseline
from evalaction.core.compare import compare
from evalaction.core.comparison import Comparison
from evalaction.core.decide import decide
from evalaction.core.evidence import Evidence
from evalaction.core.model import copy_of
from evalaction.core.record import CaseRecord, RunRecord, Trial

_MOST_ROUNDS = 200
"""Of asking again in one pull request; the plans end long before."""
_Z_95 = 1.959964
_ACCEPTED = Acceptance(reason="resampled", accepted_at="1970-01-01T00:00:00Z", accepted_by="calibrate")


class Chance(Protocol):
    """A seeded source of chance."""

    def randrange(self, stop: int, /) -> int:
        """A whole number in 0..stop-1."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Simulated:
    """What unchanged pull requests came to: how many there were, how many of them were red, and the calls of the target they made in all."""

    pull_requests: int
    red: int
    calls: int

    @property
    def rate(self) -> float:
        """Share that was red: false alarms, all of them."""
        return self.red / self.pull_requests

    @property
    def calls_each(self) -> float:
        """Calls of the target in one pull request, on average."""
        return self.calls / self.pull_requests

    @property
    def interval(self) -> tuple[float, float]:
        """95 % interval of the rate. Source: Wilson, Journal of the American Statistical Association 22 (1927) 209."""
        n, z = self.pull_requests, _Z_95
        centre, spread = self.rate + z * z / (2 * n), z * math.sqrt(self.rate * (1 - self.rate) / n + z * z / (4 * n * n))
        return max(0.0, (centre - spread) / (1 + z * z / n)), min(1.0, (centre + spread) / (1 + z * z / n))


def simulate(record: RunRecord, pull_requests: int, chance: Callable[[int], Chance], *, repeats: int = 1, together: bool = False) -> Simulated:
    """Draw unchanged pull requests from the runs of a record and gate each; `chance(i)` is the source of the i-th.

    Both sides are drawn with replacement from each case's own runs, the baseline as many as are stored, so that a lucky
    baseline is part of what is simulated. A pull request makes `repeats` runs of each case in its first pass. With `together` the runs of one
    pass are drawn as a whole, for systems whose cases move together.
    """
    cases = {name: case for name, case in record.cases.items() if not case.is_error}
    if not cases or pull_requests < 1:
        return Simulated(pull_requests=max(1, pull_requests), red=0, calls=0)
    whole = RunRecord(header=record.header, cases=cases)
    outcomes = [_pull_request(whole, chance(number), repeats, together=together) for number in range(pull_requests)]
    return Simulated(pull_requests=pull_requests, red=sum(red for red, _ in outcomes), calls=sum(calls for _, calls in outcomes))


class _Draws:
    """Runs of the cases on one side, drawn when they are asked for and kept."""

    def __init__(self, record: RunRecord, chance: Chance, repeats: int | None, *, together: bool) -> None:
        self._record, self._chance, self._together = record, chance, together
        self._repeats = repeats
        self._passes: list[int] = []
        self.trials: dict[str, list[Trial]] = {name: [] for name in record.cases}

    def more(self, name: str, count: int) -> None:
        """So many more runs of a case."""
        known, drawn = self._record.cases[name].measured, self.trials[name]
        for _ in range(count):
            drawn.append(_renumbered(known[self._pick(len(drawn), len(known))], len(drawn)))

    def _pick(self, repeat: int, known: int) -> int:
        if not self._together:
            return self._chance.randrange(known)
        while len(self._passes) <= repeat:
            self._passes.append(self._chance.randrange(1 << 30))
        return self._passes[repeat] % known

    def record(self) -> RunRecord:
        """What was drawn so far."""
        cases = {name: self._case(case) for name, case in self._record.cases.items()}
        return RunRecord(header=self._record.header, cases=cases)

    def _case(self, case: CaseRecord) -> CaseRecord:
        trials = tuple(self.trials[case.id])
        return copy_of(case, trials=trials, repeats=self._repeats or len(trials))


def _renumbered(trial: Trial, repeat: int) -> Trial:
    return trial if trial.repeat == repeat else copy_of(trial, repeat=repeat)


def _pull_request(record: RunRecord, chance: Chance, repeats: int, *, together: bool) -> tuple[bool, int]:
    """Whether it was red, and its calls."""
    stored, asked = _Draws(record, chance, None, together=together), _Draws(record, chance, repeats, together=together)
    for name, case in record.cases.items():
        stored.more(name, len(case.measured))
        asked.more(name, repeats)
    before = stored.record()
    found = _settled(before, asked, repeats)
    verdict = decide(Evidence(current=asked.record(), comparison=found, baseline=Baseline(record=before, acceptance=_ACCEPTED)))
    return verdict.verdict == "regressed", sum(map(len, asked.trials.values()))


def _settled(before: RunRecord, asked: _Draws, repeats: int) -> Comparison:
    """Compare, and ask again as long as the comparison wants it."""
    now = asked.record()
    found = _compared(before, now)
    for _ in range(_MOST_ROUNDS):
        if not found.pending:
            break
        for name in found.pending:
            asked.more(name, 1 if found.rules.name == "statistical" else repeats)
        found = _compared(before, asked.record())
    return found


def _compared(before: RunRecord, now: RunRecord) -> Comparison:
    return compare(before, now, rules_of(now, baseline=before, can_confirm=True))


def pull_requests_for(cases: int, wanted: int, work: int = 200_000) -> int:
    """As many of the wanted ones as a few minutes allow: cases times pull requests stay below `work`, but at least a hundred are drawn."""
    return min(wanted, max(100, work // max(1, cases)))
