"""Other rules beside the gate's, in the same simulated pull requests and at the same number of calls; no statistics library is needed.

    python -m benchmarks.verdict_quality --rivals benchmarks/rivals.json [--scale X] [--seed TEXT]

Every rule has the same ten stored runs. The others get as many runs of each case as the gate made on average, rounded, in the same pull request.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from random import Random

from benchmarks.worlds import Change, Draw, Kind, System, World, changed, fallen, new_world, of_rubric, of_world, with_shocks
from evalaction.core.accept import drift
from evalaction.core.record import RunRecord

CASES, STORED_RUNS, MERGES = 50, 10, 10
OURS = "eval-gate"
_EPSILON = 1e-9


@dataclasses.dataclass(frozen=True, slots=True)
class Runs:
    """Scores and passes of one case on both sides."""

    before: tuple[float, ...]
    now: tuple[float, ...]
    passed_before: tuple[float, ...]
    passed_now: tuple[float, ...]


Rule = Callable[[Sequence[Runs]], bool]


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def falls_by(tolerance: float) -> Rule:
    """Red when the mean over all cases falls by more than this."""
    return lambda cases: _mean([_mean(case.before) for case in cases]) - _mean([_mean(case.now) for case in cases]) > tolerance + _EPSILON


def spring(cases: Sequence[Runs]) -> bool:
    """Red when any case loses more than 5 points of its score, or more than 0.20 of its pass rate."""
    return any(
        _mean(case.before) - _mean(case.now) > 0.05 + _EPSILON or _mean(case.passed_before) - _mean(case.passed_now) > 0.20 + _EPSILON for case in cases
    )  # fmt: skip


def any_failing(cases: Sequence[Runs]) -> bool:
    """Red when any case fails, whatever the baseline."""
    return any(not all(case.passed_now) for case in cases)


def mann_whitney(cases: Sequence[Runs]) -> bool:
    """Red when any case is worse at a two-sided 0.05, each case tested by itself."""
    return any(mann_whitney_p(case.before, case.now) <= 0.025 for case in cases)


def mann_whitney_p(before: Sequence[float], now: Sequence[float]) -> float:
    """One-sided exact p that `now` is lower, ties at their mean rank. Source: Mann & Whitney, Annals of Mathematical Statistics 18 (1947) 50."""
    both = sorted((*before, *now))
    ranks = {value: both.index(value) + both.index(value) + both.count(value) - 1 for value in set(both)}
    sums = _rank_sums(tuple(ranks[value] for value in both), len(now))
    seen = sum(ranks[value] for value in now)
    return sum(count for total, count in sums.items() if total <= seen) / sum(sums.values())


@functools.lru_cache(maxsize=4096)
def _rank_sums(ranks: tuple[int, ...], chosen: int) -> Mapping[int, int]:
    """How many choices of so many of these (doubled) ranks have each sum."""
    ways: list[Counter[int]] = [Counter({0: 1}), *(Counter[int]() for _ in range(chosen))]
    for rank in ranks:
        for size in range(chosen, 0, -1):
            for total, count in ways[size - 1].items():
                ways[size][total + rank] += count
    return ways[chosen]


RULES: Mapping[str, Rule] = {
    "mean falls 0.02": falls_by(0.02), "mean falls 0.01": falls_by(0.01), "mean falls 0.05": falls_by(0.05), "a case falls 0.05, or 0.20 of its passes": spring,
    "any case fails": any_failing, "Mann-Whitney per case": mann_whitney,
}  # fmt: skip
"""A golden set's and ragbench's tolerance on a mean, a wider one, Spring's per case, Saiku's, and a textbook test."""


def runs_of(before: RunRecord, now: RunRecord) -> list[Runs]:
    """What the other rules see: the score of a case and whether it passes, never a single check."""
    return [_runs(before, now, name) for name in before.cases]


def _runs(before: RunRecord, now: RunRecord, name: str) -> Runs:
    sides = [side.cases[name].measured for side in (before, now)]
    scores = [tuple([trial.score or 0.0 for trial in trials]) for trials in sides]
    passes = [tuple([float(trial.passed or False) for trial in trials]) for trials in sides]
    return Runs(scores[0], scores[1], passes[0], passes[1])


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """One situation; `simulate` tells for each rule whether it was red, and the gate's calls per case."""

    name: str
    simulate: Callable[[Random], tuple[dict[str, bool], float]]
    harmless: bool = False


Gate = Callable[[RunRecord, System], tuple[bool, float]]
"""The shipped gate on one pull request: whether it was red, and its calls per case."""


