"""Who is compared with whom: cases by id, checks by id, and both only when their definitions are the same."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping
from fnmatch import fnmatchcase
from typing import Literal

from evalaction.core.record import CaseRecord, CheckInfo, RunRecord, Selection

Status = Literal["compared", "added", "changed", "error", "removed"]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """One case on both sides. `compared` are the checks defined alike; the others are listed by id."""

    id: str
    status: Status
    baseline: CaseRecord | None = None
    current: CaseRecord | None = None
    compared: tuple[CheckInfo, ...] = ()
    changed: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()


def pair_records(baseline: RunRecord | None, current: RunRecord) -> tuple[Pair, ...]:
    """All pairs in the order of the current record, then the removed cases in the order of the baseline."""
    known: Mapping[str, CaseRecord] = baseline.cases if baseline else {}
    pairs = [_pair(known.get(case.id), case) for case in current.cases.values()]
    scope = current.header.selection
    gone = [case for case in known.values() if case.id not in current.cases and in_scope(case, scope)]
    return (*pairs, *(Pair(id=case.id, status="removed", baseline=case) for case in gone))


def in_scope(case: CaseRecord, selection: Selection) -> bool:
    """Whether a run with this selection would have measured the case, had the suite still had it.

    A shard cannot know what the other shards hold; only the merged record can tell what was removed.
    """
    if selection.shard is not None:
        return False
    return is_meant(case.id, case.tags, glob=selection.filter, tag=selection.tag)


def is_meant(case_id: str, tags: Collection[str], *, glob: str | None, tag: str | None) -> bool:
    """Whether a filter and a tag, where given, mean a case."""
    return (glob is None or is_named(case_id, glob)) and (tag is None or tag in tags)


def is_named(case_id: str, glob: str) -> bool:
    """Whether a glob means an id: also as it is written, for ids such as `a[1]` hold the signs of a glob."""
    return case_id == glob or fnmatchcase(case_id, glob)


def _pair(baseline: CaseRecord | None, current: CaseRecord) -> Pair:
    if current.is_error:
        return Pair(id=current.id, status="error", baseline=baseline, current=current)
    if baseline is None or not baseline.measured:
        return Pair(id=current.id, status="added", current=current)
    if baseline.fingerprint != current.fingerprint:
        return Pair(id=current.id, status="changed", baseline=baseline, current=current)
    if baseline.checks == current.checks:
        return Pair(id=current.id, status="compared", baseline=baseline, current=current, compared=current.checks)
    return _pair_checks(baseline, current)


def _has_results(case: CaseRecord, checks: tuple[CheckInfo, ...]) -> bool:
    """Whether any of these checks applied to any answer."""
    names = {check.id for check in checks}
    return any(result.id in names for trial in case.measured for result in trial.checks)


def _pair_checks(baseline: CaseRecord, current: CaseRecord) -> Pair:
    before = {check.id: check for check in baseline.checks}
    now = {check.id: check for check in current.checks}
    compared = tuple(check for check in current.checks if check.id in before and before[check.id].fingerprint == check.fingerprint)
    comparable = all(_has_results(case, compared) for case in (baseline, current))
    return Pair(
        id=current.id, status="compared" if comparable else "changed", baseline=baseline, current=current, compared=compared if comparable else (),
        changed=tuple(name for name in now if name in before and before[name].fingerprint != now[name].fingerprint),
        added=tuple(name for name in now if name not in before), removed=tuple(name for name in before if name not in now),
    )  # fmt: skip
