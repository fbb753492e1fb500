"""Why runs were made beyond the planned ones, as records and verdicts say it."""

from __future__ import annotations

from typing import Literal

from evalaction.core.model import model as stored
from evalaction.core.scalars import Size


@stored
class ExtraRuns:
    """Why runs were made beyond the planned ones, and why they ended: of one case, or of all `cases` that are compared (`case` is None).

    `stage`: over the whole suite, of one case under statistics, or a confirmation of a drop by points. `after` runs of the case had been
    made, `runs` more were. `cause`: the profile starts with several passes, a metric or check of the suite looked worse (`subject`, `p`), the
    case or a check of it did (`subject`, by `z` standard errors), or a drop by points had to be confirmed. `stopped`: the next stage began, the last
    one is over, the suite looked no worse, the case is proven worse, cleared, or can no longer be proven worse, or the case failed, the budget or a signal ended it.
    """

    stage: Literal["suite", "case", "confirmation"]
    case: str | None = None
    cases: Size = 1
    after: Size
    runs: Size
    cause: Literal["profile", "suite_worse", "case_worse", "points"]
    subject: str | None = None
    p: float | None = None
    z: float | None = None
    stopped: Literal["next_stage", "last_stage", "suite_no_worse", "proven", "cleared", "unproven", "error", "budget", "interrupted"]