def scenes(gate: Gate) -> Iterator[Scene]:
    """All situations, the harmless ones of each kind first."""
    changes: tuple[tuple[Change, str], ...] = (
        ("none", "no change"), ("-5", "all cases lose 5 points"), ("one dead", "one case from always to never"), ("masked", "a break hidden by a fix"),
    )  # fmt: skip
    for kind, system in (("binary", "pass or fail"), ("graded", "graded")):
        for what, said in changes:
            yield Scene(name=f"{system}: {said}", simulate=_changed(gate, kind, what), harmless=what == "none")  # type: ignore[arg-type]  # the two kinds above
    yield Scene(name="graded: no change, 2 % of runs lose 30 points by a judge's misfire", simulate=_changed(gate, "graded", "none", misfire=0.02), harmless=True)
    yield Scene(name="graded: no change, each pass moves by 1 point as a whole", simulate=_changed(gate, "graded", "none", shock=0.01), harmless=True)
    yield Scene(name="rubric: one of six criteria falls from 95 % to 25 %, mean unchanged", simulate=_criterion(gate))
    for kind, system in (("binary", "pass or fail"), ("graded", "graded")):
        yield Scene(name=f"{system}: ten accepted merges that lose a point each", simulate=_drifting(kind, 0.01))  # type: ignore[arg-type]  # the two kinds above
    yield Scene(name="graded: ten accepted merges without a change", simulate=_drifting("graded", 0.0), harmless=True)


def _changed(gate: Gate, kind: Kind, what: Change, *, misfire: float = 0.0, shock: float = 0.0) -> Callable[[Random], tuple[dict[str, bool], float]]:
    def simulate(chance: Random) -> tuple[dict[str, bool], float]:
        sides = changed(dataclasses.replace(new_world(kind, CASES, chance), misfire=misfire, shock=shock), what)
        before, now = (with_shocks(world, CASES, chance) if shock else of_world(world) for world in sides)
        return _pull_request(gate, (before, now), ["score"], CASES, chance)

    return simulate


def _criterion(gate: Gate) -> Callable[[Random], tuple[dict[str, bool], float]]:
    names = [f"tone.c{number}" for number in range(6)]
    sides = (of_rubric([0.86] * 5 + [0.95]), of_rubric([1.0] * 5 + [0.25]))
    return lambda chance: _pull_request(gate, sides, names, 20, chance)


def _pull_request(gate: Gate, sides: tuple[Draw, Draw], checks: Sequence[str], cases: int, chance: Random) -> tuple[dict[str, bool], float]:
    """The gate on a system, then the other rules on as many fresh runs of the same system."""
    stored, system, other = (System(draw, cases, checks, chance) for draw in (sides[0], sides[1], sides[1]))
    stored.passes(STORED_RUNS)
    before = stored.record(repeats=STORED_RUNS)
    red, calls = gate(before, system)
    other.passes(max(1, round(calls)))
    seen = runs_of(before, other.record())
    return {OURS: red, **{name: rule(seen) for name, rule in RULES.items()}}, calls


def _drifting(kind: Kind, step: float) -> Callable[[Random], tuple[dict[str, bool], float]]:
    """Ten merges, each accepted with ten runs: the gate tests each against the anchor, the other rules against the baseline before. Red: at any of them."""

    def simulate(chance: Random) -> tuple[dict[str, bool], float]:
        world = new_world(kind, CASES, chance)
        records = [_accepted(fallen(world, step * merge), chance) for merge in range(MERGES + 1)]
        steps = [runs_of(one, other) for one, other in itertools.pairwise(records)]
        red = {name: any(map(rule, steps)) for name, rule in RULES.items()}
        return {OURS: any(drift(records[0], record) for record in records[1:]), **red}, float(STORED_RUNS)

    return simulate


def _accepted(world: World, chance: Random) -> RunRecord:
    system = System(of_world(world), CASES, ["score"], chance)
    system.passes(STORED_RUNS)
    return system.record(repeats=STORED_RUNS)


def measure_rivals(gate: Gate, *, scale: float, seed: str, said: Callable[[str], None]) -> dict[str, object]:
    """All situations, simulated; the same seed draws the same pull requests. Harmless ones are drawn three times as often."""
    rows = []
    for scene in scenes(gate):
        count = max(1, round((300 if scene.harmless else 100) * scale))
        found = [scene.simulate(Random(f"{seed}/{scene.name}/{number}")) for number in range(count)]
        red = {name: sum(outcome[name] for outcome, _ in found) for name in (OURS, *RULES)}
        rows.append({"situation": scene.name, "harmless": scene.harmless, "pull_requests": count, "calls_per_case": round(sum(calls for _, calls in found) / count, 2), "red": red})
        said(f"{scene.name}: {red} of {count}")
    return {"seed": seed, "rules": [OURS, *RULES], "rows": rows}


def store(path: Path, found: dict[str, object]) -> None:
    """Keep the result where `docs/generate.py` finds it."""
    path.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
