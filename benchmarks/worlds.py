"""Simulated suites: how cases behave before and after a change, drawn from a seeded source of chance. Scores are fractions 0..1."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Literal

from evalaction.core.record import CaseRecord, CheckInfo, CheckResult, RunHeader, RunRecord, Trial

Kind = Literal["binary", "graded", "deterministic"]
Change = Literal["none", "-2", "-5", "-10", "one dead", "masked"]
Draw = Callable[[int, Random], Mapping[str, float]]
"""(case number, chance) → the score of each check in one run of the case."""


@dataclasses.dataclass(slots=True)
class World:
    """The true state of every case: a pass rate (binary) or a mean score (graded, deterministic), and the noise of a run."""

    kind: Kind
    level: list[float]
    noise: list[float]
    misfire: float = 0.0
    shock: float = 0.0
    """Standard deviation of what moves all cases of one pass together."""

    def draw(self, case: int, chance: Random, moved: float = 0.0) -> float:
        """One run of one case."""
        level = self.level[case] + moved
        if self.kind == "binary":
            return float(chance.random() < level)
        if self.kind == "deterministic":
            flip = chance.choice((-0.1, 0.1)) if chance.random() < 0.002 else 0.0
            return min(1.0, max(0.0, level + chance.gauss(0, 0.001) + flip))
        lost = 0.3 if self.misfire and chance.random() < self.misfire else 0.0
        return min(1.0, max(0.0, round(level + chance.gauss(0, self.noise[case]) - lost, 2)))


def new_world(kind: Kind, cases: int, chance: Random) -> World:
    """Most binary cases pass nearly always, some hardly ever; graded ones lie about 82 with a judge's noise of 3 to 8 points."""
    if kind == "binary":
        return World(kind, [chance.betavariate(0.6, 0.15) for _ in range(cases)], [0.0] * cases)
    if kind == "graded":
        level = [min(0.97, max(0.40, chance.gauss(0.82, 0.08))) for _ in range(cases)]
        return World(kind, level, [chance.uniform(0.03, 0.08) for _ in range(cases)])
    return World(kind, chance.choices((0.3, 0.5, 0.6, 0.8, 1.0), (5, 10, 15, 30, 40), k=cases), [0.0] * cases)


_GOOD: Mapping[Kind, float] = {"binary": 1.0, "graded": 0.85, "deterministic": 1.0}
_DEAD: Mapping[Kind, float] = {"binary": 0.0, "graded": 0.30, "deterministic": 0.0}


def changed(world: World, change: Change) -> tuple[World, World]:
    """The world before (a case that is to die or to be mended is set up in it) and after the change."""
    before = dataclasses.replace(world, level=list(world.level))
    best, worst = (pick(range(len(world.level)), key=world.level.__getitem__) for pick in (max, min))
    if change in ("one dead", "masked"):
        before.level[best] = _GOOD[world.kind]
    if change == "masked":
        before.level[worst] = _DEAD[world.kind]
    after = dataclasses.replace(before, level=list(before.level))
    if change in ("one dead", "masked"):
        after.level[best] = _DEAD[world.kind]
    if change == "masked":
        after.level[worst] = _GOOD[world.kind]
    if change.startswith("-"):
        after.level = fallen(before, int(change[1:]) / 100).level
    return before, after


def fallen(world: World, drop: float) -> World:
    """Every case falls, so that the mean falls by `drop`; what passes or fails loses the same share of its passes everywhere."""
    if world.kind != "binary":
        return dataclasses.replace(world, level=[max(0.0, level - drop) for level in world.level])
    share = 1 - drop / (sum(world.level) / len(world.level))
    return dataclasses.replace(world, level=[level * share for level in world.level])


class System:
    """A target that answers from a world: runs are drawn when they are asked for, and shocks are shared by the runs of one pass."""

    def __init__(self, draw: Draw, cases: int, checks: Sequence[str], chance: Random) -> None:
        self.draw, self.chance = draw, chance
        self.checks = tuple(_info(name) for name in checks)
        self.trials: dict[str, list[Trial]] = {f"c{number:04}": [] for number in range(cases)}
        self.calls = 0

    def run(self, case: str) -> None:
        """One more run of a case."""
        self.calls += 1
        scores = self.draw(int(case[1:]), self.chance)
        self.trials[case].append(_trial(len(self.trials[case]), tuple(scores.items())))

    def passes(self, count: int) -> None:
        """So many more runs of every case."""
        for _ in range(count):
            for case in self.trials:
                self.run(case)

    def record(self, *, repeats: int = 1, deterministic: bool = False) -> RunRecord:
        """What was measured so far."""
        cases = {name: CaseRecord(id=name, fingerprint="f", repeats=repeats, checks=self.checks, trials=tuple(trials)) for name, trials in self.trials.items()}
        return RunRecord(header=_header(deterministic), cases=cases)


def of_world(world: World) -> Draw:
    """A system with one check, `score`, that behaves as the world says."""
    return lambda case, chance: {"score": world.draw(case, chance)}


def with_shocks(world: World, cases: int, chance: Random) -> Draw:
    """The same where each pass over the suite moves all its cases together; the cases of a pass are asked for in order."""
    moved = [0.0]

    def draw(case: int, runs: Random) -> Mapping[str, float]:
        if case == 0:
            moved[0] = chance.gauss(0, world.shock)
        return {"score": world.draw(case % cases, runs, moved[0])}

    return draw


def of_rubric(rates: Sequence[float], only: int | None = None, dead: int | None = None) -> Draw:
    """A system with one check per criterion; criterion `dead` fails always in the case `only`."""

    def draw(case: int, chance: Random) -> Mapping[str, float]:
        return {f"tone.c{number}": 0.0 if (number, case) == (dead, only) else float(chance.random() < rate) for number, rate in enumerate(rates)}

    return draw


_REQUIRED = 0.42
"""Score needed to pass; no level of a deterministic case lies near it, so that jitter flips nothing."""


@functools.cache
def _info(name: str) -> CheckInfo:
    return CheckInfo(id=name, type=name.split(".", maxsplit=1)[0], fingerprint=name, metrics=(name.split(".", maxsplit=1)[0],))


@functools.lru_cache(maxsize=200_000)
def _trial(repeat: int, scores: tuple[tuple[str, float], ...]) -> Trial:
    results = tuple(CheckResult(id=name, score=score, passed=score >= _REQUIRED) for name, score in scores)
    return Trial(repeat=repeat, score=sum(score for _, score in scores) / len(scores), passed=all(result.passed for result in results), checks=results)


@functools.cache
def _header(deterministic: bool) -> RunHeader:
    return RunHeader(suite="s", key="s", digest="d", started_at="2026-01-01T00:00:00Z", finished_at="2026-01-01T00:00:01Z", tool_version="0", deterministic=deterministic)
