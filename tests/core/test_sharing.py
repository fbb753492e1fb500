"""What hot paths build without validation, and what equal cases share: the same values, fewer objects."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from evalaction.core.fingerprint import case_fingerprint, check_fingerprint, define, defined, suite_digest
from evalaction.core.model import copy_of, known_good
from evalaction.core.record import CheckResult, Failure, Trial
from evalaction.core.sharing import check_result, without_texts
from evalaction.core.specs import ContainsAll, ExactMatch, RagbenchRetrieval
from evalaction.core.suite import Case

CASE = Case(id="a", input="q", checks=(ExactMatch(id="exact_match", value="x"), RagbenchRetrieval(id="retrieval", relevant=("d",)), ContainsAll(id="c", value=("y",), weight=2)))


def test_known_good__is_what_the_constructor_makes():
    """A result made from known values equals the validated one, and a value too few is refused."""
    assert known_good(CheckResult, "a", 0.5, False, "why", {"m": 0.5}) == CheckResult(id="a", score=0.5, passed=False, detail="why", values={"m": 0.5})
    with pytest.raises(ValueError, match="shorter"):
        known_good(CheckResult, "a", 0.5)


def test_copy_of__changes_what_is_named_and_leaves_the_first_alone():
    """A copy has the new values, everything else stays, and the copied one is as it was."""
    one = Trial(repeat=3, score=0.5, passed=True, checks=(CheckResult(id="a", score=0.5, passed=True),), latency_ms=2.0)

    assert copy_of(one, latency_ms=None) == dataclasses.replace(one, latency_ms=None)
    assert one.latency_ms == 2.0


@pytest.mark.parametrize("values", [None, {"recall@5": 0.5, "mrr": 1.0}])
def test_check_result__without_text_is_one_object(values):
    """Equal results without a text are the same object; one with a text is not shared and keeps it."""
    first, again = (check_result("a", 0.5, False, "", values) for _ in range(2))

    assert first is again == CheckResult(id="a", score=0.5, passed=False, values=values)
    assert check_result("a", 0.5, False, "why", values).detail == "why"


def test_without_texts__shares_equal_trials_and_keeps_apart_what_differs():
    """Trials that differ in their texts only become one; pass, score, time, cost and errors keep them apart."""
    one = Trial(repeat=0, score=0.5, passed=False, checks=(CheckResult(id="a", score=0.5, passed=False, detail="x"),), answer={"output": "x"})
    other = dataclasses.replace(one, checks=(CheckResult(id="a", score=0.5, passed=False, detail="y"),), answer={"output": "y"})
    apart: list[dict[str, Any]] = [{"passed": True}, {"score": 0.25}, {"repeat": 1}, {"latency_ms": 1.0}, {"cost_usd": 0.0}]
    failed = Trial(repeat=0, error=Failure(code="C", message="m"), answer="x")

    assert without_texts(one) is without_texts(other) == dataclasses.replace(one, checks=(CheckResult(id="a", score=0.5, passed=False),), answer=None)
    for change in apart:
        assert without_texts(dataclasses.replace(one, **change)) == dataclasses.replace(without_texts(one), **change)
    assert without_texts(failed) == dataclasses.replace(failed, answer=None)


def test_define__is_what_the_digests_say_and_is_kept_by_the_reader():
    """A definition holds the digests of case and checks; a case that carries its own has the same digest of the suite."""
    (kept,) = defined([CASE])

    assert (kept, kept.definition) == (CASE, define(CASE))
    assert define(CASE).fingerprint == case_fingerprint(CASE)
    assert [(info.id, info.type, info.fingerprint, info.weight) for info in define(CASE).checks] == [
        (check.id, kind, check_fingerprint(check), check.weight) for check, kind in zip(CASE.checks, ("exact_match", "retrieval", "contains_all"), strict=True)
    ]
    assert define(CASE).checks[1].metrics == ("precision@k", "recall@k", "mrr", "ndcg@k", "hit_rate")
    assert suite_digest([kept]) == suite_digest([CASE])
