"""Shards → one record: every part is there once, of one suite and one commit, and together they are the whole."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from evalaction.core.record import Calls, CaseRecord, RunHeader, RunRecord, Selection
from evalaction.core.sample import suite_counts, suite_metrics
from evalaction.errors import ConfigError, Fault

_ALIKE = ("suite", "digest", "commit", "policy", "target", "floor", "deterministic", "repeats")


def merge(records: Sequence[RunRecord]) -> RunRecord:
    """Join the shards of one suite. Raises ConfigError INVALID_RECORD naming every missing, doubled or foreign shard."""
    faults = list(_faults(records))
    if faults:
        raise ConfigError(faults)
    ordered = sorted(records, key=lambda record: record.header.selection.shard.index if record.header.selection.shard else 0)
    cases: dict[str, CaseRecord] = {case.id: case for record in ordered for case in record.cases.values()}
    return RunRecord(header=_header([record.header for record in ordered], cases), cases=cases)


def _faults(records: Sequence[RunRecord]) -> Iterable[Fault]:
    suite = records[0].header.suite
    shards = [record.header.selection.shard for record in records]
    known = [shard for shard in shards if shard is not None]
    if len(known) != len(records):
        yield _fault(f"suite {suite}: a record is no shard of a run", "merge only records measured with --shard I/N")
        return
    for name in _ALIKE:
        if any(getattr(record.header, name) != getattr(records[0].header, name) for record in records):
            yield _fault(f"suite {suite}: the shards differ in their {name}", "measure all shards of one commit with the same suite and options")
    for option in ("filter", "tag"):
        if len({getattr(record.header.selection, option) for record in records}) > 1:
            yield _fault(f"suite {suite}: the shards differ in their --{option}", "measure all shards with the same options: what one of them left out is in none")
    if len({shard.of for shard in known}) > 1:
        yield _fault(f"suite {suite}: the shards are of runs of different widths", "measure all shards with the same N in --shard I/N")
        return
    present = [shard.index for shard in known]
    missing = sorted(set(range(1, known[0].of + 1)) - set(present))
    if missing:
        yield _fault(f"suite {suite}: shard {', '.join(map(str, missing))} of {known[0].of} is missing", "measure the missing shards, or name their folders")
    if len(set(present)) < len(present):
        yield _fault(f"suite {suite}: a shard is there twice", "name each shard's folder once")
    elif doubled := _in_several(records):
        more = f" and {len(doubled) - 1} more" if len(doubled) > 1 else ""
        yield _fault(f"suite {suite}: case {doubled[0]}{more} is in two shards", "measure all shards anew: one of the records is of another suite")


def _in_several(records: Sequence[RunRecord]) -> list[str]:
    """Cases of more than one record: parts of one whole have none in common."""
    return [name for name, count in Counter(name for record in records for name in record.cases).items() if count > 1]


def _fault(what: str, fix: str) -> Fault:
    return Fault(code="INVALID_RECORD", what=what, fix=fix)


def _header(headers: Sequence[RunHeader], cases: dict[str, CaseRecord]) -> RunHeader:
    first = headers[0]
    costs = [header.cost_usd for header in headers if header.cost_usd is not None]
    kept: dict[str, Any] = {"filter": first.selection.filter, "tag": first.selection.tag}
    return dataclasses.replace(
        first, selection=Selection(**kept), started_at=min(header.started_at for header in headers), finished_at=max(header.finished_at for header in headers),
        interrupted=next((header.interrupted for header in headers if header.interrupted), None), metrics=suite_metrics(cases.values()),
        counts=suite_counts(cases.values(), max(header.uncommitted for header in headers)), cost_usd=sum(costs) if costs else None,
        calls=Calls(**{name: sum(getattr(header.calls, name) for header in headers) for name in (field.name for field in dataclasses.fields(Calls))}),
        extra_runs=tuple(extra for header in headers for extra in header.extra_runs), notes=tuple(dict.fromkeys(note for header in headers for note in header.notes)),
    )  # fmt: skip
