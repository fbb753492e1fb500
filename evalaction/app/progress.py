"""Progress without secrets: names of suites and cases pass the mask before they are shown."""

from __future__ import annotations

from evalaction.core.masking import Masker
from evalaction.runner.progress import Progress


class Masked:
    """A progress that hands on masked names."""

    def __init__(self, inner: Progress, masker: Masker) -> None:
        self._inner, self._masker = inner, masker

    def start(self, suite: str, total: int) -> None:
        """A suite of `total` trials begins."""
        self._inner.start(self._masker.text(suite), total)

    def step(self, case: str, *, failed: bool) -> None:
        """One trial is final."""
        self._inner.step(self._masker.text(case), failed=failed)

    def finish(self) -> None:
        """The suite is over."""
        self._inner.finish()
