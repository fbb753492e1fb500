"""`gate` and `run`: suites are read, baselines loaded, answers measured and written; only then is anything compared."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from evalaction.app.baselines import FoundBaseline, Where, of_records, of_suites
from evalaction.app.blaming import RedSuite, ask_base, judge_again
from evalaction.app.importing import import_suite
from evalaction.app.judging import Judged, judge, publish
from evalaction.app.loading import load
from evalaction.app.measuring import Measurement, prepare
from evalaction.app.parts import Job, Parts
from evalaction.app.signals import stopping
from evalaction.app.vanished import vanished
from evalaction.core.acceptance import Baseline
from evalaction.core.checks.base import one_line
from evalaction.core.compare import compare
from evalaction.core.comparison import PASSES_TO_PROVE, Comparison, Rules
from evalaction.core.decide import decide
from evalaction.core.evidence import Evidence
from evalaction.core.extra import ExtraLog
from evalaction.core.outdated import differences
from evalaction.core.record import RunRecord
from evalaction.core.rules import choose_rule
from evalaction.core.suite import Policy, Suite
from evalaction.core.verdict import Reason, SuiteVerdict, Verdict
from evalaction.errors import ConfigError, Fault
from evalaction.memory import collection_paused
from evalaction.store.records import HEADER_FILE, read_records
from evalaction.store.seals import refuse_record, verify

_SHOWN = 3
"""Differences between a record and its suite that a message names."""


def run_suites(parts: Parts, job: Job) -> Verdict:
    """Measure and write the records; the verdict says only whether measuring worked."""
    return publish(parts, job.outputs, *measure_only(parts, job, load(parts, job)))


def measure_only(parts: Parts, job: Job, suites: Sequence[Suite]) -> tuple[list[Judged], list[SuiteVerdict]]:
    """Measure these suites and write their records; the second list are suites that a signal kept from being started."""
    parts = parts.before_measuring(job.outputs)

    async def one(measurement: Measurement) -> Judged:
        """Measure, and say only whether that worked."""
        async with measurement:
            await measurement.first_pass()
            record = measurement.record()
        return Judged(verdict=_measured(record, measurement.suite), record=record, folder=measurement.folder)

    judged, skipped = _one_by_one(parts, job, [suite for suite in suites if suite.imported is None], one)
    imported = [(import_suite(parts, job, suite), suite) for suite in suites if suite.imported is not None]
    judged += [Judged(verdict=_measured(record, suite), record=record, folder=folder) for (record, folder), suite in imported]
    return judged, skipped


def _one_by_one(parts: Parts, job: Job, suites: Sequence[Suite], work: Callable[[Measurement], Awaitable[Judged]]) -> tuple[list[Judged], list[SuiteVerdict]]:
    """Measure suite after suite; after a signal the remaining ones are not started, and said to be not measured."""
    if not suites:
        return [], []
    refuse_record(job.outputs.out)
    stop = asyncio.Event()
    measurements = prepare(parts, job, suites, stop)
    judged: list[Judged] = []

    async def all_of_them() -> None:
        """Returns nothing: asyncio spells out the finished task once, and with all its cases that takes seconds."""
        with stopping(stop):
            for measurement in measurements:
                if stop.is_set():
                    break
                judged.append(await work(measurement))

    asyncio.run(all_of_them())
    verify(job.outputs.out, [seals for one in measurements[: len(judged)] for seals in one.sealed])  # only once all targets are closed
    return judged, [_not_started(measurement.suite) for measurement in measurements[len(judged) :]]


def _not_started(suite: Suite) -> SuiteVerdict:
    reason = Reason(code="INTERRUPTED", message="a signal ended the run before this suite was started")
    return SuiteVerdict(suite=suite.name, key=suite.key, verdict="not_measured", reasons=(reason,), file=suite.file)


def _measured(record: RunRecord, suite: Suite) -> SuiteVerdict:
    """Thresholds belong to the gate; `run` judges nothing."""
    rules = Rules(name="tolerance", policy=dataclasses.replace(suite.gate, thresholds={}))
    verdict = decide(Evidence(current=record, comparison=compare(None, record, rules)))
    return dataclasses.replace(verdict, verdict="measured") if verdict.verdict == "no_baseline" else verdict


def gate_suites(parts: Parts, job: Job) -> Verdict:
    """Measure (or take the record named), compare with the accepted baselines, report."""
    judged, skipped = _gated(parts, job)
    with collection_paused():
        return publish(parts, job.outputs, judged, skipped)


def _vanished(job: Job, suites: Sequence[Suite]) -> tuple[SuiteVerdict, ...]:
    """Accepted suites that the words mean and that are gone; a part of the cases says nothing of suites."""
    return vanished(Where.of(job.outputs), [suite.key for suite in suites], job.suites) if suites and job.selected.is_whole else ()


def _gated(parts: Parts, job: Job) -> tuple[list[Judged], list[SuiteVerdict]]:
    """Suites and baselines are forgotten at its end: with a hundred thousand cases they fill the memory that reporting needs."""
    suites = load(parts, job) if job.suites or job.overrides.results else ()
    if job.record is not None:
        return _judge_stored(parts, job, suites), [*_vanished(job, suites)]
    known = of_suites(parts, Where.of(job.outputs), suites)
    gone = _vanished(job, suites)
    measured = [suite for suite in suites if suite.imported is None]
    parts = parts.before_measuring(job.outputs)

    async def one(measurement: Measurement) -> Judged:
        """Measure and judge."""
        return await _gate(parts, job, measurement, known[measurement.suite.key])

    judged, skipped = _one_by_one(parts, job, measured, one)
    for suite in (suite for suite in suites if suite.imported is not None):
        record, folder = import_suite(parts, job, suite)
        judged.append(_judge_one(parts, folder, record, suite, known[suite.key]))
    return judged, [*skipped, *gone]


async def _gate(parts: Parts, job: Job, measurement: Measurement, known: FoundBaseline) -> Judged:
    """Measure one suite, and run suspicious cases again until each is proven or not."""
    suite, baseline = measurement.suite, known.baseline
    async with measurement:
        await measurement.first_pass()
        log, passes = ExtraLog(), 1
        comparison = _compare(measurement, baseline, can_confirm=measurement.can_go_on)
        while baseline is not None and comparison.pending:
            passes += 1
            parts.console.say(f"suite {suite.name}: {_again(comparison)} (pass {passes}{'' if comparison.rules.name == 'statistical' else f' of at most {PASSES_TO_PROVE}'})")
            before = measurement.record()
            if not await measurement.again(comparison.pending, runs=1 if comparison.rules.name == "statistical" else None):
                break
            log.note(comparison, before, measurement.record())
            comparison = _compare(measurement, baseline, can_confirm=measurement.can_go_on)
        record = measurement.explain(log.closed(comparison, interrupted=measurement.stop.is_set()))
        verdict = judge(record, baseline, comparison.rules, parts.now(), comparison)
        if baseline is not None and suite.blame is not None:
            verdict = await ask_base(parts, job, RedSuite(verdict=verdict, comparison=comparison, baseline=baseline, measurement=measurement))
    parts.console.detail(f"suite {suite.name}: record in {measurement.folder}, {'baseline in ' + str(known.folder) if baseline else 'no baseline'}")
    return Judged(verdict=verdict, record=record, folder=measurement.folder, baseline_folder=known.folder if baseline else None)


def _again(comparison: Comparison) -> str:
    """Why cases are asked again: each for itself, or all because their mean fell."""
    cases = f"{len(comparison.pending)} {'case' if len(comparison.pending) == 1 else 'cases'}"
    if comparison.plan is not None and comparison.plan.stage == "suite":
        return f"the suite as a whole looks worse, asking {cases} again"
    return f"{cases} may have got worse, asking again"


def _compare(measurement: Measurement, baseline: Baseline | None, *, can_confirm: bool) -> Comparison:
    record, suite = measurement.record(), measurement.suite
    before = baseline.record if baseline else None
    name = choose_rule(deterministic=suite.deterministic, policy=suite.gate, baseline=before, current=record, repeatable=measurement.repeatable)
    with collection_paused():
        return compare(before, record, Rules(name=name, policy=suite.gate, floor=suite.floor, can_confirm=can_confirm))


def _judge_stored(parts: Parts, job: Job, suites: Sequence[Suite]) -> list[Judged]:
    """Judge records that were measured earlier, under the policy of the suites named, else under their own."""
    place = job.record or Path()
    folders = {record.header.key: (folder, record) for folder, record in read_records(place)}
    missing = [suite.name for suite in suites if suite.key not in folders]
    if missing:
        raise ConfigError.one("INVALID_RECORD", f"no record of suite {missing[0]} is there", "name the folder of a record of this suite", file=str(place))
    if faults := [_outdated(suite, folders[suite.key][0], found) for suite in suites if (found := differences(suite, folders[suite.key][1]))]:
        raise ConfigError(faults)
    policies = {suite.key: suite for suite in suites}
    meant = {key: found for key, found in folders.items() if not suites or key in policies}
    known = of_records(parts, Where.of(job.outputs), [record.header for _, record in meant.values()])
    return [_judge_one(parts, folder, record, policies.get(key), known[key]) for key, (folder, record) in meant.items()]


def _outdated(suite: Suite, folder: Path, found: Sequence[str]) -> Fault:
    """A record of an earlier form of the suite: its cases would be judged in the place of those that the suite has now."""
    named = "; ".join(one_line(line, 150) for line in found[:_SHOWN]) + (f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else "")
    what = f"the record was not measured with suite {suite.name} as it is now: {named}"
    fix = "measure the suite again, or leave it out to judge the record for itself; variables that its cases name must be set as they were"
    return Fault(code="INVALID_RECORD", what=what, fix=fix, file=str(folder / HEADER_FILE))


def _judge_one(parts: Parts, folder: Path, record: RunRecord, suite: Suite | None, found: FoundBaseline) -> Judged:
    """Judge a finished record under the policy of its suite, else under its own."""
    baseline = found.baseline
    policy, floor = (suite.gate, suite.floor) if suite else (Policy(**record.header.policy), record.header.floor)
    before = baseline.record if baseline else None
    name = choose_rule(deterministic=record.header.deterministic, policy=policy, baseline=before, current=record, repeatable=record.header.repeatable)
    rules = Rules(name=name, policy=policy, floor=floor)
    verdict = judge_again(folder, record, baseline, rules, parts.now())
    return Judged(verdict=verdict, record=record, folder=folder, baseline_folder=found.folder, baseline_answers=found.answers)
