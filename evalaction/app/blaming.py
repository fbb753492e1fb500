"""Before a suite is called red: the base system is asked as it answers now, and the records of that are kept beside the run's own."""

from __future__ import annotations

import dataclasses
import tempfile
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from evalaction.app.beside import Beside, Target
from evalaction.app.judging import judge
from evalaction.app.loading import base_system
from evalaction.app.measuring import Measurement
from evalaction.app.parts import Job, Parts, Selected, Tapes
from evalaction.core.acceptance import Baseline
from evalaction.core.blame import BlamePlan, Sides, assign, plan_blame, unmeasured
from evalaction.core.blamed import blamed, outcome_of
from evalaction.core.compare import compare
from evalaction.core.comparison import Comparison, Rules
from evalaction.core.record import RunRecord
from evalaction.core.suite import Blame, ExecTarget
from evalaction.core.verdict import BlameInfo, SuiteVerdict
from evalaction.errors import MeasureError
from evalaction.store.git import check_out, is_measured_itself
from evalaction.store.records import HEADER_FILE, read_record
from evalaction.store.seals import BESIDE
from evalaction.targets.build import build_target


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class RedSuite:
    """A suite that is about to be called red: its verdict, what it was compared with, and its measurement."""

    verdict: SuiteVerdict
    comparison: Comparison
    baseline: Baseline
    measurement: Measurement


async def ask_base(parts: Parts, job: Job, case: RedSuite) -> SuiteVerdict:
    """The verdict after the base system was heard. Where it could not be, the verdict stands and says why."""
    suite, record = case.measurement.suite, case.measurement.record()
    plan = plan_blame(case.verdict, case.comparison, record)
    if suite.blame is None or plan is None or not case.measurement.can_go_on:
        return case.verdict
    parts.console.say(f"suite {suite.name}: about to fail, asking the base system ({suite.blame.ref or 'a command'})")
    hearing = _Hearing(parts, job, case.measurement, plan)
    try:
        base, head = await hearing.hold(suite.blame)
    except MeasureError as error:
        return blamed(case.verdict, _unassigned(suite.blame, f"{error.code}: {error.message}"))
    return _heard(case.verdict, plan, Sides(stored=case.baseline.record, current=record, base=base, head=head), case.comparison)


def _heard(verdict: SuiteVerdict, plan: BlamePlan, sides: Sides, comparison: Comparison) -> SuiteVerdict:
    """The verdict after all records are there."""
    headers = [side.header for side in (sides.base, sides.head) if side is not None]
    costs = [header.cost_usd for header in headers if header.cost_usd is not None]
    spent: dict[str, Any] = {
        "commit": sides.base.header.commit, "system": "commit" if sides.base.header.commit else "command", "calls": sum(header.calls.made for header in headers),
        "judge_calls": sum(header.calls.judge_made for header in headers), "cost_usd": sum(costs) if costs else None,
    }  # fmt: skip
    failed = unmeasured(plan, sides)
    info = _unassigned(None, f"{failed[0]} could not be measured: {failed[1]}") if failed else outcome_of(assign(plan, sides, comparison.rules))
    return blamed(verdict, dataclasses.replace(info, **spent))


def judge_again(folder: Path, record: RunRecord, baseline: Baseline | None, rules: Rules, now: datetime, *, believed: bool = True) -> SuiteVerdict:
    """The verdict on a record that was measured earlier, with what the base system said then, where that is kept beside it and is to be believed."""
    comparison = compare(baseline.record if baseline else None, record, rules)
    verdict = judge(record, baseline, rules, now, comparison)
    places = {name: folder / BESIDE / name for name in ("base", "head")}
    if baseline is None or record.header.blame is None or not (places["base"] / HEADER_FILE).is_file() or (plan := plan_blame(verdict, comparison, record)) is None:
        return verdict
    if not believed:
        return blamed(verdict, _unassigned(None, "the base system was asked by the run that is judged, which is not believed about it"))
    base = read_record(places["base"])
    head = read_record(places["head"]) if (places["head"] / HEADER_FILE).is_file() else None
    return _heard(verdict, plan, Sides(stored=baseline.record, current=record, base=base, head=head), comparison)


