"""What a run is compared with: the accepted baselines, or the newest runs under a label."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from evalaction.app.parts import Outputs, Parts, Selected
from evalaction.core.record import Baseline
from evalaction.errors import ConfigError
from evalaction.store import history, labels
from evalaction.store.baselines import DirectoryStore
from evalaction.store.scores import baselines_of

_SHOWN = 20


class Known(NamedTuple):
    """The baseline of a suite, and where its answers lie."""

    baseline: Baseline | None
    folder: Path


def known_baselines(parts: Parts, outputs: Outputs, keys: Iterable[str]) -> dict[str, Known]:
    """The baseline of each suite by key. Raises ConfigError when one is there and not right, or nothing has the label that was named."""
    keys, label = list(keys), outputs.baseline_label
    if label is not None:
        _refuse_unused(outputs.out, label)
        return {key: Known(labels.labelled(outputs.out, label, key), labels.labelled_folder(outputs.out, label, key)) for key in keys}
    store = DirectoryStore(outputs.baseline)
    if not store.root.exists():
        parts.console.say(f"no folder of baselines is at {store.root}")
    return {key: Known(found, store.folder(key)) for key, found in baselines_of(store, keys).items()}


def _refuse_unused(root: Path, label: str) -> None:
    there = history.labels(root)
    if label in there:
        return
    listed = ", ".join(there[:_SHOWN]) + (f" and {len(there) - _SHOWN} more" if len(there) > _SHOWN else "")
    fix = f"name one of the labels there are: {listed}" if there else f"there are no labels here yet; measure with `eval-gate run SUITE --label {label}`"
    raise ConfigError.one("INVALID_INPUT", f"no run in {root} is labelled `{label}`", fix, path="--baseline-label")


def refuse_partial(outputs: Outputs, selected: Selected) -> None:
    """Raise when a part of the cases would stand under a label for the whole: what it lacks would never be compared."""
    if outputs.label is not None and (selected.filter or selected.tag or selected.shard):
        raise ConfigError.one("INVALID_INPUT", "a label stands for whole suites, and this run is a part", "leave out --label, or --filter, --tag and --shard", path="--label")
