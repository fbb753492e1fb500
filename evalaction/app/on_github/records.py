"""Results of another run, as its artifacts hold them: data. A record counts only under the name of its own suite, and where some are of that run, only those do."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path

from evalaction.app.on_github.desk import Desk
from evalaction.errors import ConfigError
from evalaction.github.facts import Run
from evalaction.report.text import plain
from evalaction.store.files import remove_tree, translated
from evalaction.store.records import HEADER_FILE, found_records, read_header, records_below

EARLIER = ".earlier"
"""Where records of earlier runs or steps are put, within the results' folder."""


def results_of(desk: Desk, run: Run, *, key: str | None = None, shards_without: str | None = None) -> Mapping[str, Path]:
    """The results of a run by key: of `key` alone where it is given; with `shards_without` those of every job but that one, of which several may hold a suite.

    Where records of earlier runs lie beside the run's own, they are left out, and the log names them. Raises ConfigError and GitHubError.
    """
    from evalaction.github.results import Results  # noqa: PLC0415 - the client is loaded only when it is asked

    found = Results(desk.client(), desk.folder / "results").of_run(run, key=key, whole_run=shards_without is not None, without=shards_without)
    for name, place in found.items():
        own = {folder: _is_own(run, folder) for folder in found_records(place)}
        for folder in [folder for folder, is_own in own.items() if not is_own] if any(own.values()) else []:
            desk.say(f"results of {name}: passed over the record of suite {folder.name}, which another run measured")
            remove_tree(folder)
    return found


def set_aside(desk: Desk) -> None:
    """Move records that lie in the results' folder before this run wrote any to its hidden folder, which is not uploaded: a committed one must not pass for this run's.

    The newest of each name stays there, so nothing that was measured a step before is lost. Raises ConfigError when a folder cannot be moved.
    """
    if desk.results.resolve() == desk.baselines.resolve():
        raise ConfigError.one("INVALID_INPUT", "results-dir is the folder of accepted baselines", "name another folder", path="results-dir")
    for folder in records_below(desk.results):
        place = desk.results / EARLIER / folder.name
        with translated(desk.results):
            place.parent.mkdir(exist_ok=True)
            remove_tree(place)
            folder.rename(place)
        desk.say(f"results: the record in {folder.name} was there before this run, and lies in {EARLIER} now")


def drop_unmeasured(desk: Desk, measured: Collection[str]) -> None:
    """Remove records of other suites than the measured ones, by key: none was there before, so a system under test wrote them, and an acceptance would take them."""
    for folder in records_below(desk.results):
        if folder.name not in measured:
            with translated(desk.results):
                remove_tree(folder)
            desk.warn("eval-gate removed a record", plain(f"the record in {folder.name} appeared while this run measured, and is none of its own"))


def _is_own(run: Run, folder: Path) -> bool:
    header = read_header(folder)
    if header.key != folder.name:
        what = f"the record in the folder `{folder.name}` says that it is of suite `{header.key}`"
        raise ConfigError.one("INVALID_RECORD", what, "this is no record that eval-gate wrote", file=f"{folder.name}/{HEADER_FILE}")
    return header.run_id == str(run.id)
