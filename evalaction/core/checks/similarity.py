"""The similarity check. A model outside says how alike two texts are; here is what becomes of that."""

from __future__ import annotations

from collections.abc import Callable

from evalaction.core.answer import Answer
from evalaction.core.checks.base import CheckScore, quoted
from evalaction.core.checks.number import show
from evalaction.core.checks.text import read_text
from evalaction.core.patterns import fold
from evalaction.core.specs import Similarity
from evalaction.errors import MeasureError

Likeness = Callable[[str, str], float]
"""How alike two texts are, 0..1; may raise MeasureError."""


def score_unembedded(spec: Similarity, answer: Answer) -> CheckScore:  # noqa: ARG001 - the signature of every scoring function
    """Raises MeasureError SCORER_FAILED: without a model nothing is alike."""
    raise MeasureError("SCORER_FAILED", f"no embedding model was loaded for the check `{spec.id or spec.type}`")


def score_similarity(spec: Similarity, answer: Answer, likeness: Likeness) -> CheckScore:
    """The likeness of the answer and the value; 0 of an answer without the part."""
    text = read_text(spec, answer)
    if not isinstance(text, str):
        return text
    score = likeness(fold(spec.value), text)
    if not 0 <= score <= 1:  # NaN is not either
        raise MeasureError("SCORER_FAILED", "the embedding model gave no likeness in 0..1")
    return CheckScore(score, f"likeness {show(score)} to {quoted(spec.value)}")
