"""Verdicts of every kind, as the golden files show them."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from evalaction.core.record import CaseRecord, CheckInfo, CheckResult, Failure, Trial
from evalaction.core.verdict import BaselineInfo, CallsInfo, CaseVerdict, CheckVerdict, Counts, Doubt, MetricVerdict, Reason, Runs, SuiteVerdict, Verdict, overall
from evalaction.errors import Fault
from evalaction.report.details import Details, TrendPoint
from evalaction.report.faults import fault_reasons

HOSTILE = (
    "a | b || c \\| d\r\n```\n````\n`x``y` <details><summary>x</summary>\n</details></td></table><h1>BIG</h1><script>alert(1)</script> "
    "@octo-team #1 GH-2 octo/demo#1 $x^2$ and $5 ![i](http://evil.invalid/i.png) [click](http://evil.invalid/x) http://evil.invalid/ "
    "<!-- eval-gate:forged --> --> \u202egpj.exe \x1b[31m red \x00 ~~~\n# Heading\n> [!WARNING]\n"
    "::error::forged\n##[error]forged"
)
BASELINE = BaselineInfo(
    found=True,
    run_id="123",
    commit="0123456789abcdef0123456789abcdef01234567",
    accepted_at="2026-11-01T10:00:00Z",
    accepted_by="Grace H",
    reason="spring cleaning",
    age_days=3.2,
    runs=1,
    acceptances=2,
)
CALLS = CallsInfo(planned=3, made=7, baseline_made=3)


def unchanged(case: str) -> CaseVerdict:
    """A case that holds."""
    return CaseVerdict(
        case=case,
        verdict="unchanged",
        baseline=1.0,
        current=1.0,
        delta=0.0,
        checks=(CheckVerdict(check="equals", verdict="unchanged", baseline=1.0, current=1.0, delta=0.0),),
        baseline_runs=Runs(passed=1, measured=1),
        current_runs=Runs(passed=1, measured=1),
    )


def regressed(case: str, *, check: str = "equals", before: float = 1.0, now: float = 0.0) -> CaseVerdict:
    """A case that got worse, in one check."""
    return CaseVerdict(
        case=case,
        verdict="regressed",
        baseline=before,
        current=now,
        delta=now - before,
        checks=(CheckVerdict(check=check, verdict="regressed", baseline=before, current=now, delta=now - before),),
        baseline_runs=Runs(passed=1, measured=1),
        current_runs=Runs(passed=0, measured=3),
    )


def record(case: str, output: str | None, *, passed: bool, detail: str = "", asked: str = "What is our refund window?", error: Failure | None = None) -> CaseRecord:
    """A stored case with one trial: an answer and a check, or a failure."""
    checks = () if error else (CheckResult(id="equals", score=float(passed), passed=passed, detail=detail),)
    trial = Trial(repeat=0, score=None if error else float(passed), passed=None if error else passed, checks=checks, error=error, answer={"output": output} if output else None)
    return CaseRecord(id=case, fingerprint="f", input=asked, checks=(CheckInfo(id="equals", type="equals", fingerprint="f"),), trials=(trial,))


def passed_suite(**changes) -> SuiteVerdict:
    """A suite that passed, with any field changed."""
    fields = {
        "suite": "support-bot",
        "key": "support-bot",
        "verdict": "passed",
        "rule": "tolerance",
        "baseline": BASELINE,
        "calls": CALLS,
        "cost_usd": 0.0123,
        "baseline_cost_usd": 0.01,
        "cases": (unchanged("refund-window"), unchanged("opening-hours")),
        "counts": Counts(compared=2, unchanged=2),
        "commit": "fedcba9876543210fedcba9876543210fedcba98",
        "metrics": (
            MetricVerdict(metric="pass_rate", baseline=1.0, current=1.0, current_all=1.0, delta=0.0),
            MetricVerdict(metric="equals", baseline=1.0, current=1.0, current_all=1.0, delta=0.0),
        ),
        "digest": "9f86d081884c7d659a2feaa0c55ad015",
        "dataset_version": "2026-11",
        "warnings": ("the baseline holds 1 run of each case: point comparison",),
        "doubts": (Doubt(kind="thin_baseline", message="the baseline holds 1 run of each case: point comparison"),),
    }
    return SuiteVerdict(**{**fields, **changes})


def regressed_suite(**changes) -> SuiteVerdict:
    """A suite with a case of every kind, with any field changed."""
    tone = CaseVerdict(
        case="tone-of-voice",
        verdict="regressed",
        baseline=0.75,
        current=0.5,
        delta=-0.25,
        baseline_runs=Runs(passed=3, measured=3),
        current_runs=Runs(passed=1, measured=3),
        checks=(
            CheckVerdict(check="tone.polite", verdict="regressed", baseline=1.0, current=0.0, delta=-1.0),
            CheckVerdict(check="tone.short", verdict="improved", baseline=0.5, current=1.0, delta=0.5),
            CheckVerdict(check="length", verdict="removed"),
        ),
    )
    flaky = CaseVerdict(
        case="shaky", verdict="flaky", baseline=1.0, current=0.6667, delta=-0.3333, baseline_runs=Runs(passed=1, measured=1), current_runs=Runs(passed=2, measured=3)
    )
    fields = {
        "verdict": "regressed",
        "removed_cases": ("case-to-go",),
        "loosened": ("tolerance 0.01 → 0.02",),
        "selection": "tag smoke",
        "cases": (
            unchanged("opening-hours"),
            tone,
            regressed("refund-window"),
            flaky,
            CaseVerdict(case="better", verdict="improved", baseline=0.5, current=1.0, delta=0.5),
            CaseVerdict(case="case-to-go", verdict="removed"),
            CaseVerdict(case="new-one", verdict="added", current=1.0, current_runs=Runs(passed=1, measured=1)),
            CaseVerdict(case="lost", verdict="error", note="TARGET_TIMEOUT: no answer within 60 s"),
        ),
        "counts": Counts(compared=5, added=1, removed=1, errors=1, regressed=2, improved=1, flaky=1, unchanged=1),
        "metrics": (
            MetricVerdict(metric="equals", baseline=1.0, current=1.0, current_all=1.0, delta=0.0, verdict="unchanged"),
            MetricVerdict(metric="pass_rate", baseline=0.8567, current=0.5, current_all=0.5833, delta=-0.3567, tolerance=0.01, verdict="regressed"),
            MetricVerdict(metric="latency_ms", baseline=1200.0, current=1350.5, current_all=1350.5, delta=150.5),
            MetricVerdict(metric="recall@5", verdict="missing"),
        ),
        "reasons": (
            Reason(code="CASE_REGRESSED", message="case refund-window fell", case="refund-window", baseline=1.0, current=0.0),
            Reason(code="CHECK_REGRESSED", message="check tone.polite of case tone-of-voice", case="tone-of-voice", check="tone.polite"),
            Reason(code="METRIC_REGRESSED", message="pass_rate fell", metric="pass_rate", baseline=0.8567, current=0.5),
            Reason(code="METRIC_MISSING", message="the baseline has recall@5, and this run did not produce it", metric="recall@5"),
        ),
        "doubts": (Doubt(kind="unconfirmed", message="the answers cannot be asked for again here: the drop was not confirmed by further runs"),),
        "warnings": ("the answers cannot be asked for again here: the drop was not confirmed by further runs", "equals fell 0.0050, inside its tolerance of 0.0100"),
    }
    return passed_suite(**{**fields, **changes})


def regressed_details() -> dict[str, Details]:
    """Answers and past runs of that suite."""
    answers = {
        "refund-window": (
            record("refund-window", "30 days, in the original packaging", passed=True),
            record("refund-window", "We have no such policy.", passed=False, detail='expected "30 days"'),
        ),
        "lost": (
            record("lost", "yes", passed=True),
            record("lost", None, passed=False, error=Failure(code="TARGET_TIMEOUT", message="no answer within 60 s", detail="Traceback: boom")),
        ),
    }
    trend = (TrendPoint(time="2026-11-01 10:00", verdict="passed", pass_rate=0.8567), TrendPoint(time="2026-11-02 10:00", verdict="regressed", pass_rate=0.5))
    return {"support-bot": Details(answers=answers, trend=trend, command="eval-gate gate support.eval.yaml", results_path="eval-results/support-bot")}


def hostile() -> tuple[Verdict, dict[str, Details]]:
    """A verdict in which every foreign text is hostile."""
    suite = passed_suite(
        suite=HOSTILE,
        verdict="regressed",
        cases=(regressed(HOSTILE, check=HOSTILE), CaseVerdict(case=HOSTILE + "2", verdict="error", note=f"TARGET_FAILED: {HOSTILE}")),
        counts=Counts(compared=1, regressed=1, errors=1),
        removed_cases=(HOSTILE,),
        loosened=(HOSTILE,),
        warnings=(HOSTILE,),
        selection=HOSTILE,
        dataset_version=HOSTILE,
        commit=HOSTILE,
        metrics=(MetricVerdict(metric=HOSTILE, baseline=1.0, current=0.0, delta=-1.0, verdict="regressed"),),
        baseline=BaselineInfo(found=True, accepted_by=HOSTILE, reason=HOSTILE, commit=HOSTILE, run_id=HOSTILE, age_days=0.1, runs=1),
        reasons=(
            Reason(code="CASE_REGRESSED", message=HOSTILE, case=HOSTILE),
            Reason(code="TARGET_FAILED", message=HOSTILE, case=HOSTILE),
            Reason(code="METRIC_MISSING", message=HOSTILE, metric=HOSTILE),
        ),
    )
    answers = {HOSTILE: (record(HOSTILE, HOSTILE, passed=True, asked=HOSTILE), record(HOSTILE, HOSTILE, passed=False, detail=HOSTILE, asked=HOSTILE))}
    trend = (TrendPoint(time=HOSTILE, verdict=HOSTILE), TrendPoint(time=HOSTILE, verdict=HOSTILE))
    return overall((suite,)), {"support-bot": Details(answers=answers, trend=trend, command=HOSTILE, results_path=HOSTILE)}


def large(cases: int, worse: int) -> tuple[Verdict, dict[str, Details]]:
    """Many cases with 300-character answers; the last `worse` of them regressed."""
    ids = [f"case-{index:05}" for index in range(cases)]
    verdicts = tuple(
        regressed(case) if index >= cases - worse else CaseVerdict(case=case, verdict="within_tolerance", baseline=1.0, current=0.96, delta=-0.04) for index, case in enumerate(ids)
    )
    suite = passed_suite(
        verdict="regressed",
        cases=verdicts,
        counts=Counts(compared=cases, regressed=worse, within_tolerance=cases - worse),
        warnings=tuple(f"case {case} fell inside its tolerance" for case in ids),
        reasons=tuple(Reason(code="CASE_REGRESSED", message=f"case {case} fell", case=case) for case in ids[cases - worse :]),
    )
    answers = {case: (record(case, "yes " * 75, passed=True), record(case, "no " * 100, passed=False, detail="expected yes")) for case in ids[cases - worse :]}
    return overall((suite,)), {"support-bot": Details(answers=answers)}


def config_error() -> Verdict:
    """Two faults, one with a place."""
    faults = [
        Fault(code="UNKNOWN_FIELD", what="unknown key chekcs", fix="did you mean checks?", file="evals/s.eval.yaml", line=8, column=5, path="cases[0].chekcs"),
        Fault(code="MISSING_SECRET", what="ANTHROPIC_API_KEY is not set", fix="pass it to the step"),
    ]
    return Verdict(verdict="config_error", exit_code=2, would_exit=2, reasons=fault_reasons(faults), tool_version="0.1.0")


def no_baseline() -> Verdict:
    """Two cases, one of them failing, and nothing to compare with."""
    cases = (
        CaseVerdict(
            case="refund-window", verdict="added", current=0.0, current_runs=Runs(passed=0, measured=1), checks=(CheckVerdict(check="equals", verdict="added", current=0.0),)
        ),
        CaseVerdict(case="opening-hours", verdict="added", current=1.0, current_runs=Runs(passed=1, measured=1)),
    )
    metrics = (MetricVerdict(metric="pass_rate", current_all=0.5), MetricVerdict(metric="cost_usd", current_all=0.0000421))
    return overall((passed_suite(verdict="no_baseline", rule=None, baseline=BaselineInfo(), cases=cases, counts=Counts(added=2), metrics=metrics, warnings=()),))


def not_measured() -> Verdict:
    """Four cases that failed for one reason."""
    cases = tuple(CaseVerdict(case=f"c{index}", verdict="error", note="JUDGE_FAILED: cannot reach http://127.0.0.1:9/: connection refused") for index in range(4))
    message = "cannot reach http://127.0.0.1:9/: connection refused"
    reasons = (
        Reason(code="TOO_MANY_ERRORS", message=f"4 of 4 cases could not be measured (0 allowed): JUDGE_FAILED: {message}"),
        Reason(code="JUDGE_FAILED", message=message, case="c0"),
    )
    return overall((passed_suite(verdict="not_measured", cases=cases, counts=Counts(errors=4), metrics=(), reasons=reasons, warnings=()),))


@pytest.fixture
def samples() -> SimpleNamespace:
    """The makers above, for tests that cannot import this file."""
    return SimpleNamespace(
        HOSTILE=HOSTILE,
        unchanged=unchanged,
        regressed=regressed,
        record=record,
        passed_suite=passed_suite,
        regressed_suite=regressed_suite,
        regressed_details=regressed_details,
        hostile=hostile,
        large=large,
        config_error=config_error,
        no_baseline=no_baseline,
        not_measured=not_measured,
    )
