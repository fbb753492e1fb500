"""`accept`: a person makes a measured record the baseline; what it lowers and raises is printed, case by case."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal

from evalaction.app.baselines import FoundBaseline, Where, of_records
from evalaction.app.judging import VERDICT_FILE
from evalaction.app.parts import BaselineSource, Parts
from evalaction.core.accept import Accepted, AcceptRequest, accept, rules_of
from evalaction.core.metrics import lower_is_better
from evalaction.core.record import RunRecord
from evalaction.core.verdict import Verdict
from evalaction.errors import ConfigError
from evalaction.store.baselines import DirectoryStore
from evalaction.store.records import HEADER_FILE, found_records, load, read_below, read_cases, record_folders, refuse_shared_keys


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Where a record really comes from, as GitHub says it; what the record says of itself is not asked."""

    run_id: str
    commit: str
    pull_request: int | None = None


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class AcceptJob:
    """Which records, into which store, and what the person says. `records` are places of records; a record may be in one of them only."""

    records: tuple[Path, ...]
    baseline: Path
    reason: str
    by: str | None = None
    cases: tuple[str, ...] = ()
    only: Literal["regressions"] | None = None
    move_anchor: bool = False
    anchor: bool = False
    origin: Origin | None = None
    source: BaselineSource | None = None


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """One suite: the record, and what becomes of its baseline. `folder` is where that was stored, None when it was not."""

    record: RunRecord
    place: Path
    accepted: Accepted
    before: FoundBaseline
    folder: Path | None = None


def accept_records(parts: Parts, job: AcceptJob) -> tuple[Literal["accepted", "drifted"], tuple[Decision, ...]]:
    """Accept the records of the last run at each place; none is stored unless all of them may be. Raises ConfigError when one must not be a baseline."""
    with DirectoryStore(job.baseline).held():
        word, decided = decide_records(parts, job)
        return word, decided if word == "drifted" else store_records(parts, job, decided)


def decide_records(parts: Parts, job: AcceptJob) -> tuple[Literal["accepted", "drifted"], tuple[Decision, ...]]:
    """The same without storing anything: what would become of the baselines."""
    request = _request(parts, job)
    records = [(folder, _of_origin(record, job.origin)) for folder, record in _records(job)]
    refuse_shared_keys(records)
    known = of_records(parts, Where(baseline=job.baseline, source=job.source, foreign=job.origin is not None), [record.header for _, record in records])
    decided = [_decided(folder, record, known[record.header.key], request) for folder, record in records]
    for one in decided:
        header = one.record.header
        parts.console.say(f"suite {header.suite}: measured at {header.finished_at}, commit {header.commit or 'unknown'}, {len(one.record.cases)} cases")
        if changed := header.uncommitted:
            files = f"{changed:,} file{'s' if changed > 1 else ''}"
            why = "commit them and measure again, or nobody can measure this level anew"
            parts.console.say(f"warning: suite {header.suite} was measured with uncommitted changes in {files}: {why}")
        for line in _lines(one.record, one.accepted):
            parts.console.say(line)
    if any(one.accepted.drifted for one in decided):
        parts.console.say("nothing was accepted; where the lower level is right, add --move-anchor (on GitHub move-anchor: true)")
        return "drifted", tuple(decided)
    return "accepted", tuple(decided)


def store_records(parts: Parts, job: AcceptJob, decided: Sequence[Decision]) -> tuple[Decision, ...]:
    """Store what was decided, with the folders of the new baselines."""
    store = DirectoryStore(job.baseline)
    return tuple(_stored(parts, store, one) for one in decided)


def _decided(folder: Path, record: RunRecord, before: FoundBaseline, request: AcceptRequest) -> Decision:
    previous = before.baseline if before.baseline is not None and before.baseline.record.score is None else None  # a bare score has nothing to continue
    return Decision(record=record, place=folder, accepted=accept(record, previous, request), before=before)


def _request(parts: Parts, job: AcceptJob) -> AcceptRequest:
    masked, settings = parts.settings.masker.text, parts.settings
    by = masked(job.by or settings.person())
    if by == "unknown":
        parts.console.say("warning: nobody is named as the one who accepts; add --by NAME")
    again = settings.event.triggering_actor
    return AcceptRequest(
        reason=masked(job.reason), accepted_by=by, accepted_at=parts.stamp(), cases=job.cases, only=job.only, move_anchor=job.move_anchor, anchor=job.anchor,
        accepted_in=settings.run_id, triggered_by=again if again != settings.event.actor else None,
    )  # fmt: skip


def _of_origin(record: RunRecord, origin: Origin | None) -> RunRecord:
    if origin is None:
        return record
    known = {field.name: getattr(origin, field.name) for field in dataclasses.fields(origin)}
    return dataclasses.replace(record, header=dataclasses.replace(record.header, **known))


def _stored(parts: Parts, store: DirectoryStore, one: Decision) -> Decision:
    header, acceptance = one.record.header, one.accepted.baseline.acceptance
    before = one.before.answers if one.before.answers is not None else store.answers(header.key, list(one.accepted.baseline.record.cases))
    answers = {**before, **read_cases(one.place, _taken(one.record, one.accepted))}
    path = store.save(header.key, one.accepted.baseline, answers)
    parts.console.say(f"suite {header.suite}: accepted by {acceptance.accepted_by}: {acceptance.reason} ({path})")
    if advice := _advice(one.accepted.baseline.record):
        parts.console.say(advice)
    return dataclasses.replace(one, folder=path)


def _advice(baseline: RunRecord) -> str | None:
    """How to get a baseline that holds enough runs for statistics; None where it does, or where answers cannot be asked for again."""
    header = baseline.header
    if not header.repeatable or rules_of(baseline, baseline=baseline).name != "tolerance":
        return None
    runs = min(len(case.measured) for case in baseline.cases.values())
    many = f"{runs} run{'s' if runs > 1 else ''} of each case, too few to tell noise from change"
    return f"suite {header.suite}: this baseline holds {many}: `eval-gate calibrate SUITE` measures ten, says what could be seen with them, and leaves a record to accept"


def _records(job: AcceptJob) -> list[tuple[Path, RunRecord]]:
    """The records that are meant. What lies in the artifacts of a run chooses nothing: of those every record is meant."""
    chosen = _of_the_last_run if job.origin is None else found_records
    found = [(folder, read_below(place, folder)) for place in job.records for folder in chosen(place)]
    if not found and job.origin is not None:
        raise ConfigError.one("INVALID_RECORD", f"run {job.origin.run_id} left no record that it measured", "name a run of the gate that finished measuring", path="run-id")
    return found


def _of_the_last_run(place: Path) -> tuple[Path, ...]:
    """The records at a place. Records of earlier runs may lie beside them: where a verdict names its suites, only those are meant."""
    folders = record_folders(place)
    verdict = place / VERDICT_FILE
    if (place / HEADER_FILE).is_file() or not verdict.is_file():
        return folders
    named = {suite.key for suite in load(Verdict, verdict).suites}
    meant = tuple(folder for folder in folders if folder.name in named)
    if not meant:
        there = ", ".join(str(folder) for folder in folders[:5])
        fix = f"correct what it said and measure again; where one of these is of an earlier run, it can be named instead: {there}" if there else "measure first"
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
        side = "above" if lower_is_better(metric.metric) else "below"
        yield (
            f"DRIFTED suite {suite}: {metric.metric} is {metric.current:.4f}, {side} the anchor's {metric.baseline:.4f} by more than {metric.tolerance:.4f}. "
            "Fix: raise the system's quality, or accept with --move-anchor if the lower level is right."
        )
