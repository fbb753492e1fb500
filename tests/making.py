"""Makers of records for tests: short words in, frozen types out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import TypeAdapter

from evalaction.core.accept import AcceptRequest, accept
from evalaction.core.acceptance import Baseline
from evalaction.core.compare import compare
from evalaction.core.comparison import Rules
from evalaction.core.decide import decide
from evalaction.core.evidence import Evidence
from evalaction.core.record import CaseRecord, CheckInfo, CheckResult, Failure, RunHeader, RunRecord, Trial
from evalaction.core.suite import Policy
from evalaction.core.verdict import SuiteVerdict

Scores = float | None | Sequence[float | None]


def trial(repeat: int, scores: Mapping[str, float | None], required: float = 1.0) -> Trial:
    """A trial with one check per id; a score of None makes the whole trial a failed one."""
    if None in scores.values():
        return Trial(repeat=repeat, error=Failure(code="TARGET_FAILED", message="exit 1"))
    known = {name: float(score) for name, score in scores.items() if score is not None}
    results = tuple(CheckResult(id=name, score=score, passed=score >= required) for name, score in known.items())
    return Trial(repeat=repeat, score=sum(known.values()) / len(known), passed=all(result.passed for result in results), checks=results, answer={"output": "text"})


def case(case_id: str, *runs: float | Mapping[str, float | None] | None, repeats: int = 1, definition: str = "same", required: float = 1.0, **fields: Any) -> CaseRecord:
    """A case with one value per run: the score of its one check `equals`, or a score per check id."""
    maps = [run if isinstance(run, Mapping) else {"equals": run} for run in runs]
    ids = fields.pop("check_ids", None) or list(dict.fromkeys(name for one in maps for name in one))
    checks = tuple(CheckInfo(id=name, type=name, fingerprint=f"{name}:{definition}", metrics=(name.split(".")[0],)) for name in ids)
    trials = tuple(trial(number, scores, required) for number, scores in enumerate(maps))
    return CaseRecord(id=case_id, fingerprint=fields.pop("fingerprint", "asked"), input=case_id, repeats=repeats, checks=checks, trials=trials, **fields)


def record(*cases: CaseRecord, policy: Policy | None = None, **header: Any) -> RunRecord:
    """A record of these cases."""
    stored = TypeAdapter(Policy).dump_python(policy or Policy(), mode="json")
    fields = {
        "suite": "s", "key": "s", "digest": "d", "started_at": "2026-01-01T00:00:00Z", "finished_at": "2026-01-01T00:00:01Z", "tool_version": "0", "commit": "c0ffee",
        "policy": stored, "counts": {"cases": len(cases), "errors": sum(one.is_error for one in cases)}, **header,
    }  # fmt: skip
    return RunRecord(header=RunHeader(**fields), cases={one.id: one for one in cases})


def request(**fields: Any) -> AcceptRequest:
    """What a person asks for when accepting."""
    return AcceptRequest(**{"reason": "right", "accepted_by": "Ada", "accepted_at": "2026-01-02T00:00:00Z", **fields})


def baseline(*cases: CaseRecord, **header: Any) -> Baseline:
    """An accepted record of these cases."""
    return accept(record(*cases, **header), None, request()).baseline


def verdict(before: Baseline | None, now: RunRecord, *, can_confirm: bool = False, exact: bool = False, floor: bool = True) -> SuiteVerdict:
    """The verdict on a record under its own policy."""
    rules = Rules(name="exact" if exact else "tolerance", policy=Policy(**now.header.policy), floor=floor, can_confirm=can_confirm)
    return decide(Evidence(current=now, comparison=compare(before.record if before else None, now, rules), baseline=before, age_days=1.0))


def words(suite: SuiteVerdict) -> dict[str, str]:
    """The word of each case."""
    return {one.case: one.verdict for one in suite.cases}


def codes(suite: SuiteVerdict) -> set[str]:
    """The codes of all reasons."""
    return {reason.code for reason in suite.reasons}
