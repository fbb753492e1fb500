"""Results of another tool → a record on disk, before anything is compared."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from evalaction import __version__
from evalaction.app.parts import Job, Parts
from evalaction.core.foreign import Foreign
from evalaction.core.record import Failure, RunHeader, RunRecord, Selection
from evalaction.core.sample import suite_counts, suite_metrics
from evalaction.core.suite import ImportTarget, Policy, Suite
from evalaction.imports.files import shown
from evalaction.imports.read import read_results as read_format
from evalaction.store.recorder import Recorder
from evalaction.targets.base import Request


def read_results(parts: Parts) -> Callable[[ImportTarget, Path | None], Foreign]:
    """What reads the results that suites name."""
    return lambda target, within: read_format(target, cwd=parts.settings.cwd, within=within)


def import_suite(parts: Parts, job: Job, suite: Suite) -> tuple[RunRecord, Path]:
    """Write the record of an imported suite; returns it and its folder."""
    folder = job.outputs.out / suite.key
    recorder = Recorder(folder, suite, parts.settings.masker, journaled=False)
    trials = suite.imported.trials if suite.imported else {}
    recorder.start({})
    try:
        for case in suite.cases:
            recorder.expect(case, len(trials[case.id]))
            for trial in trials[case.id]:
                recorder.settle(Request(case, trial.repeat), trial)
        header = imported_header(parts, suite, Selection(filter=job.selected.filter, tag=job.selected.tag, shard=job.selected.shard), recorder.record)
        recorder.write_header(header)
    finally:
        recorder.close()
    return recorder.record(header), folder


def imported_header(parts: Parts, suite: Suite, selection: Selection, cases_of: Callable[[RunHeader], RunRecord]) -> RunHeader:
    """The header of an imported record: nothing was called, and nothing can be asked again."""
    settings, now, imported = parts.settings, parts.stamp(), suite.imported
    fields: dict[str, Any] = {
        "suite": suite.name, "key": suite.key, "digest": suite.digest, "dataset_version": suite.dataset_version, "file": suite.file, "commit": settings.commit,
        "run_id": settings.run_id, "pull_request": settings.pull_request, "started_at": now, "finished_at": now, "tool_version": __version__,
        "deterministic": suite.deterministic, "repeatable": False, "target": _description(parts, suite), "policy": TypeAdapter(Policy).dump_python(suite.gate, mode="json"),
        "floor": suite.floor, "selection": selection, "notes": imported.notes if imported else (),
        "interrupted": Failure(code="INTERRUPTED", message=imported.unfinished) if imported and imported.unfinished else None,
    }  # fmt: skip
    cases = list(cases_of(RunHeader(**fields)).cases.values())
    costs = [trial.cost_usd for case in cases for trial in case.trials if trial.cost_usd is not None]
    return RunHeader(**fields, counts=suite_counts(cases, settings.uncommitted), metrics=suite_metrics(cases), cost_usd=sum(costs) if costs else None)


def _description(parts: Parts, suite: Suite) -> dict[str, Any]:
    """Which results were taken, as `header_target` reads it again; paths as messages show them."""
    target = suite.target
    if not isinstance(target, ImportTarget):
        return {}
    paths = {name: shown(Path(path), parts.settings.cwd) for name in ("path", "baseline") if (path := getattr(target, name)) is not None}
    lower = {"lower_is_better": list(target.lower_is_better)} if target.lower_is_better else {}
    return {"kind": "import", "format": target.format, "version": suite.imported.version if suite.imported else None, **paths, **lower}


def header_target(parts: Parts, header: RunHeader) -> ImportTarget | None:
    """The import that a stored record came from, None for a measured one. A record may be a stranger's: what its words lead to is bounded by whoever reads it."""
    if header.target.get("kind") != "import":
        return None
    stated = {name: header.target[name] for name in ("format", "path", "baseline", "lower_is_better") if name in header.target}
    try:
        found: ImportTarget = TypeAdapter(ImportTarget).validate_python(stated)
    except ValidationError:
        return None
    if found.baseline is not None:
        return dataclasses.replace(found, baseline=str(parts.settings.cwd / found.baseline))
    return found
