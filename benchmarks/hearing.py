"""Simulated pull requests in which the base system is asked before the gate turns red."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from random import Random

from benchmarks.worlds import Draw, System
from evalaction.core.blame import Sides, assign, plan_blame
from evalaction.core.blamed import blamed, outcome_of
from evalaction.core.comparison import Comparison
from evalaction.core.record import RunRecord
from evalaction.core.verdict import SuiteVerdict


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Hearing:
    """What the gate has found on a pull request, and how base and head answer now."""

    verdict: SuiteVerdict
    found: Comparison
    stored: RunRecord
    current: RunRecord
    base: Draw
    head: Draw


def heard(case: Hearing, chance: Random) -> tuple[SuiteVerdict, int]:
    """The verdict after both were asked, and the calls for it."""
    plan = plan_blame(case.verdict, case.found, case.current)
    if plan is None:
        return case.verdict, 0
    base, head = (_asked(draw, asked, case.current, chance) for draw, asked in ((case.base, plan.base), (case.head, plan.head)))
    findings = assign(plan, Sides(stored=case.stored, current=case.current, base=base, head=head if plan.head else None), case.found.rules)
    return blamed(case.verdict, outcome_of(findings)), sum(plan.base.values()) + sum(plan.head.values())


def _asked(draw: Draw, asked: Mapping[str, int], like: RunRecord, chance: Random) -> RunRecord:
    system = System(draw, len(like.cases), [check.id for check in next(iter(like.cases.values())).checks], chance)
    for name, runs in asked.items():
        for _ in range(runs):
            system.run(name)
    record = system.record()
    return RunRecord(header=record.header, cases={name: dataclasses.replace(record.cases[name], repeats=runs) for name, runs in asked.items()})
