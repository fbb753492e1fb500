"""Model targets and the judge through the SDK of OpenAI, against a server with 50 ms of latency, 32 calls at once."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from benchmarks import data
from benchmarks.calls import AT_ONCE, Run, Sizes, once, server, typical
from benchmarks.child import SCRIPTS
from benchmarks.figures import Row

_KEY = ("env", "OPENAI_API_KEY=none")
"""`env` replaces itself by the command, so the figures are those of the command."""


@dataclasses.dataclass(frozen=True, slots=True)
class Kind:
    """Who is asked, and what that may cost: wall as multiples of the ideal for the short and the long run, memory of the short one."""

    name: str
    suite: Callable[[Path, int, int], Path]
    wall_most: tuple[float, float] = (1.9, 1.25)
    peak_most_mb: float = 110.0


KINDS = (Kind("model", data.model_suite), Kind("judge", data.judged_suite))
CPU_MOST_MS = 2.0


def product_runs(product: Sequence[str], kind: Kind, folder: Path, port: int, sizes: Sizes) -> tuple[Run, Run]:
    """The short and the long run of the gate, without a baseline."""

    def gate(count: int, name: str) -> Run:
        suite = kind.suite(folder, count, port)
        options = ["--out", f"{name}-out", "--baseline", "none", "--max-concurrency", str(AT_ONCE)]
        return once([*_KEY, *product, "gate", suite.name, *options], folder, port, count)

    return typical([gate(sizes.short, f"{kind.name}-short-{i}") for i in range(sizes.rounds)]), gate(sizes.long, f"{kind.name}-long")


def plain_runs(folder: Path, port: int, sizes: Sizes) -> tuple[Run, Run]:
    """The same number of calls from a bare script."""

    def plain(count: int) -> Run:
        data.dataset_suite(folder, count, port)
        return once([sys.executable, str(SCRIPTS / "plain_models.py"), f"cases-{count}.jsonl", str(port), str(AT_ONCE), f"plain-models-{count}.json"], folder, port, count)

    return typical([plain(sizes.short) for _ in range(sizes.rounds)]), plain(sizes.long)


def rows(product: Sequence[str], folder: Path, sizes: Sizes) -> list[Row]:
    """All figures of target and judge beside the plain script."""
    with server() as port:
        plain = plain_runs(folder, port, sizes)
        return [row for kind in KINDS for row in _rows(kind, sizes, product_runs(product, kind, folder, port, sizes), plain)]


def _rows(kind: Kind, sizes: Sizes, ours: tuple[Run, Run], plain: tuple[Run, Run]) -> list[Row]:
    counts, (short, long), (plain_short, plain_long) = (sizes.short, sizes.long), ours, plain
    walls = zip(counts, ours, plain, kind.wall_most, strict=True)
    cpu, plain_cpu = ((b.cpu_seconds - a.cpu_seconds) / (sizes.long - sizes.short) * 1e3 for a, b in ((short, long), (plain_short, plain_long)))
    return [
        *(Row(what=f"{kind.name}, {count:,} calls: wall", unit="of the ideal", value=run.wall, most=most, plain=other.wall) for count, run, other, most in walls),
        Row(what=f"{kind.name}, {sizes.short:,} calls: processor", unit="s", value=short.cpu_seconds, plain=plain_short.cpu_seconds),
        Row(what=f"{kind.name}: processor per further call", unit="ms", value=cpu, most=CPU_MOST_MS, plain=plain_cpu),
        Row(what=f"{kind.name}, {sizes.short:,} calls: peak memory", unit="MB", value=short.peak_mb, most=kind.peak_most_mb, plain=plain_short.peak_mb),
    ]
