"""`make bench`: prints a Markdown table and writes build/bench.json.

    python -m benchmarks.run [--only PART]... [--quick] [--product COMMAND] [--out FILE]

The product is only ever a child process, so two versions can be measured by the same yardstick. The machine
should have nothing else to do: with two processors the server takes a part of one. Ends with 0 when everything
was measured, whether or not a target was reached; with 1 when a child failed, naming it.
"""

from __future__ import annotations

import argparse
import shlex
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from benchmarks import calls, figures, models, offline
from benchmarks.child import BenchError
from benchmarks.figures import Row

Part = Callable[[Sequence[str], Path, bool], list[Row]]


def _start(product: Sequence[str], folder: Path, quick: bool) -> list[Row]:
    return offline.starting(product, folder, cases=50 if quick else 1000, rounds=1 if quick else 7)


def _http(product: Sequence[str], folder: Path, quick: bool) -> list[Row]:
    return calls.rows(product, folder, calls.Sizes(short=64, long=128, rounds=1) if quick else calls.Sizes())


def _offline(product: Sequence[str], folder: Path, quick: bool) -> list[Row]:
    return offline.gating(product, folder, [50, 100] if quick else [10_000, 100_000])


def _action(_product: Sequence[str], folder: Path, quick: bool) -> list[Row]:
    from benchmarks import action  # noqa: PLC0415 - the tests' GitHub would make the parent of the measured processes larger, which counts as their memory

    return action.rows(folder, *((1, (2, 4)) if quick else (5, (5, 500))))


def _models(product: Sequence[str], folder: Path, quick: bool) -> list[Row]:
    return models.rows(product, folder, calls.Sizes(short=64, long=128, rounds=1) if quick else calls.Sizes())


PARTS: dict[str, Part] = {"start": _start, "http": _http, "models": _models, "offline": _offline, "action": _action}
DEFAULT = [name for name in PARTS if name != "action"]
"""The Action is measured when it is asked for: it needs root and podman."""


def main(arguments: Sequence[str]) -> int:
    """Measure the parts that were asked for; returns the exit code."""
    options = _options(arguments)
    rows: list[Row] = []
    try:
        with tempfile.TemporaryDirectory(prefix="eval-gate-bench-") as folder:
            for name in options.only or DEFAULT:
                print(f"measuring: {name}", file=sys.stderr, flush=True)
                rows += PARTS[name](shlex.split(options.product), Path(folder), options.quick)
    except BenchError as error:
        print(f"nothing to compare: {error}", file=sys.stderr)
        return 1
    print(figures.markdown(rows))
    figures.write(rows, options.out)
    return 0


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.run", description="Speed and memory of eval-gate beside plain scripts.")
    parser.add_argument("--only", action="append", choices=list(PARTS), help="measure this part (may be given several times); default: all but `action`")
    parser.add_argument("--quick", action="store_true", help="tiny sizes: shows that everything runs, the figures mean nothing")
    parser.add_argument("--product", default=shlex.join([sys.executable, "-m", "evalaction"]), help="command line of the version to measure")
    parser.add_argument("--out", type=Path, default=Path("build/bench.json"), help="where the figures go as JSON")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
