"""One suite being measured: a target, a recorder, and passes over the cases; the record is on disk after each pass."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import signal
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any, Self

from pydantic import TypeAdapter

from evalaction import __version__
from evalaction.app.parts import Job, Parts
from evalaction.app.selecting import refuse_small_budgets
from evalaction.core.answer import Answer
from evalaction.core.checks import Scoring, score_answer
from evalaction.core.checks.scoring import Scored
from evalaction.core.fingerprint import digest
from evalaction.core.record import Calls, CaseRecord, Failure, RunHeader, RunRecord, Selection, Trial
from evalaction.core.sample import suite_metrics
from evalaction.core.specs import PythonCheck
from evalaction.core.suite import Case, Policy, Suite
from evalaction.errors import ConfigError
from evalaction.runner.budget import Budget
from evalaction.runner.progress import Progress, progress_on
from evalaction.runner.references import has_reference
from evalaction.runner.run import run, run_offline
from evalaction.runner.work import ReferenceRows, Work
from evalaction.store.recorder import Recorder
from evalaction.targets.base import BatchTarget, Request, SingleTarget
from evalaction.targets.build import build_reference, build_target
from evalaction.targets.predictions import Predictions
from evalaction.targets.python import load_callable

Target = SingleTarget | BatchTarget


def prepare(parts: Parts, job: Job, suites: Sequence[Suite]) -> Iterator[Measurement]:
    """Build every target and check every plan before the first call, then hand out one measurement after the other."""
    built = [Measurement(parts, job, suite) for suite in suites]
    for measurement in built:
        if measurement.target.repeatable:
            refuse_small_budgets(measurement.suite, len(measurement.plan))
    yield from built


class Measurement:
    """A suite on its way to a record. An async context: within it the target is open and signals are ours."""

    def __init__(self, parts: Parts, job: Job, suite: Suite) -> None:
        settings = parts.settings
        self.target: Target = build_target(suite.target, environment=settings.environment, cwd=settings.cwd, concurrency=suite.limits.max_concurrency)
        self.suite = _as_answered(suite, self.target)
        self.folder = job.outputs.out / suite.key
        self.plan = [Request(case, repeat) for repeat in range(_most(self.suite)) for case in self.suite.cases if repeat < self.suite.planned(case)]
        self._parts, self._selected = parts, job.selected
        self._callables = {check.callable: load_callable(check.callable, settings.cwd) for case in suite.cases for check in case.checks if isinstance(check, PythonCheck)}
        self._recorder = Recorder(self.folder, self.suite, settings.masker, journaled=self.target.repeatable)
        self._budget = Budget(suite.limits, parts.clock)
        self._progress: Progress = progress_on(sys.stderr)
        self._stop = asyncio.Event()
        self._started_at = parts.stamp()
        self._record: RunRecord | None = None
        self._notes: list[str] = list(_doubts(self.target, self.suite))

    async def __aenter__(self) -> Self:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            with contextlib.suppress(NotImplementedError, RuntimeError):  # Windows has no such handlers: Ctrl-C then raises
                loop.add_signal_handler(number, self._stop.set)
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._progress.finish()
        await self.target.close()
        self._recorder.close(keep_journal=error is not None or self._stop.is_set())

    @property
    def can_go_on(self) -> bool:
        """Whether the target can be asked again: a file of answers cannot, nor after a signal."""
        return self.target.repeatable and not self._stop.is_set()

    async def first_pass(self) -> None:
        """Ask for every planned trial that an interrupted run has not measured already."""
        found = self._recorder.start(self._identity(), resume=self._selected.resume)
        for case in self.suite.cases:
            self._recorder.expect(case, self.suite.planned(case))
        known = {(case_id, repeat): trial for case_id, trials in found.items() for repeat, trial in trials.items()}
        if known:
            self._notes.append(f"{len(known)} of {len(self.plan)} trials were measured by an earlier, interrupted run")
        for request in self.plan:
            if (request.case.id, request.repeat) in known:
                self._recorder.settle(request, known[request.case.id, request.repeat])
        await self._run([request for request in self.plan if (request.case.id, request.repeat) not in known])

    async def again(self, case_ids: Iterable[str]) -> bool:
        """One more pass over some cases; False, and nothing asked, when the budget does not allow it."""
        cases = {case.id: case for case in self.suite.cases}
        requests = [request for case_id in case_ids for request in self._next_pass(cases[case_id])]
        if not self._affordable(len(requests)):
            self._notes.append("the budget is used up: suspicious cases were not asked again, so a drop below is not confirmed")
            self._record = None
            return False
        for case_id in dict.fromkeys(request.case.id for request in requests):
            self._recorder.expect(cases[case_id], self.suite.planned(cases[case_id]))
        await self._run(sorted(requests, key=lambda request: request.repeat))
        return True

    def _next_pass(self, case: Case) -> Iterator[Request]:
        done = len(self._recorder.cases[case.id].trials)
        return (Request(case, done + number) for number in range(self.suite.planned(case)))

    def _affordable(self, calls: int) -> bool:
        most = self.suite.limits.max_calls
        return (most is None or self._budget.calls + calls <= most) and not self._budget.is_overspent and self._budget.seconds_left > 0

    async def _run(self, requests: list[Request]) -> None:
        self._record, work = None, self._work()
        self._progress.start(self.suite.name, len(requests))
        if isinstance(self.target, Predictions) and not self._needs_loop():
            with _signals_at_once(self._stop):
                run_offline(requests, self.target.answer, work)
        else:
            await run(requests, self.target, work)
        self._progress.finish()
        if self._stop.is_set():
            self._recorder.abandon(Trial(repeat=0, error=_INTERRUPTED))

    def _needs_loop(self) -> bool:
        """Author's code may hang and references are fetched: both need the loop's deadlines."""
        return bool(self._callables) or any(has_reference(case) for case in self.suite.cases)

    def _work(self) -> Work:
        settings, most = self._parts.settings, self.suite.limits.max_concurrency
        return Work(
            score=self._score, sink=self._recorder, budget=self._budget, concurrency=most, random=self._parts.random, stop=self._stop, progress=self._progress,
            reference=lambda block: build_reference(block, environment=settings.environment, concurrency=most),
        )  # fmt: skip

    def _score(self, case: Case, answer: Answer, rows: ReferenceRows) -> Scored:
        return score_answer(case, answer, Scoring(callables=self._callables, references=rows))

    def _identity(self) -> dict[str, Any]:
        """What must be the same for a resumed run to go on: system, commit and repeats; cases are compared one by one."""
        target = TypeAdapter(type(self.suite.target)).dump_python(self.suite.target, mode="json")
        return {"target": digest([self.target.description, target]), "commit": self._parts.settings.commit, "repeats": self.suite.repeats}

    def record(self) -> RunRecord:
        """The record as it is now, written to disk before anybody compares it."""
        if self._record is None:
            header = self._header()
            self._recorder.write_header(header)
            self._record = self._recorder.record(header)
        return self._record

    def _header(self) -> RunHeader:
        suite, settings = self.suite, self._parts.settings
        cases = list(self._recorder.cases.values())
        costs = [trial.cost_usd for case in cases for trial in case.trials if trial.cost_usd is not None]
        return RunHeader(
            suite=suite.name, key=suite.key, digest=suite.digest, dataset_version=suite.dataset_version, file=suite.file, commit=settings.commit, run_id=settings.run_id,
            pull_request=settings.pull_request, started_at=self._started_at, finished_at=self._parts.stamp(), tool_version=__version__, deterministic=suite.deterministic,
            repeatable=self.target.repeatable, target=dict(self.target.description), policy=TypeAdapter(Policy).dump_python(suite.gate, mode="json"), floor=suite.floor,
            repeats=suite.repeats, selection=Selection(filter=self._selected.filter, tag=self._selected.tag, shard=self._selected.shard),
            interrupted=_INTERRUPTED if self._stop.is_set() else _exhausted(cases), counts=_counts(cases), metrics=suite_metrics(cases),
            calls=Calls(planned=len(self.plan) if self.target.repeatable else 0, made=self._budget.calls), cost_usd=sum(costs) if costs else None, notes=tuple(self._notes),
        )  # fmt: skip


@contextlib.contextmanager
def _signals_at_once(stop: asyncio.Event) -> Iterator[None]:
    """While no loop turns, signals set the event from a plain handler."""
    before = {number: signal.signal(number, lambda *_: stop.set()) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


_INTERRUPTED = Failure(code="INTERRUPTED", message="a signal ended the run; continue it with --resume")


def _exhausted(cases: Iterable[CaseRecord]) -> Failure | None:
    """The failure of a first pass that a limit ended early; a later pass only confirms."""
    for case in cases:
        for trial in case.trials:
            if trial.error is not None and trial.error.code == "BUDGET_EXHAUSTED" and trial.repeat < case.repeats:
                return trial.error
    return None


def _counts(cases: Sequence[CaseRecord]) -> Mapping[str, int]:
    return {"cases": len(cases), "errors": sum(case.is_error for case in cases), "trials": sum(len(case.trials) for case in cases)}


def _most(suite: Suite) -> int:
    return max((suite.planned(case) for case in suite.cases), default=1)


def _as_answered(suite: Suite, target: Target) -> Suite:
    """For a file of answers the plan is what the file holds: nothing can be asked again."""
    if not isinstance(target, Predictions):
        return suite
    stored = {case.id: target.repeats_of(case.id) for case in suite.cases}
    gaps = [case_id for case_id, repeats in stored.items() if repeats != tuple(range(len(repeats)))]
    if gaps:
        what = f"the answers of case {gaps[0]} are not numbered 0, 1, 2, …"
        raise ConfigError.one("INVALID_VALUE", what, "number the runs of each case with `repeat` from 0", file=str(target.description["path"]))
    cases = tuple(case if len(stored[case.id]) == (case.repeats or 1) else dataclasses.replace(case, repeats=len(stored[case.id])) for case in suite.cases)
    return dataclasses.replace(suite, cases=cases, repeats=1)


def _doubts(target: Target, suite: Suite) -> Iterator[str]:
    if isinstance(target, Predictions):
        doubt = target.note(case.id for case in suite.cases)
        if doubt is not None:
            yield doubt
