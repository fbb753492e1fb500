"""Each mode with exactly the permissions that it is said to need, and with one of them less."""

from __future__ import annotations

import pytest

from tests.github import events
from tests.github.fake import EVAL, TOKEN, Token
from tests.github.permissions import OF_MODE, needed

USES = {
    "gate": {}, "shard": {"shard": "1/2"}, "merge": {"mode": "merge", "key": "join"}, "report": {"mode": "report"}, "accept": {"mode": "accept", "reason": "fine"},
    "renew": {"mode": "renew"},
}  # fmt: skip
LACKING = [(use, lost) for use, inputs in USES.items() for lost in needed(inputs)]


@pytest.fixture
def prepared(acting, gh, baseline):
    """What each use finds, made with a token that may do everything; then the use itself with a token of fewer permissions."""

    def make(use, permissions):
        baseline()
        pull = gh.pull("main", repo=gh.fork()) if use == "report" else gh.pull()
        event = events.dispatch(gh) if use == "accept" else events.schedule(gh) if use == "renew" else events.pull_request(gh, pull)
        run = None
        if use == "report":
            run = acting.upload(acting.act(event, inputs={"check": "false", "comment": "false"}))
            event = events.workflow_run(gh, run)
        if use == "merge":
            run = gh.run("pull_request", "feature", path=EVAL, status="in_progress", conclusion=None, head_sha=pull["head"]["sha"])
            for number in (1, 2):
                acting.upload(acting.act(event, run=run, inputs={"shard": f"{number}/2", "key": f"eval-{number - 1}"}))
            run["status"], run["conclusion"] = "in_progress", None
        gh.tokens[TOKEN] = Token(permissions=permissions)
        gh.comments.clear(), gh.checks.clear()
        return acting.act(event, run=run if use == "merge" else None, inputs=USES[use])

    return make


@pytest.mark.parametrize("use", USES)
def test_permissions__what_is_said_is_enough(gh, prepared, use):
    """With the permissions of its row, and no others, each use does all of its work without a warning, and shows the comment and the check that it should."""
    allowed = needed(USES[use])
    ended = prepared(use, allowed)
    assert (ended.code, "::warning" in ended.log) == (0, False), ended.log
    assert (len(gh.comments), len(gh.checks)) == (("pull-requests" in allowed), ("checks" in allowed))


@pytest.mark.parametrize(("use", "lost"), LACKING)
def test_permissions__none_is_too_much(prepared, use, lost):
    """Without any one of them the run names the line that is missing: as a fault where it cannot judge, as a warning where it cannot show."""
    allowed = needed(USES[use])
    ended = prepared(use, {name: level for name, level in allowed.items() if name != lost})
    assert f"{lost}: {allowed[lost]}" in ended.log, ended.log
    assert ended.code == (2 if allowed[lost] == "read" or (use, lost) == ("report", "pull-requests") else 0)


def test_permissions__every_mode_has_a_row():
    """Every mode of the Action is tried here."""
    from evalaction.inputs import MODES

    assert set(OF_MODE) == set(MODES) == {str(inputs.get("mode", "gate")) for inputs in USES.values()}
