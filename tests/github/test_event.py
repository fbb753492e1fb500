"""Events: what is read from payload and variables, and what odd payloads cost."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalaction.github.event import read_event, read_payload
from tests.github import events


def seen(gh, event, tmp_path):
    """The event as the product reads it from file and variables."""
    known = events.environment(gh, event, tmp_path)
    return read_event(read_payload(known["GITHUB_EVENT_PATH"]), known)


def test_pull_request__head_is_not_the_merge_commit(gh, tmp_path):
    """A check belongs on the pull request's head, not on the merge commit that is checked out."""
    pull = gh.pull()
    event = seen(gh, events.pull_request(gh, pull), tmp_path)
    assert (event.head_sha, event.pull.number, event.is_outsider) == (pull["head"]["sha"], pull["number"], False)
    assert event.sha != event.head_sha


@pytest.mark.parametrize(("make", "expected"), [("fork", True), ("dependabot", True), ("own", False), ("gone", True)])
def test_outsider__by_ids_and_author(gh, tmp_path, make, expected):
    """A fork is told by its repository's id, also one that is gone; Dependabot by the pull request's author."""
    pull = {"fork": lambda: gh.pull("main", repo=gh.fork()), "dependabot": lambda: gh.pull(author="dependabot[bot]")}.get(make, gh.pull)()
    if make == "gone":
        pull["head"]["repo"] = None
    assert seen(gh, events.pull_request(gh, pull), tmp_path).is_outsider is expected


def test_schedule__default_branch_without_a_repository_in_the_payload(gh, tmp_path):
    """A scheduled run is on the default branch, even where the payload does not say which that is."""
    event = events.schedule(gh)
    del event.payload["repository"]
    found = seen(gh, event, tmp_path)
    assert (found.default_branch, found.is_on_default_branch, found.repository_id) == ("main", True, gh.repository.id)


def test_merge_group__head_of_the_group(gh, tmp_path):
    """In a merge queue the check belongs on the group's head."""
    event = events.merge_group(gh)
    assert seen(gh, event, tmp_path).head_sha == event.payload["merge_group"]["head_sha"]


def test_workflow_run__finished_run_and_its_head(gh, tmp_path):
    """A second stage sees the finished run, its head and the owner of the head's repository."""
    run = gh.run("pull_request", "main", repo=gh.fork("eve"))
    event = seen(gh, events.workflow_run(gh, run), tmp_path)
    assert (event.upstream.id, event.upstream.head_owner, event.head_sha) == (run["id"], "eve", run["head_sha"])


ODD = ["", "{", "[]", "null", '{"pull_request": null}', '{"pull_request": {"number": "12"}}', '{"pull_request": {"number": 12, "head": []}}', "[" * 5000]


@pytest.mark.parametrize("text", ODD)
def test_payload__odd_one_is_as_good_as_none(tmp_path, text):
    """A payload that is not what GitHub writes costs what it should have said, and no more."""
    path = tmp_path / "event.json"
    path.write_text(text)
    event = read_event(read_payload(str(path)), {"GITHUB_SHA": "a" * 40, "GITHUB_REPOSITORY": "octo/demo", "GITHUB_RUN_ID": "x"})
    assert (event.pull, event.head_sha, event.run_id) == (None, "a" * 40, None)


def test_payload__missing_file_is_none():
    """No file, no payload."""
    assert read_payload("/nowhere/event.json") == read_payload(None) == {}


_leaf = st.none() | st.booleans() | st.integers() | st.text(max_size=5)
_json = st.recursive(_leaf, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3))
_parts = st.sampled_from(["pull_request", "workflow_run", "repository", "merge_group", "head", "base", "repo", "id", "sha", "number", "head_sha"])


@given(st.dictionaries(_parts, st.dictionaries(_parts, _json, max_size=4) | _json, max_size=5))
def test_event__any_payload_is_read(payload):
    """Whatever shape a payload has, it is read without an exception."""
    assert json.loads(json.dumps(payload)) == payload
    assert read_event(payload, {}).name == ""
