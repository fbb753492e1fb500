"""The baseline of a suite: the accepted one, else, for imported results, accepted files of the other tool as they are."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path

from evalaction.app.importing import header_target, imported_header
from evalaction.app.parts import Parts
from evalaction.core.fingerprint import suite_digest
from evalaction.core.foreign import as_cases
from evalaction.core.record import Acceptance, Baseline, CaseRecord, RunHeader, RunRecord, Selection
from evalaction.core.suite import ImportTarget, Policy, Suite
from evalaction.imports.files import shown
from evalaction.imports.read import FOLDERS, read_results
from evalaction.store.baselines import DirectoryStore
from evalaction.store.recorder import case_record


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class FoundBaseline:
    """What a suite is compared with, and where the answers are: in a folder of ours, or at hand because the files are another tool's."""

    baseline: Baseline | None = None
    folder: Path | None = None
    answers: Mapping[str, CaseRecord] | None = None


def of_suite(parts: Parts, store: DirectoryStore, suite: Suite) -> FoundBaseline:
    """The accepted baseline wherever there is one. Without it the files of `import.baseline` count, or those that lie right in the folder of baselines.

    Raises ConfigError when what is there cannot be read.
    """
    accepted = store.load(suite.key)
    if accepted is not None:
        return FoundBaseline(baseline=accepted, folder=store.folder(suite.key))
    target = suite.target
    if not isinstance(target, ImportTarget):
        return FoundBaseline()
    if target.baseline is not None:
        return _foreign(parts, suite, dataclasses.replace(target, path=target.baseline), parts.settings.workspace)
    pattern = FOLDERS.get(target.format)
    if pattern is not None and any(path.is_file() for path in store.root.glob(pattern)):
        return _foreign(parts, suite, dataclasses.replace(target, path=str(store.root)), None)
    return FoundBaseline()


def of_record(parts: Parts, store: DirectoryStore, header: RunHeader) -> FoundBaseline:
    """The same for a record that was written earlier."""
    target = header_target(parts, header)
    if target is None:
        accepted = store.load(header.key)
        return FoundBaseline(baseline=accepted, folder=store.folder(header.key) if accepted else None)
    suite = Suite(name=header.suite, key=header.key, file=header.file, cases=(), target=target, gate=Policy(**header.policy), digest=header.digest, floor=header.floor)
    return of_suite(parts, store, suite)


def _foreign(parts: Parts, suite: Suite, accepted: ImportTarget, within: Path | None) -> FoundBaseline:
    """Another tool's files as a baseline. Their policy is the suite's own: nobody accepted another one."""
    place, name = Path(accepted.path), shown(Path(accepted.path), parts.settings.cwd)
    if not place.exists():
        parts.console.say(f"no accepted {accepted.format} results are at {name}")
        return FoundBaseline()
    cases, imported = as_cases(read_results(accepted.format, place, cwd=parts.settings.cwd, within=within))
    records = {case.id: case_record(case, imported.trials[case.id], len(imported.trials[case.id])) for case in cases}
    files = dataclasses.replace(suite, file=name, cases=cases, target=accepted, imported=imported, digest=suite_digest(cases))
    header = imported_header(parts, files, Selection(), lambda header: RunRecord(header=header, cases=records))
    commit, author, time, subject = parts.settings.last_change(place) or (None, "whoever wrote the files", "", f"the files in {name}, taken as they are")
    record = RunRecord(header=dataclasses.replace(header, commit=commit, run_id=None, pull_request=None), cases=records)
    acceptance = Acceptance(reason=parts.settings.masker.text(subject), accepted_at=time, accepted_by=parts.settings.masker.text(author), commit=commit)
    return FoundBaseline(baseline=Baseline(record=record, acceptance=acceptance, anchor=record), answers=records)
