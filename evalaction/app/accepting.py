"""`accept`: a person makes a measured record the baseline; what it lowers and raises is printed, case by case."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from pathlib import Path
from typing import Literal

from evalaction.app.parts import Parts
from evalaction.core.accept import Accepted, AcceptRequest, accept, rules_of
from evalaction.core.record import RunRecord
from evalaction.core.verdict import Verdict
from evalaction.errors import ConfigError
from evalaction.store.baselines import DirectoryStore
from evalaction.store.records import HEADER_FILE, load, read_cases, read_record, record_folders


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class AcceptJob:
    """Which records, into which store, and what the person says."""

    record: Path
    baseline: Path
    reason: str
    by: str | None = None
    cases: tuple[str, ...] = ()
    only: Literal["regressions"] | None = None
    move_anchor: bool = False
    anchor: bool = False


def accept_records(parts: Parts, job: AcceptJob) -> Literal["accepted", "drifted"]:
    """Accept the records of the last run at a place; none is stored unless all of them may be. Raises ConfigError when one must not be a baseline."""
    store = DirectoryStore(job.baseline)
    masked = parts.settings.masker.text
    request = AcceptRequest(
        reason=masked(job.reason), accepted_by=masked(job.by or parts.settings.person()), accepted_at=parts.stamp(), cases=job.cases, only=job.only, move_anchor=job.move_anchor,
        anchor=job.anchor, accepted_in=parts.settings.run_id,
    )  # fmt: skip
    if request.accepted_by == "unknown":
        parts.console.say('warning: nobody is named as the one who accepts; add --by NAME')
    ready: list[tuple[Path, RunRecord, Accepted]] = []
    for folder in _of_the_last_run(job.record):
        record = read_record(folder)
        parts.console.say(f"suite {record.header.suite}: measured at {record.header.finished_at}, commit {record.header.commit or 'unknown'}")
        ready.append((folder, record, accept(record, store.load(record.header.key), request)))
    for _, record, accepted in ready:
        for line in _lines(record, accepted):
            parts.console.say(line)
    if any(accepted.drifted for _, _, accepted in ready):
        return "drifted"
    for folder, record, accepted in ready:
        answers = {**store.answers(record.header.key, list(accepted.baseline.record.cases)), **read_cases(folder, _taken(record, accepted))}
        path = store.save(record.header.key, accepted.baseline, answers)
        parts.console.say(f"suite {record.header.suite}: accepted by {request.accepted_by}: {request.reason} ({path})")
        if advice := _advice(accepted.baseline.record):
            parts.console.say(advice)
    return "accepted"


def _advice(baseline: RunRecord) -> str | None:
    """How to get a baseline that holds enough runs for statistics; None where it does, or where answers cannot be asked for again."""
    header = baseline.header
    if not header.repeatable or rules_of(baseline, baseline=baseline).name != "tolerance":
        return None
    runs = min(len(case.measured) for case in baseline.cases.values())
    many = f"{runs} run{'s' if runs > 1 else ''} of each case, too few to tell noise from change"
    return f"suite {header.suite}: this baseline holds {many}: `eval-gate calibrate SUITE` measures ten, says what could be seen with them, and leaves a record to accept"


def _of_the_last_run(place: Path) -> tuple[Path, ...]:
    """The records at a place. Records of earlier runs may lie beside them: where a verdict names its suites, only those are meant."""
    folders = record_folders(place)
    verdict = place / "verdict.json"
    if (place / HEADER_FILE).is_file() or not verdict.is_file():
        return folders
    named = {suite.key for suite in load(Verdict, verdict).suites}
    meant = tuple(folder for folder in folders if folder.name in named)
    if not meant:
        there = ", ".join(str(folder) for folder in folders[:5])
        fix = f"measure again, or name a record of an earlier run: {there}"
        raise ConfigError.one("INVALID_RECORD", "the last command in this folder came to no verdict", fix, file=str(place))
    return meant


def _taken(record: RunRecord, accepted: Accepted) -> Iterable[str]:
    chosen = accepted.baseline.acceptance.cases
    return record.cases if chosen is None else chosen


def _lines(record: RunRecord, accepted: Accepted) -> Iterable[str]:
    suite = record.header.suite
    for case in accepted.moved:
        word = "lowers" if (case.delta or 0) < 0 else "raises"
        yield f"suite {suite}: {word} {case.case}: {case.baseline:.4f} to {case.current:.4f}"
    for word, names in (("adds", accepted.added), ("removes", accepted.removed)):
        if names:
            listed = ", ".join(names[:20]) + (f" and {len(names) - 20} more" if len(names) > 20 else "")
            yield f"suite {suite}: {word} {len(names)} case{'s' if len(names) > 1 else ''}: {listed}"
    for metric in accepted.drifted:
        yield (
            f"DRIFTED suite {suite}: {metric.metric} is {metric.current:.4f}, below the anchor's {metric.baseline:.4f} by more than {metric.tolerance:.4f}. "
            "Fix: raise the system's quality, or accept with --move-anchor if the lower level is right."
        )
