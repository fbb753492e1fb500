"""The simplest baseline: a text file with one number, the pass rate that people accepted in a reviewed change.

It is named with `--baseline FILE`, or lies as `baseline-score.txt` where the folder of a suite's baseline is looked for.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import Path

from evalaction.core.acceptance import Acceptance, Baseline
from evalaction.core.record import RunHeader, RunRecord
from evalaction.errors import ConfigError
from evalaction.store.baselines import SCORE, DirectoryStore
from evalaction.store.files import read_bytes

_LARGEST = 4096
"""Bytes of a file that may still be one number."""


def baselines_of(store: DirectoryStore, keys: Iterable[str]) -> dict[str, Baseline | None]:
    """The baseline of each suite by key: an accepted record, a score, or None. Raises ConfigError when one is there and not right."""
    wanted = list(keys)
    if not store.root.is_file():
        return {key: _score_or_record(store, key) for key in wanted}
    if len(wanted) > 1:
        what = f"one score cannot be the baseline of {len(wanted)} suites"
        raise ConfigError.one("INVALID_INPUT", what, f"name one suite, or a folder with a {SCORE} in the folder of each suite", file=str(store.root), path="--baseline")
    return {key: read_score(store.root, key) for key in wanted}


def _score_or_record(store: DirectoryStore, key: str) -> Baseline | None:
    return read_score(store.folder(key) / SCORE, key) if store.is_score(key) else store.load(key)


def read_score(path: Path, key: str) -> Baseline:
    """The baseline in such a file. Raises ConfigError INVALID_RECORD unless it holds one number in 0..1 and nothing else."""
    text = read_bytes(path, _LARGEST).decode("utf-8-sig", "replace").strip()
    try:
        score = float(text)
    except ValueError:
        score = math.nan
    if not 0 <= score <= 1:
        raise ConfigError.one("INVALID_RECORD", "the file does not hold one number from 0 to 1", "write the accepted pass rate alone, such as 0.90", file=str(path), line=1)
    header = RunHeader(suite=key, key=key, digest="", file=str(path), started_at="", finished_at="", tool_version="")
    return Baseline(record=RunRecord(header=header, cases={}, score=score), acceptance=Acceptance(reason="", accepted_at="", accepted_by=""))
