"""`finish`: after a run that was killed, or could not complete its check run, the check run is completed all the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalaction.app.on_github.open_check import OpenCheck, check_name, external_id, forget, is_noted, recall
from evalaction.app.on_github.places import first_place
from evalaction.errors import ConfigError, GitHubError
from evalaction.github.facts import CheckOutput, Conclusion
from evalaction.report.text import plain

if TYPE_CHECKING:
    from evalaction.app.on_github.desk import Desk
    from evalaction.github.check import Check

_SECONDS = 180.0


def finish(desk: Desk) -> int:
    """Complete what is open, with the conclusion that was decided, else as a failure, or as cancelled where the job was. Never fails: the verdict is another step's."""
    if desk.github is None:
        return 0
    try:
        with desk.github.within(_SECONDS):
            _finish(desk)
    except (GitHubError, ConfigError, OSError) as error:
        desk.warn("eval-gate could not close its check run", plain(f"{error}. Where it is still in progress, run the job again: the new check run takes its place."))
    return 0


def _finish(desk: Desk) -> None:
    note = recall(desk) or _presumed(desk)
    if note is None:
        return
    check = _check(desk, note)
    if check is not None:
        check.complete(*_end(desk, note))
    forget(desk)


def _presumed(desk: Desk) -> OpenCheck | None:
    """Without a note of ours: what a run that came to no end, or whose note somebody changed, would have opened."""
    ended = bool(desk.parts.settings.environment.get("EVAL_GATE_VERDICT"))
    if desk.inputs.mode not in ("gate", "merge") or not desk.inputs.check or (ended and not is_noted(desk)):
        return None
    sha = first_place(desk).place.head_sha
    return OpenCheck(name=check_name(desk), head_sha=sha, external_id=external_id(desk)) if sha else None


def _check(desk: Desk, note: OpenCheck) -> Check | None:
    from evalaction.github.check import Check  # noqa: PLC0415 - the client is loaded only when it is asked

    github = desk.client()
    if note.check_id is not None:
        return Check.resume(github, note.check_id)
    names = dict.fromkeys((note.name, check_name(desk, beside_others=True)))
    return next((found for name in names if (found := Check.find(github, name, note.head_sha, note.external_id))), None)


def _end(desk: Desk, note: OpenCheck) -> tuple[Conclusion, CheckOutput]:
    if note.conclusion is not None:
        return note.conclusion, CheckOutput(title=note.title, summary=note.summary)
    cancelled = desk.parts.settings.environment.get("EVAL_GATE_JOB_STATUS") == "cancelled"
    what = "The run was cancelled before it came to a verdict." if cancelled else "The run was ended before it came to a verdict: out of memory, or killed."
    return "cancelled" if cancelled else "failure", CheckOutput(title="not_measured: the run did not finish", summary=what)
