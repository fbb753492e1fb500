"""What of a record and of a reply is ours, for the mask: keys of the formats, names of metrics, and words of closed lists."""

from __future__ import annotations

import dataclasses

from evalaction.core.answer import PARTS
from evalaction.core.masking import FOREIGN, Shape
from evalaction.core.record import UNCOMMITTED, Calls, CaseRecord, CheckInfo, CheckResult, Failure, RunHeader, Selection, Shard, Tokens, Trial
from evalaction.core.reruns import ExtraRuns
from evalaction.core.suite import Blame

_TEXTS = [part for part in PARTS if part != "tokens"]
_COMPLETION = ("text", "value", "refusal", "tool_calls", "tokens", "cost_usd", "stop_reason")
_TYPES: tuple[type, ...] = (Calls, CaseRecord, CheckInfo, CheckResult, Failure, RunHeader, Selection, Shard, Tokens, Trial, ExtraRuns, Blame)
_LINE = ("case", "definition", "trial")
"""Keys of a line of the journal."""
_DESCRIPTION = ("kind", "format", "path", "baseline", "lower_is_better", "version", "callable", "command", "method", "protocol", "provider", "model")
"""Keys that describe target and judge."""
_COUNTS = ("cases", "errors", "trials", UNCOMMITTED)

ANSWER = Shape(own=frozenset(PARTS), below=dict.fromkeys(_TEXTS, FOREIGN))
"""An answer: its parts are ours, what they hold is the system's."""
REPLY = Shape(own=frozenset((*PARTS, *_COMPLETION)), below=dict.fromkeys((*_TEXTS, "text", "value", "stop_reason"), FOREIGN))
"""What a cassette keeps of a target or a judge."""
RECORD = Shape(
    own=frozenset((*(field.name for kind in _TYPES for field in dataclasses.fields(kind)), *_LINE, *_DESCRIPTION, *_COUNTS)),
    keep=frozenset({
        "id", "case", "key", "digest", "commit", "run_id", "schema_version", "fingerprint", "definition", "type", "code", "metrics", "values", "policy", "counts",
        "kind", "format", "stage", "cause", "stopped", "dialect",
    }),
    below={"answer": ANSWER},
)  # fmt: skip
"""A header, a case, or a line of the journal. Kept are identities, by which runs are compared (a metric's name is its check's, or one of ours), and what a closed list allows."""
