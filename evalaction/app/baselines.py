"""What a suite is compared with: the accepted baseline, a run under a label, or, for imported results, accepted files of the other tool as they are."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path

from evalaction.app.importing import header_target, imported_header
from evalaction.app.parts import BaselineSource, Outputs, Parts, Selected
from evalaction.core.acceptance import Acceptance, Baseline
from evalaction.core.fingerprint import suite_digest
from evalaction.core.foreign import as_cases
from evalaction.core.record import CaseRecord, RunHeader, RunRecord, Selection
from evalaction.core.suite import ImportTarget, Policy, Suite
from evalaction.errors import ConfigError
from evalaction.imports.files import shown
from evalaction.imports.read import FOLDERS, read_results
from evalaction.memory import collection_paused
from evalaction.store import history, labels
from evalaction.store.baselines import DirectoryStore
from evalaction.store.recorder import case_record
from evalaction.store.scores import baselines_of

_SHOWN = 20
"""Labels that a message names."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class FoundBaseline:
    """What a suite is compared with, and where the answers are: in a folder of ours, or at hand because the files are another tool's."""

    baseline: Baseline | None = None
    folder: Path | None = None
    answers: Mapping[str, CaseRecord] | None = None


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Where:
    """Where to look: the folder of accepted baselines, filled by `source` where there is one; or runs under a label in `out`."""

    baseline: Path
    source: BaselineSource | None = None
    out: Path = Path()
    label: str | None = None
    foreign: bool = False
    """Whether records come from somebody who must not name the files that they are compared with."""

    @classmethod
    def of(cls, outputs: Outputs) -> Where:
        """As the options say."""
        return cls(baseline=outputs.baseline, source=outputs.source, out=outputs.out, label=outputs.baseline_label, foreign=outputs.foreign)


def of_suites(parts: Parts, where: Where, suites: Sequence[Suite]) -> dict[str, FoundBaseline]:
    """The baseline of each suite by key, the accepted one wherever there is one. Without it the files of `import.baseline` count, or those right in the folder of baselines.

    Raises ConfigError when what is there cannot be read or nothing has the label that was named, GitHubError on an outage.
    """
    found = _accepted(parts, where, [suite.key for suite in suites])
    store = DirectoryStore(where.baseline)
    return {suite.key: found[suite.key] or (_of_files(parts, store, suite) if where.label is None else FoundBaseline()) for suite in suites}


def of_records(parts: Parts, where: Where, headers: Sequence[RunHeader]) -> dict[str, FoundBaseline]:
    """The same for records that were written earlier. From a source, and for a stranger's records, only what a person accepted counts, not files that the record names."""
    found = _accepted(parts, where, [header.key for header in headers])
    named = where.source is None and where.label is None and not where.foreign
    return {header.key: found[header.key] or (_of_header(parts, where, header) if named else FoundBaseline()) for header in headers}


def _accepted(parts: Parts, where: Where, keys: Sequence[str]) -> dict[str, FoundBaseline | None]:
    if where.label is not None:
        return {key: _labelled(where, where.label, key) for key in keys}
    if where.source is not None:
        where.source.fetch(keys)
    store = DirectoryStore(where.baseline)
    if not store.root.exists():
        parts.console.say(f"nothing is accepted yet: there is no {store.root}")
    with collection_paused():
        found = baselines_of(store, keys)
    return {key: FoundBaseline(baseline=baseline, folder=store.folder(key)) if baseline else None for key, baseline in found.items()}


def _labelled(where: Where, label: str, key: str) -> FoundBaseline:
    _refuse_unused(where.out, label)
    baseline = labels.labelled(where.out, label, key)
    if baseline is None and label in history.labels(where.out, key):
        place, fix = labels.labelled_folder(where.out, label, key), f"restore the folder, or measure again with `eval-gate run SUITE --label {label}`"
        raise ConfigError.one("FILE_NOT_FOUND", f"the record of suite {key} labelled `{label}` is gone", fix, file=str(place), path="--baseline-label")
    return FoundBaseline(baseline=baseline, folder=labels.standing_folder(where.out, label, key))


def _refuse_unused(root: Path, label: str) -> None:
    there = history.labels(root)
    if label in there:
        return
    listed = ", ".join(there[:_SHOWN]) + (f" and {len(there) - _SHOWN} more" if len(there) > _SHOWN else "")
    fix = f"name one of the labels there are: {listed}" if there else f"there are no labels here yet; measure with `eval-gate run SUITE --label {label}`"
    raise ConfigError.one("INVALID_INPUT", f"no run in {root} is labelled `{label}`", fix, path="--baseline-label")


def refuse_partial(outputs: Outputs, selected: Selected) -> None:
    """Raise when a part of the cases would stand under a label for the whole: what it lacks would never be compared."""
    if outputs.label is not None and not selected.is_whole:
        raise ConfigError.one("INVALID_INPUT", "a label stands for whole suites, and this run is a part", "leave out --label, or --filter, --tag and --shard", path="--label")


def _of_header(parts: Parts, where: Where, header: RunHeader) -> FoundBaseline:
    target = header_target(parts, header)
    if target is None:
        return FoundBaseline()
    suite = Suite(name=header.suite, key=header.key, file=header.file, cases=(), target=target, gate=Policy(**header.policy), digest=header.digest, floor=header.floor)
    return _of_files(parts, DirectoryStore(where.baseline), suite)


def _of_files(parts: Parts, store: DirectoryStore, suite: Suite) -> FoundBaseline:
    """Another tool's accepted files, where the suite is an import."""
    target = suite.target
    if not isinstance(target, ImportTarget):
        return FoundBaseline()
    if target.baseline is not None:
        return _foreign(parts, suite, dataclasses.replace(target, path=target.baseline), parts.settings.workspace)
    pattern = FOLDERS.get(target.format)
    if pattern is not None and any(path.is_file() for path in store.root.glob(pattern)):
        return _foreign(parts, suite, dataclasses.replace(target, path=str(store.root)), None)
    return FoundBaseline()


def _foreign(parts: Parts, suite: Suite, accepted: ImportTarget, within: Path | None) -> FoundBaseline:
    """Another tool's files as a baseline. Their policy is the suite's own: nobody accepted another one."""
    place, name = Path(accepted.path), shown(Path(accepted.path), parts.settings.cwd)
    if not place.exists():
        parts.console.say(f"no accepted {accepted.format} results are at {name}")
        return FoundBaseline()
    cases, imported = as_cases(read_results(accepted, cwd=parts.settings.cwd, within=within))
    records = {case.id: case_record(case, imported.trials[case.id], len(imported.trials[case.id])) for case in cases}
    files = dataclasses.replace(suite, file=name, cases=cases, target=accepted, imported=imported, digest=suite_digest(cases))
    header = imported_header(parts, files, Selection(), lambda header: RunRecord(header=header, cases=records))
    commit, author, time, subject = parts.settings.last_change(place) or (None, "whoever wrote the files", "", f"the files in {name}, taken as they are")
    record = RunRecord(header=dataclasses.replace(header, commit=commit, run_id=None, pull_request=None), cases=records)
    acceptance = Acceptance(reason=parts.settings.masker.text(subject), accepted_at=time, accepted_by=parts.settings.masker.text(author), commit=commit)
    return FoundBaseline(baseline=Baseline(record=record, acceptance=acceptance, anchor=record), answers=records)
