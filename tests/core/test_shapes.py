"""A secret that happens to be one of our own words takes no record and no reply apart; under it everything foreign is masked, keys too."""

from __future__ import annotations

import json

import pytest

from evalaction.core.masking import MASK, SHORTEST, Masker
from evalaction.core.reruns import ExtraRuns
from evalaction.core.shapes import RECORD, REPLY
from evalaction.core.suite import Policy
from evalaction.store.records import dump, load
from tests.making import case, record

EXTRA = (ExtraRuns(stage="confirmation", case="one", after=1, runs=1, cause="points", stopped="cleared"),)
WHOLE = record(
    case("one", {"equals": 1.0, "similarity": 0.0}, None, repeats=2), policy=Policy(rule="statistical", thresholds={"similarity": 0.5}),
    metrics={"similarity": 0.0, "pass_rate": 0.0}, target={"kind": "import", "format": "promptfoo", "baseline": "accepted"}, extra_runs=EXTRA,
    key="support-bot", suite="t", counts={"cases": 1, "errors": 0, "uncommitted": 2},
)  # fmt: skip
DOCUMENTS = (WHOLE.header, WHOLE.cases["one"])


def words(value):
    """Every text and key of a document."""
    if isinstance(value, dict):
        return {*value, *(word for item in value.values() for word in words(item))}
    if isinstance(value, list):
        return {word for item in value for word in words(item)}
    return {value} if isinstance(value, str) else set()


@pytest.mark.parametrize("stored", DOCUMENTS, ids=["header", "case"])
def test_record__with_its_own_words_as_secrets__is_read_as_it_was(stored):
    """Keys of the format, names of metrics and words of closed lists stay, so that a masked record is compared like any other."""
    free = {"baseline": "accepted", "message": "exit 1"}
    ours = sorted(word for word in words(json.loads(dump(stored))) if len(word) >= SHORTEST and word not in free.values() and not word.startswith("20"))
    masked = Masker(ours).json(json.loads(dump(stored)), RECORD)

    assert {"schema_version", "repeats"} <= set(ours)
    assert load(type(stored), "x", json.dumps(masked).encode()) == stored


def test_record__keys_of_others_are_masked_as_values_are():
    """Neither a key of an answer nor what stands under one that is called like ours shows a secret; the parts of the answer stay."""
    secret = "sk-very-secret"
    trial = {"answer": {"output": {"id": secret, "policy": {"code": secret}}, "rows": [{secret: secret}], "mine": {"type": secret}}, "detail": f"got {secret}"}
    masked = Masker([secret, "detail", "output", "policy"]).json({"id": "one", "trials": [trial]}, RECORD)

    answer = {"output": {"id": MASK, MASK: {"code": MASK}}, "rows": [{MASK: MASK}], "mine": {"type": MASK}}
    assert masked == {"id": "one", "trials": [{"answer": answer, "detail": f"got {MASK}"}]}


def test_reply__keeps_its_parts_and_shows_no_secret():
    """A cassette can be replayed whatever the secrets are called, and holds none of them."""
    reply = {"output": {"output": "tool_calls"}, "tokens": {"input": 1, "output": 2}, "stop_reason": "tool_calls", "tool_calls": [{"args": {"sk-very-secret": 1}}]}
    masked = Masker(["output", "tokens", "tool_calls", "sk-very-secret"]).json(reply, REPLY)

    assert masked == {"output": {MASK: MASK}, "tokens": {"input": 1, "output": 2}, "stop_reason": MASK, "tool_calls": [{"args": {MASK: 1}}]}
