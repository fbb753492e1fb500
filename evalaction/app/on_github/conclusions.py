"""Which conclusion a check run ends with: a table, decided purely."""

from __future__ import annotations

from typing import Literal

from evalaction.core.verdict import Verdict
from evalaction.errors import ExitCode
from evalaction.github.facts import Conclusion

_OF_A_CODE: dict[int, Conclusion] = {
    ExitCode.OK: "success",
    ExitCode.REGRESSED: "failure",
    ExitCode.CONFIG: "action_required",
    ExitCode.NOT_MEASURED: "failure",
    ExitCode.INTERNAL: "failure",
}


def conclusion(verdict: Verdict, no_baseline: Literal["neutral", "success", "failure"], *, elsewhere: bool = False) -> Conclusion:
    """A state that could not be judged never passes a required check: GitHub lets `neutral` and `skipped` through.

    `elsewhere`: another commit was measured than the check's, so that nothing is known about this one, whatever the verdict.
    """
    if is_cancelled(verdict):
        return "cancelled"
    if elsewhere:
        return "action_required"
    if verdict.report_only and verdict.would_exit in (ExitCode.OK, ExitCode.REGRESSED):
        return "neutral"
    if verdict.verdict in ("no_baseline", "not_run"):
        return no_baseline
    return "neutral" if verdict.verdict == "environment_drift" else _OF_A_CODE[verdict.would_exit]


def is_cancelled(verdict: Verdict) -> bool:
    """Whether a signal ended the run."""
    return any(reason.code == "INTERRUPTED" for reason in (*verdict.reasons, *(reason for suite in verdict.suites for reason in suite.reasons)))
