"""One suite being measured: a target, a recorder, and passes over the cases; the record is on disk after each pass."""

from __future__ import annotations

import asyncio
import dataclasses
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any, Self, TextIO, cast

from evalaction import __version__
from evalaction.app.beside import Beside, Target
from evalaction.app.loading import placed, scorers
from evalaction.app.parts import Job, Parts
from evalaction.app.progress import Masked
from evalaction.app.selecting import refuse_small_budgets
from evalaction.app.signals import stopping_at_once
from evalaction.app.taping import close_tape, open_reference, open_tape, open_target
from evalaction.core.answer import Answer
from evalaction.core.checks import Scoring, score_answer
from evalaction.core.checks.scoring import Scored
from evalaction.core.comparison import PASSES_TO_PROVE
from evalaction.core.fingerprint import digest
from evalaction.core.identity import embedded_by, judged_by
from evalaction.core.model import adapter
from evalaction.core.record import Calls, CaseRecord, Failure, RunHeader, RunRecord, Selection, Trial
from evalaction.core.reruns import ExtraRuns
from evalaction.core.sample import suite_counts, suite_metrics
from evalaction.core.suite import Blame, Case, ModelTarget, Policy, Suite
from evalaction.embedding.embedder import Embedder, build_embedder
from evalaction.errors import ConfigError, Fault
from evalaction.judge.build import build_judge
from evalaction.judge.judge import RubricJudge, self_preference
from evalaction.memory import collection_paused
from evalaction.runner.budget import Budget
from evalaction.runner.progress import Progress, progress_on
from evalaction.runner.references import has_reference
from evalaction.runner.run import run, run_offline
from evalaction.runner.work import Outside, Work
from evalaction.store.recorder import Recorder
from evalaction.targets.base import Recalling, Request
from evalaction.targets.predictions import Predictions
from evalaction.targets.python import load_callable


def prepare(parts: Parts, job: Job, suites: Sequence[Suite], stop: asyncio.Event) -> list[Measurement]:
    """Build every target and judge and check every plan before the first call. Raises ConfigError with the faults of all suites."""
    built, faults = list[Measurement](), list[Fault]()
    for suite in suites:
        try:
            measurement = Measurement(parts, job, suite, stop)
            refuse_small_budgets(measurement.suite, measurement.planned.planned + measurement.planned.judge_planned)
            built.append(measurement)
        except ConfigError as error:
            faults += [placed(fault, suite) for fault in error.faults]
    if faults:
        raise ConfigError(faults)
    for one in built if any(one.target.repeatable for one in built) else ():
        one.recorder.seals.kept = True  # one suite's target may reach into another's record
    return built


