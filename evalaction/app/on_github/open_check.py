"""The check run that a run has open, remembered for the step that comes after it: whatever becomes of the run, the check blocks nobody for ever.

The note lies where targets can write too. It is signed with the job's token, which they never see: who could forge it could write the check run itself.
"""

from __future__ import annotations

import dataclasses
import hashlib
import hmac
import json
from pathlib import Path
from typing import TYPE_CHECKING, get_args
from urllib.parse import quote

from evalaction.github.facts import CheckOutput, Conclusion
from evalaction.github.names import results_name
from evalaction.report.text import plain
from evalaction.store.files import write_atomic

if TYPE_CHECKING:
    from evalaction.app.on_github.desk import Desk

_LARGEST = 64 * 1024
_OURS = "eval-gate:"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class OpenCheck:
    """What a later step needs: how to find the check run where its number was lost, and what it ends with where that was decided."""

    name: str
    head_sha: str
    external_id: str
    check_id: int | None = None
    conclusion: Conclusion | None = None
    title: str = ""
    summary: str = ""

    def decided(self, check_id: int, conclusion: Conclusion, output: CheckOutput) -> OpenCheck:
        """The same with its end."""
        return dataclasses.replace(self, check_id=check_id, conclusion=conclusion, title=output.title, summary=output.summary)


def check_name(desk: Desk, *, beside_others: bool = False) -> str:
    """The check run's name; `beside_others` tells it from that of another workflow's job of the same id."""
    inputs = desk.inputs
    return plain(inputs.check_name or f"eval-gate ({inputs.key}{f', {desk.event.workflow}' if beside_others else ''})", 200)


def external_id(desk: Desk) -> str:
    """What tells our check run from all others of its name: the run and attempt, the workflow's file and the key."""
    event = desk.event
    return f"{_OURS}{event.run_id or 0}.{event.attempt}:{quote(event.workflow or '', safe='')}:{quote(desk.inputs.key, safe='')}"[:255]


def is_of_another_workflow(desk: Desk, stated: str | None) -> bool:
    """Whether an external id is that of a check run which another workflow of this repository opened."""
    parts = (stated or "").split(":")
    return f"{parts[0]}:" == _OURS and len(parts) == len(external_id(desk).split(":")) and parts[2] != quote(desk.event.workflow or "", safe="")


def state_file(desk: Desk) -> Path:
    """Where the note lies."""
    return desk.folder.parent / f"{results_name(desk.inputs.key, desk.event.attempt)}.check.json"


def is_noted(desk: Desk) -> bool:
    """Whether there is a note, ours or not."""
    return state_file(desk).is_file()


def remember(desk: Desk, note: OpenCheck) -> None:
    """Write the note. Raises ConfigError CANNOT_WRITE."""
    text = json.dumps(dataclasses.asdict(note))
    write_atomic(state_file(desk), json.dumps({"note": text, "signature": _signature(desk, text)}).encode())


def recall(desk: Desk) -> OpenCheck | None:
    """The note of this very run and key; None where there is none, or one that we did not write."""
    try:
        with state_file(desk).open("rb") as file:
            stored = json.loads(file.read(_LARGEST))
        text, signature = stored["note"], stored["signature"]
        if not hmac.compare_digest(signature.encode(), _signature(desk, text).encode()):
            return None
        note = OpenCheck(**json.loads(text))
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
    return note if note.external_id == external_id(desk) and note.conclusion in (None, *get_args(Conclusion)) else None


def forget(desk: Desk) -> None:
    """Nothing is open any more."""
    state_file(desk).unlink(missing_ok=True)


def _signature(desk: Desk, text: str) -> str:
    return hmac.new(f"eval-gate:check:{desk.inputs.github_token}".encode(), text.encode("utf-8", "replace"), hashlib.sha256).hexdigest()
