"""Words on the command line to the suites that are meant, read and checked; nothing of what measures or reports is loaded for it."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from evalaction.app.baselines import refuse_partial
from evalaction.app.importing import read_results
from evalaction.app.parts import Job, Parts
from evalaction.app.selecting import refuse_unsupported, select
from evalaction.app.taping import refuse_tapes
from evalaction.core.checks.base import quoted
from evalaction.core.specs import PythonCheck
from evalaction.core.suite import ImportTarget, PredictionsTarget, Suite
from evalaction.datasets.load import UNASKED, AnyVariable, load_suites
from evalaction.datasets.paths import find
from evalaction.errors import ConfigError, Fault
from evalaction.imports.files import shown
from evalaction.settings import Settings
from evalaction.store.git import BASE, base_commit, commit_of
from evalaction.targets.build import check_target

Found = TypeVar("Found")


def load(parts: Parts, job: Job, *, run: bool = True) -> tuple[Suite, ...]:
    """Read and check all suites and keep the cases that are meant.

    Without `run` targets and python checks are looked at here, since nothing will build them; beside a record that is there already nobody asks any.
    """
    settings = parts.settings
    _refuse_overwriting(job, settings.cwd)
    unsafe = settings.unsafe_checkout()
    if run and unsafe is not None:
        place = quoted(shown(unsafe.folder, settings.cwd), 200)
        what = f"the code of a pull request ({(unsafe.head or 'unknown')[:12]}) is checked out in {place} under {settings.event.name}, where it could read secrets"
        raise ConfigError.one("UNSAFE_CHECKOUT", what, "trigger on pull_request; publish for forks from a second workflow on workflow_run")
    refuse_partial(job.outputs, job.selected)
    environment, overrides = settings.environment, job.overrides
    if job.record is not None:
        environment, overrides = AnyVariable(environment), dataclasses.replace(overrides, target=UNASKED)
    suites = load_suites(job.suites, overrides, environment, settings.workspace, settings.cwd, read_results(parts))
    refuse_unsupported(suites)
    check_blame(settings, suites)
    refuse_tapes(job)
    if not run:
        check_targets(parts, suites)
    for suite in suites:
        parts.console.detail(f"{suite.file}: suite {suite.name}, key {suite.key}, {len(suite.cases)} cases, digest {suite.digest[:12]}")
    return select(suites, job.selected)


def _refuse_overwriting(job: Job, cwd: Path) -> None:
    """A report must not be written over what is to be read, not even the report on its faults: so this comes before anything is read."""
    inputs, named = overwritable(job.suites, cwd), (job.overrides.results, job.overrides.target)
    inputs |= {os.path.realpath(cwd / one.path) for one in named if isinstance(one, ImportTarget | PredictionsTarget)}
    for path in (job.outputs.report, job.outputs.junit, job.outputs.html):
        if path is not None and os.path.realpath(path) in inputs:
            raise ConfigError.one("INVALID_INPUT", "a report would be written over a file that is read", "name another file", file=str(path))


def overwritable(suites: Sequence[str], cwd: Path) -> set[str]:
    """The files that these words mean, links followed: a report in their place would destroy them."""
    return {os.path.realpath(source.path) for source in find(suites, cwd).sources}


def check_targets(parts: Parts, suites: Sequence[Suite]) -> None:
    """Find what is wrong with the targets and python checks of all suites without calling anything."""
    faults: list[Fault] = []
    for suite in suites:
        if suite.imported is not None:
            continue
        try:
            check_target(suite.target, environment=parts.settings.environment, cwd=parts.settings.cwd)
        except ConfigError as error:
            faults += [placed(fault, suite) for fault in error.faults]
        try:
            scorers(suite, lambda reference: _look_up(reference, parts.settings.cwd))
        except ConfigError as error:
            faults += error.faults
    if faults:
        raise ConfigError(faults)


def _look_up(reference: str, cwd: Path) -> None:
    from evalaction.targets.lookup import look_up  # noqa: PLC0415 - only suites with functions of their author's pay for it

    look_up(reference, cwd)


def scorers(suite: Suite, find: Callable[[str], Found]) -> dict[str, Found]:
    """What `find` makes of each function that python checks of the suite name. Raises ConfigError with all that cannot be found, each at the first case that names it."""
    named = {check.callable: (case, check) for case in reversed(suite.cases) for check in case.checks if isinstance(check, PythonCheck)}
    found, faults = dict[str, Found](), list[Fault]()
    for reference, (case, check) in named.items():
        try:
            found[reference] = find(reference)
        except ConfigError as error:
            faults += [dataclasses.replace(fault, file=suite.file, path=f"case {case.id}, check {check.id}") for fault in error.faults]
    if faults:
        raise ConfigError(faults)
    return found


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
