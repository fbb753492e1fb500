"""The http target against a server with 50 ms of latency, 32 calls at once."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import statistics
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from benchmarks import data
from benchmarks.child import SCRIPTS, BenchError, clean_environment, measure
from benchmarks.figures import Row

LATENCY_SECONDS = 0.05
AT_ONCE = 32
KINDS: dict[str, Callable[[Path, int, int], Path]] = {"inline YAML": data.inline_suite, "JSONL": data.dataset_suite}
WALL_MOST = {("inline YAML", "short"): 1.5, ("JSONL", "short"): 1.5, ("inline YAML", "long"): 1.25, ("JSONL", "long"): 1.15}
MEMORY_MOST_KB = {"inline YAML": 10.0, "JSONL": 4.0}


@dataclasses.dataclass(frozen=True, slots=True)
class Sizes:
    """Cases of the short and of the long run, and how often the short one is repeated (its median counts)."""

    short: int = 1000
    long: int = 5000
    rounds: int = 3


@dataclasses.dataclass(frozen=True, slots=True)
class Run:
    """One run: `wall` and `window` (first request's start to last response) as multiples of the ideal, count * latency / 32."""

    wall: float
    window: float
    tail_seconds: float
    cpu_seconds: float
    peak_mb: float


@contextlib.contextmanager
def server() -> Iterator[int]:
    """The port of a server in a process of its own."""
    command = [sys.executable, str(SCRIPTS / "server.py"), str(LATENCY_SECONDS)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=clean_environment()) as process:
        try:
            assert process.stdout is not None
            yield int(process.stdout.readline())
        finally:
            process.terminate()


def seen(port: int) -> dict[str, float]:
    """What the server saw since it was last asked."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(f"http://127.0.0.1:{port}/", timeout=10) as response:
        found: dict[str, float] = json.load(response)
    return found


def once(command: Sequence[str], folder: Path, port: int, count: int) -> Run:
    """Measure one command that makes `count` calls. Raises BenchError when it made another number, or more than 32 at once."""
    seen(port)
    measured = measure(command, folder)
    found = seen(port)
    if found["calls"] != count or found["at_once"] > AT_ONCE:
        raise BenchError(f"{' '.join(command)} made {found['calls']} calls, {found['at_once']} at once; asked for {count} and at most {AT_ONCE}")
    ideal = count * LATENCY_SECONDS / AT_ONCE
    return Run(measured.wall_seconds / ideal, (found["last_end"] - found["first_start"]) / ideal, measured.ended_at - found["last_end"], measured.cpu_seconds, measured.peak_mb)


def typical(runs: Sequence[Run]) -> Run:
    """The median of each figure."""
    return Run(**{field.name: statistics.median(getattr(run, field.name) for run in runs) for field in dataclasses.fields(Run)})


def product_runs(product: Sequence[str], kind: str, folder: Path, port: int, sizes: Sizes) -> tuple[Run, Run]:
    """The short and the long run of the gate, without a baseline: measure, write, report."""

    def gate(count: int, name: str) -> Run:
        suite = KINDS[kind](folder, count, port)
        return once([*product, "gate", suite.name, "--out", f"{name}-out", "--baseline", "none", "--max-concurrency", str(AT_ONCE)], folder, port, count)

    slug = kind.split(maxsplit=1)[0]
    return typical([gate(sizes.short, f"{slug}-short-{i}") for i in range(sizes.rounds)]), gate(sizes.long, f"{slug}-long")


def plain_runs(folder: Path, port: int, sizes: Sizes) -> tuple[Run, Run]:
    """The same calls from a bare script."""

    def plain(count: int) -> Run:
        data.dataset_suite(folder, count, port)
        return once([sys.executable, str(SCRIPTS / "plain_calls.py"), f"cases-{count}.jsonl", str(port), str(AT_ONCE), f"plain-{count}.json"], folder, port, count)

    return typical([plain(sizes.short) for _ in range(sizes.rounds)]), plain(sizes.long)


def rows(product: Sequence[str], folder: Path, sizes: Sizes) -> list[Row]:
    """All figures of both kinds of suite beside the plain script."""
    with server() as port:
        plain = plain_runs(folder, port, sizes)
        return [row for kind in KINDS for row in _rows(kind, sizes, product_runs(product, kind, folder, port, sizes), plain)]


def _rows(kind: str, sizes: Sizes, ours: tuple[Run, Run], plain: tuple[Run, Run]) -> list[Row]:
    found: list[Row] = []
    for length, count, run, other in zip(("short", "long"), (sizes.short, sizes.long), ours, plain, strict=True):
        name = f"http, {count:,} cases, {kind}"
        found += [
            Row(what=f"{name}: wall", unit="of the ideal", value=run.wall, most=WALL_MOST[kind, length], plain=other.wall),
            Row(what=f"{name}: window of the calls", unit="of the ideal", value=run.window, most=1.08, plain=other.window),
            Row(what=f"{name}: last answer to exit", unit="s", value=run.tail_seconds, most=0.5, plain=other.tail_seconds),
        ]
    return [*found, *_growth(kind, sizes, ours, plain)]


def _growth(kind: str, sizes: Sizes, ours: tuple[Run, Run], plain: tuple[Run, Run]) -> list[Row]:
    (short, long), (plain_short, plain_long), more = ours, plain, sizes.long - sizes.short
    cpu, plain_cpu = ((b.cpu_seconds - a.cpu_seconds) / more * 1e3 for a, b in ((short, long), (plain_short, plain_long)))
    memory, plain_memory = ((b.peak_mb - a.peak_mb) / more * 1e3 for a, b in ((short, long), (plain_short, plain_long)))
    return [
        Row(what=f"http, {kind}: processor per further case", unit="ms", value=cpu, most=0.8, plain=plain_cpu),
        Row(what=f"http, {sizes.short:,} cases, {kind}: peak memory", unit="MB", value=short.peak_mb, most=75.0, plain=plain_short.peak_mb),
        Row(what=f"http, {kind}: memory per further case", unit="kB", value=memory, most=MEMORY_MOST_KB[kind], plain=plain_memory),
    ]
