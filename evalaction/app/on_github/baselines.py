"""Baselines from the artifacts of the acceptance workflow, put where a directory store finds them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from evalaction.app.parts import Remarks
from evalaction.errors import ConfigError
from evalaction.github.names import clean
from evalaction.store.files import remove_tree

if TYPE_CHECKING:
    from evalaction.app.on_github.desk import Desk
    from evalaction.github.baselines import ArtifactBaselines, Found

EXPIRY_DAYS = 14
"""A baseline that expires sooner is announced; the renewal of the starter workflows comes once a week."""
_REPLACEABLE = frozenset({"BASELINE_EXPIRED", "INVALID_RECORD"})
"""Faults of a stored baseline whose remedy is to accept again."""

_MOST_ACCEPTANCES, _MOST_BESIDE = 8, 50
"""Acceptance runs that are asked what else they stored, and baselines that are fetched for it."""


class ArtifactSource:
    """Chooses, proves and unpacks one artifact a suite. With `anew`, one that is gone or broken is as good as none: an acceptance must be able to take its place."""

    def __init__(self, desk: Desk, *, anew: bool = False) -> None:
        self._desk, self._anew = desk, anew
        self.found: dict[str, Found] = {}
        self._finder: ArtifactBaselines | None = None

    def fetch(self, keys: Sequence[str]) -> None:
        """See `BaselineSource`; each suite's baseline is looked for once."""
        finder = self._made()
        self._desk.baselines.mkdir(parents=True, exist_ok=True)
        for key in keys:
            if key not in self.found:
                self.found[key] = self._fetched(finder, key)
                self._place(key, self.found[key])

    def _fetched(self, finder: ArtifactBaselines, key: str) -> Found:
        try:
            return finder.fetch(key)
        except ConfigError as error:
            if not self._anew or not {fault.code for fault in error.faults} <= _REPLACEABLE:
                raise
            from evalaction.github.baselines import Found  # noqa: PLC0415 - the client is loaded only when it is asked

            lost = "this acceptance begins anew: the chain of earlier acceptances and the anchor are lost with it"
            self._desk.warn("the baseline before is lost", f"baseline of {key}: {error.faults[0].what}; {lost}")
            return Found()

    def fetch_beside(self, keys: Collection[str]) -> None:
        """See `BaselineSource`: one call for each acceptance run that a baseline of these keys is of, or, where none of them has one, for each of the newest.

        What is found there is proven like any other.
        """
        runs = sorted({found.run.id for key in keys if (found := self.found.get(key)) is not None and found.run is not None and found.artifact is not None}, reverse=True)
        if not runs:
            runs = self._made().acceptances(_MOST_ACCEPTANCES)
        known = {clean(key) for key in (*keys, *self.found)}
        self.fetch([name for run in runs[:_MOST_ACCEPTANCES] for name in self._made().beside(run) if name not in known][:_MOST_BESIDE])

    def _made(self) -> ArtifactBaselines:
        from evalaction.github.baselines import ArtifactBaselines  # noqa: PLC0415 - the client is loaded only when it is asked

        desk = self._desk
        if self._finder is None:
            self._finder = ArtifactBaselines(desk.client(), desk.trust(), desk.folder / "artifacts", run_id=desk.inputs.baseline_run_id, now=desk.parts.now)
        return self._finder

    def remarks(self, key: str) -> Remarks:
        """See `BaselineSource`."""
        found = self.found.get(key)
        if found is None:
            return Remarks()
        behind = found.position.behind_by if found.position else None
        return Remarks(passed_over=found.passed_over, warnings=tuple(self._warnings(found)), behind_by=behind)

    def _place(self, key: str, found: Found) -> None:
        for reason in found.passed_over:
            self._desk.say(f"baseline of {key}: passed over {reason}")
        if found.folder is None or found.artifact is None or found.run is None:
            self._desk.say(f"baseline of {key}: none; accept a run with the workflow {self._desk.inputs.baseline_workflow}")
            return
        self._desk.say(f"baseline of {key}: artifact {found.artifact.id} of run {found.run.id}, made {found.artifact.created_at}")
        place = self._desk.baselines / found.folder.name
        remove_tree(place)
        found.folder.rename(place)

    def _warnings(self, found: Found) -> list[str]:
        desk, warnings = self._desk, []
        if found.expires_in_days is not None and found.expires_in_days < EXPIRY_DAYS:
            warnings.append(f"the baseline's artifact expires in {max(found.expires_in_days, 0):.0f} days: run the acceptance workflow's renewal (mode: renew), or accept again")
        pull, branch = desk.event.pull, desk.event.default_branch
        if pull is not None and found.run is not None and pull.base_ref != branch:
            warnings.append(f"the pull request's base is {pull.base_ref}, and the baseline is that of {branch}")
        return warnings
