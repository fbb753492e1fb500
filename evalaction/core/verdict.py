"""`verdict.json`: the verdict as data. The JSON Schema that is published is generated from these types."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from evalaction.core.model import default_of
from evalaction.core.model import model as stated
from evalaction.core.reruns import ExtraRuns
from evalaction.errors import ExitCode

SCHEMA_VERSION: Literal[1] = 1

VerdictWord = Literal[
    "passed", "no_baseline", "environment_drift", "not_run", "accepted", "renewed", "merged", "published", "measured",
    "regressed", "below_threshold", "drifted", "config_error", "not_measured", "not_comparable", "internal_error",
]  # fmt: skip
Word = Literal["regressed", "improved", "within_tolerance", "within_noise", "flaky", "inconclusive", "unchanged", "added", "removed", "changed", "error", "missing"]

EXIT_CODES: dict[str, ExitCode] = {
    **dict.fromkeys(("passed", "no_baseline", "environment_drift", "not_run", "accepted", "renewed", "merged", "published", "measured"), ExitCode.OK),
    **dict.fromkeys(("regressed", "below_threshold", "drifted"), ExitCode.REGRESSED),
    "config_error": ExitCode.CONFIG,
    **dict.fromkeys(("not_measured", "not_comparable"), ExitCode.NOT_MEASURED),
    "internal_error": ExitCode.INTERNAL,
}
PRECEDENCE = (ExitCode.INTERNAL, ExitCode.CONFIG, ExitCode.REGRESSED, ExitCode.NOT_MEASURED, ExitCode.OK)
"""Of several verdicts the first of these wins."""
_WITHIN_A_CODE = ("regressed", "drifted", "below_threshold", "not_measured", "not_comparable", "environment_drift", "no_baseline", "not_run")
"""Of several verdicts with one code the first of these wins: what needs a person's eye first."""

GONE = frozenset({"SUITE_REMOVED", "SUITE_MISSING"})
"""Reasons of a suite that is accepted and was not measured, because it is not there."""


@stated
class Reason:
    """Why a verdict is what it is: a code of docs/errors.md and what it speaks of."""

    code: str
    message: str
    case: str | None = None
    check: str | None = None
    metric: str | None = None
    baseline: float | None = None
    current: float | None = None
    file: str | None = None
    line: int | None = None
    column: int | None = None


@stated
class MetricVerdict:
    """One metric: `baseline` and `current` over the compared pairs, `current_all` over the whole suite (thresholds use it)."""

    metric: str
    baseline: float | None = None
    current: float | None = None
    current_all: float | None = None
    delta: float | None = None
    tolerance: float | None = None
    verdict: Word = "unchanged"
    p_value: float | None = None
    mde: float | None = None
    cases: int = 0


@stated
class CheckVerdict:
    """One check of a case; means over the trials of each side."""

    check: str
    verdict: Word
    baseline: float | None = None
    current: float | None = None
    delta: float | None = None


@stated
class Runs:
    """Passes and runs of a case on one side."""

    passed: int
    measured: int


@stated
class CaseVerdict:
    """One case; its score is the weighted mean of its compared checks (all checks where nothing was compared)."""

    case: str
    verdict: Word
    baseline: float | None = None
    current: float | None = None
    delta: float | None = None
    checks: tuple[CheckVerdict, ...] = ()
    baseline_runs: Runs | None = None
    current_runs: Runs | None = None
    note: str | None = None


@stated
class Counts:
    """How many cases were what."""

    compared: int = 0
    added: int = 0
    removed: int = 0
    changed: int = 0
    errors: int = 0
    regressed: int = 0
    improved: int = 0
    within_noise: int = 0
    within_tolerance: int = 0
    flaky: int = 0
    inconclusive: int = 0
    unchanged: int = 0


@stated
class AnchorChange:
    """One metric over the cases that are defined alike in the anchor and in this run."""

    metric: str
    anchor: float
    current: float
    delta: float


@stated
class AnchorInfo:
    """The level that acceptances may not drift below: its commit, the acceptances since then, and what has changed over all of them, this run included."""

    commit: str | None = None
    measured_at: str
    acceptances_since: int
    changes: tuple[AnchorChange, ...] = ()


@stated
class BaselineInfo:
    """Which baseline was compared with; `runs` is the smallest number of stored runs of a compared case.

    With `suite_level_only` it is one number, read from `file`: the pass rate of the suite, and no case was compared.
    """

    found: bool = False
    run_id: str | None = None
    commit: str | None = None
    accepted_at: str | None = None
    accepted_by: str | None = None
    reason: str | None = None
    accepted_in: str | None = None
    age_days: float | None = None
    runs: int | None = None
    acceptances: int | None = None
    passed_over: tuple[str, ...] = ()
    """Candidates that were not taken, each with its reason."""
    behind_by: int | None = None
    """Commits that the default branch has beyond the acceptance; None where nobody asked."""
    suite_level_only: bool = False
    file: str | None = None
    anchor: AnchorInfo | None = None


