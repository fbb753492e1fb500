"""Checks on retrieved documents, and on how far an answer is grounded in its contexts.

With R the distinct relevant documents and the retrieved list freed of duplicates (first position counts):

    precision@k   relevant among the first k, divided by k
    recall@k      relevant among the first k, divided by |R|
    mrr           1 / rank of the first relevant document in the whole list, 0 without one
    ndcg@k        sum of 1 / log2(rank + 1) over relevant ranks up to k, divided by that of the best order of min(k, |R|)
    hit_rate      1 when any of the first k is relevant

Source: Manning, Raghavan and Schütze, Introduction to Information Retrieval, chapter 8; ndcg with binary
gain after Järvelin and Kekäläinen 2002. ragbench's own variant differs in two: precision is divided by the
number of documents returned when these are fewer than k, and mrr looks at the first k only.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection, Sequence
from functools import lru_cache
from math import fsum, log2
from typing import Any

from evalaction.core.answer import Answer, as_text
from evalaction.core.checks.base import DETAIL_LIMIT, CheckScore, is_blank, listed, no_part, quoted
from evalaction.core.checks.text import caseless, read_text
from evalaction.core.patterns import fold
from evalaction.core.scalars import spell
from evalaction.core.specs import Groundedness, RagbenchGroundedness, RagbenchRetrieval, Retrieval

_STOP_WORDS = frozenset(
    "a about after all also an and any are as at be because been before but by can could did do does for from had has have he her him his how i if in into is it its"  # noqa: SIM905 - a list of words reads best as words
    " just may me might more most must my no nor not of on only or other our out over shall she should so some such than that the their them then there these they this"
    " those to too under up was we were what when where which while who whom why will with would you your".split()
)
"""English words that carry no content: articles, pronouns, prepositions, conjunctions, auxiliaries."""
_TEXT_ONLY = frozenset({str})
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]|[^\W_\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]+")  # Chinese and Japanese have no blanks: a character is a word


@lru_cache(maxsize=1024)
def _gain(rank: int) -> float:
    return 1 / log2(rank + 1)


@lru_cache(maxsize=256)
def _ideal(count: int) -> float:
    return fsum(map(_gain, range(1, count + 1)))


def _documents(part: Any) -> list[str] | None:
    """Identifiers in order without duplicates; None when the part is no list of scalars."""
    if not isinstance(part, list | tuple):
        return None
    if set(map(type, part)) <= _TEXT_ONLY:
        plain = "".join(part)
        return list(dict.fromkeys(part if plain.isascii() and "\r" not in plain else map(fold, part)))
    if not all(isinstance(item, str | int | float) for item in part):
        return None
    return list(dict.fromkeys(fold(spell(item)) for item in part))


def _named(spec: Retrieval, values: Sequence[float]) -> dict[str, float]:
    at = "@k" if isinstance(spec, RagbenchRetrieval) else f"@{spec.k}"
    precision, recall, mrr, ndcg, hit_rate = values
    return {f"precision{at}": precision, f"recall{at}": recall, "mrr": mrr, f"ndcg{at}": ndcg, "hit_rate": hit_rate}


def retrieval_nothing(spec: Retrieval, detail: str) -> CheckScore:
    """0 in every metric, with the reason."""
    return CheckScore(0.0, detail, _named(spec, (0.0,) * 5))


def score_retrieval(spec: Retrieval, answer: Answer) -> CheckScore:
    """Recall at k as the score, and the five metrics; `retrieved: []` is measured and 0 in all of them."""
    part = answer.part(spec.part)
    if is_blank(part):
        return retrieval_nothing(spec, no_part(spec.part, part).detail)
    documents = _documents(part)
    if documents is None:
        return retrieval_nothing(spec, f"`{spec.part}` of the answer is no list of document ids")
    relevant = dict.fromkeys(map(fold, spec.relevant))
    ranks = [rank for rank, document in enumerate(documents, 1) if document in relevant]
    hits = ranks[: bisect_right(ranks, spec.k)]
    recall = len(hits) / len(relevant)
    return CheckScore(recall, "" if recall == 1 else _missed(spec, relevant, documents), _named(spec, _metrics(spec, len(relevant), len(documents), ranks, hits)))


def _metrics(spec: Retrieval, relevant: int, returned: int, ranks: Sequence[int], hits: Sequence[int]) -> Sequence[float]:
    own = isinstance(spec, RagbenchRetrieval)
    divisor = min(spec.k, returned) or spec.k if own else spec.k
    first = hits if own else ranks
    gain = fsum(map(_gain, hits))
    return len(hits) / divisor, len(hits) / relevant, 1 / first[0] if first else 0.0, min(1.0, gain / _ideal(min(spec.k, relevant))), float(bool(hits))


def _missed(spec: Retrieval, relevant: Collection[str], documents: Sequence[str]) -> str:
    found = set(documents[: spec.k])
    missed = [document for document in relevant if document not in found]
    count = f"{len(relevant) - len(missed)} of {len(relevant)} relevant documents among the first {min(spec.k, len(documents))} retrieved; missing: "
    return count + listed(map(quoted, missed), len(missed), DETAIL_LIMIT - len(count))


def content_words(text: str) -> set[str]:
    """Distinct words of letters and digits, without case and without English stop words."""
    return {word for word in _WORD.findall(caseless(fold(text))) if word not in _STOP_WORDS}


def score_groundedness(spec: Groundedness, answer: Answer) -> CheckScore:
    """Share of the distinct content words of the output that occur in the contexts; 0 when there are none."""
    text = read_text(spec, answer)
    if isinstance(text, CheckScore):
        return text
    if answer.contexts is None:
        return no_part("contexts")
    words = content_words(text)
    if not words:
        return CheckScore(0.0, f"no content words in {quoted(as_text(text) or '')}")
    missing = sorted(words.difference(*map(content_words, answer.contexts)))
    detail = f"not in the contexts: {listed(map(quoted, missing), len(missing), 270)}" if missing else ""
    return CheckScore(1 - len(missing) / len(words), detail)


def score_ragbench_groundedness(spec: RagbenchGroundedness, answer: Answer) -> CheckScore | None:
    """Groundedness where the answer has contexts; None, not measured, where it has none."""
    return None if answer.contexts is None else score_groundedness(spec, answer)
