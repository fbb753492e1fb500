"""Uses that measure nothing: compare two records, report one again, merge shards, look back."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from evalaction import __version__
from evalaction.app.baselines import FoundBaseline, Where, of_records
from evalaction.app.blaming import judge_again
from evalaction.app.judging import VERDICT_FILE, Judged, NoVerdict, failure, judge, publish, remarked, render, write_verdict
from evalaction.app.parts import Outputs, Parts
from evalaction.app.vanished import still_gone
from evalaction.core.accept import rules_of
from evalaction.core.acceptance import Acceptance, Baseline
from evalaction.core.merge import merge
from evalaction.core.record import RunRecord
from evalaction.core.verdict import EXIT_CODES, Reason, SuiteVerdict, Verdict, VerdictWord, overall
from evalaction.datasets.keys import suite_keys
from evalaction.datasets.paths import find
from evalaction.errors import ConfigError
from evalaction.store.baselines import ACCEPTANCE, DirectoryStore
from evalaction.store.files import remove_tree, write_named
from evalaction.store.history import PastRun, past_runs
from evalaction.store.recorder import write_record
from evalaction.store.records import load, read_below, read_record, read_records, record_folders, refuse_shared_keys

MOST_RUNS, SHOWN_RUNS = 10_000, 100
Others = Callable[[Sequence[str]], Sequence[SuiteVerdict]]


def compare_records(parts: Parts, outputs: Outputs, before: Path, after: Path) -> Verdict:
    """Compare the records at two places, paired by suite key; nothing is measured."""
    baselines = [(folder, _as_baseline(folder)) for folder in record_folders(before)]
    refuse_shared_keys((folder, baseline.record) for folder, baseline in baselines)
    known = {baseline.record.header.key: (folder, baseline) for folder, baseline in baselines}
    judged = []
    for folder, record in read_records(after):
        found = known.get(record.header.key)
        if found is None:
            raise ConfigError.one("INVALID_RECORD", f"suite {record.header.suite} has no record to compare with", "name two folders that hold the same suites", file=str(before))
        judged.append(Judged(verdict=judge(record, found[1], rules_of(record, baseline=found[1].record), parts.now()), record=record, folder=folder, baseline_folder=found[0]))
    gone = set(known) - {one.verdict.key for one in judged}
    if gone:
        raise ConfigError.one("INVALID_RECORD", f"suite {min(gone)} is on the baseline's side only", "name two folders that hold the same suites", file=str(after))
    return publish(parts, outputs, judged, remember=False)


def _as_baseline(folder: Path) -> Baseline:
    """A baseline's folder as such; any other record as if somebody had accepted it when it was finished."""
    if (folder / ACCEPTANCE).is_file():
        store = DirectoryStore(folder.parent)
        found = store.load(folder.name)
        if found is not None:
            return found
    record = read_record(folder)
    header = record.header
    return Baseline(record=record, acceptance=Acceptance(reason="compared record, not accepted", accepted_at=header.finished_at, accepted_by="nobody", commit=header.commit))


def report_records(parts: Parts, outputs: Outputs, place: Path) -> Verdict:
    """Render the report of finished records again; the record is data, its own verdict is not believed. Of that only the names of suites that were gone are taken."""
    judged, lost = _judged(parts, outputs, (place,)), _gone_from(place)
    judged = [one for one in judged if one.verdict.key not in lost] or judged  # what an earlier run left of a suite that is gone says nothing now
    gone = still_gone(Where.of(outputs), [one.verdict.key for one in judged], lost)
    verdict = overall((*(one.verdict for one in judged), *gone), tool_version=__version__)
    render(parts, outputs, verdict, judged)
    return verdict


def _gone_from(place: Path) -> set[str]:
    """Keys of the suites that the verdict at a place found gone; none where there is no verdict that can be read."""
    with contextlib.suppress(ConfigError):
        if (place / VERDICT_FILE).is_file():
            return {suite.key for suite in load(Verdict, place / VERDICT_FILE).suites if suite.is_gone}
    return set()


