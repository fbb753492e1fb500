"""Answers that exist already."""

import asyncio
import random
import time

from evalaction.core.answer import Answer
from evalaction.core.suite import Limits
from evalaction.errors import MeasureError
from evalaction.runner.budget import Budget
from evalaction.runner.run import run_offline
from evalaction.runner.work import Work
from tests.runner.acting import Recorder, raising, requests_for, score_x


def offline(requests, answer, score=score_x):
    """The recorder of an offline run."""
    sink = Recorder()
    work = Work(score=score, sink=sink, budget=Budget(Limits(max_calls=1), time.monotonic), concurrency=1, random=random.Random(1), stop=asyncio.Event())
    run_offline(requests, answer, work)
    return sink


def test_offline__scores_what_exists_without_spending():
    """Answers on file are scored in order; a bad one is an error of its trial; no calls are counted."""
    done = offline(requests_for(3, 2), lambda case, repeat: raising(MeasureError("INVALID_ANSWER", "bad")) if case.id == "c1" else Answer(output="x" if repeat else "y"))
    assert [key for key, _ in done.settled] == [(f"c{case}", repeat) for case in range(3) for repeat in range(2)]
    assert done.errors == {("c1", 0): "INVALID_ANSWER", ("c1", 1): "INVALID_ANSWER"}
    assert (done.trials["c0", 1].passed, done.trials["c0", 0].passed) == (True, False)


def test_offline__costs_little_beside_scoring():
    """Recording one scored answer takes well under 30 microseconds of CPU time on an ordinary machine."""
    requests, result, answer = requests_for(20_000), score_x(None, Answer(output="x"), {}), Answer(output="short answer", retrieved=("d1", "d2", "d3"))

    class Forgets:
        def journal(self, request, trial):
            pass

        settle = journal

    work = Work(score=lambda _case, _answer, _rows: result, sink=Forgets(), budget=Budget(Limits(), time.monotonic), concurrency=1, random=random.Random(1), stop=asyncio.Event())
    best = min(_timed(requests, answer, work) for _ in range(3))
    assert best < 30e-6


def _timed(requests, answer, work):
    started = time.process_time()
    run_offline(requests, lambda _case, _repeat: answer, work)
    return (time.process_time() - started) / len(requests)
