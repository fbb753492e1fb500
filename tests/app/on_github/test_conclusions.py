"""Conclusions of check runs: what could not be judged never passes a required check."""

from __future__ import annotations

from typing import get_args

import pytest

from evalaction.app.on_github.conclusions import conclusion
from evalaction.core.verdict import EXIT_CODES, Reason, SuiteVerdict, Verdict, VerdictWord

TABLE = {
    "passed": "success", "regressed": "failure", "below_threshold": "failure", "config_error": "action_required", "not_measured": "failure", "not_comparable": "failure",
    "internal_error": "failure", "environment_drift": "neutral", "no_baseline": "neutral", "not_run": "neutral",
}  # fmt: skip


def ended(word, **more):
    """A verdict with one suite."""
    code = int(EXIT_CODES[word])
    return Verdict(**{"verdict": word, "exit_code": code, "would_exit": code, "suites": (SuiteVerdict(suite="s", verdict=word),), **more})


@pytest.mark.parametrize(("word", "expected"), TABLE.items())
def test_conclusion__of_each_word(word, expected):
    """Each verdict concludes as the documentation's table says."""
    assert conclusion(ended(word), "neutral") == expected


@pytest.mark.parametrize("word", get_args(VerdictWord))
def test_conclusion__no_error_ever_passes(word):
    """Exit codes 2, 3 and 4 never become a conclusion that lets a pull request through, report-only or not."""
    if EXIT_CODES[word] in (2, 3, 4):
        for report_only in (False, True):
            assert conclusion(ended(word, report_only=report_only), "success") not in ("success", "neutral")


@pytest.mark.parametrize("wish", ["neutral", "success", "failure"])
@pytest.mark.parametrize("word", ["no_baseline", "not_run"])
def test_conclusion__without_comparison_as_wished(word, wish):
    """Where nothing was compared the input `no-baseline` decides."""
    assert conclusion(ended(word), wish) == wish


@pytest.mark.parametrize("word", ["regressed", "below_threshold"])
def test_conclusion__report_only_is_neutral(word):
    """Report-only turns red into neutral."""
    assert conclusion(ended(word, report_only=True, exit_code=0), "failure") == "neutral"


@pytest.mark.parametrize("where", ["run", "suite"])
def test_conclusion__signal_is_cancelled(where):
    """A run that a signal ended is cancelled, wherever the signal was noticed."""
    reason = (Reason(code="INTERRUPTED", message="a signal"),)
    verdict = ended("not_measured", reasons=reason) if where == "run" else ended("not_measured", suites=(SuiteVerdict(suite="s", verdict="not_measured", reasons=reason),))
    assert conclusion(verdict, "neutral") == "cancelled"
