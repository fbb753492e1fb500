"""The cassette of a suite in one run: opened before anything is asked, closed when the run is over, however it ends."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from evalaction.app.parts import Job, Parts, Tapes
from evalaction.core.answer import read_answer
from evalaction.core.cassette import Exchange, Tape
from evalaction.core.shapes import REPLY
from evalaction.core.suite import Suite
from evalaction.errors import ConfigError
from evalaction.judge.memory import completion_of
from evalaction.store.cassettes import cassette_file, held, read_cassette, write_cassette
from evalaction.targets.asked import asked_of, asked_query
from evalaction.targets.base import BatchTarget, SingleTarget
from evalaction.targets.build import build_reference, build_target, reference_spec
from evalaction.targets.cassette import build_taped, tape_reference


def refuse_tapes(job: Job) -> None:
    """Raise ConfigError INVALID_INPUT for options that do not go together."""
    tapes, selected = job.tapes, job.selected
    if tapes.prune and tapes.record_to is None:
        raise ConfigError.one("INVALID_INPUT", "--prune drops what a recording does not use, and nothing is recorded", "name the folder with --record-to")
    if tapes.prune and any((selected.filter, selected.tag, selected.shard, selected.resume)):
        raise ConfigError.one("INVALID_INPUT", "--prune needs a whole run: what a part does not use, the rest may", "leave out --filter, --tag, --shard and --resume")
    if job.record is not None and (tapes.replay or tapes.record_to):
        raise ConfigError.one("INVALID_INPUT", "--record judges what was measured already: nothing is replayed or recorded", "leave out --record, or --replay and --record-to")


def open_tape(parts: Parts, tapes: Tapes, suite: Suite) -> Tape:
    """The tape of one suite; one that does nothing where no cassette is named. Raises ConfigError for a cassette that is damaged or not there."""
    known, kept = _read(tapes.replay, suite), _read(tapes.record_to, suite) if tapes.record_to != tapes.replay else None
    if tapes.replay is not None and known is None and tapes.record_to is None:
        fix = "record one with --record-to, or name the folder that holds it"
        raise ConfigError.one("FILE_NOT_FOUND", f"suite {suite.name} has no cassette there", fix, file=str(cassette_file(tapes.replay, suite.key)))
    if tapes.record_to is not None and tapes.record_to == tapes.replay:
        kept = known
    replayed = None if tapes.replay is None else known or []
    return Tape(replayed, kept or (), records=tapes.record_to is not None, mask=partial(parts.settings.masker.json, shape=REPLY))


def _read(folder: Path | None, suite: Suite) -> list[Exchange] | None:
    return None if folder is None else read_cassette(cassette_file(folder, suite.key), suite.name, _check)


def _check(exchange: Exchange) -> None:
    """What only the reader of a reply can judge."""
    if exchange.kind == "judge":
        completion_of(exchange.reply)
    else:
        read_answer(exchange.reply)


def open_target(parts: Parts, suite: Suite, tape: Tape) -> SingleTarget | BatchTarget:
    """The target of a suite, with its cassette where one is used."""
    settings, most = parts.settings, suite.limits.max_concurrency
    build = (lambda spec, **around: build_taped(spec, tape, **around)) if tape.replays or tape.records else build_target
    return build(suite.target, environment=settings.environment, cwd=settings.cwd, concurrency=most)


def open_reference(parts: Parts, suite: Suite, tape: Tape, block: Mapping[str, Any]) -> SingleTarget:
    """The target of a reference query, with the suite's cassette where one is used."""
    environment = parts.settings.environment
    inner = build_reference(block, suite.target, environment=environment, concurrency=suite.limits.max_concurrency)
    if not (tape.replays or tape.records):
        return inner
    asked = asked_query(block["saiku"]) if set(block) == {"saiku"} else asked_of(reference_spec(block), environment)
    return tape_reference(inner, asked, tape)


def close_tape(parts: Parts, tapes: Tapes, suite: Suite, tape: Tape, *, whole: bool) -> None:
    """Write the cassette, if the run records. Only a `whole` run, finished and without errors, shows what is no longer used."""
    if tapes.record_to is None:
        return
    prune, path = tapes.prune and whole, cassette_file(tapes.record_to, suite.key)
    exchanges = tape.exchanges(used_only=prune)
    if exchanges or path.exists():
        with held(tapes.record_to):
            tape.join(read_cassette(path, suite.name, _check) or ())
            exchanges = tape.exchanges(used_only=prune)
            write_cassette(path, suite.name, exchanges)
    if tapes.prune and not whole:
        parts.console.say(f"suite {suite.name}: nothing was removed from the cassette, since not everything could be measured")
    if tape.unrecorded:
        parts.console.say(f"suite {suite.name}: {len(tape.unrecorded)} replies are nested too deeply to be recorded, the first of case {tape.unrecorded[0]}")
    parts.console.detail(f"suite {suite.name}: {len(exchanges)} exchanges in {path}")
