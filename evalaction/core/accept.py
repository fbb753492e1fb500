"""Acceptance: a record, or some of its cases, becomes the baseline; refusals and drift are decided here, files are written elsewhere."""

from __future__ import annotations

import dataclasses
import unicodedata
from collections.abc import Iterable, Mapping
from typing import Literal

from evalaction.core.acceptance import Acceptance, Baseline
from evalaction.core.compare import compare
from evalaction.core.comparison import Comparison, Rules
from evalaction.core.pairing import is_named
from evalaction.core.record import CaseRecord, RunHeader, RunRecord, Selection
from evalaction.core.rules import choose_rule
from evalaction.core.sample import suite_counts, suite_metrics
from evalaction.core.suite import Policy
from evalaction.core.verdict import CaseVerdict, MetricVerdict
from evalaction.errors import ConfigError, Fault


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class AcceptRequest:
    """What a person asks for. `cases` are globs over case ids; empty means all."""

    reason: str
    accepted_by: str
    accepted_at: str
    cases: tuple[str, ...] = ()
    only: Literal["regressions"] | None = None
    move_anchor: bool = False
    anchor: bool = False
    accepted_in: str | None = None
    triggered_by: str | None = None


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Accepted:
    """The new baseline and what it moves. With `drifted` it fell below its anchor, and nothing may be stored."""

    baseline: Baseline
    moved: tuple[CaseVerdict, ...]
    added: tuple[str, ...]
    removed: tuple[str, ...]
    drifted: tuple[MetricVerdict, ...] = ()


def rules_of(record: RunRecord, *, baseline: RunRecord | None = None, can_confirm: bool = False) -> Rules:
    """The rules under which a stored record is compared with a baseline: its own policy, and statistics where the baseline holds enough runs."""
    header, policy = record.header, Policy(**record.header.policy)
    name = choose_rule(deterministic=header.deterministic, policy=policy, baseline=baseline, current=record, repeatable=header.repeatable)
    return Rules(name=name, policy=policy, floor=header.floor, can_confirm=can_confirm)


def accept(record: RunRecord, previous: Baseline | None, request: AcceptRequest) -> Accepted:
    """Make a record the baseline. Raises ConfigError when it must not be one."""
    known = previous.record if previous else None
    difference = compare(known, record, rules_of(record, baseline=known))
    chosen = _chosen(record, difference, request)
    _refuse(record, chosen, request, previous)
    cases = _joined(previous, chosen, whole=not request.cases and request.only is None)
    joined = RunRecord(header=_header(record, previous, cases, request), cases=cases)
    _refuse_unseen(joined, previous, request)
    anchor = _anchor(joined, previous, request)
    return Accepted(
        baseline=Baseline(record=joined, acceptance=_acceptance(record, chosen, request), chain=(*previous.chain, previous.acceptance) if previous else (), anchor=anchor),
        moved=tuple(outcome.verdict for outcome in difference.outcomes if outcome.pair.id in chosen and outcome.verdict.delta),
        added=tuple(name for name in cases if previous is None or name not in previous.record.cases),
        removed=tuple(name for name in (previous.record.cases if previous else ()) if name not in cases),
        drifted=() if request.move_anchor or request.anchor else drift(anchor, joined),
    )  # fmt: skip


def drift(anchor: RunRecord, record: RunRecord) -> tuple[MetricVerdict, ...]:
    """Metrics of a record that are below the anchor: by the test of the whole suite where both hold enough runs, else by more than their tolerance."""
    rules = rules_of(record, baseline=anchor)
    if rules.name == "statistical":
        from evalaction.core.statistical import drifted  # noqa: PLC0415 - other rules must not pay for the import

        return drifted(anchor, record, rules)
    return tuple(metric for metric in compare(anchor, record, rules).metrics if metric.verdict == "regressed")


def _chosen(record: RunRecord, difference: Comparison, request: AcceptRequest) -> dict[str, CaseRecord]:
    cases: Iterable[CaseRecord] = record.cases.values()
    if request.only == "regressions":
        flagged = {outcome.pair.id for outcome in difference.outcomes if outcome.verdict.verdict == "regressed"}
        cases = [case for case in cases if case.id in flagged]
    if request.cases:
        cases = [case for case in cases if any(is_named(case.id, glob) for glob in request.cases)]
    return {case.id: case for case in cases}


