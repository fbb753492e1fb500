"""Which artifact may be a baseline: pure rules over what GitHub says."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalaction.github.facts import Artifact, Position, Run
from evalaction.github.provenance import Passed, Trust, grouped, listed_doubt, position_doubt, run_doubt

TRUST = Trust(repository_id=1, default_branch="main", workflow="accept.yml", own_run_id=99)
ARTIFACT = Artifact(
    id=5, name="x", size_in_bytes=1, expired=False, created_at="2026-01-01T00:00:00Z", expires_at="2026-04-01T00:00:00Z", run_id=7, repository_id=1, head_repository_id=1,
    head_branch="main", head_sha="abc",
)  # fmt: skip
RUN = Run(
    id=7, event="push", path=".github/workflows/accept.yml", head_branch="main", head_sha="abc", status="completed", conclusion="success", attempt=1,
    created_at="2026-01-01T00:00:00Z", repository_id=1, head_repository_id=1, head_repository="octo/demo",
)  # fmt: skip
LISTED = [
    ({"run_id": None}, "gone"), ({"head_repository_id": 2}, "id 2"), ({"head_repository_id": None}, "None"), ({"repository_id": 3}, "id 3"), ({"repository_id": None}, "None"),
    ({"head_branch": "feature"}, '"feature"'), ({"head_branch": "Main"}, '"Main"'), ({"head_branch": None}, "no name"), ({"run_id": 99}, "the run that asks"),
    ({"expired": True}, "2026-04-01"),
]  # fmt: skip
OF_RUN = [
    ({"id": 8}, "8"),
    ({"head_repository_id": 2, "head_repository": "mallory/demo"}, "mallory/demo"), ({"head_repository_id": None}, "octo/demo"), ({"repository_id": 2}, "another"),
    *(({"event": event}, event) for event in ("pull_request", "pull_request_target", "workflow_run", "issue_comment", "merge_group", "repository_dispatch", "PUSH", "")),
    *(({"path": f".github/workflows/{name}"}, name) for name in ("eval.yml", "accept.yaml", "sub/accept.yml", "accept.yml.bak", "Accept.yml", "accept.yml@other.yml")),
    ({"path": "accept.yml"}, "accept.yml"), ({"head_branch": "feature"}, "feature"), ({"head_branch": None}, "no name"), ({"head_sha": "def"}, "def"),
    *(({"conclusion": end}, end or "completed") for end in ("failure", "cancelled", "skipped", "neutral", "timed_out", None)), ({"status": "in_progress"}, "success"),
]  # fmt: skip


def suspect(artifact, trust):
    """The words that the list alone has against an artifact."""
    doubt = listed_doubt(artifact, trust)
    return doubt.said if doubt else None


def untrusted(run, artifact, trust):
    """The words that its run has against an artifact."""
    doubt = run_doubt(run, artifact, trust)
    return doubt.said if doubt else None



def test_everything_right__counts():
    """An artifact of a successful run of the trusted workflow on the default branch has nothing against it."""
    assert suspect(ARTIFACT, TRUST) is None
    assert untrusted(RUN, ARTIFACT, TRUST) is None


@pytest.mark.parametrize("event", ["push", "schedule", "workflow_dispatch"])
def test_events__trusted(event):
    """The three events that run the default branch's own code are trusted."""
    assert untrusted(dataclasses.replace(RUN, event=event), ARTIFACT, TRUST) is None


@pytest.mark.parametrize(("change", "said"), LISTED)
def test_list__each_condition(change, said):
    """Each condition of the list alone turns an artifact down, and the reason names the value."""
    assert said in suspect(dataclasses.replace(ARTIFACT, **change), TRUST)


@pytest.mark.parametrize(("change", "said"), OF_RUN)
def test_run__each_condition(change, said):
    """Each condition of the run turns an artifact down, and the reason names the value."""
    assert said in untrusted(dataclasses.replace(RUN, **change), ARTIFACT, TRUST)


def test_run__own():
    """The run that asks is no source, whatever it looks like."""
    own = dataclasses.replace(TRUST, own_run_id=7)
    assert untrusted(RUN, ARTIFACT, own)


@pytest.mark.parametrize("status", ["ahead", "diverged", None])
def test_position__not_on_the_branch(status):
    """A commit that the default branch does not contain turns an artifact down."""
    position = None if status is None else Position(status=status, behind_by=0)
    assert "main" in position_doubt(RUN, position, TRUST).said


def test_expired__only_when_nothing_else():
    """An artifact of a stranger that has expired is a stranger's, not an expired baseline."""
    assert "another repository" in suspect(dataclasses.replace(ARTIFACT, expired=True, head_repository_id=2), TRUST)


_words = st.none() | st.sampled_from(["main", "abc", "accept.yml", "push", "success", ".github/workflows/accept.yml", "completed"]) | st.text(max_size=30)
_ids = st.none() | st.integers(0, 9)


_named = _words.filter(bool)
_both = {"repository_id": _ids, "head_repository_id": _ids, "head_branch": _words}
_artifacts = st.fixed_dictionaries({}, optional={**_both, "run_id": _ids, "head_sha": _words, "expired": st.booleans()})
_runs = st.fixed_dictionaries({}, optional={**_both, "id": st.integers(0, 9), "conclusion": _words, "event": _named, "path": _named, "status": _named, "head_sha": _named})


@given(_artifacts, _runs)
def test_any_facts__only_the_right_ones_count(of_artifact, of_run):
    """Whatever GitHub says, an artifact counts only when each fact is exactly the trusted one, and every reason is one printable line."""
    artifact, run = dataclasses.replace(ARTIFACT, **of_artifact), dataclasses.replace(RUN, **of_run)
    reasons = [suspect(artifact, TRUST), untrusted(run, artifact, TRUST)]
    right = (
        artifact.run_id == run.id != 99 and {artifact.repository_id, artifact.head_repository_id, run.repository_id, run.head_repository_id} == {1}
        and artifact.head_branch == run.head_branch == "main" and artifact.head_sha == run.head_sha and not artifact.expired
        and (run.event, run.path) in {(event, ".github/workflows/accept.yml") for event in ("push", "schedule", "workflow_dispatch")}
        and (run.status, run.conclusion) == ("completed", "success")
    )  # fmt: skip
    assert (reasons == [None, None]) == right
    assert all(reason.isprintable() and len(reason) < 500 for reason in reasons if reason)


def test_grouped__one_line_for_each_kind():
    """250 artifacts turned down for one reason are one line with their number and the newest; a single one speaks for itself."""
    bait = [dataclasses.replace(ARTIFACT, id=number, run_id=number, head_repository_id=number) for number in range(400, 150, -1)]
    other = dataclasses.replace(ARTIFACT, head_branch="x")
    lines = grouped(Passed.over(one, listed_doubt(one, TRUST)) for one in [*bait, other])
    assert lines == (
        "250 artifacts of other repositories' runs, newest artifact 400 of run 400: its run belongs to another repository (id 400)",
        'artifact 5 of run 7: its run was on branch "x"',
    )


def test_reasons__foreign_text_is_data():
    """A branch or repository named to forge a line of the log stays a quoted, bounded value on one line."""
    nasty = "x\n::error::boo\u202e" + "y" * 5000
    for said in (suspect(dataclasses.replace(ARTIFACT, head_branch=nasty), TRUST), run_doubt(dataclasses.replace(RUN, event=nasty), ARTIFACT, TRUST).said):
        assert said.isprintable()
        assert len(said) < 300
