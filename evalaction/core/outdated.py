"""Whether a record is of a suite as it stands: a record of other questions says nothing about these."""

from __future__ import annotations

from collections.abc import Iterator

from evalaction.core.fingerprint import define
from evalaction.core.record import RunRecord
from evalaction.core.suite import Suite

_MADE_WHILE_MEASURING = frozenset({"rubric", "similarity"})
"""Types whose checks are completed by what judges them; and of Saiku's files, rows, which are those of a server where there is one."""


def differences(suite: Suite, record: RunRecord) -> tuple[str, ...]:
    """What sets a record apart from the suite as it is read now, one line for each case; empty where the suite is the one that was measured."""
    if suite.digest == record.header.digest:
        return ()
    found = tuple(_by_case(suite, record))
    return found if found or suite.dialect == "saiku" else ("the suite has another digest",)


def _by_case(suite: Suite, record: RunRecord) -> Iterator[str]:
    now = {case.id: case for case in suite.cases}
    left_out = _MADE_WHILE_MEASURING | ({"rows"} if suite.dialect == "saiku" else set())
    for name, case in now.items():
        known, definition = record.cases.get(name), define(case)
        if known is None and not record.header.selection.is_partial:
            yield f"case {name} was added"
        elif known is not None and known.fingerprint != definition.fingerprint:
            yield f"case {name} is defined anew"
        elif known is not None:
            before, after = ({check.id: check.fingerprint for check in checks if check.type not in left_out} for checks in (known.checks, definition.checks))
            yield from (f"check {check} of case {name} is defined anew" for check in sorted({*before, *after}) if before.get(check) != after.get(check))
    yield from (f"case {name} was removed" for name in record.cases if name not in now)
