"""Expected rows that are fetched live, right after the answer they are compared with."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from evalaction.core.answer import Answer
from evalaction.core.specs import Rows
from evalaction.core.suite import Case
from evalaction.errors import MeasureError
from evalaction.runner.asking import Asker
from evalaction.runner.trials import NO_ROWS
from evalaction.runner.work import ReferenceRows, Work
from evalaction.targets.base import Request, SingleTarget


def has_reference(case: Case) -> bool:
    """Whether some expected rows of a case must be fetched."""
    return any(isinstance(check, Rows) and check.reference is not None for check in case.checks)


class References:
    """Asks the `reference` of rows checks; one target for each different block."""

    def __init__(self, work: Work) -> None:
        self._work = work
        self._targets: dict[str, SingleTarget] = {}
        self._askers: dict[str, Asker] = {}

    async def rows(self, request: Request) -> ReferenceRows:
        """Rows by check id. Raises MeasureError TARGET_FAILED when a query fails: no answer can be judged without."""
        if not has_reference(request.case):
            return NO_ROWS
        checks = [check for check in request.case.checks if isinstance(check, Rows)]
        return {str(check.id): await self._fetched(check.reference, request) for check in checks if check.reference is not None}

    async def close(self) -> None:
        """Close every target."""
        for target in self._targets.values():
            await target.close()

    async def _fetched(self, block: Mapping[str, Any], request: Request) -> Sequence[Mapping[str, Any]]:
        try:
            return _rows_in(await self._asker(block).ask(request))
        except MeasureError as error:
            code = error.code if error.code == "NOT_RECORDED" else "TARGET_FAILED"
            raise MeasureError(code, f"the reference query failed: {error.message}", error.detail) from None

    def _asker(self, block: Mapping[str, Any]) -> Asker:
        key = json.dumps(block, sort_keys=True)
        if key not in self._askers:
            if self._work.reference is None:
                raise RuntimeError("a suite with reference queries needs Work.reference")
            self._targets[key] = self._work.reference(block)
            self._askers[key] = Asker(self._targets[key], self._work, counted=False)
        return self._askers[key]


def _rows_in(answer: Answer) -> Sequence[Mapping[str, Any]]:
    if answer.rows is not None:
        return answer.rows
    if isinstance(answer.output, list | tuple) and all(isinstance(row, Mapping) for row in answer.output):
        return answer.output
    raise MeasureError("INVALID_ANSWER", "its reply has no `rows` and is no list of objects")
