"""Runs under a name of their own, such as the branch: of each label the newest record of every suite, beside the results.

labels/<label>/<suite key>/    a copy of the record, since the next run replaces the one it was made from
"""

from __future__ import annotations

import shutil
from pathlib import Path

from evalaction.core.acceptance import Acceptance, Baseline
from evalaction.core.fingerprint import slug
from evalaction.store.files import remove_tree, translated
from evalaction.store.recorder import JOURNAL, SET_ASIDE
from evalaction.store.records import HEADER_FILE, read_record

LABELS = "labels"


def labelled_folder(root: Path, label: str, key: str) -> Path:
    """Where the newest record of a suite under a label lies; neither chooses a path."""
    return root / LABELS / slug(label) / key


def keep(root: Path, label: str, key: str, record: Path) -> Path:
    """Copy a finished record under a label, in the place of the one before. Raises ConfigError CANNOT_WRITE."""
    place = labelled_folder(root, label, key)
    new, before = place.with_name(f".{key}.new"), _before(place)
    with translated(place):
        remove_tree(new)
        shutil.copytree(record, new, ignore=shutil.ignore_patterns(JOURNAL, SET_ASIDE))
        if place.exists():
            remove_tree(before)
            place.replace(before)
        new.replace(place)
        remove_tree(before)
    return place


def standing_folder(root: Path, label: str, key: str) -> Path | None:
    """Where a record of a suite under a label lies: the newest, or the one before where the run that was to replace it was killed; None without one."""
    place = labelled_folder(root, label, key)
    return next((folder for folder in (place, _before(place)) if (folder / HEADER_FILE).is_file()), None)


def _before(place: Path) -> Path:
    """Where the record stands aside while the next one takes its place."""
    return place.with_name(f".{place.name}.old")


def labelled(root: Path, label: str, key: str) -> Baseline | None:
    """The newest run of a suite under a label as a baseline that nobody accepted, None without one. Raises ConfigError when it cannot be read."""
    folder = standing_folder(root, label, key)
    if folder is None:
        return None
    record = read_record(folder)
    reason = f"the newest run labelled {label}, not accepted"
    return Baseline(record=record, acceptance=Acceptance(reason=reason, accepted_at=record.header.finished_at, accepted_by="nobody", commit=record.header.commit))