def _refuse(record: RunRecord, chosen: Mapping[str, CaseRecord], request: AcceptRequest, previous: Baseline | None) -> None:
    """Raise for everything that makes the record, or the choice from it, no baseline."""
    faults: list[Fault] = []
    if _is_blank(request.reason):
        faults.append(Fault(code="REASON_REQUIRED", what="an acceptance needs a reason that is not blank", fix='add --reason "why this level is right"'))
    if not record.cases:
        faults.append(Fault(code="INVALID_RECORD", what="the record holds no case", fix="measure the suite first: eval-gate run SUITE"))
    elif not chosen:
        asked = " ".join([*(f"--case '{glob}'" for glob in request.cases), *([f"--only {request.only}"] if request.only else [])])
        faults.append(Fault(code="NO_CASES", what=f"nothing in the record is meant by {asked}", fix="name cases that the record holds"))
    faults += _record_faults(record, chosen, request)
    if request.only == "regressions" and previous is None:
        faults.append(Fault(code="INVALID_INPUT", what="without a baseline nothing can have regressed", fix="accept the whole record, without --only"))
    if faults:
        raise ConfigError(faults)


_EMPTY_SIGNS = frozenset("\u115f\u1160\u2800\u3164\uffa0")
"""Fillers that Unicode counts as letters or symbols, and that nobody sees."""


def _is_blank(text: str) -> bool:
    """Whether nothing of a text can be seen: no letter, digit, sign or symbol, whatever spaces, controls and marks without a base there are."""
    return not any(unicodedata.category(char)[0] in "LNPS" and char not in _EMPTY_SIGNS for char in text)


def _record_faults(record: RunRecord, chosen: Mapping[str, CaseRecord], request: AcceptRequest) -> Iterable[Fault]:
    errors = [name for name, case in chosen.items() if case.is_error or case.is_stuck]
    if errors:
        listed = ", ".join(errors[:5]) + (f" and {len(errors) - 5} more" if len(errors) > 5 else "")
        fix = "measure again until every case has an answer, or name the good cases with --case"
        yield Fault(code="INVALID_RECORD", what=f"{len(errors)} cases could not be measured: {listed}", fix=fix)
    if record.header.interrupted is not None and not request.cases:
        yield Fault(code="INVALID_RECORD", what=f"the run did not finish: {record.header.interrupted.message}", fix="finish it with --resume")
    if record.header.selection.is_partial and not request.cases and request.only is None:
        yield Fault(code="INVALID_RECORD", what="the record holds only a part of the suite", fix="measure the whole suite, merge its shards, or name the cases with --case")


def _joined(previous: Baseline | None, chosen: Mapping[str, CaseRecord], *, whole: bool) -> dict[str, CaseRecord]:
    if whole or previous is None:
        return dict(chosen)
    return {**previous.record.cases, **chosen}


def _header(record: RunRecord, previous: Baseline | None, cases: Mapping[str, CaseRecord], request: AcceptRequest) -> RunHeader:
    """A partial acceptance takes cases, not the policy: a tolerance is widened only by accepting a whole record."""
    partial = previous is not None and bool(request.cases or request.only)
    kept = previous.record.header if partial and previous else record.header
    return dataclasses.replace(
        record.header, policy=kept.policy, floor=kept.floor, selection=Selection(), interrupted=None, notes=(), metrics=suite_metrics(cases.values()),
        counts=suite_counts(cases.values(), record.header.uncommitted),
    )  # fmt: skip


def _acceptance(record: RunRecord, chosen: Mapping[str, CaseRecord], request: AcceptRequest) -> Acceptance:
    header = record.header
    partial = bool(request.cases or request.only)
    return Acceptance(
        reason=request.reason.strip(), accepted_at=request.accepted_at, accepted_by=request.accepted_by, commit=header.commit, run_id=header.run_id,
        pull_request=header.pull_request, accepted_in=request.accepted_in, triggered_by=request.triggered_by,
        cases=tuple(chosen) if partial else None, moved_anchor=request.move_anchor or request.anchor,
    )  # fmt: skip


def _anchor(joined: RunRecord, previous: Baseline | None, request: AcceptRequest) -> RunRecord:
    """The level below which acceptances may not drift: the first accepted level of each definition, unless it is moved."""
    if previous is None or previous.anchor is None or request.move_anchor or request.anchor:
        return joined
    old = previous.anchor.cases
    kept = {name: old[name] if name in old and _same_definition(old[name], case) else case for name, case in joined.cases.items()}
    return RunRecord(header=previous.anchor.header, cases=kept)


def _refuse_unseen(joined: RunRecord, previous: Baseline | None, request: AcceptRequest) -> None:
    """Raise when nothing is left of the anchor: a suite that was written anew as a whole could hide any fall."""
    if previous is None or previous.anchor is None or request.move_anchor or request.anchor:
        return
    old = previous.anchor.cases
    if old and not any(name in old and _same_definition(old[name], case) for name, case in joined.cases.items()):
        what = "no case is defined as it was when the anchor was set, so nothing shows whether the level fell"
        raise ConfigError.one("INVALID_INPUT", what, "look at the new cases, and accept with --move-anchor (on GitHub move-anchor: true)", path="move-anchor")


def _same_definition(one: CaseRecord, other: CaseRecord) -> bool:
    return one.fingerprint == other.fingerprint and {(check.id, check.fingerprint) for check in one.checks} == {(check.id, check.fingerprint) for check in other.checks}
