"""What was measured, beside what was to be reached."""

from __future__ import annotations

import dataclasses
import json
import os
import platform
from collections.abc import Sequence
from pathlib import Path


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One figure, where less is better. `most`: what it may be at the most; `plain`: the same figure of the plain script."""

    what: str
    unit: str
    value: float
    most: float | None = None
    plain: float | None = None

    @property
    def reached(self) -> bool | None:
        """None without a target."""
        return None if self.most is None else self.value <= self.most

    @property
    def ratio(self) -> float | None:
        """How many times the plain script's figure; None where there is none or it is not positive."""
        return self.value / self.plain if self.plain is not None and self.plain > 0 else None


def markdown(rows: Sequence[Row]) -> str:
    """A table, and how many of the targets were reached."""
    lines = ["| what | unit | eval-gate | at most | reached | plain script | ratio |", "|---|---|---:|---:|---|---:|---:|"]
    lines += [f"| {row.what} | {row.unit} | {_number(row.value)} | {_number(row.most)} | {_REACHED[row.reached]} | {_number(row.plain)} | {_number(row.ratio)} |" for row in rows]
    judged = [row for row in rows if row.reached is not None]
    return "\n".join([*lines, "", f"{sum(row.reached is True for row in judged)} of {len(judged)} targets reached."])


_REACHED = {True: "yes", False: "**missed**", None: ""}


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:,.3g}" if abs(value) < 100 else f"{value:,.0f}"


def write(rows: Sequence[Row], file: Path) -> None:
    """The same as JSON, with the machine that it was measured on. Raises OSError."""
    machine = {"python": platform.python_version(), "system": platform.platform(), "processors": os.cpu_count()}
    document = {"machine": machine, "rows": [{**dataclasses.asdict(row), "reached": row.reached, "ratio": row.ratio} for row in rows]}
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(document, indent=2, allow_nan=False) + "\n", encoding="utf-8")
