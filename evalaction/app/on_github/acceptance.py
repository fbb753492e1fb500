"""`mode: accept` and `mode: renew`: what is stored for the next runs to compare with. Nothing is measured here."""

from __future__ import annotations

import dataclasses
import shutil
from pathlib import Path

from evalaction import __version__
from evalaction.app.accepting import AcceptJob, Decision, Origin, decide_records, store_records
from evalaction.app.judging import write_verdict
from evalaction.app.on_github.baselines import ArtifactSource
from evalaction.app.on_github.desk import REPORT, Desk
from evalaction.app.on_github.records import results_of
from evalaction.core.verdict import EXIT_CODES, BaselineInfo, SuiteVerdict, Verdict, VerdictWord
from evalaction.datasets.keys import suite_keys
from evalaction.errors import ConfigError
from evalaction.github.facts import Run
from evalaction.github.limits import SUMMARY_LIMIT
from evalaction.github.provenance import EVENTS
from evalaction.report.acceptance import AcceptedSuite, render_acceptance
from evalaction.store.files import write_atomic

MOST_SUITES = 8
"""Suites of one acceptance: an action's steps are fixed, and each suite's baseline is an artifact of its own."""
_HEADLINES = {
    "accepted": "✅ accepted: this is the baseline now",
    "drifted": "❌ drifted: worse than the anchor, nothing was stored",
    "renewed": "✅ renewed: the same baseline, stored again",
    "no_baseline": "⚪ no_baseline: there is nothing to renew",
}


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """What the mode ended with; `uploads` are the suites' keys and the folders to be uploaded, each holding `<suite key>/`."""

    verdict: Verdict
    uploads: tuple[tuple[str, Path], ...] = ()
    folder: Path | None = None


def accept(desk: Desk) -> Kept:
    """Make the results of a finished run the baseline, as the person who started this run asks for."""
    inputs = desk.inputs
    _may_accept(desk)
    run = _run_to_accept(desk)
    places = results_of(desk, run, key=inputs.key if inputs.explicit_key else None).values()
    is_artifact = inputs.baseline_store == "artifact"
    job = AcceptJob(
        records=tuple(places), baseline=desk.baselines, reason=inputs.reason, cases=inputs.cases, only=inputs.only, move_anchor=inputs.move_anchor, origin=_origin(run),
        source=desk.source(anew=not inputs.cases and inputs.only is None),  # a part has to be a part of something
    )  # fmt: skip
    word, decided = decide_records(desk.parts, job)
    if is_artifact:
        _refuse_too_many(len(decided), "gate the suites in several jobs, and accept with the `key` of one job after the other")
    if word == "accepted":
        decided = store_records(desk.parts, job, decided)
    uploads = _uploads(desk, [one.record.header.key for one in decided if one.folder is not None]) if is_artifact else ()
    return Kept(verdict=_show(desk, word, decided), uploads=uploads, folder=desk.baselines if word == "accepted" and not is_artifact else None)


def renew(desk: Desk) -> Kept:
    """Store the accepted baselines again before they expire; who accepted them, when and why stays as it is."""
    if desk.inputs.baseline_store == "directory":
        raise ConfigError.one("INVALID_INPUT", "a baseline in the repository does not expire", "remove mode: renew", path="mode")
    _on_default_branch(desk)
    keys = suite_keys(desk.inputs.suite, desk.parts.settings.environment, desk.parts.settings.cwd)
    source = ArtifactSource(desk)
    source.fetch(keys)
    kept = [key for key in keys if source.found[key].artifact is not None]
    _refuse_too_many(len(kept), "name fewer suites in `suite`, and renew the others in a job of their own")
    uploads = _uploads(desk, kept)
    word: VerdictWord = "renewed" if kept else "no_baseline"
    desk.runner.add_summary(f"## {_HEADLINES[word]}\n\n" + "".join(f"- `{key}`\n" for key in kept))
    verdict = _write(desk, word, tuple(_renewed(key, found=key in kept) for key in keys))
    return Kept(verdict=verdict, uploads=uploads)


def _renewed(key: str, *, found: bool) -> SuiteVerdict:
    return SuiteVerdict(suite=key, key=key, verdict="renewed" if found else "no_baseline", baseline=BaselineInfo(found=found))


def _may_accept(desk: Desk) -> None:
    """Raise unless this run may move the baseline: the artifact store trusts one workflow file on the default branch."""
    if not desk.inputs.reason.strip():
        raise ConfigError.one("REASON_REQUIRED", "an acceptance needs a reason that is not blank", "say in the input reason why this level is right", path="reason")
    if desk.inputs.baseline_store == "directory":
        return
    _on_default_branch(desk)


