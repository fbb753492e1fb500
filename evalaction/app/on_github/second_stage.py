"""`mode: report`: the second stage for pull requests from forks. What the first stage left is data: records are judged again here, and a verdict on them is never read."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from functools import partial
from typing import Literal

from evalaction.app.baselines import Where
from evalaction.app.judging import publish_failure, write_verdict
from evalaction.app.on_github.desk import Desk
from evalaction.app.on_github.records import results_of
from evalaction.app.on_github.surfaces import Surfaces
from evalaction.app.on_github.unmeasured import Unmeasured, has_record, unmeasured, worst
from evalaction.app.parts import Outputs
from evalaction.app.reading import judge_records, show_failure
from evalaction.app.vanished import left_out
from evalaction.core.verdict import EXIT_CODES, Reason, SuiteVerdict, Verdict, VerdictWord


def second_stage(desk: Desk, surfaces: Surfaces) -> Verdict:
    """Publish what a fork's run measured, or why it measured nothing, on the pull request that is provably its own. `published` says only that this worked."""
    run, pull = surfaces.place.run, surfaces.place.pull
    if run is None or pull is None:
        what = f"no single open pull request has the head that run {run.id if run else 0} measured (a newer push, a closed pull request, or another event); nothing was published"
        desk.say(what)
        return publish_failure(desk.parts, desk.outputs(), "not_run", (Reason(code="NO_PULL_REQUEST", message=what),))
    results = results_of(desk, run, key=desk.inputs.key if desk.inputs.explicit_key else None)
    silent = unmeasured(results, outsider=pull.is_outsider)
    for one in silent:
        desk.say(f"the results of {one}")
    measured = [place for place in results.values() if has_record(place)]
    if not measured:
        said = worst(silent)
        return _published(desk, surfaces, show_failure(desk.parts, desk.outputs(surfaces), said.word, said.reasons, word="published"))
    outputs = dataclasses.replace(desk.outputs(surfaces, source=desk.source(), foreign=True), commit=run.head_sha)
    return _published(desk, surfaces, judge_records(desk.parts, outputs, *measured, word=lambda _verdict: "published", beside=partial(_beside, desk, outputs, silent)))


def _beside(desk: Desk, outputs: Outputs, silent: Sequence[Unmeasured], keys: Sequence[str]) -> list[SuiteVerdict]:
    """Suites without a record: what the results say of themselves, and accepted ones that they do not hold. With a `key` only those that `suite` means."""
    word: Literal["not_run", "not_measured"] = "not_run" if any(one.word == "not_run" for one in silent) else "not_measured"
    missing = left_out(Where.of(outputs), keys, word, desk.inputs.suite if desk.inputs.explicit_key else None)
    return [*(one.as_suite() for one in silent), *missing]


def _published(desk: Desk, surfaces: Surfaces, verdict: Verdict) -> Verdict:
    """The verdict, unless nobody can see it on the pull request: what was asked for was not done then."""
    failure = surfaces.unpublished
    if failure is None:
        return verdict
    refused = failure.kind == "permission" and not failure.is_locked
    word: VerdictWord = "config_error" if refused else "not_measured"
    reason = Reason(code="MISSING_PERMISSION" if refused else "GITHUB_UNAVAILABLE", message=f"neither comment nor check run could be written: {failure.message}")
    desk.say(f"{reason.code}: {reason.message}")
    code = int(EXIT_CODES[word])
    verdict = dataclasses.replace(verdict, verdict=word, exit_code=code, would_exit=code, reasons=(*verdict.reasons, reason))
    write_verdict(desk.parts, desk.outputs(), verdict)
    return verdict
