"""What a report shows beyond the verdict: the answers themselves, the past, and where everything lies."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

from evalaction.core.record import CaseRecord
from evalaction.core.verdict import CaseVerdict, SuiteVerdict

SHOWN_CASES = 50
"""Cases whose answers a report shows at most; the tables name them all."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class TrendPoint:
    """One past run: when (as text), its verdict, its pass rate 0..1."""

    time: str
    verdict: str
    pass_rate: float | None = None


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Details:
    """Beside one suite's verdict.

    `answers` maps a case id to its records (baseline, current), whole with answers and check details,
    for the cases that `shown_cases` and `passing_cases` name; `trend` is oldest first; `command` measures and compares
    again on a developer's machine; `accept` says how to accept the run where that is no command line;
    `results_path` is the folder of the record; `lines` are those of regressed cases in the suite's file;
    `uncommitted` counts the files that were changed and not committed when the run began.
    """

    answers: Mapping[str, tuple[CaseRecord | None, CaseRecord | None]] = dataclasses.field(default_factory=dict)
    trend: Sequence[TrendPoint] = ()
    command: str = ""
    accept: str | None = None
    results_path: str = ""
    uncommitted: int = 0
    lines: Mapping[str, int] = dataclasses.field(default_factory=dict)


def shown_cases(suite: SuiteVerdict, limit: int = SHOWN_CASES) -> tuple[str, ...]:
    """Ids of the cases whose answers a report wants to show, worst first: regressed, errors, failing where that decides, flaky."""
    by_word = {word: [case for case in suite.cases if case.verdict == word] for word in ("regressed", "error", "flaky")}
    wanted = [*worst_first(by_word["regressed"]), *by_word["error"][:5], *failing(suite), *worst_first(by_word["flaky"])]
    return tuple(dict.fromkeys(case.case for case in wanted))[:limit]


def passing_cases(suite: SuiteVerdict, limit: int = SHOWN_CASES) -> tuple[str, ...]:
    """Ids of passing cases whose answers a person wants to look at as well, in the suite's order: those of a run that was compared with nothing."""
    if suite.verdict not in ("measured", "no_baseline"):
        return ()
    return tuple(case.case for case in suite.cases if case.current_runs is not None and 0 < case.current_runs.measured == case.current_runs.passed)[:limit]


def failing(suite: SuiteVerdict) -> list[CaseVerdict]:
    """Cases with a failed run or below their minimum, worst first, where no comparison speaks for them: without a baseline, or below a threshold."""
    if suite.baseline.found and not suite.baseline.suite_level_only and suite.verdict != "below_threshold":
        return []
    low = {reason.case for reason in suite.reasons if reason.code == "BELOW_THRESHOLD"}
    failed = [
        case for case in suite.cases
        if case.current_runs is not None and (case.current_runs.passed < case.current_runs.measured or case.case in low) and case.verdict != "regressed"
    ]  # fmt: skip
    return sorted(failed, key=lambda case: (case.current if case.current is not None else 0.0, case.case))


def worst_first(cases: list[CaseVerdict]) -> list[CaseVerdict]:
    """By the size of the drop, then by id."""
    return sorted(cases, key=lambda case: (case.delta if case.delta is not None else 0.0, case.case))
