"""`mode: report`: the second stage for pull requests from forks. What the first stage left is data: it is judged again here, and its own verdict is never read."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from evalaction.app.judging import VERDICT_FILE, publish_failure
from evalaction.app.on_github.desk import Desk
from evalaction.app.on_github.records import Measured, records_of
from evalaction.app.on_github.surfaces import Surfaces
from evalaction.app.reading import judge_records, state
from evalaction.core.verdict import Reason, Verdict
from evalaction.errors import ConfigError
from evalaction.github.facts import Run
from evalaction.store.records import load

_Unmeasured = Literal["config_error", "internal_error", "not_measured", "not_run"]
_WORSE: tuple[_Unmeasured, ...] = ("internal_error", "config_error", "not_measured")


def second_stage(desk: Desk, surfaces: Surfaces) -> Verdict:
    """Publish what a fork's run measured, on the pull request that is provably its own. `published` says only that this worked."""
    run = surfaces.place.run
    if run is None or surfaces.place.pull is None:
        what = f"no single open pull request has the head that run {run.id if run else 0} measured (a newer push, a closed pull request, or another event); nothing was published"
        desk.say(what)
        return publish_failure(desk.parts, desk.outputs(), "not_run", (Reason(code="NO_PULL_REQUEST", message=what),))
    outputs, found = desk.outputs(surfaces, source=desk.source(), foreign=True), records_of(desk, run)
    if not found.records:
        verdict = publish_failure(desk.parts, outputs, *_unmeasured(found, run))
        return verdict if verdict.verdict == "not_run" else state(desk.parts, outputs, verdict, "published")
    return judge_records(desk.parts, outputs, *found.records, word=lambda _verdict: "published")


def _unmeasured(found: Measured, run: Run) -> tuple[_Unmeasured, tuple[Reason, ...]]:
    """Why there is no record. That the fork had no secrets is believed, for nothing passes by it; so is any worse word, for it is nobody's gain."""
    words = {word for place in found.places if (word := _word(place)) is not None}
    worse = next((word for word in _WORSE if word in words), None)
    if worse is not None or words != {"not_run"}:
        word = worse or "not_measured"
        return word, (Reason(code="TARGET_FAILED", message=f"run {run.id} ended without a record{f': {worse}' if worse else ''}; its log says why"),)
    what = f"run {run.id} measured nothing: a pull request from a fork or from Dependabot gets no secrets. Measure it on a branch of this repository"
    return "not_run", (Reason(code="MISSING_SECRET", message=what),)


def _word(place: Path) -> str | None:
    try:
        return load(Verdict, place / VERDICT_FILE).verdict
    except ConfigError:
        return None
