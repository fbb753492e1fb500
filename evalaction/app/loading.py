"""Words on the command line to the suites that are meant, read and checked; nothing of what measures or reports is loaded for it."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path

from evalaction.app.baselines import refuse_partial
from evalaction.app.importing import read_results
from evalaction.app.parts import Job, Parts
from evalaction.app.selecting import refuse_unsupported, select
from evalaction.app.taping import refuse_tapes
from evalaction.core.checks.base import quoted
from evalaction.core.suite import Suite
from evalaction.datasets.load import load_suites
from evalaction.errors import ConfigError, Fault
from evalaction.imports.files import shown
from evalaction.settings import Settings
from evalaction.store.git import BASE, base_commit, commit_of
from evalaction.targets.build import check_target


def load(parts: Parts, job: Job, *, run: bool = True) -> tuple[Suite, ...]:
    """Read and check all suites and keep the cases that are meant. Without `run` the targets are looked at here, since nothing will build them."""
    settings = parts.settings
    unsafe = settings.unsafe_checkout()
    if run and unsafe is not None:
        place = quoted(shown(unsafe.folder, settings.cwd), 200)
        what = f"the code of a pull request ({(unsafe.head or 'unknown')[:12]}) is checked out in {place} under {settings.event.name}, where it could read secrets"
        raise ConfigError.one("UNSAFE_CHECKOUT", what, "trigger on pull_request; publish for forks from a second workflow on workflow_run")
    refuse_partial(job.outputs, job.selected)
    suites = load_suites(job.suites, job.overrides, settings.environment, settings.workspace, settings.cwd, read_results(parts))
    refuse_unsupported(suites)
    check_blame(settings, suites)
    refuse_tapes(job)
    if not run:
        check_targets(parts, suites)
    _refuse_overwriting(job, suites)
    for suite in suites:
        parts.console.detail(f"{suite.file}: suite {suite.name}, key {suite.key}, {len(suite.cases)} cases, digest {suite.digest[:12]}")
    return select(suites, job.selected)


def _refuse_overwriting(job: Job, suites: Sequence[Suite]) -> None:
    """A report must not be written over a suite."""
    inputs = {Path(suite.file).resolve() for suite in suites}
    for path in (job.outputs.report, job.outputs.junit, job.outputs.html):
        if path is not None and path.resolve() in inputs:
            raise ConfigError.one("INVALID_INPUT", "a report would be written over a suite", "name another file", file=str(path))


def check_targets(parts: Parts, suites: Sequence[Suite]) -> None:
    """Find what is wrong with the targets of all suites without calling anything."""
    faults: list[Fault] = []
    for suite in suites:
        if suite.imported is not None:
            continue
        try:
            check_target(suite.target, environment=parts.settings.environment, cwd=parts.settings.cwd)
        except ConfigError as error:
            faults += [placed(fault, suite) for fault in error.faults]
    if faults:
        raise ConfigError(faults)


def placed(fault: Fault, suite: Suite) -> Fault:
    """A fault that knows no file is one of the suite's target or judge."""
    return fault if fault.file is not None else dataclasses.replace(fault, file=suite.file, path=fault.path or "target")


def check_blame(settings: Settings, suites: Sequence[Suite]) -> None:
    """Raise ConfigError for every suite whose base system is a commit that is not there."""
    faults = []
    for suite in suites:
        ref = suite.blame.ref if suite.blame else None
        if ref is not None and base_system(settings, ref) is None:
            what = "the commit that this change starts from is not known here" if ref == BASE else f"there is no commit {ref}"
            fix = "fetch the history (actions/checkout: fetch-depth: 0), or name a ref that exists"
            faults.append(Fault(code="INVALID_VALUE", what=what, fix=fix, file=suite.file, path="blame.ref"))
    if faults:
        raise ConfigError(faults)


def base_system(settings: Settings, ref: str) -> str | None:
    """The commit that a suite's `blame.ref` means, None when it is not known here."""
    if ref == BASE:
        return base_commit(settings.workspace, settings.base, settings.default_branch)
    return commit_of(settings.workspace, ref)
