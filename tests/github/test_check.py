"""The check run: opened once, always completed."""

from __future__ import annotations

import pytest

from evalaction.errors import GitHubError
from evalaction.github.check import Check
from evalaction.github.facts import Annotation, CheckOutput
from tests.github.fake import READ, TOKEN, Token
from tests.github.routes import Answer

POST, PATCH = "/check-runs$", "/check-runs/[0-9]+$"


def _output(count=0, **more):
    return CheckOutput(**{"title": "t", "summary": "s", "text": "x", "annotations": tuple(map(_annotation, range(count))), **more})


def _annotation(number, **more):
    return Annotation(**{"path": "evals/a.eval.yaml", "line": number + 1, "level": "failure", "title": "worse", "message": "m", **more})


def _open(gh, github, name="eval-gate", key="eval"):
    return Check.open(github, name, gh.tip(), f"eval-gate:{key}")


def test_open__in_progress_then_completed(gh, github):
    """A check run is in progress first, and then completed with texts and annotations in one request."""
    check = _open(gh, github)
    row = gh.checks[check.id]
    assert (row["status"], row["head_sha"], row["external_id"], check.url) == ("in_progress", gh.tip(), "eval-gate:eval", row["html_url"])
    done = check.complete("failure", _output(3))
    assert (done.status, row["conclusion"], row["output"]["title"], len(row["annotations"])) == ("completed", "failure", "t", 3)
    assert len(gh.calls("PATCH")) == 1


@pytest.mark.parametrize("conclusion", ["success", "neutral", "failure", "action_required", "cancelled"])
def test_complete__every_conclusion(gh, github, conclusion):
    """GitHub takes every conclusion that we have."""
    check = _open(gh, github)
    check.complete(conclusion, _output())
    assert gh.checks[check.id]["conclusion"] == conclusion


@pytest.mark.parametrize(("count", "requests", "shown"), [(50, 1, 50), (51, 2, 51), (130, 3, 130), (1000, 20, 1000), (1234, 21, 1001)])
def test_annotations__in_batches(gh, github, count, requests, shown):
    """Annotations come 50 at a time, in order, the conclusion with the first; beyond 1,000 the last says how many are missing."""
    check = _open(gh, github)
    check.complete("failure", _output(count))
    row, sent = gh.checks[check.id], gh.calls("PATCH")
    assert (len(sent), len(row["annotations"])) == (requests, shown)
    assert [call.json.get("conclusion") for call in sent] == ["failure"] + [None] * (requests - 1)
    assert [one["start_line"] for one in row["annotations"]][:1000] == list(range(1, min(count, 1000) + 1))
    if count > 1000:
        assert "234 more" in row["annotations"][-1]["message"]


@pytest.mark.parametrize("odd", [{"path": "/etc/passwd"}, {"path": "../x"}, {"line": 0}, {"line": -5}, {"message": "é" * 100_000}, {"title": "t" * 999}, {"message": ""}])
def test_annotations__odd_ones(gh, github, odd):
    """An annotation that GitHub would refuse is made fit, or left out; the check is completed in any case."""
    check = _open(gh, github)
    check.complete("failure", _output(annotations=(_annotation(1, **odd),)))
    row = gh.checks[check.id]
    assert row["conclusion"] == "failure"
    assert len(row["annotations"]) == (0 if "path" in odd else 1)


@pytest.mark.parametrize("text", ["x" * 70_000, "fits"])
def test_texts__refused(gh, github, text):
    """Texts that GitHub refuses are cut down to title and summary rather than the conclusion being lost."""
    check = _open(gh, github)
    gh.fail("PATCH", PATCH, 422, times=2)
    check.complete("failure", _output(60, text=text if text == "fits" else "x", title="t" * 999))
    row = gh.checks[check.id]
    assert (row["conclusion"], row["annotations"], row["output"]["summary"], len(row["output"]["title"])) == ("failure", [], "s", 255)


@pytest.mark.parametrize("status", [0, 500, 502])
def test_open__answer_lost(gh, github, status):
    """A check run whose answer was lost is found by name, commit and key, not opened twice."""
    old = _open(gh, github)
    old.complete("success", _output())
    other = _open(gh, github, key="other")
    gh.lose("POST", POST, status=status)
    check = _open(gh, github)
    assert check.id not in (old.id, other.id)
    assert len(gh.checks) == 3


def test_open__failed_then_works(gh, github):
    """An opening that took no effect is repeated once, and then given up."""
    gh.fail("POST", POST, 502, times=1)
    check = _open(gh, github)
    assert list(gh.checks) == [check.id]
    check.complete("success", _output())
    gh.fail("POST", POST, 502)
    with pytest.raises(GitHubError):
        _open(gh, github)
    assert len(gh.calls("POST")) == 4


def test_open__read_only_token(gh, github):
    """A token that may not write is told so, once."""
    gh.tokens[TOKEN] = Token(permissions=READ)
    with pytest.raises(GitHubError) as said:
        _open(gh, github)
    assert said.value.kind == "permission"
    assert len(gh.seen) == 1


def test_complete__fails_twice_then_works(gh, github, slept):
    """Completing is repeated when GitHub fails."""
    check = _open(gh, github)
    gh.fail("PATCH", PATCH, 503, times=2)
    check.complete("success", _output())
    assert gh.checks[check.id]["conclusion"] == "success"
    assert slept == [1.0, 3.0]


def test_complete__later_batch_fails(gh, github):
    """When a later batch fails the check is completed already."""
    check = _open(gh, github)
    gh.fail("PATCH", PATCH, 500, skip=1)
    with pytest.raises(GitHubError):
        check.complete("failure", _output(120))
    assert gh.checks[check.id]["conclusion"] == "failure"


def test_resume__by_a_later_step(gh, github, client):
    """A later step completes what a killed one opened, by its number alone."""
    check = _open(gh, github)
    Check.resume(client(), check.id).complete("cancelled", _output())
    assert gh.checks[check.id]["conclusion"] == "cancelled"


@pytest.mark.parametrize("count", [3, 120])
@pytest.mark.parametrize("lost", [0, 1, 2])
def test_annotations__answer_lost(gh, github, count, lost):
    """Whichever answer is lost, each annotation is there once: GitHub adds them anew with every request that takes effect."""
    check = _open(gh, github)
    for skip in range(lost + 1):
        gh.trouble("PATCH", PATCH, lambda _gh, _call: Answer(502, {"message": "Lost"}), skip=skip, after=True)
    check.complete("failure", _output(count))
    assert gh.checks[check.id]["conclusion"] == "failure"
    assert [one["start_line"] for one in gh.checks[check.id]["annotations"]] == list(range(1, count + 1))


def test_annotations__failed_then_works(gh, github):
    """Annotations of a request that took no effect are sent again."""
    check = _open(gh, github)
    gh.fail("PATCH", PATCH, 502, times=1)
    check.complete("failure", _output(3))
    assert (gh.checks[check.id]["conclusion"], len(gh.checks[check.id]["annotations"])) == ("failure", 3)
