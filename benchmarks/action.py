"""The Action in its container: how long a gate takes from start to exit, what of it is Python's start, what it asks of GitHub, and how large the image is.

The image is that of this checkout, podman stands in for docker, and GitHub is the tests' own, on loopback.
"""

from __future__ import annotations

import contextlib
import io
import os
import statistics
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.child import BenchError
from benchmarks.figures import Row
from tests.action.engine import Step, Unavailable, built
from tests.github import events
from tests.github.acting import Acting
from tests.github.fake import FakeGitHub, serving

WALL_MOST_SECONDS, START_MOST_SECONDS, CALLS_MOST, SIZE_MOST_MB = 3.0, 0.6, 12, 180.0
TIMED_CASES = 50
START = """
import statistics, subprocess, sys, time
def seconds(program):
    started = time.monotonic()
    subprocess.run([sys.executable, "-c", program], check=True)
    return time.monotonic() - started
program = "import sys; sys.path.insert(0, '/app'); import evalaction.action, evalaction.github.client"
seconds(program)
print(statistics.median(seconds(program) for _ in range(int(sys.argv[1]))))
"""
"""Measures inside the container: interpreter, program and GitHub's client, until all is imported."""


def rows(folder: Path, rounds: int, sizes: tuple[int, int]) -> list[Row]:
    """The figures, as medians of `rounds` after one that warms up; `sizes` are the two numbers of cases whose calls are counted.

    Raises BenchError when there is no podman or a run did not pass.
    """
    try:
        image = built(folder)
    except Unavailable as reason:
        raise BenchError(str(reason)) from None
    wall = _timed(folder / "timed", image, rounds)
    start = float(_podman("run", "--rm", "--network", "none", "--entrypoint", "/opt/eval-gate/bin/python", image, "-c", START, str(rounds)))
    size = int(_podman("image", "inspect", image, "--format", "{{.Size}}")) / 1e6
    calls = {count: _calls(folder / f"calls-{count}", image, count) for count in sizes}
    return [
        Row(what=f"gate of {TIMED_CASES} predictions in the container", unit="s", value=wall, most=WALL_MOST_SECONDS),
        Row(what="… of it interpreter and imports", unit="s", value=start, most=START_MOST_SECONDS),
        *(Row(what=f"API calls of a pull request's run, {count:,} cases", unit="calls", value=value, most=CALLS_MOST) for count, value in calls.items()),
        Row(what="image, unpacked", unit="MB", value=size, most=SIZE_MOST_MB),
    ]


def _timed(folder: Path, image: str, rounds: int) -> float:
    with _step(folder, image, TIMED_CASES) as (_, step):
        _gate(step)
        return statistics.median(_gate(step) for _ in range(rounds))


def _calls(folder: Path, image: str, cases: int) -> int:
    with _step(folder, image, cases) as (gh, step):
        _gate(step)
        return len(gh.api_calls())


def _gate(step: Step) -> float:
    """Wall time of one run that passes. Raises BenchError for any other verdict."""
    (step.temp / "output").write_text("")
    started = time.monotonic()
    ended = step.run()
    seconds = time.monotonic() - started
    if ended.word != "passed":
        raise BenchError(f"the gate in the container said {ended.word}, not passed:\n{ended.log[-2000:]}")
    return seconds


@contextlib.contextmanager
def _step(folder: Path, image: str, cases: int) -> Iterator[tuple[FakeGitHub, Step]]:
    """A pull request whose suite of predictions has a baseline in the artifact store."""
    (folder / "before").mkdir(parents=True)
    with serving() as gh:
        before = Acting(gh, folder / "before", str)
        before.suite(cases=cases)
        with contextlib.chdir(folder), contextlib.redirect_stdout(io.StringIO()), _environment_kept():
            measured = before.upload(before.act(events.push(gh)))
            before.accepted(events.dispatch(gh), run=measured)
        step = Step(gh, folder, image)
        step.acting.suite(cases=cases)
        gh.seen.clear()
        yield gh, step


@contextlib.contextmanager
def _environment_kept() -> Iterator[None]:
    kept = dict(os.environ)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(kept)


def _podman(*words: str) -> str:
    done = subprocess.run(["podman", *words], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise BenchError(f"podman {words[0]} ended with {done.returncode}:\n{done.stderr[-2000:]}")
    return done.stdout
