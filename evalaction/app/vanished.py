"""Accepted baselines whose suite is not there any more: a gate that forgot them would pass whatever they guarded."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Iterator
from typing import Literal

from evalaction.app.baselines import Where
from evalaction.core.record import RunHeader
from evalaction.core.suite import Policy
from evalaction.core.verdict import BaselineInfo, Counts, Reason, SuiteVerdict
from evalaction.datasets.paths import means
from evalaction.store.baselines import DirectoryStore

REMOVED, UNMEASURED = "SUITE_REMOVED", "SUITE_MISSING"
Unmeasured = Literal["not_measured", "not_run"]


def vanished(where: Where, keys: Collection[str], suites: Collection[str]) -> tuple[SuiteVerdict, ...]:
    """Baselines of none of these keys whose suite's file is meant by the words that name suites: judged as the accepted policy treats removed cases.

    Raises ConfigError when a header cannot be read, GitHubError on an outage.
    """
    return tuple(_gone(header) for header in _others(where, keys, lambda header: means(suites, header.file)))


def still_gone(where: Where, keys: Collection[str], named: Collection[str]) -> tuple[SuiteVerdict, ...]:
    """The same for a report that is made again: of the suites that a run found gone, those that are accepted still."""
    return tuple(_gone(header) for header in _others(where, keys, lambda header: header.key in named)) if named else ()


def left_out(where: Where, keys: Collection[str], word: Unmeasured, suites: Collection[str] | None) -> tuple[SuiteVerdict, ...]:
    """The same for results that a stranger may have thinned out: such suites count as not measured. Without `suites` every accepted one is meant."""
    return tuple(_missing(header, word) for header in _others(where, keys, lambda header: suites is None or means(suites, header.file)))


def _others(where: Where, keys: Collection[str], is_meant: Callable[[RunHeader], bool]) -> Iterator[RunHeader]:
    if where.label is not None:
        return
    if where.source is not None:
        where.source.fetch_beside(keys)
    yield from (header for header in DirectoryStore(where.baseline).headers(without=keys) if is_meant(header))


def _gone(header: RunHeader) -> SuiteVerdict:
    policy = Policy(**header.policy)
    fails = policy.removed_cases == "fail" or "removed" in policy.fail_on
    said = f"the suite {header.suite} has an accepted baseline, and its file {header.file} is not there any more under this name"
    return dataclasses.replace(_bare(header, Reason(code=REMOVED, message=said)), verdict="regressed" if fails else "passed")


def _missing(header: RunHeader, word: Unmeasured) -> SuiteVerdict:
    said = f"the suite {header.suite} has an accepted baseline, and these results hold no record of it"
    return dataclasses.replace(_bare(header, Reason(code=UNMEASURED, message=said)), verdict=word)


def _bare(header: RunHeader, reason: Reason) -> SuiteVerdict:
    baseline = BaselineInfo(found=True, run_id=header.run_id, commit=header.commit)
    counts = Counts(removed=header.counts.get("cases", 0))
    return SuiteVerdict(suite=header.suite, key=header.key, verdict="not_measured", reasons=(reason,), file=header.file, counts=counts, baseline=baseline)
