"""From trials to numbers, where one shared trial stands for many cases."""

from __future__ import annotations

import dataclasses

import pytest

from evalaction.core.record import CheckInfo, CheckResult, Trial
from evalaction.core.sample import sample

SHARED = Trial(repeat=0, score=0.25, passed=False, checks=(CheckResult(id="a", score=1.0, passed=True), CheckResult(id="b", score=0.0, passed=False)))


def info(name: str, *, weight: float = 1.0, metrics: tuple[str, ...] = (), fingerprint: str = "f") -> CheckInfo:
    return CheckInfo(id=name, type="equals", fingerprint=fingerprint, weight=weight, metrics=metrics)


def test_sample__one_trial_under_other_weights() -> None:
    """A trial that several cases share is weighted as each case weights its checks."""
    assert sample((SHARED,), (info("a"), info("b"))).scores == (0.5,)
    assert sample((SHARED,), (info("a", weight=3.0), info("b"))).scores == (0.75,)
    assert sample((SHARED,), (info("a"),)).scores == (1.0,)


def test_sample__one_trial_under_other_metrics() -> None:
    """A trial that several cases share has the metrics that each case's checks name."""
    assert sample((SHARED,), (info("a", metrics=("one",)), info("b"))).metrics["one"] == [1.0]
    assert sample((SHARED,), (info("a"), info("b", metrics=("one",)))).metrics["one"] == [0.0]


def test_sample__alike_but_for_the_fingerprint(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cases that expect different things and scored alike share one sample: a large suite does not pay for each again."""
    monkeypatch.setattr("evalaction.core.sample._KNOWN", {})
    first = sample((SHARED,), (info("a", fingerprint="x"), info("b")))
    assert sample((SHARED,), (info("a", fingerprint="y"), info("b"))) is first


@pytest.mark.parametrize("own", [{"latency_ms": 5.0}, {"cost_usd": 0.5}, {"answer": {"output": "x"}}])
def test_sample__trials_of_their_own(own: dict[str, object]) -> None:
    """A trial with values of its own is kept by nobody, and gives what it has."""
    trial, checks = dataclasses.replace(SHARED, **own), (info("a"), info("b"))
    found = sample((trial,), checks)
    assert found is not sample((trial,), checks)
    assert {name: found.metrics[name] for name in own if name != "answer"} == {name: [value] for name, value in own.items() if name != "answer"}
