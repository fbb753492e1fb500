"""Targets that act as told, a sink that remembers, and a run of both."""

from __future__ import annotations

import asyncio
import dataclasses
import random
import time

from evalaction.core.record import CheckResult
from evalaction.core.suite import Case, Limits
from evalaction.errors import TargetError
from evalaction.runner.budget import Budget
from evalaction.runner.run import run
from evalaction.runner.work import Work
from evalaction.targets.base import Request


@dataclasses.dataclass
class Score:
    """Scored by a test's own rule: 1 for the output `x`."""

    score: float
    passed: bool
    checks: tuple = (CheckResult(id="check", score=1.0, passed=True),)


def score_x(case, answer, rows):
    """Right is the output `x`."""
    right = answer.output == "x"
    return Score(float(right), right, (CheckResult(id="c", score=float(right), passed=right),))


class Recorder:
    """Keeps what the runner hands on."""

    def __init__(self):
        self.journaled, self.settled, self.on_settle = [], [], lambda: None

    def journal(self, request, trial):
        """Keep."""
        self.journaled.append(((request.case.id, request.repeat), trial))

    def settle(self, request, trial):
        """Keep, and tell."""
        self.settled.append(((request.case.id, request.repeat), trial))
        self.on_settle()

    @property
    def trials(self):
        """Trial by (case, repeat)."""
        assert len(dict(self.settled)) == len(self.settled), "a request is settled once"
        return dict(self.settled)

    @property
    def errors(self):
        """Code by (case, repeat)."""
        return {key: trial.error.code for key, trial in self.trials.items() if trial.error}


class Target:
    """Answers by a function of (request, number of the call); the runner's side of the wire is what is tested."""

    repeatable = True
    description = {"kind": "test"}  # noqa: RUF012  # a constant

    def __init__(self, reply, retries=0):
        self.reply, self.retries = reply, retries
        self.calls, self.now, self.peak = 0, 0, 0

    async def ask(self, request):
        """Count, and answer."""
        number, self.calls = self.calls, self.calls + 1
        self.now += 1
        self.peak = max(self.peak, self.now)
        try:
            answer = self.reply(request, number)
            return await answer if asyncio.iscoroutine(answer) else answer
        finally:
            self.now -= 1

    async def close(self):
        """Nothing is held."""


class Batch:
    """A batch target that yields what a generator function yields."""

    repeatable = True
    retries = 0
    description = {"kind": "test"}  # noqa: RUF012  # a constant

    def __init__(self, play):
        self.play, self.batches, self.closed = play, [], 0

    async def ask_all(self, requests):
        """Note the batch, and play."""
        self.batches.append([(request.case.id, request.repeat) for request in requests])
        try:
            async for reply in self.play(requests):
                yield reply
        finally:
            self.closed += 1

    async def close(self):
        """Nothing is held."""


def requests_for(count, repeats=1, checks=()):
    """Trials of the cases c0, c1, …."""
    return [Request(Case(id=f"c{number}", input="", checks=checks), repeat) for number in range(count) for repeat in range(repeats)]


def measure(requests, target, limits=None, *, stop_after=None, clock=time.monotonic, **parts):
    """The recorder and the parts of a run."""
    sink, naps = Recorder(), []

    async def nap(seconds):
        naps.append(seconds)
        await asyncio.sleep(0)

    async def go():
        stop = asyncio.Event()
        if stop_after is not None:
            sink.on_settle = lambda: stop.set() if len(sink.settled) >= stop_after else None
        budget = Budget(limits or Limits(), clock)
        work = Work(**{"score": score_x, "sink": sink, "budget": budget, "concurrency": 4, "random": random.Random(1), "stop": stop, "sleep": nap, **parts})
        await run(requests, target, work)
        return budget

    sink.budget = asyncio.run(go())
    sink.naps = naps
    return sink


def busy(hint=None, status=429):
    """An overloaded target's error."""
    return TargetError("TARGET_FAILED", f"HTTP {status}", "body", retryable=True, retry_after_seconds=hint, overloaded=status == 429)


def raising(error):
    """Raise, as an expression."""
    raise error
