"""Why cases were run again, as data: noted round by round, closed with what came of it."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Literal

from evalaction.core.comparison import Comparison, Outcome
from evalaction.core.plan import Cause
from evalaction.core.record import RunRecord
from evalaction.core.reruns import ExtraRuns

Stopped = Literal["next_stage", "last_stage", "suite_no_worse", "proven", "cleared", "unproven", "error", "budget", "interrupted"]
_CLEARED = frozenset({"flaky", "unchanged", "improved", "within_tolerance"})
_BY_POINTS = Cause(stage="confirmation", cause="points")


@dataclasses.dataclass(slots=True)
class _Entry:
    """Rounds with one cause: runs made before and in them, and, over the whole suite, how many cases had them."""

    cause: Cause
    after: int
    cases: int = 1
    runs: int = 0


class ExtraLog:
    """Rounds of asking again. A case has one entry, whatever its rounds; a stage over the suite has one for all cases."""

    def __init__(self) -> None:
        self._suite: list[_Entry] = []
        self._stage: int | None = None
        self._cases: dict[str, _Entry] = {}

    def note(self, wanted: Comparison, before: RunRecord, after: RunRecord) -> None:
        """One round: the comparison that wanted it, and the records before and after it."""
        causes: Mapping[str, Cause] = wanted.plan.causes if wanted.plan else {}
        made = {name: len(after.cases[name].trials) - len(before.cases[name].trials) for name in wanted.pending}
        made = {name: runs for name, runs in made.items() if runs > 0}
        for name, runs in made.items():
            cause = causes.get(name, _BY_POINTS)
            if cause.stage != "suite":
                self._cases.setdefault(name, _Entry(cause, len(before.cases[name].trials))).runs += runs
        if made and wanted.progress is not None and wanted.progress.wanted is not None:
            known = min(len(before.cases[name].trials) for name in made)
            self._note_stage(wanted.progress.wanted, _Entry(next(iter(causes.values())), known, len(made)))

    def _note_stage(self, stage: int, entry: _Entry) -> None:
        """The passes of one stage are one entry, with the cause of its first."""
        if stage != self._stage:
            self._suite.append(entry)
        self._stage, known = stage, self._suite[-1]
        known.runs, known.cases = known.runs + 1, max(known.cases, entry.cases)

    def closed(self, last: Comparison, *, interrupted: bool = False) -> tuple[ExtraRuns, ...]:
        """All entries, the suite's first, with why they stopped: `last` is the final comparison."""
        outcomes = {outcome.pair.id: outcome for outcome in last.outcomes}
        stages = [_entry(None, entry, "next_stage") for entry in self._suite[:-1]]
        stages += [_entry(None, entry, _stage_end(last, interrupted=interrupted)) for entry in self._suite[-1:]]
        cut: dict[str, Stopped] = dict.fromkeys(self._cases, "interrupted") if interrupted else dict.fromkeys(last.pending, "budget")
        return (*stages, *(_entry(name, entry, _case_end(outcomes[name], cut.get(name))) for name, entry in self._cases.items()))


def _stage_end(last: Comparison, *, interrupted: bool) -> Stopped:
    progress = last.progress
    if progress is not None and (progress.wanted is not None or progress.cut_short):
        return "interrupted" if interrupted else "budget"
    return "last_stage" if progress is not None and progress.last else "suite_no_worse"


def _case_end(outcome: Outcome, ended: Stopped | None) -> Stopped:
    if outcome.case_proven or outcome.proven_checks:
        return "proven"
    if outcome.unconfirmed:
        return "error"
    word = outcome.verdict.verdict
    if word == "error" or word in _CLEARED:
        return "error" if word == "error" else "cleared"
    return ended or "unproven"


def _entry(case: str | None, entry: _Entry, stopped: Stopped) -> ExtraRuns:
    cause = entry.cause
    return ExtraRuns(
        case=case, stage=cause.stage, cases=entry.cases, after=entry.after, runs=entry.runs, cause=cause.cause, subject=cause.subject, p=cause.p, z=cause.z, stopped=stopped
    )