class Measurement:
    """A suite on its way to a record. An async context: within it the target is open and the suite's clock runs. `stop` ends it early."""

    def __init__(self, parts: Parts, job: Job, suite: Suite, stop: asyncio.Event, beside: Beside | None = None) -> None:
        settings = parts.settings
        self._tapes, self.tape = job.tapes, open_tape(parts, job.tapes, suite)
        self.target: Target = beside.target if beside else open_target(parts, suite, self.tape)
        self.judge = build_judge(suite, environment=settings.environment, cwd=settings.cwd, tape=self.tape)
        self._embedder = build_embedder(suite)
        self.suite = _as_embedded(_as_judged(_as_answered(suite, self.target), self.judge), self._embedder)
        self.folder = job.outputs.out / suite.key
        self.plan = [Request(case, repeat) for repeat in range(_most(self.suite)) for case in self.suite.cases if repeat < self.suite.planned(case)]
        self.planned = self._calls(self.plan)
        self._parts, self._selected, self._beside = parts, job.selected, beside
        self._callables = scorers(suite, lambda reference: load_callable(reference, settings.cwd))
        self.recorder = Recorder(self.folder, self.suite, settings.masker, journaled=self.target.repeatable)
        self.sealed = [self.recorder.seals]
        self._budget: Budget
        self._progress: Progress = Masked(progress_on(cast("TextIO", parts.console.err)), settings.masker)  # it writes, flushes and says whether it is a terminal
        self.stop = stop
        self._started_at = ""
        self._record: RunRecord | None = None
        self._ended: Failure | None = None
        self._extra: tuple[ExtraRuns, ...] = ()
        self._notes: list[str] = list(_doubts(self.target, self.suite, self.judge, whole=job.selected.is_whole))

    async def __aenter__(self) -> Self:
        self._budget = self._beside.budget if self._beside else Budget(self.suite.limits, self._parts.clock)
        self._used = (self._budget.calls, self._budget.judge_calls)
        self._started_at = self._parts.stamp()
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._progress.finish()
        try:
            await self.target.close()
            if self.judge is not None:
                await self.judge.close()
        finally:
            self.recorder.close(keep_journal=error is not None or self.stop.is_set())
            whole = error is None and self._ended is None and not self.stop.is_set() and not any(case.is_error for case in self.recorder.cases.values())
            close_tape(self._parts, self._tapes, self.suite, self.tape, whole=whole)

    @property
    def budget(self) -> Budget:
        """What the suite may spend, and has spent."""
        return self._budget

    @property
    def can_go_on(self) -> bool:
        """Whether the target can be asked again: a file of answers and a cassette cannot, nor after a signal."""
        return self.repeatable and not self.stop.is_set()

    @property
    def repeatable(self) -> bool:
        """Whether asking again could bring another answer than before; with a replayed answer among them, the run stands as it is."""
        return self.target.repeatable and not self.tape.replayed["target"]

    async def first_pass(self) -> None:
        """Ask for every planned trial that an interrupted run has not measured already."""
        found = self.recorder.start(self._identity(), resume=self._selected.resume)
        for case in self.suite.cases:
            self.recorder.expect(case, self.suite.planned(case))
        known = {(case_id, repeat): trial for case_id, trials in found.items() for repeat, trial in trials.items() if self.tape.suffices(case_id, repeat)}
        if known:
            self._notes.append(f"{len(known)} of {len(self.plan)} trials were measured by an earlier, interrupted run")
        for request in self.plan:
            if (request.case.id, request.repeat) in known:
                self.recorder.settle(request, known[request.case.id, request.repeat])
        await self._run([request for request in self.plan if (request.case.id, request.repeat) not in known])

    async def again(self, case_ids: Iterable[str], *, runs: int | None = None) -> bool:
        """Some cases once more, a whole pass of each or `runs` trials. False when the budget allows none of them: then nothing is proven, and the run says so."""
        cases = {case.id: case for case in self.suite.cases}
        wanted = {case_id: list(self._next_pass(cases[case_id], runs)) for case_id in case_ids}
        requests = self._affordable(wanted)
        if not requests:
            message = f"{len(wanted)} suspicious case{'s' if len(wanted) > 1 else ''} could not be asked again: {self._budget.exhausted().message}"
            self._ended, self._record = Failure(code="BUDGET_EXHAUSTED", message=message), None
            return False
        for case_id, count in Counter(request.case.id for request in requests).items():
            self.recorder.expect(cases[case_id], count)
        await self._run(sorted(requests, key=lambda request: request.repeat))
        return True

    def _next_pass(self, case: Case, runs: int | None) -> Iterator[Request]:
        done = len(self.recorder.cases[case.id].trials)
        return (Request(case, done + number) for number in range(runs or self.suite.planned(case)))

    def _affordable(self, wanted: Mapping[str, list[Request]]) -> list[Request]:
        """As many of the wanted cases, in their order, as the budget can prove or clear: half a proof is none."""
        most, chosen, calls_left = self.suite.limits.max_calls, list[Request](), math.inf
        if self._budget.is_overspent or self._budget.seconds_left <= 0:
            return chosen
        if most is not None:
            calls_left = most - self._budget.all_calls
        for requests in wanted.values():
            calls = self._calls(requests)
            calls_left -= (calls.planned + calls.judge_planned) * self._passes_left(requests)
            if calls_left < 0:
                break
            chosen += requests
        return chosen

    def _passes_left(self, requests: Sequence[Request]) -> int:
        """Passes that a proof still takes, this one included."""
        first = requests[0]
        return max(1, PASSES_TO_PROVE - first.repeat // self.suite.planned(first.case)) if len(requests) == self.suite.planned(first.case) else 1

    def _calls(self, requests: Sequence[Request]) -> Calls:
        """Calls that these trials need when nothing fails; a file of answers is not called, nor is what a cassette knows."""
        known = sum(map(self.target.knows, requests)) if isinstance(self.target, Recalling) else 0
        judge_planned = 0 if self.judge is None or not self.tape.asks else sum(self.judge.planned_calls(one.case) for one in requests)
        return Calls(planned=len(requests) - known if self.target.repeatable else 0, judge_planned=judge_planned)

    async def _run(self, requests: list[Request]) -> None:
        self._record, work = None, self._work()
        self._progress.start(self.suite.name, len(requests))
        if isinstance(self.target, Predictions) and not self._needs_loop():
            with stopping_at_once(self.stop), collection_paused():
                run_offline(requests, self.target.answer, work)
        else:
            await run(requests, self.target, work)
        self._progress.finish()
        if self.stop.is_set():
            self.recorder.abandon(Trial(repeat=0, error=_INTERRUPTED))

    def _needs_loop(self) -> bool:
        """Author's code may hang, references are fetched and judges are asked: all need the loop's deadlines."""
        return bool(self._callables) or self.judge is not None or any(has_reference(case) for case in self.suite.cases)

    def _work(self) -> Work:
        most = self.suite.limits.max_concurrency
        return Work(
            score=self._score, judge=self.judge, sink=self.recorder, budget=self._budget, concurrency=most, random=self._parts.random, stop=self.stop, progress=self._progress,
            reference=lambda block: open_reference(self._parts, self.suite, self.tape, block),
        )  # fmt: skip

    def _score(self, case: Case, answer: Answer, outside: Outside) -> Scored:
        likeness = None if self._embedder is None else self._embedder.likeness
        return score_answer(case, answer, Scoring(callables=self._callables, references=outside, judged=outside, likeness=likeness))

    def _identity(self) -> dict[str, Any]:
        """What must be the same for a resumed run to go on: system, commit and repeats; cases are compared one by one."""
        target = adapter(type(self.suite.target)).dump_python(self.suite.target, mode="json")
        return {"target": digest([self.target.description, target]), "commit": self._parts.settings.commit, "repeats": self.suite.repeats}

    def record(self) -> RunRecord:
        """The record as it is now, written to disk before anybody compares it."""
        if self._record is None:
            header = self._header()
            self.recorder.write_header(header)
            self._record = self.recorder.record(header)
        return self._record

    def explain(self, extra: tuple[ExtraRuns, ...]) -> RunRecord:
        """The record with why cases were run again, on disk too."""
        if extra != self._extra:
            self._extra, self._record = extra, None
        return self.record()

    def _header(self) -> RunHeader:
        suite, settings = self.suite, self._parts.settings
        cases = [self.recorder.cases[case.id] for case in suite.cases if case.id in self.recorder.cases]  # not in the order of their end, which is chance
        costs = [trial.cost_usd for case in cases for trial in case.trials if trial.cost_usd is not None]
        if self.judge is not None and self.judge.usage.cost_usd is not None:
            costs.append(self.judge.usage.cost_usd)
        return RunHeader(
            suite=suite.name, key=suite.key, digest=suite.digest, dataset_version=suite.dataset_version, file=suite.file, commit=settings.commit, run_id=settings.run_id,
            pull_request=settings.pull_request, started_at=self._started_at, finished_at=self._parts.stamp(), tool_version=__version__, deterministic=suite.deterministic,
            repeatable=self.repeatable, target=dict(self.target.description), policy=adapter(Policy).dump_python(suite.gate, mode="json"), floor=suite.floor,
            blame=None if suite.blame is None else adapter(Blame).dump_python(suite.blame, mode="json"), repeats=suite.repeats,
            selection=Selection(filter=self._selected.filter, tag=self._selected.tag, shard=self._selected.shard),
            interrupted=_INTERRUPTED if self.stop.is_set() else self._ended or self.tape.failure or _exhausted(cases),
            counts=suite_counts(cases, 0 if self._beside else settings.uncommitted), metrics=suite_metrics(cases), calls=self._made(),
            judge=None if self.judge is None else {**self.judge.description, **self.judge.usage.as_json()}, cost_usd=math.fsum(costs) if costs else None, notes=tuple(self._notes),
            extra_runs=self._extra, description=suite.description, dialect=suite.dialect,
        )  # fmt: skip

    def _made(self) -> Calls:
        made, judge_made = self._budget.calls - self._used[0], self._budget.judge_calls - self._used[1]
        replayed = self.tape.replayed
        return dataclasses.replace(self.planned, made=made, judge_made=judge_made, replayed=replayed["target"], judge_replayed=replayed["judge"])


_INTERRUPTED = Failure(code="INTERRUPTED", message="a signal ended the run; continue it with --resume")


def _exhausted(cases: Iterable[CaseRecord]) -> Failure | None:
    """The failure of a first pass that a limit ended early; a later pass only confirms."""
    for case in cases:
        for trial in case.trials:
            if trial.error is not None and trial.error.code == "BUDGET_EXHAUSTED" and trial.repeat < case.repeats:
                return trial.error
    return None


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


def _as_judged(suite: Suite, judge: RubricJudge | None) -> Suite:
    """With a judge each criterion of a rubric is a check of its own."""
    return suite if judge is None else dataclasses.replace(suite, cases=judged_by(suite.cases, judge.spec))


def _as_embedded(suite: Suite, embedder: Embedder | None) -> Suite:
    """The embedding model belongs to what a similarity check is."""
    return suite if embedder is None else dataclasses.replace(suite, cases=embedded_by(suite.cases, embedder.name))


def _doubts(target: Target, suite: Suite, judge: RubricJudge | None, *, whole: bool) -> Iterator[str]:
    if isinstance(target, Predictions) and whole:
        doubt = target.note(case.id for case in suite.cases)
        if doubt is not None:
            yield doubt
    if judge is not None and (preference := self_preference(judge.spec, suite.target)):
        yield preference
    unpriced = [f"judge {judge.spec.model}"] if judge is not None and not judge.provider.has_price else []
    unpriced += [f"target {suite.target.model}"] if isinstance(suite.target, ModelTarget) and not getattr(target, "has_price", True) else []
    for name in unpriced:
        limit = ", and limits.max_cost_usd does not see it" if suite.limits.max_cost_usd is not None else ""
        yield f"no price is known for the {name}: its cost is not counted{limit}; name a price table in EVAL_GATE_PRICES"
