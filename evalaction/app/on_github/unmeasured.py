"""Results without a record: what a first stage or a shard that measured nothing says of itself. A stranger may have written it: it can be red, or `not_run`, and never a pass."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import cast

from evalaction.app.judging import VERDICT_FILE, NoVerdict
from evalaction.core.verdict import EXIT_CODES, PRECEDENCE, Reason, SuiteVerdict, Verdict
from evalaction.errors import ConfigError, ExitCode
from evalaction.report.text import plain
from evalaction.store.records import HEADER_FILE, load

_RED = ("config_error", "internal_error", "not_measured")
_MOST, _CODE, _MESSAGE = 100, 60, 1000
"""Reasons of one run that are passed on, and characters of their parts."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Unmeasured:
    """What the results of one key say instead of a record."""

    key: str
    word: NoVerdict
    reasons: tuple[Reason, ...]

    def as_suite(self) -> SuiteVerdict:
        """A row in the report of a run whose other results were measured. Which suites it would have been nobody knows."""
        return SuiteVerdict(suite=f"results of {self.key}", key=self.key, verdict=self.word, reasons=self.reasons)

    def __str__(self) -> str:
        first = f": {self.reasons[0].code} {self.reasons[0].message}" if self.reasons else ""
        return f"{self.key} measured nothing, {self.word}{first}"


def has_record(place: Path) -> bool:
    """Whether results hold a record, readable or not."""
    return any(place.glob(f"*/{HEADER_FILE}"))


def unmeasured(results: Mapping[str, Path], *, outsider: bool) -> list[Unmeasured]:
    """What each of the results without a record says. Only an `outsider`, who has no secrets, may say `not_run`.

    Raises ConfigError INVALID_RECORD where one claims what takes a record, or is unreadable.
    """
    return [_stated(key, place, outsider=outsider) for key, place in results.items() if not has_record(place)]


def worst(stated: list[Unmeasured]) -> Unmeasured:
    """All of them as one: the word that counts most, and the reasons of those that said it."""
    word = min((one.word for one in stated), key=lambda word: PRECEDENCE.index(ExitCode(EXIT_CODES[word])))
    mine = [one for one in stated if one.word == word]
    return Unmeasured(key=", ".join(one.key for one in mine), word=word, reasons=tuple(dict.fromkeys(reason for one in mine for reason in one.reasons)))


def _stated(key: str, place: Path, *, outsider: bool) -> Unmeasured:
    path = place / VERDICT_FILE
    if not path.is_file():
        raise ConfigError.one("INVALID_RECORD", f"the results of {key} hold neither a record nor a verdict", "run the gate again", file=VERDICT_FILE)
    said = load(Verdict, path)
    if said.verdict not in _RED and not (said.verdict == "not_run" and outsider):
        what = f"the results of {key} claim to be {said.verdict} and hold no record of it"
        raise ConfigError.one("INVALID_RECORD", what, "run the gate again, and keep all of its results", file=VERDICT_FILE)
    reasons = tuple(_bounded(reason) for reason in said.reasons[:_MOST]) or (Reason(code="NOT_MEASURED", message="no reason was given"),)
    return Unmeasured(key=key, word=cast("NoVerdict", said.verdict), reasons=reasons)


def _bounded(reason: Reason) -> Reason:
    """Code, message and place only: figures and cases belong to what was measured."""
    file = plain(reason.file, _MESSAGE) if reason.file else None
    return Reason(code=plain(reason.code, _CODE), message=plain(reason.message, _MESSAGE), file=file, line=reason.line, column=reason.column)
