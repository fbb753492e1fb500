"""`gate` and `run`: suites are read, baselines loaded, answers measured and written; only then is anything compared."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path

from evalaction.app.judging import Judged, judge, publish
from evalaction.app.measuring import Measurement, prepare
from evalaction.app.parts import Job, Parts
from evalaction.app.selecting import refuse_unsupported, select
from evalaction.core.compare import Comparison, Rules, compare
from evalaction.core.decide import decide
from evalaction.core.evidence import Evidence
from evalaction.core.record import Baseline, RunRecord
from evalaction.core.suite import Policy, Suite
from evalaction.core.verdict import SuiteVerdict, Verdict
from evalaction.datasets.load import load_suites
from evalaction.errors import ConfigError
from evalaction.store.baselines import DirectoryStore
from evalaction.store.records import read_record, record_folders


def load(parts: Parts, job: Job, *, run: bool = True) -> tuple[Suite, ...]:
    """Read and check all suites and keep the cases that are meant; with `run` also refuse what cannot be run here."""
    settings = parts.settings
    unsafe = settings.unsafe_checkout()
    if run and unsafe is not None:
        what = f"the code of a pull request ({unsafe[:12]}) is checked out under pull_request_target, where it could read secrets"
        raise ConfigError.one("UNSAFE_CHECKOUT", what, "trigger on pull_request; publish for forks from a second workflow on workflow_run")
    suites = load_suites(job.suites, job.overrides, settings.environment, settings.workspace, settings.cwd)
    if run:
        refuse_unsupported(suites)
    return select(suites, job.selected)


def run_suites(parts: Parts, job: Job) -> Verdict:
    """Measure and write the records; the verdict says only whether measuring worked."""
    judged = []
    for measurement in prepare(parts, job, load(parts, job)):
        record = asyncio.run(_measure(measurement))
        judged.append(Judged(verdict=_measured(record, measurement.suite), record=record, folder=measurement.folder))
    return publish(parts, job.outputs, judged)


async def _measure(measurement: Measurement) -> RunRecord:
    async with measurement:
        await measurement.first_pass()
        return measurement.record()


def _measured(record: RunRecord, suite: Suite) -> SuiteVerdict:
    """Thresholds belong to the gate; `run` judges nothing."""
    rules = Rules(name="tolerance", policy=dataclasses.replace(suite.gate, thresholds={}))
    verdict = decide(Evidence(current=record, comparison=compare(None, record, rules)))
    return dataclasses.replace(verdict, verdict="measured") if verdict.verdict == "no_baseline" else verdict


def gate_suites(parts: Parts, job: Job) -> Verdict:
    """Measure (or take the record named), compare with the accepted baselines, report."""
    suites = load(parts, job) if job.suites else ()
    store = DirectoryStore(job.outputs.baseline)
    if job.record is not None:
        return publish(parts, job.outputs, _judge_stored(parts, job, suites, store))
    baselines = {suite.key: store.load(suite.key) for suite in suites}
    judged = [asyncio.run(_gate(parts, measurement, baselines[measurement.suite.key], store)) for measurement in prepare(parts, job, suites)]
    return publish(parts, job.outputs, judged)


async def _gate(parts: Parts, measurement: Measurement, baseline: Baseline | None, store: DirectoryStore) -> Judged:
    """Measure one suite, and run suspicious cases again until each is proven or not."""
    suite = measurement.suite
    async with measurement:
        await measurement.first_pass()
        comparison = _compare(measurement, baseline, can_confirm=measurement.can_go_on)
        while baseline is not None and comparison.pending:
            parts.console.say(f"suite {suite.name}: {len(comparison.pending)} suspicious case{'s' if len(comparison.pending) > 1 else ''}, asking again")
            went_on = await measurement.again(comparison.pending)
            comparison = _compare(measurement, baseline, can_confirm=went_on and measurement.can_go_on)
        record = measurement.record()
    verdict = judge(record, baseline, comparison.rules, parts.now(), comparison)
    return Judged(verdict=verdict, record=record, folder=measurement.folder, baseline_folder=store.folder(suite.key) if baseline else None)


def _compare(measurement: Measurement, baseline: Baseline | None, *, can_confirm: bool) -> Comparison:
    return compare(baseline.record if baseline else None, measurement.record(), rules_for(measurement.suite, can_confirm=can_confirm))


def rules_for(suite: Suite, *, can_confirm: bool) -> Rules:
    """Exact for a suite that says it is deterministic, else tolerance; a rule that the policy names wins."""
    exact = suite.deterministic and suite.gate.rule == "auto"
    return Rules(name="exact" if exact else "tolerance", policy=suite.gate, floor=suite.floor, can_confirm=can_confirm)


def _judge_stored(parts: Parts, job: Job, suites: Sequence[Suite], store: DirectoryStore) -> list[Judged]:
    """Judge records that were measured earlier, under the policy of the suites named, else under their own."""
    place = job.record or Path()
    folders = {record.header.key: (folder, record) for folder in record_folders(place) for record in (read_record(folder),)}
    missing = [suite.name for suite in suites if suite.key not in folders]
    if missing:
        raise ConfigError.one("INVALID_RECORD", f"no record of suite {missing[0]} is there", "name the folder of a record of this suite", file=str(place))
    policies = {suite.key: suite for suite in suites}
    return [_judge_one(parts, folder, record, policies, store) for key, (folder, record) in folders.items() if not suites or key in policies]


def _judge_one(parts: Parts, folder: Path, record: RunRecord, policies: Mapping[str, Suite], store: DirectoryStore) -> Judged:
    key = record.header.key
    suite, baseline = policies.get(key), store.load(key)
    policy, floor = (suite.gate, suite.floor) if suite else (Policy(**record.header.policy), record.header.floor)
    exact = record.header.deterministic and policy.rule == "auto"
    rules = Rules(name="exact" if exact else "tolerance", policy=policy, floor=floor)
    verdict = judge(record, baseline, rules, parts.now())
    return Judged(verdict=verdict, record=record, folder=folder, baseline_folder=store.folder(key) if baseline else None)

