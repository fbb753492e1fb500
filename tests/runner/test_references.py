"""Expected rows that are fetched live."""

import pytest

from evalaction.core.answer import Answer
from evalaction.core.specs import Equals, Rows
from evalaction.core.suite import Case
from evalaction.errors import TargetError
from evalaction.runner.references import has_reference
from evalaction.targets.base import Request
from tests.runner.acting import Score, Target, busy, measure, raising


def reference_case(block):
    """A case with expected rows to be fetched and fixed ones."""
    return Case(id="a", input="", checks=(Rows(id="r", reference=block), Rows(id="fixed", value=({"a": 1},))))


def test_reference__rows_are_fetched_and_handed_to_scoring():
    """A reference is asked with its retries, and its rows reach scoring by check id; it is no call of the target."""
    seen, asked = [], []
    reference = Target(lambda _request, number: raising(busy()) if number == 0 else Answer(rows=({"n": number},)), retries=1)
    done = measure(
        [Request(reference_case({"url": "u"}), 0)], Target(lambda _request, _: Answer(rows=())),
        score=lambda _case, _answer, rows: seen.append(rows) or Score(1.0, True), reference=lambda block: asked.append(block) or reference,
    )  # fmt: skip
    assert (seen, asked, done.budget.calls) == ([{"r": ({"n": 1},)}], [{"url": "u"}], 1)


@pytest.mark.parametrize("answer", [Answer(output="text"), Answer(output=[1]), TargetError("TARGET_UNREACHABLE", "refused")])
def test_reference__that_fails_is_an_error_of_the_trial(answer):
    """Without its expected rows an answer is not judged."""
    reference = Target(lambda _request, _: raising(answer) if isinstance(answer, TargetError) else answer)
    trial = measure([Request(reference_case({"url": "u"}), 0)], Target(lambda _request, _: Answer(rows=())), reference=lambda _block: reference).trials["a", 0]
    assert (trial.error.code, trial.error.message.startswith("the reference query failed: "), trial.answer) == ("TARGET_FAILED", True, {"rows": [], "latency_ms": trial.latency_ms})


def test_reference__is_known_of_a_case():
    """Callers can tell which cases need a live query."""
    assert (has_reference(reference_case({"url": "u"})), has_reference(Case(id="a", input="", checks=(Rows(id="r", value=()), Equals(id="e", value="x"))))) == (True, False)
