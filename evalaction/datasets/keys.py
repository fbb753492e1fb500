"""The keys of suites, for uses that measure nothing. Only names are read: what a suite asks, and whether its files and variables are there, is no matter here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from pydantic import ValidationError

from evalaction.core.fingerprint import slug
from evalaction.core.model import adapter
from evalaction.core.scalars import Word
from evalaction.datasets.paths import find
from evalaction.datasets.source import Source, read_bytes
from evalaction.datasets.templates import fill_env
from evalaction.datasets.yaml_tree import read_yaml
from evalaction.errors import ConfigError, Fault


def suite_keys(patterns: Sequence[str], environment: Mapping[str, str], cwd: Path) -> list[str]:
    """Keys of the suites that the patterns name, each once. Raises ConfigError when a suite is not there, cannot be read, or has no name."""
    found = find(patterns, cwd)
    faults, keys = list(found.faults), []
    for source in found.sources:
        try:
            keys.append(slug(_name(source, environment)))
        except ConfigError as error:
            faults += error.faults
    if faults:
        raise ConfigError(faults)
    return list(dict.fromkeys(keys))


def _name(source: Source, environment: Mapping[str, str]) -> str:
    """A suite's own name; a dataset alone is called like its file."""
    if source.path.suffix.lower() not in (".yaml", ".yml"):
        return source.path.stem.strip() or "suite"
    document, faults = read_yaml(source, read_bytes(source))
    if document is None or faults:
        raise ConfigError(faults)
    if isinstance(document.value, list):
        return source.path.stem.strip() or "suite"
    stated = document.value.get("name") if isinstance(document.value, dict) else None
    place = document.place(("name",) if stated is not None else ())
    try:
        name: str = adapter(Word).validate_python(stated)
    except ValidationError:
        raise ConfigError([source.fault("MISSING_FIELD", "the suite has no name", "write `name:` with a text", *place)]) from None
    unset: list[Fault] = []
    name = fill_env(name, environment, lambda what, fix: unset.append(source.fault("UNRESOLVED_VARIABLE", what, fix, *place)))
    if unset:
        raise ConfigError(unset)
    return name
