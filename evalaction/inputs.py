"""The Action's inputs: one table, equal to action.yml and README (a test holds them equal), and their strict reading, all faults at once."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Literal, cast

from evalaction.core.excerpts import cut
from evalaction.core.shards import read_shard
from evalaction.errors import Fault

Mode = Literal["gate", "accept", "report", "merge", "renew"]
MODES = ("gate", "accept", "report", "merge", "renew")
_PREFIX = "INPUT_"
_LONGEST_NAME, _LONGEST_PATH = 255, 2048
"""Bytes that file systems take for one name, and for a path with room for the workspace before it and our files behind it."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """What the workflow asks for. `key` tells several uses of the Action apart; `explicit_key` says whether a person chose it."""

    suite: tuple[str, ...] = ("evals/**/*.eval.yaml",)
    mode: Mode = "gate"
    github_token: str = dataclasses.field(default="", repr=False)
    working_directory: str = "."
    baseline_store: Literal["artifact", "directory"] = "artifact"
    baseline_dir: str = "eval-baselines"
    baseline_workflow: str = "accept-baseline.yml"
    baseline_run_id: int | None = None
    run_id: int | None = None
    reason: str = ""
    cases: tuple[str, ...] = ()
    only: Literal["regressions"] | None = None
    move_anchor: bool = False
    repeats: int | None = None
    filter: str | None = None
    shard: tuple[int, int] | None = None
    max_concurrency: int | None = None
    comment: bool = True
    check: bool = True
    check_name: str = ""
    key: str = "eval-gate"
    explicit_key: bool = False
    report_only: bool = False
    no_baseline: Literal["neutral", "success", "failure"] = "neutral"
    results_dir: str = "eval-results"
    retention_days: int | None = None
    runtime: Literal["auto", "container", "host"] = "auto"
    pass_env: tuple[str, ...] = ()


def _choice(*words: str) -> Callable[[str], str]:
    def read(text: str) -> str:
        if text.lower() not in words:
            raise ValueError(f"is none of {', '.join(words)}")
        return text.lower()

    return read


def _refuse_stray_bytes(text: str) -> None:
    """Bytes of the environment that are no UTF-8 arrive as half characters, which neither JSON nor GitHub takes."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError("is not UTF-8") from None


def _truth(text: str) -> bool:
    """As YAML users write it."""
    if text.lower() not in ("true", "false"):
        raise ValueError("is neither true nor false")
    return text.lower() == "true"


def _whole(least: int, most: int) -> Callable[[str], int]:
    def read(text: str) -> int:
        if not (text.isascii() and text.isdigit() and len(text) < 19 and least <= int(text) <= most):
            raise ValueError(f"is no whole number from {least:,} to {most:,}")
        return int(text)

    return read


def _lines(text: str) -> tuple[str, ...]:
    """One a line."""
    return tuple(line.strip() for line in text.splitlines() if line.strip())


def _words(text: str) -> tuple[str, ...]:
    """Names in lines, or separated by commas."""
    return tuple(word.strip() for line in _lines(text) for word in line.split(",") if word.strip())


def _variables(text: str) -> tuple[str, ...]:
    names = tuple(name for word in _words(text) for name in word.split())
    wrong = [name for name in names if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name)]
    if wrong:
        raise ValueError(f"names {', '.join(wrong)}, and a variable's name has letters, digits and _ only")
    return names


def _below(text: str) -> str:
    """A folder below the one that the path starts in."""
    path = Path(text)
    if path.is_absolute() or ".." in path.parts or "\\" in text or "\0" in text:
        raise ValueError("is no relative path without ..")
    if any(len(part.encode()) > _LONGEST_NAME for part in path.parts) or len(text.encode()) > _LONGEST_PATH:
        raise ValueError(f"has more than {_LONGEST_NAME} bytes in a name, or more than {_LONGEST_PATH:,} in all")
    if not text.isprintable():
        raise ValueError("has a character that cannot be shown")
    return text


def _folder_of_results(text: str) -> str:
    """A folder with nothing but results in it. The step that keeps them reads a path as a pattern."""
    if not Path(_below(text)).parts:
        raise ValueError("is the working directory itself, and records would lie among the sources")
    if any(part.startswith(".") for part in Path(text).parts):
        raise ValueError("is a hidden folder, which is left out when the results are kept")
    if text.startswith(("!", "~", "#")) or any(sign in text for sign in "*?[]"):
        raise ValueError("would be read as a pattern when the results are kept")
    return text


def _workflow_file(text: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9._-]*\.ya?ml", text):
        raise ValueError("is no file name of a workflow, such as accept-baseline.yml")
    return text


_RUN = _whole(1, 10**18)
_READERS: dict[str, Callable[[str], Any]] = {
    "suite": _lines, "mode": _choice(*MODES), "github-token": str, "working-directory": _below, "baseline-store": _choice("artifact", "directory"), "baseline-dir": _below,
    "baseline-workflow": _workflow_file, "baseline-run-id": _RUN, "run-id": _RUN, "reason": str, "cases": _words, "only": _choice("regressions"), "move-anchor": _truth,
    "repeats": _whole(1, 1000), "filter": str, "shard": read_shard, "max-concurrency": _whole(1, 1000), "comment": _truth, "check": _truth, "check-name": str, "key": str,
    "report-only": _truth, "no-baseline": _choice("neutral", "success", "failure"), "results-dir": _folder_of_results, "retention-days": _whole(1, 400),
    "runtime": _choice("auto", "container", "host"), "pass-env": _variables,
}  # fmt: skip
INPUTS = tuple(_READERS)
"""Names of all inputs, as action.yml declares them."""


def read_inputs(environment: Mapping[str, str]) -> tuple[Inputs, tuple[Fault, ...]]:
    """The inputs with every fault found; a faulty one keeps its default, so that the run can still say so where it is looked for."""
    values: dict[str, Any] = {"key": environment.get("EVAL_GATE_KEY") or environment.get("GITHUB_JOB") or "eval-gate"}
    faults = []
    for name, read in _READERS.items():
        text = environment.get(variable(name), "")
        if not text.strip() and name != "reason":
            continue
        try:
            _refuse_stray_bytes(text)
            values[name.replace("-", "_")] = read(text if name == "reason" else text.strip())
        except ValueError as error:
            faults.append(Fault(code="INVALID_INPUT", what=f"input {name}: {_short(text)} {error}", fix="correct it in the workflow's with:", path=name))
    given = bool(environment.get(variable("key"), "").strip())
    return Inputs(**cast("dict[str, Any]", {**values, "explicit_key": given})), tuple(faults)


def unknown_inputs(environment: Mapping[str, str]) -> Iterable[str]:
    """Inputs that nothing reads: a misspelt one would otherwise change nothing, in silence."""
    known = {variable(name) for name in INPUTS}
    return (name.removeprefix(_PREFIX).lower() for name in environment if name.startswith(_PREFIX) and name not in known)


def variable(name: str) -> str:
    """How the runner names an input's variable: upper case, dashes kept."""
    return _PREFIX + name.upper().replace(" ", "_")


def _short(text: str) -> str:
    return repr(cut(text, 80))
