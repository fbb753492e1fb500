"""What a person accepted: the acceptance in force, the chain before it, and the baseline they make of a record."""

from __future__ import annotations

import dataclasses
from typing import Literal

from evalaction.core.model import model as stored
from evalaction.core.record import SCHEMA_VERSION, RunRecord


@stored
class Acceptance:
    """Who made a record the baseline, when, and why. `digest` is that of the baseline as accepted; `cases` is None for all of them."""

    reason: str
    accepted_at: str
    accepted_by: str
    commit: str | None = None
    run_id: str | None = None
    pull_request: int | None = None
    accepted_in: str | None = None
    triggered_by: str | None = None
    """Who started the accepting run again, where that is somebody else than `accepted_by`."""
    cases: tuple[str, ...] | None = None
    moved_anchor: bool = False
    digest: str = ""


@stored
class AcceptanceFile:
    """`acceptance.json` of a baseline: the acceptance in force and the chain before it, oldest first."""

    schema_version: Literal[1] = SCHEMA_VERSION
    current: Acceptance
    chain: tuple[Acceptance, ...] = ()


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Baseline:
    """An accepted record with its acceptance, the chain of earlier ones, and the level it may not drift below."""

    record: RunRecord
    acceptance: Acceptance
    chain: tuple[Acceptance, ...] = ()
    anchor: RunRecord | None = None
