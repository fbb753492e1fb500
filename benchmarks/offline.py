"""Starting up, validating, and gating answers from a file: no call is made."""

from __future__ import annotations

import statistics
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks import data
from benchmarks.child import SCRIPTS, Measured, measure
from benchmarks.figures import Row

GATED_MOST_SECONDS_PER_CASE = 3e-4
PEAK_MOST_MB = 500.0
LINEAR_MOST = 1.2


def starting(product: Sequence[str], folder: Path, cases: int, rounds: int) -> list[Row]:
    """Processor seconds (median) of the commands that people wait for at a prompt."""
    suite = data.inline_suite(folder, cases)
    nothing = _processor([sys.executable, "-c", ""], folder, rounds)
    return [
        Row(what="`--version`", unit="s of processor", value=_processor([*product, "--version"], folder, rounds), most=0.12, plain=nothing),
        Row(what="`--help`", unit="s of processor", value=_processor([*product, "--help"], folder, rounds), most=0.20, plain=nothing),
        Row(what=f"`validate`, {cases:,} inline cases", unit="s of processor", value=_processor([*product, "validate", suite.name], folder, rounds), most=0.5),
    ]


def _processor(command: Sequence[str], folder: Path, rounds: int) -> float:
    return statistics.median(measure(command, folder).cpu_seconds for _ in range(rounds))


def gating(product: Sequence[str], folder: Path, counts: Sequence[int]) -> list[Row]:
    """Wall time and peak memory at each size, and whether twice the cases take twice the time."""
    runs = {count: gated(product, folder, count) for count in counts}
    found: list[Row] = []
    for count, (ours, plain) in runs.items():
        name = f"offline, {count:,} cases"
        found += [
            Row(what=f"{name}: wall", unit="s", value=ours.wall_seconds, most=count * GATED_MOST_SECONDS_PER_CASE, plain=plain.wall_seconds),
            Row(what=f"{name}: peak memory", unit="MB", value=ours.peak_mb, most=PEAK_MOST_MB, plain=plain.peak_mb),
        ]
    first, last = min(counts), max(counts)
    growth, plain_growth = ((runs[last][i].wall_seconds / last) / (runs[first][i].wall_seconds / first) for i in (0, 1))
    return [*found, Row(what=f"offline: time per case at {last:,} over {first:,}", unit="times", value=growth, most=LINEAR_MOST, plain=plain_growth)]


def gated(product: Sequence[str], folder: Path, count: int) -> tuple[Measured, Measured]:
    """Accept a first record, then measure the gate on the same answers, and the plain script beside it."""
    place = folder / f"offline-{count}"
    place.mkdir()
    cases, answers = data.ragbench_cases(place, count), data.ragbench_answers(place, count)
    offline = [cases.name, "--predictions", answers.name, "--k", "10"]
    measure([*product, "run", *offline, "--out", "accepted"], place)
    measure([*product, "accept", "accepted", "--baseline", "baseline", "--reason", "first baseline of the benchmark"], place)
    ours = measure([*product, "gate", *offline, "--out", "results", "--baseline", "baseline"], place)
    return ours, measure([sys.executable, str(SCRIPTS / "plain_scores.py"), cases.name, answers.name, "plain"], place)
