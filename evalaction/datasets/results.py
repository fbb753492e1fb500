"""Suites whose results are there already: what `import` in a suite file, or on the command line, makes of them."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from evalaction.core.fingerprint import slug, suite_digest
from evalaction.core.foreign import POLICIES, Foreign, as_cases
from evalaction.core.suite import Case, Imported, ImportFormat, ImportTarget, Policy, Suite
from evalaction.datasets.faults import clip
from evalaction.datasets.native import SuiteFile
from evalaction.datasets.overrides import Overrides
from evalaction.datasets.policy_rules import Metrics, flag_faults
from evalaction.datasets.source import is_inside, shown
from evalaction.errors import ConfigError, Fault

ReadResults = Callable[[ImportTarget, Path | None], Foreign]
"""Reads results at an absolute path, which may not lead out of the folder given; raises ConfigError with all faults."""
MEANINGLESS = ("target", "judge", "defaults", "limits", "datasets", "cases")
"""Keys of a suite file that say how to measure."""


def anchored(stated: ImportTarget, folder: Path, workspace: Path) -> tuple[ImportTarget, Sequence[tuple[str, str, str, str]]]:
    """The import with absolute paths, and what is wrong with them as (field, code, what, fix)."""
    path, baseline = folder / stated.path, None if stated.baseline is None else folder / stated.baseline
    faults = tuple(_path_faults("path", stated.path, path, workspace)) + (() if baseline is None else tuple(_path_faults("baseline", str(stated.baseline), baseline, workspace)))
    return dataclasses.replace(stated, path=str(path), baseline=None if baseline is None else str(baseline)), faults


def _path_faults(field: str, stated: str, path: Path, workspace: Path) -> Iterator[tuple[str, str, str, str]]:
    """A path inside the workspace; the results must exist, a baseline may still be to come."""
    if not is_inside(path, workspace):
        yield field, "OUTSIDE_WORKSPACE", f"`{clip(stated)}` leads outside the workspace", "keep the results inside the repository"
    elif field == "path" and not path.exists():
        yield field, "FILE_NOT_FOUND", f"there is no file or folder `{clip(stated)}` (paths are relative to the suite file)", "correct the path, or run the other tool first"


def metrics_of(cases: Iterable[Case]) -> set[str]:
    """Names of all metrics that the results have."""
    return {name for case in cases if case.definition for check in case.definition.checks for name in check.metrics}


def policy(form: ImportFormat, stated: Policy, raw: Any) -> Policy:
    """The format's own policy, each key of it replaced that the file states."""
    own = POLICIES.get(form)
    if own is None:
        return stated
    return dataclasses.replace(own, **{name: getattr(stated, name) for name in raw or () if hasattr(stated, name)})


def suite(target: ImportTarget, cases: tuple[Case, ...], imported: Imported | None, *, head: SuiteFile, file: str, overrides: Overrides) -> Suite:
    """The suite of an import; its cases carry their definitions already."""
    name = overrides.name or head.name
    return Suite(
        name=name, key=slug(name), file=file, cases=cases, target=target, gate=overrides.policy(head.gate, own=False), digest=suite_digest(cases), imported=imported,
        floor=target.format not in POLICIES and overrides.tolerance is None, description=head.description, dataset_version=head.dataset_version, deterministic=head.deterministic,
    )  # fmt: skip


def alone(stated: ImportTarget, overrides: Overrides, read: ReadResults, cwd: Path) -> tuple[Suite | None, list[Fault]]:
    """Results named on the command line as a suite of their own: the format's policy, `--name` or the path's own name."""
    path = cwd / stated.path
    try:
        cases, imported = as_cases(read(dataclasses.replace(stated, path=str(path)), None))
    except ConfigError as error:
        return None, list(error.faults)
    if faults := list(flag_faults(overrides, Metrics(metrics_of(cases)))):
        return None, faults
    head = SuiteFile(version=1, name=path.stem or "results", gate=POLICIES.get(stated.format, Policy()))
    return suite(dataclasses.replace(stated, path=str(path)), cases, imported, head=head, file=shown(path, cwd), overrides=overrides), []
