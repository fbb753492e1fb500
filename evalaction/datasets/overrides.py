"""What the command line says over a suite or a dialect."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from typing import Any

from pydantic import ValidationError

from evalaction.core.model import adapter
from evalaction.core.suite import ImportTarget, Judge, Limits, Policy, TargetSpec
from evalaction.datasets.faults import clip
from evalaction.errors import Fault


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Overrides:
    """Flags that stand over what files say; None and empty mean that the flag was not given.

    `thresholds` are (metric, value) pairs and join those of the file. A `PredictionsTarget` and `results` here are relative to the working directory.
    """

    target: TargetSpec | None = None
    results: ImportTarget | None = None
    judge: Judge | None = None
    name: str | None = None
    k: int | None = None
    repeats: int | None = None
    tolerance: float | None = None
    case_tolerance: float | None = None
    pass_rate_tolerance: float | None = None
    thresholds: tuple[tuple[str, float], ...] = ()
    fail_on: tuple[str, ...] = ()
    max_concurrency: int | None = None

    def faults(self) -> Iterator[Fault]:
        """Values that no policy can take; one fault a flag."""
        for flag, model, stated in (*self._flags(), *self._counts()):
            try:
                adapter(model).validate_python(stated)
            except ValidationError as error:
                first = error.errors(include_url=False)[0]
                code = first["type"] if first["type"].isupper() else "INVALID_VALUE"
                message = clip(first["msg"], 300)
                yield Fault(code=code, what=message[0].lower() + message[1:], fix=f"correct the value of {flag}", path=flag)
        if self.name is not None and not self.name.strip():
            yield Fault(code="BLANK_FIELD", what="the name of the suite is blank", fix="write a name, or leave --name out", path="--name")

    def sound(self) -> Overrides:
        """Without the values that may be wrong, so that files can be checked beside wrong flags."""
        return Overrides(target=self.target, results=self.results, judge=self.judge, thresholds=tuple((name, value) for name, value in self.thresholds if math.isfinite(value)))

    def _flags(self) -> Iterator[tuple[str, Any, dict[str, Any]]]:
        for field in ("tolerance", "case_tolerance", "pass_rate_tolerance"):
            if (value := getattr(self, field)) is not None:
                yield f"--{field.replace('_', '-')}", Policy, {field: value}
        for name, value in self.thresholds:
            yield f"--threshold {clip(name)}", Policy, {"thresholds": {name: value}}
        if self.fail_on:
            yield "--fail-on", Policy, {"fail_on": list(self.fail_on)}

    def _counts(self) -> Iterator[tuple[str, Any, dict[str, Any]]]:
        for field in ("k", "repeats", "max_concurrency"):
            if (value := getattr(self, field)) is not None:
                yield f"--{field.replace('_', '-')}", Limits, {"max_concurrency": value}

    def policy(self, policy: Policy, *, own: bool) -> Policy:
        """The policy with the flags in place. `own`: it is a dialect's, whose tolerances for single metrics fall with `--tolerance`."""
        changed: dict[str, Any] = {
            field: value for field in ("tolerance", "case_tolerance", "pass_rate_tolerance") if (value := getattr(self, field)) is not None
        }  # fmt: skip
        if self.fail_on:
            changed["fail_on"] = self.fail_on
        if self.thresholds:
            changed["thresholds"] = {**policy.thresholds, **dict(self.thresholds)}
        if own and self.tolerance is not None:
            changed["tolerances"] = {}
        return dataclasses.replace(policy, **changed)

    def limits(self, limits: Limits) -> Limits:
        """The limits with `--max-concurrency` in place."""
        return limits if self.max_concurrency is None else dataclasses.replace(limits, max_concurrency=self.max_concurrency)
