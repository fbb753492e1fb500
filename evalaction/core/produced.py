"""Which metrics the two sides produced: values over the whole current suite, and what the baseline had and this run lacks."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

from evalaction.core.pairing import Pair
from evalaction.core.record import CaseRecord
from evalaction.core.series import Whole
from evalaction.core.spec_base import PASS_RATE


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Lost:
    """A check that a measured case had and lost, with the metrics that it no longer produces."""

    case: str
    check: str
    metrics: tuple[str, ...]


class Produced:
    """Collects while pairs are being walked; `whole` holds each metric over the whole current suite, which thresholds look at."""

    def __init__(self) -> None:
        self.whole: dict[str, Whole] = {}
        self._had: dict[str, None] = {}
        self._lost: set[str] = set()

    def add(self, pair: Pair, metrics: Mapping[str, Sequence[float]]) -> None:
        """One pair with its current values per metric, one for each trial that counts; empty where nothing was measured."""
        for name, values in metrics.items():
            if values:
                (self.whole.get(name) or self.whole.setdefault(name, Whole())).add(values)
        if pair.current is not None and pair.status == "error":
            self._lost.update(name for check in pair.current.checks for name in check.metrics)
            self._lost.add(PASS_RATE)
        if pair.baseline is not None and pair.status != "error":
            self._note_metrics_of(pair.baseline)

    def _note_metrics_of(self, baseline: CaseRecord) -> None:
        for trial in baseline.measured:
            seen = {result.id for result in trial.checks}
            self._had.update(dict.fromkeys(name for check in baseline.checks if check.id in seen for name in check.metrics))

    def missing(self) -> tuple[str, ...]:
        """Metrics of the baseline that this run lacks for another reason than failed trials."""
        return tuple(name for name in self._had if name not in self.whole and name not in self._lost)
