"""Names, ranges and directions of the metrics: what a threshold or a tolerance may speak of."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable

from evalaction.core.spec_base import PASS_RATE, RAW
from evalaction.core.specs import CheckSpec, MaxCost, MaxLatency, MaxTokens, PythonCheck, RagbenchRetrieval, Retrieval

_SCORED = frozenset({
    "equals", "exact_match", "token_f1", "contains_all", "contains_any", "not_contains", "regex", "not_regex", "number", "json", "json_subset", "rows", "intent", "refusal",
    "groundedness", "similarity", "tool_calls", "rubric", "mrr", "hit_rate",
})  # fmt: skip
_AT_K = re.compile(r"(precision|recall|ndcg)@([1-9][0-9]*|k)")


def lower_is_better(metric: str) -> bool:
    """True for latency, cost and tokens."""
    return metric in RAW


def metric_names(check: CheckSpec) -> tuple[str, ...]:
    """The metrics that one check produces; limits on latency, cost and tokens add none, for those are measured of every answer."""
    if isinstance(check, Retrieval):
        return _retrieval_names("k" if isinstance(check, RagbenchRetrieval) else str(check.k))
    if isinstance(check, PythonCheck):
        return (check.id or "python",)
    if isinstance(check, MaxLatency | MaxCost | MaxTokens):
        return ()
    return _one_name(type_of(check))


# Names are made once and shared: half a million checks would hold as many copies.
@functools.lru_cache(maxsize=1024)
def _retrieval_names(k: str) -> tuple[str, ...]:
    return (f"precision@{k}", f"recall@{k}", "mrr", f"ndcg@{k}", "hit_rate")


@functools.lru_cache(maxsize=1024)
def _one_name(name: str) -> tuple[str, ...]:
    return (name,)


@functools.lru_cache(maxsize=1024)
def _plain_name(stated: str) -> str:
    return stated.removeprefix("ragbench_")


def type_of(check: CheckSpec) -> str:
    """The type's name as a suite file spells it."""
    return _plain_name(getattr(check, "type", ""))


def is_metric(name: str, own: Iterable[str] = ()) -> bool:
    """Whether a name is a metric that some suite could produce; `own` are the suite's python check ids."""
    return name == PASS_RATE or name in RAW or name in _SCORED or _AT_K.fullmatch(name) is not None or name in own
