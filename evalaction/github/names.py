"""Names of artifacts: clean for GitHub, and different for different keys."""

from __future__ import annotations

import hashlib
import re

RESULTS = "eval-gate-results-"
BASELINE = "eval-gate-baseline-"
_REFUSED = re.compile(r"[^A-Za-z0-9._-]+")
"""GitHub refuses `" : < > | * ? \\ /` and line ends; spaces and other scripts would be a trial for every shell behind us."""
_LONGEST = 100


def results_name(key: str, attempt: int) -> str:
    """The artifact of one run's results: `eval-gate-results-<key>-<attempt>`."""
    return f"{RESULTS}{clean(key)}-{attempt}"


def baseline_name(key: str) -> str:
    """The artifact of one suite's baseline."""
    return f"{BASELINE}{clean(key)}"


def clean(key: str) -> str:
    """A key as a part of a name. One that had to be changed gets a short digest, so that `a/b` and `a-b` stay apart."""
    shown = _REFUSED.sub("-", key).strip("-.")[:_LONGEST]
    return shown if shown == key else f"{shown or 'key'}-{hashlib.sha256(key.encode('utf-8', 'replace')).hexdigest()[:8]}"
