"""Words on the command line to suites: the one way into this room."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from evalaction.core.fingerprint import defined, slug, suite_digest
from evalaction.core.suite import Limits, Policy, PredictionsTarget, PythonTarget, Suite
from evalaction.datasets import results
from evalaction.datasets.dataset_file import read_dataset, read_document
from evalaction.datasets.dialects import DEFAULT_K, Dialect, Finish
from evalaction.datasets.intake import Intake
from evalaction.datasets.native import Defaults
from evalaction.datasets.overrides import Overrides
from evalaction.datasets.paths import find
from evalaction.datasets.policy_rules import Metrics, flag_faults
from evalaction.datasets.results import ReadResults
from evalaction.datasets.saiku import is_saiku, saiku_suite
from evalaction.datasets.source import Source, is_file, read_bytes
from evalaction.datasets.suite_file import SuiteReader, Surroundings
from evalaction.datasets.yaml_tree import read_yaml
from evalaction.errors import ConfigError, Fault
from evalaction.memory import collection_paused


def load_suites(
    patterns: Sequence[str], overrides: Overrides, environment: Mapping[str, str], workspace: Path, cwd: Path, read_results: ReadResults | None = None
) -> tuple[Suite, ...]:
    """All suites that the patterns name, checked completely; nothing is called.

    `workspace` is the folder that paths inside suites may not leave; `cwd` is what patterns, and files
    of the overrides, are relative to; `read_results` reads finished results of other tools. Raises one ConfigError with every fault of every file.
    """
    faults = list(overrides.faults())
    overrides = _anchored(overrides.sound() if faults else overrides, cwd, faults)
    around = Surroundings(overrides=overrides, environment=environment, workspace=workspace, cwd=cwd, read_results=read_results)
    suites: list[Suite] = []
    if overrides.results is not None and read_results is not None:
        suite, wrong = results.alone(overrides.results, overrides, read_results, cwd)
        return _all_good([suite] if suite else [], [*faults, *wrong])
    found = find(patterns, cwd)
    faults += found.faults
    with collection_paused():
        for source in found.sources:
            suite, wrong = _read(source, around)
            faults += wrong
            suites += [suite] if suite else []
    return _all_good(suites, [*faults, *_same_keys(suites)])


def _all_good(suites: Sequence[Suite], faults: Sequence[Fault]) -> tuple[Suite, ...]:
    if faults:
        raise ConfigError(faults)
    return tuple(suites)


UNASKED = PythonTarget(callable="nobody:asks")
"""In the place of the targets of suites that are only read, so that files of answers need not be there."""


class AnyVariable(Mapping[str, str]):
    """An environment in which every variable is set, to its own value where it has one: for reading suites whose targets are not going to be built."""

    def __init__(self, known: Mapping[str, str] | None = None) -> None:
        self._known = known or {}

    def __getitem__(self, name: str) -> str:
        value = self._known.get(name, "")
        return value if value.strip() else "set"

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0


def _anchored(overrides: Overrides, cwd: Path, faults: list[Fault]) -> Overrides:
    """The overrides with an absolute predictions path, which must exist."""
    if not isinstance(overrides.target, PredictionsTarget):
        return overrides
    path = cwd / overrides.target.path
    if not is_file(path):
        faults.append(Fault(code="FILE_NOT_FOUND", what="there is no such file of answers", fix="correct the path", file=overrides.target.path, path="--predictions"))
    return dataclasses.replace(overrides, target=PredictionsTarget(path=str(path)))


def _read(source: Source, around: Surroundings) -> tuple[Suite | None, list[Fault]]:
    """A suite file, or a dataset that stands for a suite; None when there are faults."""
    try:
        if source.path.suffix.lower() not in (".yaml", ".yml"):
            return _alone(source, around)
        document, faults = read_yaml(source, read_bytes(source))
        if document is None:
            return None, faults
        if isinstance(document.value, list):
            intake = Intake(Finish(Defaults(), around.overrides.k or DEFAULT_K), around.environment)
            intake.faults += faults
            return _from_cases(source, read_document(source, document, intake), intake, around)
        if not isinstance(document.value, dict):
            what, fix = "the document is neither a suite nor a list of cases", "write a mapping with version, name, target and cases"
            return None, [*faults, source.fault("MALFORMED_YAML", what, fix, *document.place(()))]
        if is_saiku(document.value):
            suite, wrong = saiku_suite(source, document, around.overrides, around.environment)
            return (None if faults else suite), [*faults, *wrong]
    except ConfigError as error:
        return None, list(error.faults)
    reader = SuiteReader(source, document, around)
    suite = reader.read()
    return (None if faults else suite), [*faults, *reader.faults]


def _alone(source: Source, around: Surroundings) -> tuple[Suite | None, list[Fault]]:
    asks = not isinstance(around.overrides.target, PredictionsTarget)
    intake = Intake(Finish(Defaults(), around.overrides.k or DEFAULT_K, keeps_records=asks), around.environment)
    return _from_cases(source, read_dataset(source, intake), intake, around)


def _from_cases(source: Source, dialect: Dialect, intake: Intake, around: Surroundings) -> tuple[Suite | None, list[Fault]]:
    """A dataset as a suite of its own: its kind's policy, the file's stem as name, everything else from flags."""
    overrides, cases, target = around.overrides, defined(intake.cases), around.overrides.target
    faults = [*intake.faults, *flag_faults(overrides, Metrics.of(cases))]
    if target is None:
        faults.append(source.fault("MISSING_FIELD", "a dataset alone has no `target`", "say what to measure: --exec, --http or --predictions", 1, 1))
    if faults or target is None:
        return None, faults
    name = overrides.name or source.path.stem.strip() or "suite"
    suite = Suite(
        name=name, key=slug(name), file=source.name, cases=cases, target=target, gate=overrides.policy(dialect.policy or Policy(), own=True), digest=suite_digest(cases),
        floor=dialect.policy is None and overrides.tolerance is None, judge=overrides.judge, limits=overrides.limits(Limits()), repeats=overrides.repeats or 1,
    )  # fmt: skip
    return suite, []


def _same_keys(suites: Sequence[Suite]) -> list[Fault]:
    """Two suites under one key would share a folder of results and a baseline."""
    first: dict[str, Suite] = {}
    faults = []
    for suite in suites:
        other = first.setdefault(suite.key, suite)
        if other is not suite:
            what = f"the suite `{suite.name}` of {suite.file} has the same key, `{suite.key}`, as `{other.name}` of {other.file}"
            faults.append(Fault(code="DUPLICATE_ID", what=what, fix="give each suite a name of its own", file=suite.file, line=1, path="name"))
    return faults
