"""The native suite file: models, rules that span fields, datasets and target, all faults in one pass."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, TypeAdapter, ValidationError

from evalaction.core.fingerprint import defined, slug, suite_digest
from evalaction.core.foreign import as_cases
from evalaction.core.model import adapter, copy_of
from evalaction.core.scalars import spell
from evalaction.core.suite import Blame, ExecTarget, PredictionsTarget, Suite, TargetSpec
from evalaction.datasets import results
from evalaction.datasets.dataset_file import read_dataset
from evalaction.datasets.dialects import DEFAULT_K, NATIVE, Finish
from evalaction.datasets.faults import Steps, Subject, clip, translate
from evalaction.datasets.intake import Intake, Record
from evalaction.datasets.native import Dataset, Defaults, SuiteFile, short_dataset
from evalaction.datasets.overrides import Overrides
from evalaction.datasets.policy_rules import Metrics, flag_faults, python_ids, wrong_name, wrong_threshold
from evalaction.datasets.results import ReadResults
from evalaction.datasets.saiku import is_live, server_of
from evalaction.datasets.source import Source, is_file, is_inside, shown
from evalaction.datasets.templates import env_names, fill_env, has_placeholder, is_set, unset
from evalaction.datasets.yaml_tree import Document
from evalaction.errors import ConfigError, Fault


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What a suite is read in: flags, environment, the folder that paths may not leave, and the working directory."""

    overrides: Overrides
    environment: Mapping[str, str]
    workspace: Path
    cwd: Path
    read_results: ReadResults | None = None
    """Reads finished results of other tools; without it a suite that imports has no cases, which is enough to know its key."""


_NEVER_FILLED: Mapping[str | int, str] = {
    "exec": "write $X in the command, and pass the variable on with `env: [X]`",
    "python": "name the function without a variable; it can read the environment itself",
    "predictions": "write the path without a variable, or use --predictions",
}
"""Kinds of target without templates, and what does instead of one."""