@stated
class CallsInfo:
    """Calls planned and made, and replies that were replayed from a cassette."""

    planned: int = 0
    made: int = 0
    judge_planned: int = 0
    judge_made: int = 0
    replayed: int = 0
    judge_replayed: int = 0
    baseline_made: int | None = None


@stated
class BlameFinding:
    """One red finding looked at again, with the base system as it answers now: means on the three sides.

    `p_moved`: chance of a base this far below the stored baseline if nothing moved; `moved` says that it is below. `p_change`: chance of
    a head this far below the base, or below baseline and base together where nothing moved; `stands` says that the finding does.
    """

    case: str | None = None
    check: str | None = None
    metric: str | None = None
    baseline: float | None = None
    base_now: float | None = None
    current: float | None = None
    p_moved: float | None = None
    moved: bool
    p_change: float | None = None
    stands: bool


@stated
class BlameInfo:
    """What the base system said: the change is to blame, the surroundings moved, neither can be shown (`noise`), or it could not be asked (`unassigned`)."""

    outcome: Literal["change", "environment", "noise", "unassigned"]
    message: str
    system: Literal["commit", "command"] = "command"
    commit: str | None = None
    findings: tuple[BlameFinding, ...] = ()
    calls: int = 0
    judge_calls: int = 0
    cost_usd: float | None = None


@stated
class Doubt:
    """A warning that reports do not list among the others, because they say it higher up."""

    kind: Literal["partial_run", "thin_baseline", "unconfirmed"]
    message: str


@stated
class SuiteVerdict:
    """The verdict on one suite. `warnings` never change it; each is one line."""

    suite: str
    key: str = ""
    verdict: VerdictWord
    rule: Literal["exact", "tolerance", "statistical"] | None = None
    reasons: tuple[Reason, ...] = ()
    warnings: tuple[str, ...] = ()
    doubts: tuple[Doubt, ...] = ()
    """Those of the warnings that have a kind."""
    metrics: tuple[MetricVerdict, ...] = ()
    checks: tuple[MetricVerdict, ...] = ()
    """Checks over the whole suite, `metric` being the check's id, where no metric has the same values; only under the statistical rule."""
    cases: tuple[CaseVerdict, ...] = ()
    counts: Counts = default_of(Counts)
    baseline: BaselineInfo = default_of(BaselineInfo)
    calls: CallsInfo = default_of(CallsInfo)
    cost_usd: float | None = None
    baseline_cost_usd: float | None = None
    dataset_version: str | None = None
    digest: str | None = None
    commit: str | None = None
    file: str | None = None
    selection: str | None = None
    removed_cases: tuple[str, ...] = ()
    changed_cases: tuple[str, ...] = ()
    """Cases whose definition is another one than the accepted; what changed was not compared."""
    extra_runs: tuple[ExtraRuns, ...] = ()
    """Why what was run again, and when it stopped."""
    blame: BlameInfo | None = None
    """What the base system said, where the suite names one and the gate was about to fail."""
    loosened: tuple[str, ...] = ()
    """Parts of the policy that are looser than what was accepted, one line each."""

    @property
    def is_gone(self) -> bool:
        """Whether nothing was measured because an accepted suite is not there any more."""
        return any(reason.code in GONE for reason in self.reasons)

    @property
    def exit_code(self) -> ExitCode:
        """The code this suite alone would end with."""
        return EXIT_CODES[self.verdict]


@stated
class Verdict:
    """The verdict of the whole run: `exit_code` is the process's, `would_exit` the one without report-only."""

    schema_version: Literal[1] = SCHEMA_VERSION
    verdict: VerdictWord
    exit_code: int
    would_exit: int
    report_only: bool = False
    reasons: tuple[Reason, ...] = ()
    suites: tuple[SuiteVerdict, ...] = Field(default_factory=tuple)
    tool_version: str = ""


def overall(suites: tuple[SuiteVerdict, ...], *, report_only: bool = False, tool_version: str = "") -> Verdict:
    """The verdict over several suites, by the precedence of exit codes 4, 2, 1, 3, 0."""
    worst = min((suite.exit_code for suite in suites), key=PRECEDENCE.index)
    words = {suite.verdict for suite in suites if suite.exit_code == worst}
    word: VerdictWord = next((word for word in _WITHIN_A_CODE if word in words), suites[0].verdict)
    if word not in words:
        word = next(iter(sorted(words)))
    excused = report_only and worst == ExitCode.REGRESSED
    return Verdict(verdict=word, exit_code=int(ExitCode.OK if excused else worst), would_exit=int(worst), report_only=report_only, suites=suites, tool_version=tool_version)
