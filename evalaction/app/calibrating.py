"""`calibrate`: one commit measured many times; what its noise is, and what the gate would make of pull requests that change nothing."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from random import Random
from typing import TextIO, cast

from evalaction.app.gating import measure_only
from evalaction.app.judging import Judged, publish
from evalaction.app.loading import load
from evalaction.app.parts import Job, Parts
from evalaction.app.progress import Masked
from evalaction.core.calibration import Calibration, calibrate
from evalaction.core.record import RunRecord
from evalaction.core.resampling import Simulated, pull_requests_for, simulate
from evalaction.core.suite import Case, PredictionsTarget, Suite
from evalaction.core.verdict import Verdict
from evalaction.errors import ConfigError, Fault
from evalaction.report.calibration import Calibrated, render_calibration
from evalaction.runner.progress import Progress, progress_on


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class CalibrateJob:
    """How often each case is run, and how many unchanged pull requests are drawn from the runs."""

    runs: int = 10
    pull_requests: int = 2000


_MANY = 200
"""Pull requests that are simulated within seconds."""


def calibrate_suites(parts: Parts, job: Job, how: CalibrateJob) -> Verdict:
    """Measure every suite `runs` times, write an ordinary record, print what it says. Raises ConfigError for answers and results that are finished."""
    suites = load(parts, job)
    _refuse_finished(suites)
    repeats = {suite.key: suite.repeats for suite in suites}
    cases = sum(len(suite.cases) for suite in suites)
    parts.console.say(f"each of {cases:,} cases is asked {how.runs} times, or as often as it says itself: {cases * how.runs:,} calls of the target at least")
    judged, skipped = measure_only(parts, job, [_repeated(suite, how.runs) for suite in suites])
    whole = all(one.verdict.verdict == "measured" for one in judged) and not skipped
    if whole:
        found = [_calibrated(parts, one, how, repeats[one.verdict.key]) for one in judged]
        (parts.console.document if job.outputs.format == "json" else parts.console.result)(render_calibration(found, job.outputs.format))
    return publish(parts, job.outputs, judged, skipped, show=not whole)


def _refuse_finished(suites: Sequence[Suite]) -> None:
    """Raise ConfigError for every suite in which nothing can be run again."""
    found = [(suite, "answers from a file cannot be asked for again", "target") for suite in suites if isinstance(suite.target, PredictionsTarget)]
    found += [(suite, "finished results of another tool cannot be measured again", "import") for suite in suites if suite.imported is not None]
    fix = "name the system itself as the target: --exec or --http"
    faults = [Fault(code="INVALID_INPUT", what=f"{what}, so their noise cannot be measured", fix=fix, file=suite.file, path=path) for suite, what, path in found]
    if faults:
        raise ConfigError(faults)


def _repeated(suite: Suite, runs: int) -> Suite:
    """The suite with so many runs of each case; a case that has more of its own keeps them."""

    def asked(case: Case) -> Case:
        return case if case.repeats is None or case.repeats > runs else dataclasses.replace(case, repeats=None)

    return dataclasses.replace(suite, repeats=runs, cases=tuple(map(asked, suite.cases)))


def _calibrated(parts: Parts, one: Judged, how: CalibrateJob, repeats: int) -> Calibrated:
    record = one.record
    noise = calibrate(record)
    count = pull_requests_for(len(noise.cases), how.pull_requests)
    quicker = "; that may take minutes, --pull-requests 200 is quicker and less exact" if count > _MANY else ""
    parts.console.say(f"suite {noise.suite}: {count} unchanged pull requests are drawn from its runs and sent through the gate{quicker}")
    return Calibrated(noise=noise, simulated=_simulated(_progress(parts), noise, record, count, repeats), folder=str(one.folder))


def _progress(parts: Parts) -> Progress:
    """A bar on a terminal; a log has been told already that this may take minutes."""
    stream = cast("TextIO", parts.console.err)  # it writes, flushes and says whether it is a terminal
    return Masked(progress_on(stream, quiet=not stream.isatty()), parts.settings.masker)


def _simulated(progress: Progress, noise: Calibration, record: RunRecord, count: int, repeats: int) -> Simulated:
    together = any(series.moves_together for series in noise.series)

    def chance(number: int) -> Random:
        """Asked for once a pull request. The seed is made of what was measured, so that the same record always says the same."""
        if number:
            progress.step("", failed=False)
        return Random(f"{noise.key}/{noise.runs}/{number}")  # noqa: S311 - a simulation, not a secret

    progress.start(f"{noise.suite}: simulating", count)
    try:
        return simulate(record, count, chance, repeats=repeats, together=together)
    finally:
        progress.finish()
