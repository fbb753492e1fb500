"""The cumulative change since the anchor: many small steps, each accepted, seen as the one step they are together."""

from __future__ import annotations

from collections.abc import Iterable

from evalaction.core.acceptance import Acceptance, Baseline
from evalaction.core.compare import compare
from evalaction.core.comparison import Comparison, Rules
from evalaction.core.evidence import Evidence
from evalaction.core.record import RunRecord
from evalaction.core.verdict import AnchorChange, AnchorInfo


def since_anchor(evidence: Evidence) -> AnchorInfo | None:
    """What changed since the anchor of the baseline; None without one."""
    baseline = evidence.baseline
    if baseline is None or baseline.anchor is None:
        return None
    header = baseline.anchor.header
    chain = (*baseline.chain, baseline.acceptance)
    return AnchorInfo(
        commit=header.commit, measured_at=header.finished_at, acceptances_since=_since(chain), changes=tuple(_changes(_compared(evidence, baseline, baseline.anchor)))
    )


def _since(chain: tuple[Acceptance, ...]) -> int:
    """Acceptances after the one that set the anchor: the first of all, or the last that moved it."""
    place = max((number for number, acceptance in enumerate(chain) if acceptance.moved_anchor), default=0)
    return len(chain) - 1 - place


def _compared(evidence: Evidence, baseline: Baseline, anchor: RunRecord) -> Comparison:
    """The comparison with the anchor; that with the baseline where both are one."""
    stored = baseline.record.cases
    if anchor.cases.keys() == stored.keys() and all(case is stored[name] for name, case in anchor.cases.items()):
        return evidence.comparison
    rules = evidence.comparison.rules
    return compare(anchor, evidence.current, Rules(name="tolerance", policy=rules.policy, floor=rules.floor))


def _changes(comparison: Comparison) -> Iterable[AnchorChange]:
    for metric in comparison.metrics:
        if metric.baseline is not None and metric.current is not None and metric.delta is not None:
            yield AnchorChange(metric=metric.metric, anchor=metric.baseline, current=metric.current, delta=metric.delta)
