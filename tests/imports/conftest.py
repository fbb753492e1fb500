"""Results of other tools on disk, and the reader of a format over them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evalaction.core.foreign import Foreign
from evalaction.core.suite import ImportTarget
from evalaction.errors import ConfigError
from evalaction.imports.read import read_results


class Results:
    """A folder in which another tool has left its files."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def write(self, name: str, content: object) -> Path:
        """A file: text and bytes as they stand, a list of lines for `.jsonl`, anything else as JSON."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, bytes):
            path.write_bytes(content)
        elif isinstance(content, str):
            path.write_text(content, encoding="utf-8")
        elif name.endswith(".jsonl"):
            path.write_text("".join(json.dumps(line) + "\n" for line in content), encoding="utf-8")
        else:
            path.write_text(json.dumps(content), encoding="utf-8")
        return path

    def read(self, form: str, name: str = "", *, lower: tuple[str, ...] = (), **options) -> Foreign:
        """What the reader of a format finds; `lower` are metrics that the suite wants low."""
        return read_results(ImportTarget(format=form, path=str(self.folder / name), lower_is_better=lower), cwd=self.folder, **options)

    def codes(self, form: str, name: str = "", **options) -> list[str]:
        """Codes of the faults that it finds instead."""
        return [fault.code for fault in self.faults(form, name, **options)]

    def faults(self, form: str, name: str = "", **options):
        """The faults themselves."""
        with pytest.raises(ConfigError) as caught:
            self.read(form, name, **options)
        return caught.value.faults


@pytest.fixture
def results(tmp_path):
    """An empty folder of results."""
    return Results(tmp_path)


def summary(case):
    """Of a case's first run: the checks as (id, score, passed, weight)."""
    return [(check.id, check.score, check.passed, check.weight) for check in case.trials[0].checks]
