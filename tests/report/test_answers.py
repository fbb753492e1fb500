"""Answers side by side: which run is shown, and how an answer reads."""

from __future__ import annotations

import dataclasses

import pytest

from evalaction.core.record import CheckInfo, CheckResult, Trial
from evalaction.report.answers import answer_text, answer_views
from evalaction.report.details import Details


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ("plain", "plain"),
        (None, ""),
        ({"output": "said", "retrieved": ["a", "b"], "cost_usd": 0.1}, 'said\nretrieved: ["a", "b"]'),
        ({"rows": [{"x": 1}]}, 'rows: [{"x": 1}]'),
        ({"output": {"k": "é"}}, '{\n "k": "é"\n}'),
        ([1, 2], "[1, 2]"),
    ],
)
def test_answer_text__reads_like_an_answer(answer, text):
    """Output first, other parts one a line, figures of cost left out."""
    assert answer_text(answer) == text


def test_views__show_the_run_that_tells_most(samples):
    """Of several runs the baseline shows one that passed and now one that fails; failed checks come first."""
    good = Trial(repeat=0, score=1.0, passed=True, checks=(CheckResult(id="equals", score=1, passed=True),), answer={"output": "good"})
    checks = (CheckResult(id="ok", score=1, passed=True), CheckResult(id="tone.polite", score=0, passed=False, detail="the judge: rude"))
    bad = Trial(repeat=1, score=0.5, passed=False, checks=checks, answer={"output": "bad"})
    infos = tuple(CheckInfo(id=name, type="equals", fingerprint="f") for name in ("equals", "ok", "tone.polite"))
    record = dataclasses.replace(samples.record("refund-window", "x", passed=True), checks=infos, trials=(bad, good))
    suite = samples.passed_suite(verdict="regressed", cases=(samples.regressed("refund-window"),))

    (view,) = answer_views(suite, Details(answers={"refund-window": (record, dataclasses.replace(record, trials=(good, bad)))}))

    assert (view.baseline, view.now) == ("good", "bad")
    assert view.checks == "failed tone.polite (0): the judge: rude\npassed ok (1)"
    assert view.question == "What is our refund window?"


def test_views__a_missing_side_says_so(samples):
    """A case without a baseline record has a side that says that there was no run."""
    suite = samples.passed_suite(verdict="regressed", cases=(samples.regressed("refund-window"),))
    (view,) = answer_views(suite, Details(answers={"refund-window": (None, samples.record("refund-window", None, passed=False))}))

    assert (view.baseline, view.now) == ("(no run)", "(nothing)")
