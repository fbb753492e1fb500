"""How often the gate is right: simulated pull requests through the shipped comparison and plan, with targets and what was reached.

    python -m benchmarks.verdict_quality [--quick] [--scale X] [--only TEXT] [--seed TEXT] [--rivals FILE]

Each simulated pull request draws a suite, a baseline of 10 runs per case and a changed system, and lets the gate ask for runs until its plan
is finished, as it does with a real target. Prints a Markdown table; ends with 1 when a target is missed by more than chance allows.
"""

from __future__ import annotations

import argparse
import dataclasses
import math
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from random import Random

from benchmarks.hearing import Hearing, heard
from benchmarks.rivals import measure_rivals, store
from benchmarks.worlds import Change, Kind, System, World, changed, fallen, new_world, of_rubric, of_world, with_shocks
from evalaction.core.accept import drift
from evalaction.core.acceptance import Acceptance, Baseline
from evalaction.core.compare import compare
from evalaction.core.comparison import Comparison, Rules
from evalaction.core.decide import decide
from evalaction.core.evidence import Evidence
from evalaction.core.record import RunRecord
from evalaction.core.rules import choose_rule
from evalaction.core.suite import Policy
from evalaction.core.verdict import SuiteVerdict

STORED_RUNS = 10
CASES = 50
BEYOND_CHANCE = 0.001
"""A target is missed when a gate that just meets it would do as badly less often than this."""
_ACCEPTED = Acceptance(reason="simulated", accepted_at="2026-01-01T00:00:00Z", accepted_by="benchmark")


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """One simulated pull request: whether it was red, and calls per case."""

    red: bool
    calls: float


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One situation: `at_most` or `at_least` this share red, at most so many calls per case on average; how often it is simulated in full."""

    name: str
    simulate: Callable[[Random], Outcome]
    at_most: float | None = None
    at_least: float | None = None
    calls: float | None = None
    full: int = 300
    quick: int = 8


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Reached:
    """What came of a cell."""

    cell: Cell
    outcomes: Sequence[Outcome]

    @property
    def red(self) -> float:
        """Share of red pull requests."""
        return sum(outcome.red for outcome in self.outcomes) / len(self.outcomes)

    @property
    def calls(self) -> float:
        """Calls per case, averaged."""
        return sum(outcome.calls for outcome in self.outcomes) / len(self.outcomes)

    @property
    def missed(self) -> bool:
        """Whether a target is missed beyond the error of the simulation."""
        count, red = len(self.outcomes), sum(outcome.red for outcome in self.outcomes)
        too_many = self.cell.at_most is not None and _tail(count, self.cell.at_most, range(red, count + 1)) < BEYOND_CHANCE
        too_few = self.cell.at_least is not None and _tail(count, self.cell.at_least, range(red + 1)) < BEYOND_CHANCE
        return too_many or too_few or self._costs_too_much()

    def _costs_too_much(self) -> bool:
        if self.cell.calls is None or len(self.outcomes) < 2:
            return False
        spread = math.sqrt(sum((outcome.calls - self.calls) ** 2 for outcome in self.outcomes) / (len(self.outcomes) - 1) / len(self.outcomes))
        return self.calls - 3 * spread > self.cell.calls + 1e-9


def _tail(count: int, rate: float, numbers: range) -> float:
    """P that a binomial number of `count` trials at this rate is one of `numbers`."""
    return math.fsum(math.comb(count, number) * rate**number * (1 - rate) ** (count - number) for number in numbers)


def gate(before: RunRecord, system: System, policy: Policy, *, deterministic: bool = False) -> Outcome:
    """One pull request: a first pass, then whatever the comparison asks for, then the verdict."""
    verdict, _ = judged(before, system, policy, deterministic=deterministic)
    return Outcome(red=verdict.verdict == "regressed", calls=system.calls / len(system.trials))


def judged(before: RunRecord, system: System, policy: Policy, *, deterministic: bool = False) -> tuple[SuiteVerdict, Comparison]:
    """The verdict on one pull request, and the comparison behind it."""
    system.passes(1)
    while (found := _compared(before, system.record(deterministic=deterministic), policy)).pending:
        for case in found.pending:
            system.run(case)
    return decide(Evidence(current=system.record(deterministic=deterministic), comparison=found, baseline=Baseline(record=before, acceptance=_ACCEPTED))), found


def _compared(before: RunRecord, now: RunRecord, policy: Policy) -> Comparison:
    rule = choose_rule(deterministic=now.header.deterministic, policy=policy, baseline=before, current=now, repeatable=True)
    return compare(before, now, Rules(name=rule, policy=policy, can_confirm=True))


def change(kind: Kind, what: Change, cases: int = CASES, *, misfire: float = 0.0, shock: float = 0.0) -> Callable[[Random], Outcome]:
    """A suite with one check, changed in this way."""

    def simulate(chance: Random) -> Outcome:
        before, after = changed(dataclasses.replace(new_world(kind, cases, chance), misfire=misfire, shock=shock), what)
        draws = [with_shocks(world, cases, chance) if shock else of_world(world) for world in (before, after)]
        stored, system = (System(draw, cases, ["score"], chance) for draw in draws)
        stored.passes(STORED_RUNS)
        exact = kind == "deterministic"
        return gate(stored.record(repeats=STORED_RUNS, deterministic=exact), system, Policy(), deterministic=exact)

    return simulate


def with_base(kind: Kind, what: Change, provider: float) -> Callable[[Random], Outcome]:
    """The same, where the provider has lost so much since the baseline was accepted and the suite names a base system."""

    def simulate(chance: Random) -> Outcome:
        before, after = changed(new_world(kind, CASES, chance), what)
        draws = [of_world(world) for world in (before, fallen(before, provider), fallen(after, provider))]
        stored, system = (System(draw, CASES, ["score"], chance) for draw in (draws[0], draws[2]))
        stored.passes(STORED_RUNS)
        accepted = stored.record(repeats=STORED_RUNS)
        verdict, found = judged(accepted, system, Policy())
        verdict, further = heard(Hearing(verdict=verdict, found=found, stored=accepted, current=system.record(), base=draws[1], head=draws[2]), chance)
        return Outcome(red=verdict.verdict == "regressed", calls=(system.calls + further) / CASES)

    return simulate


_CRITERIA = [f"tone.c{number}" for number in range(6)]
_HEALTHY = [0.86] * 5 + [0.95]


def rubric(after: Sequence[float], cases: int, *, one_case: bool = False) -> Callable[[Random], Outcome]:
    """Six criteria; with `one_case` the last one always passes in a single case before and never after."""

    def simulate(chance: Random) -> Outcome:
        sure = [*_HEALTHY[:5], 1.0] if one_case else _HEALTHY
        stored = System(of_rubric(sure), cases, _CRITERIA, chance)
        stored.passes(STORED_RUNS)
        system = System(of_rubric(sure if one_case else after, only=0 if one_case else None, dead=5 if one_case else None), cases, _CRITERIA, chance)
        return gate(stored.record(repeats=STORED_RUNS), system, Policy())

    return simulate


def drifting(kind: Kind, step: float, merges: int = 10) -> Callable[[Random], Outcome]:
    """Merges that each lose `step`; red when an acceptance is refused, by the anchor, at any of them."""

    def simulate(chance: Random) -> Outcome:
        world = new_world(kind, CASES, chance)
        records = (_accepted(fallen(world, step * merge), chance) for merge in range(merges + 1))
        anchor = next(records)
        return Outcome(red=any(drift(anchor, record) for record in records), calls=0.0)

    return simulate


def _accepted(world: World, chance: Random) -> RunRecord:
    system = System(of_world(world), CASES, ["score"], chance)
    system.passes(STORED_RUNS)
    return system.record(repeats=STORED_RUNS)


_WANTED: dict[Kind, dict[Change, float]] = {
    "binary": {"-5": 0.38, "-10": 0.88, "one dead": 1.0, "masked": 0.99},
    "graded": {"-2": 0.95, "-5": 1.0, "-10": 1.0, "one dead": 1.0, "masked": 0.99},
    "deterministic": {"-2": 1.0, "-5": 1.0, "-10": 1.0, "one dead": 1.0, "masked": 1.0},
}
_QUIET: dict[Kind, float] = {"binary": 2.3, "graded": 2.8, "deterministic": 1.005}
_QUICK: dict[Change, int] = {"none": 30, "-2": 12, "-5": 15, "-10": 10, "one dead": 6, "masked": 6}
"""As few as can still tell: a red rate of 38 % is missed by fifteen green ones, one of 100 % by any."""


def cells() -> Iterator[Cell]:
    """All situations, the main table first."""
    for kind, wanted in _WANTED.items():
        most = 0.0 if kind == "deterministic" else 0.015
        yield Cell(name=f"{kind}, no change", simulate=change(kind, "none"), at_most=most, calls=_QUIET[kind], full=1000, quick=_QUICK["none"])
        if kind == "binary":
            yield Cell(name="binary, -2 points (about 6 %)", simulate=change(kind, "-2"), quick=0)
        for what, least in wanted.items():
            size = f"{what} points" if what.startswith("-") else {"one dead": "one case always to never", "masked": "a fix masks a break"}[what]
            yield Cell(name=f"{kind}, {size}", simulate=change(kind, what), at_least=least, quick=min(_QUICK[what], 6) if least == 1.0 else _QUICK[what])
    for cases in (10, 20, 100, 200):
        for kind in ("binary", "graded"):
            quick = 0 if cases > 20 else 25
            yield Cell(name=f"{kind}, {cases} cases, no change", simulate=change(kind, "none", cases), at_most=0.015, full=40_000 // max(100, cases), quick=quick)
    yield Cell(name="rubric, no change", simulate=rubric(_HEALTHY, 20), at_most=0.015, quick=12)
    yield Cell(name="rubric, one criterion 95 to 25 %, mean unchanged", simulate=rubric([1.0] * 5 + [0.25], 20), at_least=1.0, full=200)
    yield Cell(name="rubric, one criterion dies in one case", simulate=rubric(_HEALTHY, 20, one_case=True), at_least=1.0, full=200)
    for kind in ("binary", "graded"):
        yield Cell(name=f"{kind}, anchor, one point a merge, by the tenth", simulate=drifting(kind, 0.01), at_least=0.99, full=200)
    yield Cell(name="graded, anchor, ten merges without a change", simulate=drifting("graded", 0.0), full=200, quick=0)
    for kind, most in (("binary", 0.09), ("graded", 0.14)):
        yield Cell(name=f"{kind}, no change, provider 8 points worse, base asked", simulate=with_base(kind, "none", 0.08), at_most=most, quick=8)
    yield Cell(name="binary, one case always to never, provider 8 points worse, base asked", simulate=with_base("binary", "one dead", 0.08), at_least=0.99, quick=6)
    yield Cell(name="binary, -10 points, base asked", simulate=with_base("binary", "-10", 0.0), at_least=0.85, full=200, quick=6)
    yield Cell(name="graded, no change, 2 % of runs misfire by 30 points", simulate=change("graded", "none", misfire=0.02), at_most=0.02, quick=0)
    yield Cell(name="graded, no change, passes move together by 1 point", simulate=change("graded", "none", shock=0.01), quick=0)


def measure(cell: Cell, count: int, seed: str) -> Reached:
    """Simulate a cell `count` times; the same seed draws the same pull requests."""
    return Reached(cell=cell, outcomes=[cell.simulate(Random(f"{seed}/{cell.name}/{number}")) for number in range(count)])


def row(reached: Reached) -> str:
    """One line of the table."""
    cell = reached.cell
    wanted = [f"red ≤ {cell.at_most:.1%}" if cell.at_most is not None else "", f"red ≥ {cell.at_least:.0%}" if cell.at_least is not None else ""]
    wanted.append(f"calls ≤ {cell.calls:.1f}" if cell.calls is not None else "")
    verdict = "missed" if reached.missed else "met" if any(wanted) else ""
    return f"| {cell.name} | {', '.join(filter(None, wanted))} | {reached.red:.1%} | {reached.calls:.2f} | {len(reached.outcomes)} | {verdict} |"


def main(arguments: Sequence[str]) -> int:
    """Simulate and print; returns the exit code."""
    options = _options(arguments)
    if options.rivals is not None:
        store(options.rivals, measure_rivals(_beside_rivals, scale=options.scale, seed=options.seed, said=lambda line: print(line, flush=True)))
        return 0
    missed = []
    print(f"| {CASES} cases, profile standard, {STORED_RUNS} stored runs, unless said | target | red | calls per case | pull requests | |\n|---|---|---|---|---|---|")
    for cell in cells():
        count = cell.quick if options.quick else cell.full
        if count == 0 or options.only not in cell.name:
            continue
        reached = measure(cell, max(1, round(count * options.scale)), options.seed)
        print(row(reached), flush=True)
        missed += [cell.name] if reached.missed else []
    if missed:
        print(f"missed: {'; '.join(missed)}", file=sys.stderr)
    return 1 if missed else 0


def _beside_rivals(before: RunRecord, system: System) -> tuple[bool, float]:
    """The gate under the default policy, as the comparison with other rules asks for it."""
    outcome = gate(before, system, Policy())
    return outcome.red, outcome.calls


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.verdict_quality", description="How often the gate is right, in simulated pull requests.")
    parser.add_argument("--quick", action="store_true", help="a minute instead of many; the targets are checked within a wider error")
    parser.add_argument("--scale", type=float, default=1.0, help="multiply the numbers of simulated pull requests")
    parser.add_argument("--only", default="", metavar="TEXT", help="only situations whose name has this text")
    parser.add_argument("--rivals", type=Path, metavar="FILE", help="compare with other rules instead, and keep the result in this file")
    parser.add_argument("--seed", default="2026", help="another seed draws other pull requests")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