def _unassigned(blame: Blame | None, why: str) -> BlameInfo:
    return BlameInfo(outcome="unassigned", system="commit" if blame and blame.ref is not None else "command", message=f"blame could not be assigned: {why}")


class _Hearing:
    """Measures the base system, and the red cases of the head anew, within the budget of the suite."""

    def __init__(self, parts: Parts, job: Job, measurement: Measurement, plan: BlamePlan) -> None:
        self._parts, self._job, self._measurement, self._plan = parts, job, measurement, plan
        self._suite = measurement.suite

    async def hold(self, blame: Blame) -> tuple[RunRecord, RunRecord | None]:
        """Records of base and head. Raises MeasureError when the budget does not allow it, or there is no base system."""
        settings, commit = self._parts.settings, None
        if blame.ref is not None:
            commit = base_system(settings, blame.ref)
            if commit is None or is_measured_itself(settings.workspace, commit):
                raise MeasureError("TARGET_FAILED", "the base is the very commit that was measured" if commit else f"there is no commit {blame.ref}")
        self._refuse_expensive()
        with tempfile.TemporaryDirectory(prefix="eval-gate-base-", ignore_cleanup_errors=True) as folder:
            cwd = self._checked_out(commit, Path(folder)) if commit else settings.cwd
            base = await self._measured("base", self._base_target(blame, cwd), self._plan.base, commit)
        head = await self._measured("head", self._measurement.target, self._plan.head, settings.commit) if self._plan.head else None
        return base, head

    def _refuse_expensive(self) -> None:
        judge = self._measurement.judge
        cases = {case.id: case for case in self._suite.cases}
        calls = sum(runs * (1 + (judge.planned_calls(cases[name]) if judge else 0)) for asked in (self._plan.base, self._plan.head) for name, runs in asked.items())
        if lacking := self._measurement.budget.lacks(calls):
            raise MeasureError("BUDGET_EXHAUSTED", lacking)

    def _checked_out(self, commit: str, folder: Path) -> Path:
        """The working directory in the files of the base commit."""
        settings = self._parts.settings
        check_out(settings.workspace, commit, folder)
        cwd = folder / settings.cwd.resolve().relative_to(settings.workspace.resolve())
        if not cwd.is_dir():
            raise MeasureError("TARGET_FAILED", f"commit {commit[:12]} does not have the working directory")
        return cwd

    def _base_target(self, blame: Blame, cwd: Path) -> Target:
        """The target of the suite with its protocol and limits: another command here, or its own one elsewhere."""
        target = self._suite.target
        if not isinstance(target, ExecTarget):
            raise MeasureError("TARGET_FAILED", "the target is no command")
        spec = target if blame.command is None else dataclasses.replace(target, command=blame.command)
        return build_target(spec, environment=self._parts.settings.environment, cwd=cwd, concurrency=self._suite.limits.max_concurrency)

    async def _measured(self, name: str, target: Target, asked: Mapping[str, int], commit: str | None) -> RunRecord:
        """One record beside the run's own; its header says which system it is of."""
        cases = tuple(dataclasses.replace(case, repeats=asked[case.id], definition=None) for case in self._suite.cases if case.id in asked)
        suite = dataclasses.replace(self._suite, key=name, cases=cases)
        outputs = dataclasses.replace(self._job.outputs, out=self._measurement.folder / BESIDE)
        parts = dataclasses.replace(self._parts, settings=dataclasses.replace(self._parts.settings, commit=commit))
        job = dataclasses.replace(self._job, outputs=outputs, selected=Selected(), tapes=Tapes())
        async with Measurement(parts, job, suite, self._measurement.stop, Beside(target, self._measurement.budget)) as beside:
            self._measurement.sealed += beside.sealed
            await beside.first_pass()
            return beside.record()
