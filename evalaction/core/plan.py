"""The adaptive plan as a state machine without memory: what has been measured in, what to run next out, or stop and why.

Whole-suite passes come first, in stages; the next stage runs only while the suite looks worse. Stopping early can
only say "fine", so it costs no error budget, and only the last stage can be red. Then the most suspicious cases get
more runs, one at a time. Everything is decided again from the record each time, so a stored record is judged as it was when it was measured.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Literal

from evalaction.core.suite import Policy

FEWEST_SUSPECTS = 5
SHARE_OF_SUSPECTS = 0.2


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """`passes` over the suite, cumulative, per stage; the stage after the i-th runs only while p < `go_on[i]`; `max_repeats` runs of one case at most."""

    passes: tuple[int, ...]
    go_on: tuple[float, ...]
    max_repeats: int


PROFILES: Mapping[str, Profile] = {
    "lean": Profile(passes=(1, 2), go_on=(0.15,), max_repeats=8),
    "standard": Profile(passes=(1, 3, 5), go_on=(0.5, 0.25), max_repeats=10),
    "thorough": Profile(passes=(2, 5, 10), go_on=(0.5, 0.25), max_repeats=14),
}


def profile_of(policy: Policy) -> Profile:
    """The profile that a policy names."""
    return PROFILES[policy.profile]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """The suite after some passes: `p`, the smallest over its series, counted as one test of all, and the `series` that has it."""

    p: float
    series: str


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class SuiteProgress:
    """`passes` are those to judge by; `last` says that this is the last stage, which alone can be red; `wanted` passes are to be made before going on."""

    passes: int
    last: bool
    wanted: int | None = None
    final_passes: int
    """Passes of the last stage, had it been reached: what power is computed for."""
    why: str
    worst: Look | None = None
    """The look for which further passes are wanted; None where the profile starts with them."""
    cut_short: bool = False
    """Whether further passes were wanted and could not be run."""


Looking = Callable[[int], Look | None]


def follow_stages(profile: Profile, planned: int, done: int, look: Looking, *, repeatable: bool) -> SuiteProgress:
    """How far the suite is in its stages, after `done` >= 1 whole passes of which `planned` are made in any case.

    `look(n)` judges the first n passes; it gives None where nothing gated can be tested, and then no pass is added. When nothing can be run
    again, the passes that there are stand for the last stage.
    """
    stages = [max(passes, planned) for passes in profile.passes]
    final = stages[-1] if repeatable else min(done, stages[-1])
    for place, passes in enumerate(stages):
        if done < passes:
            if repeatable and (place or look(done) is not None):
                why = f"whole suite, passes {done + 1} to {passes}: {_because(place, look, done)}"
                return SuiteProgress(passes=done, last=False, wanted=passes, final_passes=final, why=why, worst=look(done) if place else None)
            why = "no more passes can be run: those there are stand for the last stage"
            return SuiteProgress(passes=done, last=True, final_passes=done, why=why, cut_short=place > 0)
        if place == len(stages) - 1:
            break
        found = look(passes)
        if found is None:
            return SuiteProgress(passes=passes, last=True, final_passes=passes, why="no metric or check of the whole suite is gated by statistics")
        if found.p >= profile.go_on[place]:
            return SuiteProgress(passes=passes, last=False, final_passes=final, why=f"the suite looks no worse after {_runs(passes)} (p {found.p:.2g})")
    return SuiteProgress(passes=stages[-1], last=True, final_passes=final, why=f"the last of {_runs(stages[-1])} over the suite")


def _because(place: int, look: Looking, done: int) -> str:
    found = look(done)
    return f"{found.series} looks worse (p {found.p:.2g})" if found is not None and place else "the profile starts with them"


def _runs(count: int) -> str:
    return f"{count} pass{'es' if count > 1 else ''}"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Suspect:
    """A case that looks worse and can still be proven so: its place among the outcomes, its id, and how much worse, in standard errors."""

    owner: int
    case: str
    z: float
    what: str


def choose_suspects(suspects: Sequence[Suspect], compared: int, *, suite_is_red: bool) -> tuple[Suspect, ...]:
    """The most suspicious cases, at most max(5, ⌈0.2 N⌉) of the `compared` ones, or 5 when the suite is red already; one entry per case, ties by id."""
    most = FEWEST_SUSPECTS if suite_is_red else max(FEWEST_SUSPECTS, math.ceil(SHARE_OF_SUSPECTS * compared))
    worst: dict[int, Suspect] = {}
    for suspect in sorted(suspects, key=lambda one: (-one.z, one.case, one.what)):
        worst.setdefault(suspect.owner, suspect)
    return tuple(worst.values())[:most]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """Why a run is wanted, as data: the words are those of `record.ExtraRuns`."""

    stage: Literal["suite", "case", "confirmation"]
    cause: Literal["profile", "suite_worse", "case_worse", "points"]
    subject: str | None = None
    p: float | None = None
    z: float | None = None


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What to run next: one more run of each case in `runs`, with the reason; nothing when the plan is finished, for the reason `why`."""

    stage: str
    runs: Mapping[str, str] = dataclasses.field(default_factory=dict)
    why: str = ""
    causes: Mapping[str, Cause] = dataclasses.field(default_factory=dict)
    """The same reasons as data, by case."""

    @property
    def finished(self) -> bool:
        """Whether nothing is left to run."""
        return not self.runs


def next_runs(progress: SuiteProgress, attempts: Mapping[str, int], undecided: Mapping[str, str], causes: Mapping[str, Cause] | None = None) -> Plan:
    """The next runs: of every compared case that lacks a pass of the stage (`attempts` counts its runs, failed ones too), else of the `undecided` ones."""
    if progress.wanted is not None:
        runs, worst = {case: progress.why for case, made in attempts.items() if made < progress.wanted}, progress.worst
        cause = Cause(stage="suite", cause="suite_worse", subject=worst.series, p=worst.p) if worst else Cause(stage="suite", cause="profile")
        return Plan(stage="suite", runs=runs, why=progress.why, causes=dict.fromkeys(runs, cause))
    why = progress.why if not undecided else f"{len(undecided)} cases looked worse and are run again"
    return Plan(stage="case" if undecided else "done", runs=dict(undecided), why=why, causes=causes or {})