class SuiteReader:
    """Reads one parsed suite file. `faults` holds everything that is wrong with it and its datasets."""

    def __init__(self, source: Source, document: Document, around: Surroundings) -> None:
        self.source, self.document, self.around = source, document, around
        self.faults: list[Fault] = []
        self._dialects: set[str] = set()
        self._fill_env()
        self.raw: dict[str, Any] = document.value
        self.subject = Subject(source=source, raw=self.raw, model=SuiteFile, place=document.place, owner=self._owner)

    def read(self) -> Suite | None:
        """The suite, or None when there are faults."""
        head = self._head()
        if self.raw.get("import") is not None:
            return self._results(head)
        intake = self._cases(head.defaults if head else self._defaults())
        target = self._target(head)
        self._check_policy(Metrics.of(intake.cases, set(self._own_names())))
        blame = self._blame(head, target)
        if head is None or target is None or self.faults:
            return None
        overrides, name, cases = self.around.overrides, self.around.overrides.name or head.name, defined(intake.cases)
        return Suite(
            name=name, key=slug(name), file=self.source.name, cases=cases, target=target, gate=overrides.policy(head.gate, own=False), digest=suite_digest(cases),
            description=head.description, dataset_version=head.dataset_version, deterministic=head.deterministic, judge=overrides.judge or head.judge,
            limits=overrides.limits(head.limits), repeats=overrides.repeats or head.defaults.repeats, dialect="saiku" if "saiku" in self._dialects else None,
            blame=blame,
        )  # fmt: skip

    def _owner(self, steps: Steps) -> str | None:
        """The id of the case that steps lead into."""
        case = self.raw["cases"][steps[1]] if len(steps) > 1 and steps[0] == "cases" and isinstance(steps[1], int) else None
        name = case.get("id") if isinstance(case, dict) else None
        return spell(name) if isinstance(name, str | int | float) else None

    def _fill_env(self) -> None:
        """`{{ env.X }}` by its value everywhere but in the target block, whose templates the target itself renders."""

        def filled(text: str, steps: Steps) -> str:
            if not has_placeholder(text):
                return text
            if steps[:1] != ("target",):
                return fill_env(text, self.around.environment, lambda what, fix: self._unresolved(steps, what, fix))
            if self.around.overrides.target is None:
                if steps[1:2] and steps[1] in _NEVER_FILLED and any(env_names(text)):
                    self._reported("INVALID_VALUE", steps, f"`{{{{ env.X }}}}` is never filled in in a target of the kind {steps[1]}", _NEVER_FILLED[steps[1]])
                    return text
                for name in env_names(text):
                    if not is_set(name, self.around.environment):
                        self._unresolved(steps, *unset(name))
            return text

        self.document.rewrite(filled)

    def _unresolved(self, steps: Steps, what: str, fix: str) -> None:
        self._reported("UNRESOLVED_VARIABLE", steps, what, fix)

    def _reported(self, code: str, steps: Steps, what: str, fix: str) -> None:
        """A fault while placeholders are being filled in, when the subject is not there yet."""
        self.raw = self.document.value
        subject = Subject(source=self.source, raw=self.raw, model=SuiteFile, place=self.document.place, owner=self._owner)
        self.faults.append(subject.fault(code, what, fix, steps))

    def _head(self) -> SuiteFile | None:
        """Everything but cases and datasets, which are read one by one so that a fault in one hides none in another."""
        apart = {name for name in ("cases", "datasets") if isinstance(self.raw.get(name), list)}
        try:
            return adapter(SuiteFile).validate_python({name: value for name, value in self.raw.items() if name not in apart})
        except ValidationError as error:
            self.faults += translate(error, self.subject)
            return None

    def _defaults(self) -> Defaults:
        """The defaults of a file whose head is wrong, where they themselves are right."""
        try:
            return adapter(Defaults).validate_python(self.raw.get("defaults") or {})
        except ValidationError:  # reported with the head
            return Defaults()

    def _raw_checks(self) -> Any:
        defaults = self.raw.get("defaults")
        return defaults.get("checks") if isinstance(defaults, dict) else None

    def _cases(self, defaults: Defaults) -> Intake:
        intake = Intake(Finish(defaults, self.around.overrides.k or DEFAULT_K), self.around.environment, has_defaults=bool(self._raw_checks()))
        cases, datasets = self.raw.get("cases"), self.raw.get("datasets")
        for index, raw in enumerate(cases if isinstance(cases, list) else ()):
            steps = ("cases", index)
            intake.take(Record(self.source, raw, self.document.place(steps)[0], steps, self.document), NATIVE)
        for index, raw in enumerate(datasets if isinstance(datasets, list) else ()):
            self._dataset(raw, ("datasets", index), intake)
        readable = all(value is None or isinstance(value, list) for value in (cases, datasets))
        if not intake.seen and not intake.faults and readable and not datasets:
            self._object("NO_CASES", "the suite has no case", "write `cases`, or name `datasets`", ("cases",))
        self.faults += intake.faults
        return intake

    def _dataset(self, raw: Any, steps: Steps, intake: Intake) -> None:
        try:
            dataset = TypeAdapter(Annotated[Dataset, BeforeValidator(short_dataset)]).validate_python(raw)
        except ValidationError as error:
            self.faults += translate(error, dataclasses.replace(self.subject, raw=raw, model=Dataset, prefix=steps))
            return
        path = self._inside(dataset.path, steps)
        if path is not None:
            try:
                self._dialects.add(read_dataset(Source(path, shown(path, self.around.cwd)), intake, dataset.format, live=self._is_live()).name)
            except ConfigError as error:
                self.faults += error.faults

    def _is_live(self) -> bool:
        """Whether a Saiku server can be asked for the rows of reference queries."""
        target = self.raw.get("target")
        http = target.get("http") if isinstance(target, dict) else None
        override = self.around.overrides.target
        named = override is None and isinstance(http, dict) and http.get("protocol") == "saiku"
        return named or is_live(None if override is None else server_of(override, self.around.environment), self.around.environment)

    def _inside(self, stated: str, steps: Steps) -> Path | None:
        """A path of the suite file as an existing file inside the workspace; None with a fault when it is not."""
        path = self.source.path.parent / stated
        if not is_inside(path, self.around.workspace):
            self._object("OUTSIDE_WORKSPACE", f"`{clip(stated)}` leads outside the workspace", "keep the file inside the repository", steps)
        elif not is_file(path):
            self._object("FILE_NOT_FOUND", f"there is no file `{clip(stated)}` (paths are relative to the suite file)", "correct the path, or create the file", steps)
        else:
            return path
        return None

    def _target(self, head: SuiteFile | None) -> TargetSpec | None:
        override = self.around.overrides.target
        if override is not None:
            return server_of(override, self.around.environment) if "saiku" in self._dialects else override
        if self.raw.get("target") is None:
            self._object("MISSING_FIELD", "`target` is missing, so there is nothing to measure", "add `target`, or use --exec, --http or --predictions", ("target",))
        if head is None or head.target is None:
            return None
        target = head.target.target
        if isinstance(target, PredictionsTarget) and not any(env_names(target.path)):
            path = self._inside(target.path, ("target", "predictions"))
            return None if path is None else PredictionsTarget(path=str(path))
        return target

    def _blame(self, head: SuiteFile | None, target: TargetSpec | None) -> Blame | None:
        """The base system is asked as the target is, so there is one only beside a command; a target of the command line that is none has no base."""
        if head is None or head.blame is None or isinstance(target, ExecTarget):
            return head.blame if head else None
        if target is not None and self.around.overrides.target is None:
            what = "`blame` needs a target that is a command: the base system is started as the target is"
            self._object("INVALID_VALUE", what, "use an exec target, or remove `blame`", ("blame",))
        return None

    def _results(self, head: SuiteFile | None) -> Suite | None:
        """A suite whose results are there already: nothing is asked, and its cases are those of the results."""
        for name in results.MEANINGLESS:
            if self.raw.get(name):
                self._object("INVALID_VALUE", f"with `import` nothing is asked or judged, so `{name}` means nothing", f"leave `{name}` out, or `import`", (name,))
        stated = head.import_ if head else None
        if head is None or stated is None:
            return None
        anchored, faults = results.anchored(stated, self.source.path.parent, self.around.workspace)
        read = self.around.read_results
        for field, code, what, fix in faults if read is not None else ():
            self._object(code, what, fix, ("import", field))
        try:
            foreign = None if faults or read is None else read(anchored, self.around.workspace)
        except ConfigError as error:
            self.faults += error.faults
            return None
        cases, imported = as_cases(foreign) if foreign else ((), None)
        if read is not None:  # what was not read has metrics of its own that a policy may name
            self._check_policy(Metrics(results.metrics_of(cases)))
        if self.faults:
            return None
        gate = results.policy(anchored.format, head.gate, self.raw.get("gate"))
        return results.suite(anchored, cases, imported, head=copy_of(head, gate=gate), file=self.source.name, overrides=self.around.overrides)

    def _check_policy(self, metrics: Metrics) -> None:
        """Thresholds and tolerances speak of metrics, and thresholds lie in the metric's range."""
        gate = self.raw.get("gate")
        for field in ("thresholds", "tolerances"):
            stated = gate.get(field) if isinstance(gate, dict) else None
            for name, value in stated.items() if isinstance(stated, dict) else ():
                wrong = wrong_name(name, metrics)
                if wrong:
                    self._object("UNKNOWN_METRIC", *wrong, ("gate", field, name))
                elif field == "thresholds" and isinstance(value, int | float) and not isinstance(value, bool) and (wrong := wrong_threshold(name, value)):
                    self._object("INVALID_VALUE", *wrong, ("gate", field, name))
        self.faults += flag_faults(self.around.overrides, metrics)

    def _own_names(self) -> Iterator[str]:
        yield from python_ids(self._raw_checks())
        cases = self.raw.get("cases")
        for case in cases if isinstance(cases, list) else ():
            yield from python_ids(case.get("checks") if isinstance(case, dict) else None)

    def _object(self, code: str, what: str, fix: str, steps: Steps) -> None:
        self.faults.append(self.subject.fault(code, what, fix, steps))
