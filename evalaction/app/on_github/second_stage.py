"""`mode: report`: the second stage for pull requests from forks. What the first stage left is data: it is judged again here, and its own verdict is never read."""

from __future__ import annotations

from evalaction.app.judging import publish_failure
from evalaction.app.on_github.desk import Desk
from evalaction.app.on_github.gate import results_of
from evalaction.app.on_github.surfaces import Surfaces
from evalaction.app.reading import judge_records
from evalaction.core.verdict import Reason, Verdict


def second_stage(desk: Desk, surfaces: Surfaces) -> Verdict:
    """Publish what a fork's run measured, on the pull request that is provably its own. `published` says only that this worked."""
    run = surfaces.place.run
    if run is None or surfaces.place.pull is None:
        what = f"no single open pull request has the head that run {run.id if run else 0} measured (a newer push, a closed pull request, or another event); nothing was published"
        desk.say(what)
        return publish_failure(desk.parts, desk.outputs(), "not_run", (Reason(code="NO_PULL_REQUEST", message=what),))
    places = results_of(desk, run, desk.folder / "results")
    return judge_records(desk.parts, desk.outputs(surfaces, source=desk.source(), foreign=True), *places, word=lambda _verdict: "published")
