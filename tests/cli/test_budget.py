"""What a gate may spend, and what it proves with it."""

from __future__ import annotations


def test_gate__budget__that_cannot_hold_the_plan__calls_nothing(work):
    """Four calls planned, three allowed: BUDGET_TOO_SMALL with both numbers."""
    suite = work.suite("a", "b", limits={"max_calls": 3}, defaults={"repeats": 2})

    done = work.run("gate", suite)

    assert done.code == 2
    assert "BUDGET_TOO_SMALL" in done.err
    assert "4 calls" in done.err
    assert work.calls("a") == 0


def test_gate__budget_used_up_by_the_first_pass__proves_nothing(work):
    """No calls are left to ask a suspicious case again: neither red, for it may be noise, nor green."""
    suite = work.accepted("a", "b", limits={"max_calls": 2})
    work.answers(a="no", b="yes")

    done = work.run("gate", suite)

    assert (done.code, done.verdict["verdict"], work.calls("a")) == (3, "not_measured", 1)
    assert {reason["code"] for reason in done.suite["reasons"]} == {"BUDGET_EXHAUSTED"}
    assert "could not be asked again" in done.suite["reasons"][0]["message"]


def test_gate__budget_for_one_of_two_suspicious_cases__proves_that_one(work):
    """What can be asked again is: one proven regression is red, although the budget left the other open."""
    suite = work.accepted("a", "b", limits={"max_calls": 4})
    work.answers(a="no", b="no")

    done = work.run("gate", suite)

    assert (done.code, work.calls("a"), work.calls("b")) == (1, 3, 1)