def judge_records(parts: Parts, outputs: Outputs, *places: Path, word: Callable[[Verdict], VerdictWord], beside: Others | None = None) -> Verdict:
    """Judge finished records and show the verdict; what verdict.json and the process say is `word` of it, the suites keep their own.

    `beside` tells from the keys that were judged which suites without a record count like the others.
    """
    judged = _judged(parts, outputs, places)
    others = beside([one.verdict.key for one in judged]) if beside is not None else ()
    verdict = overall((*(one.verdict for one in judged), *others), report_only=outputs.report_only, tool_version=__version__)
    return _shown(parts, outputs, verdict, judged, word(verdict))


def show_failure(parts: Parts, outputs: Outputs, shown: NoVerdict, reasons: tuple[Reason, ...], *, word: VerdictWord) -> Verdict:
    """The same for a run that left no record: what is shown is its own word and reasons, what verdict.json and the process say is `word`."""
    return _shown(parts, outputs, failure(outputs, shown, reasons), (), word)


def _shown(parts: Parts, outputs: Outputs, verdict: Verdict, judged: Sequence[Judged], own: VerdictWord) -> Verdict:
    code = int(EXIT_CODES[own])
    stated = verdict if own == verdict.verdict else dataclasses.replace(verdict, verdict=own, exit_code=code, would_exit=code)
    write_verdict(parts, outputs, stated)
    render(parts, outputs, verdict, judged)
    return stated


def _judged(parts: Parts, outputs: Outputs, places: Iterable[Path]) -> list[Judged]:
    records = [(folder, _measured_at(record, outputs.commit)) for folder, record in read_records(*places)]
    known = of_records(parts, Where.of(outputs), [record.header for _, record in records])
    return [_judge(parts, outputs, folder, record, known[record.header.key]) for folder, record in records]


def _measured_at(record: RunRecord, commit: str | None) -> RunRecord:
    return record if commit is None else dataclasses.replace(record, header=dataclasses.replace(record.header, commit=commit))


def _judge(parts: Parts, outputs: Outputs, folder: Path, record: RunRecord, known: FoundBaseline) -> Judged:
    rules = rules_of(record, baseline=known.baseline.record if known.baseline else None)
    verdict = judge_again(folder, record, known.baseline, rules, parts.now(), believed=not outputs.foreign)
    return remarked(Judged(verdict=verdict, record=record, folder=folder, baseline_folder=known.folder, baseline_answers=known.answers), outputs)


def merge_shards(parts: Parts, places: tuple[Path, ...], into: Path, *, replace: bool = False) -> tuple[Path, ...]:
    """Join the shards below several places, suite by suite; the folders of the whole. What lies there of a suite stays, which is an error, or is replaced."""
    by_key: dict[str, list[RunRecord]] = {}
    for place in places:
        for folder in record_folders(place):
            record = read_below(place, folder, whole=True)
            by_key.setdefault(record.header.key, []).append(record)
    merged = {key: merge(records) for key, records in by_key.items()}
    there = [] if replace else [into / key for key in merged if (into / key).exists()]
    if there:
        raise ConfigError.one("INVALID_INPUT", "the folder to merge into holds this suite already", "name a new folder with --into", file=str(there[0]))
    for key, record in merged.items():
        if replace:
            remove_tree(into / key)
        write_record(into / key, record)
        parts.console.say(f"suite {record.header.suite}: {len(record.cases)} cases of {len(by_key[key])} shards in {into / key}")
    return tuple(into / key for key in merged)


def write_history_page(parts: Parts, runs: Sequence[PastRun], baselines: Path, page: Path) -> None:
    """The history as one HTML page, with the acceptances that the baselines' own chains name."""
    from evalaction.report.history_page import render_history_page  # noqa: PLC0415 - only those who ask for a page pay for the chart library

    store = DirectoryStore(baselines)
    accepted = {key: store.acceptances(key) for key in dict.fromkeys(run.key for run in runs)}
    write_named(page, parts.settings.masker.text(render_history_page(runs, accepted)).encode())


def look_back(parts: Parts, out: Path, suite: str | None) -> tuple[PastRun, ...]:
    """Past runs, oldest first; of one suite when its file, name or key is given. A file is read for its name alone: its secrets need not be set."""
    names, settings = {suite}, parts.settings
    if suite is not None and find([suite], settings.cwd).sources:
        names |= set(suite_keys([suite], settings.environment, settings.cwd))
    return tuple(run for run in past_runs(out, most=MOST_RUNS, say=parts.console.say) if suite is None or names & {run.key, run.suite})[-SHOWN_RUNS:]
