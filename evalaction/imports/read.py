"""Which reader reads which format: the one way into this room."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import cast

from evalaction.core.foreign import LOWER_IS_BETTER, Foreign, turned
from evalaction.core.suite import ImportFormat, ImportTarget
from evalaction.imports.files import Place, shown
from evalaction.imports.intake import Intake, ReadFormat

_READERS: dict[ImportFormat, str] = {
    "spring": "spring", "promptfoo": "promptfoo", "junit": "junit", "deepeval": "deepeval", "inspect": "inspect_log", "lm-eval": "lm_eval", "ragas": "tabular", "csv": "tabular",
    "generic": "generic",
}  # fmt: skip
FOLDERS: dict[ImportFormat, str] = {"spring": "*.json", "junit": "*.xml", "lm-eval": "samples_*.jsonl"}
"""Formats of several files, and what those files are called."""


def read_results(target: ImportTarget, *, cwd: Path, within: Path | None = None) -> Foreign:
    """The results that an import names; nothing is run. `within` is the folder that its path may not lead out of.

    Raises ConfigError with every fault of every file; results without a case are NO_CASES.
    """
    form, path = target.format, Path(target.path)
    place, intake = Place(path, shown(path, cwd), within), Intake()
    read = cast("ReadFormat", importlib.import_module(f"evalaction.imports.{_READERS[form]}").read)  # only the one that is needed is loaded
    read(place, intake)
    foreign = intake.finished()
    if not foreign.cases:
        said = f" ({foreign.notes[0]})" if foreign.notes else ""
        raise place.refuse("NO_CASES", f"the {form} results hold no case that was measured{said}", "run the other tool first, or name its results")
    return turned(foreign, LOWER_IS_BETTER.get(form, frozenset()) | {name.lower() for name in target.lower_is_better})
