"""The least that scores the same checks: `python benchmarks/plain_scores.py CASES.jsonl ANSWERS.jsonl FOLDER`.

Reads both files, scores every ragbench metric and writes one small JSON file per case. No validation, no
baseline, no report.
"""

from __future__ import annotations

import json
import math
import re
import sys
from collections import Counter
from pathlib import Path
from typing import Any

K = 10
_ARTICLES = re.compile(r"\b(a|an|the)\b")
_PUNCTUATION = re.compile(r"[^\w\s]")


def normal(text: str) -> list[str]:
    """SQuAD's normalisation: lower case, without punctuation and articles."""
    return _ARTICLES.sub(" ", _PUNCTUATION.sub("", text.lower())).split()


def retrieval(retrieved: list[str], relevant: set[str], k: int) -> dict[str, float]:
    """Binary relevance; gain 1 / log2(rank + 1)."""
    ranked = list(dict.fromkeys(retrieved))
    top = ranked[:k]
    hits = [rank for rank, name in enumerate(top, 1) if name in relevant]
    first = next((rank for rank, name in enumerate(ranked, 1) if name in relevant), None)
    ideal = sum(1 / math.log2(rank + 1) for rank in range(1, min(k, len(relevant)) + 1))
    return {
        "precision@k": len(hits) / len(top) if top else 0.0,
        "recall@k": len(hits) / len(relevant),
        "mrr": 1 / first if first else 0.0,
        "ndcg@k": sum(1 / math.log2(rank + 1) for rank in hits) / ideal,
        "hit_rate": float(bool(hits)),
    }


def texts(case: dict[str, Any], answer: dict[str, Any]) -> dict[str, float]:
    """Exact match, overlap of words, phrases found, and share of the answer's words that the contexts hold."""
    expected, given = normal(case["expected_answer"]), normal(answer["answer"])
    shared = sum((Counter(expected) & Counter(given)).values())
    source = set(normal(" ".join(answer["contexts"])))
    said = answer["answer"].casefold()
    return {
        "exact_match": float(expected == given),
        "token_f1": 2 * shared / (len(expected) + len(given)) if shared else 0.0,
        "contains_all": sum(phrase.casefold() in said for phrase in case["must_contain"]) / len(case["must_contain"]),
        "groundedness": sum(word in source for word in given) / len(given) if given else 0.0,
    }


def main(cases_file: str, answers_file: str, folder: str) -> None:
    """Score every case and print the means."""
    out = Path(folder)
    out.mkdir(parents=True)
    totals: Counter[str] = Counter()
    with Path(answers_file).open(encoding="utf-8") as lines:
        answers = {answer["id"]: answer for answer in map(json.loads, lines)}
    with Path(cases_file).open(encoding="utf-8") as lines:
        for case in map(json.loads, lines):
            answer = answers[case["id"]]
            scores = {**retrieval(answer["retrieved"], set(case["relevant_docs"]), K), **texts(case, answer)}
            totals.update(scores)
            (out / f"{case['id']}.json").write_text(json.dumps({"id": case["id"], "answer": answer, "scores": scores}), encoding="utf-8")
    print(json.dumps({name: total / len(answers) for name, total in totals.items()}))


if __name__ == "__main__":
    main(*sys.argv[1:4])