def _on_default_branch(desk: Desk) -> None:
    event, wanted = desk.event, desk.inputs.baseline_workflow
    if event.name not in EVENTS or not event.is_on_default_branch:
        what = f"this run is on {event.ref or 'no branch'} by the event {event.name or 'unknown'}, and only the default branch's own runs may move a baseline"
        raise ConfigError.one("NOT_DEFAULT_BRANCH", what, f"start the workflow by hand on {event.default_branch or 'the default branch'}")
    if event.workflow is not None and event.workflow != wanted:
        what = f"this workflow is {event.workflow}, and the gate believes baselines of {wanted} only"
        raise ConfigError.one("INVALID_INPUT", what, f"set baseline-workflow: {event.workflow} here and in the gate's workflow, or rename the file", path="baseline-workflow")


def _run_to_accept(desk: Desk) -> Run:
    from evalaction.github.results import Results  # noqa: PLC0415 - the client is loaded only when it is asked

    github, inputs = desk.client(), desk.inputs
    if inputs.run_id is not None:
        return desk.finished_run(inputs.run_id, judged=True)
    trust = desk.trust()
    key = inputs.key if inputs.explicit_key else None
    run = Results(github, desk.folder / "results").newest_on(trust.default_branch, trust.repository_id, own_run_id=trust.own_run_id, key=key)
    desk.say(f"accepting run {run.id}, the newest finished run of {trust.default_branch} with results")
    return run


def _origin(run: Run) -> Origin:
    pulls = run.pull_requests if run.event == "pull_request" else ()
    return Origin(run_id=str(run.id), commit=run.head_sha, pull_request=pulls[0] if len(pulls) == 1 else None)


def _show(desk: Desk, word: VerdictWord, decided: tuple[Decision, ...]) -> Verdict:
    masked = desk.parts.settings.masker.text
    text = masked(render_acceptance(_HEADLINES[word], [_view(one) for one in decided], limit=SUMMARY_LIMIT))
    desk.runner.add_summary(text)
    verdict = _write(desk, word, tuple(_suite_verdict(one, word) for one in decided))
    write_atomic(desk.results / REPORT, text.encode())
    return verdict


def _view(one: Decision) -> AcceptedSuite:
    acceptance, accepted = one.accepted.baseline.acceptance, one.accepted
    return AcceptedSuite(
        suite=one.record.header.suite, reason=acceptance.reason, accepted_by=acceptance.accepted_by, triggered_by=acceptance.triggered_by, commit=acceptance.commit,
        run_id=acceptance.run_id, pull_request=acceptance.pull_request, cases=len(acceptance.cases) if acceptance.cases is not None else len(one.record.cases),
        moved=accepted.moved, added=accepted.added, removed=accepted.removed, drifted=accepted.drifted,
    )  # fmt: skip


def _suite_verdict(one: Decision, word: VerdictWord) -> SuiteVerdict:
    header, acceptance = one.record.header, one.accepted.baseline.acceptance
    known = {name: getattr(acceptance, name) for name in ("run_id", "commit", "accepted_at", "accepted_by", "reason", "accepted_in")}
    return SuiteVerdict(
        suite=header.suite, key=header.key, verdict=word, metrics=one.accepted.drifted, cases=one.accepted.moved, commit=header.commit, file=header.file, digest=header.digest,
        baseline=BaselineInfo(found=one.folder is not None, acceptances=len(one.accepted.baseline.chain) + 1, **known),
    )  # fmt: skip


def _write(desk: Desk, word: VerdictWord, suites: tuple[SuiteVerdict, ...]) -> Verdict:
    code = int(EXIT_CODES[word])
    verdict = Verdict(verdict=word, exit_code=code, would_exit=code, suites=suites, tool_version=__version__)
    write_verdict(desk.parts, desk.outputs(), verdict)
    return verdict


def _refuse_too_many(suites: int, fix: str) -> None:
    if suites > MOST_SUITES:
        raise ConfigError.one("INVALID_INPUT", f"{suites} suites at once, and one job stores at most {MOST_SUITES} as artifacts", f"{fix}, or use baseline-store: directory")


def _uploads(desk: Desk, keys: list[str]) -> tuple[tuple[str, Path], ...]:
    """Each baseline alone in a folder: an artifact's root is the folder that was named for it."""
    uploads = []
    for key in keys:
        place = desk.folder / "upload" / key
        place.mkdir(parents=True, exist_ok=True)
        shutil.move(desk.baselines / key, place / key)
        uploads.append((key, place))
    return tuple(uploads)
