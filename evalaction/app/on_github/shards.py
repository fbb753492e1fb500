"""Which results of a run are shards. A run holds other jobs' results too, and those of an earlier attempt of the job that merges."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from pathlib import Path

from evalaction.app.judging import VERDICT_FILE
from evalaction.app.on_github.unmeasured import Unmeasured, has_record, unmeasured, worst
from evalaction.core.record import RunHeader
from evalaction.core.verdict import Reason, Verdict
from evalaction.errors import ConfigError, Fault
from evalaction.store.records import HEADER_FILE, load, record_folders


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Shards:
    """`folders` are records of shards; `suites` the keys that their jobs name; `silent` jobs measured nothing; the results of the keys in `others` are whole suites."""

    folders: tuple[Path, ...]
    suites: frozenset[str]
    silent: tuple[Unmeasured, ...]
    others: tuple[str, ...]

    @property
    def remarks(self) -> Iterator[str]:
        """What was not joined, and why."""
        yield from (f"the results of {key} are no shard, and are left out" for key in self.others)
        yield from (f"the results of {one}" for one in self.silent)

    def not_run(self, run_id: int) -> tuple[Reason, ...]:
        """Why nothing could be measured. Raises ConfigError INVALID_RECORD where that is no outsider's missing secret."""
        if not self.silent:
            there = f"; {', '.join(self.others)} measured whole suites" if self.others else ""
            raise ConfigError.one("INVALID_RECORD", f"run {run_id} has no shards{there}", "give the measuring jobs `shard: I/N`, and let the merging job need them")
        said = worst(list(self.silent))
        if said.word != "not_run":
            raise ConfigError([_fault(one) for one in self.silent])
        return said.reasons

    def refuse_missing(self, merged: set[str]) -> None:
        """Raise ConfigError INVALID_RECORD for suites that the shards' jobs were to measure and none came to."""
        missing = sorted(self.suites - merged)
        if missing:
            fix = "measure them again; a job that was ended early leaves its last suites out"
            raise ConfigError.one("INVALID_RECORD", f"no shard has a record of suite {', '.join(missing)}", fix)


def find_shards(results: Mapping[str, Path], *, outsider: bool) -> Shards:
    """The shards among the results of a run by key. Raises ConfigError INVALID_RECORD when one cannot be read."""
    folders = {key: [folder for folder in record_folders(place) if _is_shard(folder)] for key, place in results.items() if has_record(place)}
    named = [load(Verdict, results[key] / VERDICT_FILE) for key, found in folders.items() if found and (results[key] / VERDICT_FILE).is_file()]
    return Shards(
        folders=tuple(folder for found in folders.values() for folder in found), suites=frozenset(suite.key for verdict in named for suite in verdict.suites),
        silent=tuple(unmeasured(results, outsider=outsider)), others=tuple(key for key, found in folders.items() if not found),
    )  # fmt: skip


def _is_shard(folder: Path) -> bool:
    return load(RunHeader, folder / HEADER_FILE).selection.shard is not None


def _fault(one: Unmeasured) -> Fault:
    return Fault(code="INVALID_RECORD", what=f"the results of {one}", fix="see that job's own log, and measure its part again")
