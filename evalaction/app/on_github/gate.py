"""`mode: gate`: measure, compare with the baseline a person accepted, show the verdict. `mode: merge`: the same for the joined records of shards."""

from __future__ import annotations

import contextlib
from functools import partial

from evalaction.app.baselines import Where
from evalaction.app.gating import gate_suites
from evalaction.app.judging import publish_failure
from evalaction.app.on_github.desk import Desk
from evalaction.app.on_github.records import drop_unmeasured, results_of, set_aside
from evalaction.app.on_github.shards import find_shards
from evalaction.app.on_github.surfaces import Surfaces
from evalaction.app.parts import Job, Outputs, Selected
from evalaction.app.reading import judge_records, merge_shards
from evalaction.app.vanished import vanished
from evalaction.core.record import Shard
from evalaction.core.verdict import Verdict
from evalaction.datasets.keys import suite_keys
from evalaction.datasets.overrides import Overrides
from evalaction.errors import ConfigError, ExitCode
from evalaction.github.facts import Run
from evalaction.report.faults import fault_reasons

_OF_SECRETS = frozenset({"MISSING_SECRET", "UNRESOLVED_VARIABLE"})


def gate(desk: Desk, surfaces: Surfaces) -> Verdict:
    """The verdict on this commit. Of an outsider's pull request without its secrets nothing can be said: `not_run`."""
    set_aside(desk)
    outputs = desk.outputs(surfaces, source=desk.source())
    try:
        verdict = gate_suites(desk.parts, _job(desk, outputs))
    except ConfigError as error:
        with contextlib.suppress(ConfigError):
            drop_unmeasured(desk, suite_keys(desk.inputs.suite, desk.parts.settings.environment, desk.parts.settings.cwd))
        if not desk.event.is_outsider or not {fault.code for fault in error.faults} <= _OF_SECRETS:
            raise
        for fault in error.faults:
            desk.say(str(fault))
        desk.say("a pull request from a fork or from Dependabot gets no secrets, so nothing was measured")
        return publish_failure(desk.parts, outputs, "not_run", fault_reasons(error.faults))
    drop_unmeasured(desk, {suite.key for suite in verdict.suites if not suite.is_gone})
    return verdict


def _job(desk: Desk, outputs: Outputs) -> Job:
    inputs = desk.inputs
    overrides = Overrides(**{name: value for name in ("repeats", "max_concurrency") if (value := getattr(inputs, name)) is not None})
    shard = Shard(index=inputs.shard[0], of=inputs.shard[1]) if inputs.shard else None
    return Job(suites=inputs.suite, overrides=overrides, selected=Selected(filter=inputs.filter, shard=shard), outputs=outputs)


def merge(desk: Desk, surfaces: Surfaces) -> Verdict:
    """Join the shards of this run and judge the whole. What was judged and is not red ends as `merged`; what is red stays red."""
    set_aside(desk)
    run = desk.run(desk.inputs.run_id or desk.event.run_id or 0)
    _refuse_other_commit(desk, run)
    shards = find_shards(results_of(desk, run, shards_without=desk.inputs.key), outsider=desk.event.is_outsider)
    for line in shards.remarks:
        desk.say(line)
    if not shards.folders:
        return publish_failure(desk.parts, desk.outputs(surfaces), "not_run", shards.not_run(run.id))
    merged = merge_shards(desk.parts, shards.folders, desk.results, replace=True)
    shards.refuse_missing({folder.name for folder in merged})
    outputs = desk.outputs(surfaces, source=desk.source(), foreign=run.id != desk.event.run_id)
    beside = partial(vanished, Where.of(outputs), suites=desk.inputs.suite)
    return judge_records(desk.parts, outputs, *merged, beside=beside, word=lambda verdict: "merged" if verdict.exit_code == ExitCode.OK else verdict.verdict)


def _refuse_other_commit(desk: Desk, run: Run) -> None:
    """Raise where the shards of another run are named that measured another commit: the verdict would be shown on one that nobody measured."""
    shown = desk.event.head_sha
    if run.id != desk.event.run_id and run.head_sha != shown:
        what = f"run {run.id} measured commit {run.head_sha[:12]}, and the verdict would be shown on {(shown or 'none')[:12]}"
        raise ConfigError.one("INVALID_INPUT", what, "leave run-id out: mode merge joins the shards of its own run", path="run-id")
