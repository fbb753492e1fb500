"""Where a verdict belongs on GitHub: the first stage knows it from the event, the second has to prove it."""

from __future__ import annotations

from evalaction.app.on_github.desk import Desk
from evalaction.app.on_github.surfaces import Place, Surfaces
from evalaction.errors import ConfigError
from evalaction.github.facts import PullRequest, Run


def first_place(desk: Desk) -> Surfaces:
    """The event's own commit and pull request; after another workflow's run the commit that is measured, which need not be that run's. A shard shows nothing."""
    event, inputs = desk.event, desk.inputs
    publish = inputs.mode in ("gate", "merge") and inputs.shard is None
    return Surfaces(desk, Place(head_sha=desk.parts.settings.commit if event.name == "workflow_run" else event.head_sha, pull=event.pull), publish=publish)


def second_place(desk: Desk) -> Surfaces:
    """The pull request that a finished run provably belongs to, as GitHub tells it now; without one nothing is shown. Raises ConfigError and GitHubError."""
    wanted = desk.inputs.run_id or (desk.event.upstream.id if desk.event.upstream else None)
    if wanted is None:
        raise ConfigError.one("INVALID_INPUT", "mode report needs a finished run", "trigger on workflow_run, or set run-id", path="run-id")
    run = desk.finished_run(wanted)
    pull = _pull_of(desk, run)
    return Surfaces(desk, Place(head_sha=run.head_sha, pull=pull, run=run), publish=pull is not None)


def _pull_of(desk: Desk, run: Run) -> PullRequest | None:
    """The one open pull request with this head, in this very repository of the head; None when there is none, or more than one."""
    if run.event != "pull_request" or run.head_owner is None or run.head_branch is None:
        return None
    from evalaction.github.fetching import permitted  # noqa: PLC0415 - the client is loaded only when it is asked

    with permitted("pull-requests: write"):
        pulls = desk.client().pulls_from(run.head_owner, run.head_branch)
    mine = [pull for pull in pulls if pull.head_sha == run.head_sha and pull.head_repository_id == run.head_repository_id]
    return mine[0] if len(mine) == 1 else None
