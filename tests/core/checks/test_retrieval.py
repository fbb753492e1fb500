"""Retrieval metrics and groundedness."""

import random

import ir_measures
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ir_measures import RR, P, R, Success, nDCG

from evalaction.core.answer import Answer, read_answer
from evalaction.core.checks.retrieval import score_groundedness, score_ragbench_groundedness, score_retrieval
from evalaction.core.specs import Groundedness, RagbenchGroundedness, RagbenchRetrieval, Retrieval


def found(relevant, retrieved, k=10, kind=Retrieval):
    """What a retrieval check says of a ranking."""
    return score_retrieval(kind(relevant=relevant, k=k), Answer(output="x", retrieved=tuple(retrieved)))


@pytest.mark.parametrize("seed", range(60))
def test_retrieval__agrees_with_an_independent_implementation(seed):
    """On random rankings all five metrics are those of ir_measures (trec_eval)."""
    dice = random.Random(seed)
    pool = [f"d{i}" for i in range(30)]
    relevant, retrieved, k = dice.sample(pool, dice.randint(1, 12)), dice.sample(pool, dice.randint(1, 30)), dice.randint(1, 20)
    values = found(relevant, retrieved, k).values
    names = {P @ k: f"precision@{k}", R @ k: f"recall@{k}", RR: "mrr", nDCG @ k: f"ndcg@{k}", Success @ k: "hit_rate"}
    qrels, run = {"q": dict.fromkeys(relevant, 1)}, {"q": {document: float(-rank) for rank, document in enumerate(retrieved)}}
    for measure, value in ir_measures.calc_aggregate(list(names), qrels, run).items():
        assert values[names[measure]] == pytest.approx(value), measure


@given(st.lists(st.sampled_from("abcdef"), min_size=1), st.lists(st.sampled_from("abcdefgh")), st.integers(1, 12), st.sampled_from([Retrieval, RagbenchRetrieval]))
def test_retrieval__stays_in_range_and_ignores_duplicates(relevant, retrieved, k, kind):
    """Every value is in 0..1, and a list says the same as the list without its duplicates."""
    values = found(relevant, retrieved, k, kind)
    assert all(0 <= value <= 1 for value in (values.score, *values.values.values()))
    assert values.values == found(list(dict.fromkeys(relevant)), list(dict.fromkeys(retrieved)), k, kind).values


@pytest.mark.parametrize(("relevant", "retrieved", "recall"), [("a", "aab", 1.0), ("ab", "aa", 0.5)])
def test_retrieval__counts_duplicates_once(relevant, retrieved, recall):
    """Duplicate hits never push recall up."""
    assert found(list(relevant), retrieved, 3).values["recall@3"] == recall


def test_retrieval__of_nothing_is_measured_and_zero():
    """An empty retrieved list is 0 in every metric, never NaN."""
    nothing = found(["d"], [], 5)
    assert nothing.score == 0
    assert nothing.values == dict.fromkeys(("precision@5", "recall@5", "mrr", "ndcg@5", "hit_rate"), 0)


def test_retrieval__with_fewer_than_k_results():
    """precision@k divides by k, recall@k by the relevant documents, and a k beyond the list is no error."""
    assert found(["a", "b"], ["a"], 5).values == {"precision@5": 0.2, "recall@5": 0.5, "mrr": 1, "ndcg@5": pytest.approx(0.6131, abs=1e-4), "hit_rate": 1}


def test_retrieval__without_a_retrieved_list_scores_zero_and_says_so():
    """A check that does not fit the answer never passes as if it had run."""
    found_nothing = score_retrieval(Retrieval(relevant=["d"], k=5), read_answer("text"))
    assert (found_nothing.score, found_nothing.detail) == (0, "the answer has no `retrieved`")
    assert set(found_nothing.values.values()) == {0}


def test_retrieval__mrr_looks_at_the_whole_list_and_hit_rate_at_k():
    """A first hit behind k counts for mrr only."""
    values = found(["a"], ["x", "y", "a"], 2).values
    assert (values["mrr"], values["hit_rate"], values["recall@2"]) == (pytest.approx(1 / 3), 0, 0)


def test_retrieval__names_what_was_missed():
    """The detail counts and names the missing documents."""
    assert found(["a", "b"], ["b"], 5).detail == '1 of 2 relevant documents among the first 1 retrieved; missing: "a"'


def test_retrieval__reads_ids_of_the_authors_own_key():
    """`field` may name any list of texts or numbers; anything else is not measured as a hit."""
    spec = Retrieval(relevant=["1", "é"], k=5, field="docs")
    assert score_retrieval(spec, read_answer({"output": "x", "docs": [1, "e\u0301"]})).score == 1
    assert score_retrieval(spec, read_answer({"output": "x", "docs": [{"id": 1}]})).detail == "`docs` of the answer is no list of document ids"


def test_ragbench_retrieval__has_its_own_names_precision_and_cut():
    """Literal `@k`; precision is divided by the number returned when fewer than k; mrr looks at the first k."""
    cut, short = found(["a", "b", "c"], ["x", "a", "b", "c"], 2, RagbenchRetrieval).values, found(["a", "b", "c"], ["a"], 10, RagbenchRetrieval).values
    assert cut == {"precision@k": 0.5, "recall@k": pytest.approx(1 / 3), "mrr": 0.5, "ndcg@k": pytest.approx(0.38685, abs=1e-4), "hit_rate": 1}
    assert (short["precision@k"], short["recall@k"]) == (1, pytest.approx(1 / 3))
    assert found(["a"], ["x", "y", "a"], 2, RagbenchRetrieval).values["mrr"] == 0


@pytest.mark.parametrize(
    ("output", "contexts", "right"),
    [
        ("blue whales sing", ["blue whales sing at night"], 1),
        ("green tigers dance", ["blue whales sing"], 0),
        ("The blue tiger", ["blue", "whales"], 0.5),
        ("Blue! BLUE, whales.", ["whales", "BLUE"], 1),
        ("blue", [], 0),
        ("the of and", ["the of and"], 0),
        ("blau 鲸鱼", ["鲸鱼"], 2 / 3),
    ],
)
def test_groundedness__is_the_share_of_content_words_in_the_contexts(output, contexts, right):
    """Stop words and case do not count; an output without content words is grounded in nothing."""
    assert score_groundedness(Groundedness(), Answer(output=output, contexts=tuple(contexts))).score == pytest.approx(right)


def test_groundedness__names_what_is_not_grounded():
    """The detail names the missing words, the missing contexts, or the want of words."""
    assert score_groundedness(Groundedness(), Answer(output="blue tiger", contexts=("blue",))).detail == 'not in the contexts: "tiger"'
    assert score_groundedness(Groundedness(), Answer(output="blue")).detail == "the answer has no `contexts`"
    assert "no content words" in score_groundedness(Groundedness(), Answer(output="the", contexts=("the",))).detail


def test_ragbench_groundedness__applies_only_to_answers_with_contexts():
    """Without contexts there is nothing to measure; with them a blank output scores 0."""
    assert score_ragbench_groundedness(RagbenchGroundedness(), Answer(output="blue")) is None
    assert score_ragbench_groundedness(RagbenchGroundedness(), Answer(contexts=("blue",))).score == 0
