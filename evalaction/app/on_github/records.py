"""Records that another run measured. What lies in its artifacts is data; only what that run itself wrote is taken, each suite once."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from pathlib import Path

from evalaction.app.on_github.desk import Desk
from evalaction.core.record import RunHeader
from evalaction.errors import ConfigError
from evalaction.github.facts import Run
from evalaction.store.records import HEADER_FILE, found_records, read_header


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """`records` are folders, one of each suite; `places` the folders of the artifacts, which may hold no record when nothing was measured."""

    records: tuple[Path, ...]
    places: tuple[Path, ...]


def records_of(desk: Desk, run: Run) -> Measured:
    """What a finished run measured, of the key that a person chose or of all. Raises ConfigError and GitHubError."""
    places = _places(desk, run, key=desk.inputs.key if desk.inputs.explicit_key else None)
    holders: dict[str, list[str]] = {}
    records = []
    for key, folder, header in _own(desk, run, places):
        holders.setdefault(header.key, []).append(key)
        records.append(folder)
    for suite, keys in sorted(holders.items()):
        if len(keys) > 1:  # nobody could say which is meant
            what = f"run {run.id} has results of suite `{suite}` under several keys: {', '.join(f'`{key}`' for key in keys[:10])}"
            raise ConfigError.one("INVALID_INPUT", what, "choose one of them with `key`")
    return Measured(records=tuple(records), places=tuple(places.values()))


def shards_of(desk: Desk, run: Run) -> tuple[Path, ...]:
    """The shards that other jobs of a run measured, the latest attempt of each; not what an earlier attempt of this job left. Raises ConfigError and GitHubError."""
    shards = []
    for key, folder, header in _own(desk, run, _places(desk, run, without=desk.inputs.key)):
        if header.selection.shard is None:
            desk.say(f"results of {key}: suite {header.suite} is no shard, and stays out of the merge")
        else:
            shards.append(folder)
    if not shards:
        raise ConfigError.one("INVALID_RECORD", f"run {run.id} has no shards to join", "let the jobs that this one needs run with `shard: I/N`")
    return tuple(shards)


def _places(desk: Desk, run: Run, *, key: str | None = None, without: str | None = None) -> Mapping[str, Path]:
    from evalaction.github.results import Results  # noqa: PLC0415 - the client is loaded only when it is asked

    return Results(desk.client(), desk.folder / "results").of_run(run, key=key, without=without)


def _own(desk: Desk, run: Run, places: Mapping[str, Path]) -> Iterator[tuple[str, Path, RunHeader]]:
    """Key of the artifact, folder and header of each record that the run wrote. On a runner that keeps its folders those of earlier runs lie beside them."""
    for key, place in places.items():
        for folder in found_records(place):
            header = read_header(folder)
            if header.key != folder.name:
                what = f"the record in the folder `{folder.name}` says that it is of suite `{header.key}`"
                raise ConfigError.one("INVALID_RECORD", what, "this is no record that eval-gate wrote", file=str(folder / HEADER_FILE))
            if header.run_id == str(run.id):
                yield key, folder, header
            else:
                desk.say(f"results of {key}: passed over the record of suite {header.suite}, which run {header.run_id or 'unknown'} measured")
