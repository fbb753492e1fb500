"""`mode: gate`: measure, compare with the baseline a person accepted, show the verdict. `mode: merge`: the same for the joined records of shards."""

from __future__ import annotations

from evalaction.app.gating import gate_suites
from evalaction.app.judging import publish_failure
from evalaction.app.on_github.desk import Desk
from evalaction.app.on_github.records import shards_of
from evalaction.app.on_github.surfaces import Surfaces
from evalaction.app.parts import Job, Outputs, Selected
from evalaction.app.reading import judge_records, merge_shards
from evalaction.core.record import Shard
from evalaction.core.verdict import Verdict
from evalaction.datasets.overrides import Overrides
from evalaction.errors import ConfigError, ExitCode
from evalaction.report.faults import fault_reasons

_OF_SECRETS = frozenset({"MISSING_SECRET", "UNRESOLVED_VARIABLE"})


def gate(desk: Desk, surfaces: Surfaces) -> Verdict:
    """The verdict on this commit. Of an outsider's pull request without its secrets nothing can be said: `not_run`."""
    outputs = desk.outputs(surfaces, source=desk.source())
    try:
        return gate_suites(desk.parts, _job(desk, outputs))
    except ConfigError as error:
        if not desk.event.is_outsider or not {fault.code for fault in error.faults} <= _OF_SECRETS:
            raise
        for fault in error.faults:
            desk.say(str(fault))
        desk.say("a pull request from a fork or from Dependabot gets no secrets, so nothing was measured")
        return publish_failure(desk.parts, outputs, "not_run", fault_reasons(error.faults))


def _job(desk: Desk, outputs: Outputs) -> Job:
    inputs = desk.inputs
    overrides = Overrides(**{name: value for name in ("repeats", "max_concurrency") if (value := getattr(inputs, name)) is not None})
    shard = Shard(index=inputs.shard[0], of=inputs.shard[1]) if inputs.shard else None
    return Job(suites=inputs.suite, overrides=overrides, selected=Selected(filter=inputs.filter, shard=shard), outputs=outputs)


def merge(desk: Desk, surfaces: Surfaces) -> Verdict:
    """Join the shards of this run and judge the whole. What was judged and is not red ends as `merged`; what is red stays red."""
    run = desk.client().run(desk.inputs.run_id or desk.event.run_id or 0)
    merge_shards(desk.parts, shards_of(desk, run), desk.results)
    outputs = desk.outputs(surfaces, source=desk.source())
    return judge_records(desk.parts, outputs, desk.results, word=lambda verdict: "merged" if verdict.exit_code == ExitCode.OK else verdict.verdict)
