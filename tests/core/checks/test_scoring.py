"""From an answer to the scores of a trial."""

import math
import typing
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalaction.core import specs
from evalaction.core.answer import Answer, read_answer
from evalaction.core.checks import SCORERS, Scoring, score_answer
from evalaction.core.checks.scoring import check_id
from evalaction.core.metrics import metric_names
from evalaction.core.record import CheckInfo, Trial
from evalaction.core.sample import sample
from evalaction.core.suite import Case, Turn
from evalaction.errors import MeasureError

EVERY = (
    specs.Equals(value="x"),
    specs.ExactMatch(value="x"),
    specs.TokenF1(value="x"),
    specs.ContainsAll(value=["x"]),
    specs.ContainsAny(value=["x"]),
    specs.NotContains(value=["x"]),
    specs.Regex(pattern="x"),
    specs.NotRegex(pattern="x"),
    specs.NumberCheck(value=1),
    specs.JsonCheck(schema=True),
    specs.JsonSubset(value={}),
    specs.Rows(value=[]),
    specs.Intent(value="x"),
    specs.Refusal(),
    specs.Retrieval(relevant=["d"]),
    specs.RagbenchRetrieval(relevant=["d"]),
    specs.Groundedness(),
    specs.RagbenchGroundedness(),
    specs.ToolCalls(value=[]),
    specs.MaxLatency(value=60000),
    specs.MaxCost(value=5),
    specs.MaxTokens(value=1000),
    specs.PythonCheck(id="own", callable="m:f"),
)


def case(*checks, **parts):
    """A case with these checks."""
    return Case(id="c", input="question", checks=tuple(checks), **parts)


def scored(raw, *checks, **helpers):
    """A raw answer, scored by these checks."""
    return score_answer(case(*checks), read_answer(raw), Scoring(**helpers))


def metrics(found, *checks):
    """The metrics that the scores of these checks add up to."""
    infos = [CheckInfo(id=check_id(spec), type="t", fingerprint="f", metrics=metric_names(spec)) for spec in checks]
    means = {name: values[0] for name, values in sample([Trial(repeat=0, score=found.score, passed=found.passed, checks=found.checks)], infos).metrics.items()}
    return {name: value for name, value in means.items() if name != "pass_rate"}


def python(function, raw="text", **parameters):
    """A raw answer, scored by a function."""
    return scored(raw, specs.PythonCheck(id="quality", callable="m:f", **parameters), callables={"m:f": function})


def test_scorers__cover_every_check():
    """Each check type of a suite file has a scorer, and each is tried here but those that need a model."""
    types = set(typing.get_args(typing.get_args(specs.Check)[0])) | {specs.RagbenchRetrieval, specs.RagbenchGroundedness}
    assert set(SCORERS) == types
    assert {type(spec) for spec in EVERY} == set(SCORERS) - {specs.Rubric, specs.Similarity}


@pytest.mark.parametrize("raw", ["", "  \n", None, {"output": ""}, {"latency_ms": 1, "tokens": 5, "cost_usd": 0.1}])
@pytest.mark.parametrize("spec", [spec for spec in EVERY if not isinstance(spec, specs.RagbenchGroundedness)], ids=lambda spec: spec.type)
def test_nothing__passes_no_check(spec, raw):
    """An answer that is nothing scores 0 on every check, negative and max_ ones included."""
    found = scored(raw, spec, callables={"m:f": lambda _case, _answer: 1.0})
    assert (found.score, found.passed) == (0, False)
    assert metrics(found, spec) == dict.fromkeys(metric_names(spec), 0)


@pytest.mark.parametrize("raw", [False, 0, [], {"output": {}}])
def test_false_and_zero__are_answers(raw):
    """What is not null or blank text is an answer."""
    assert scored(raw, specs.NotContains(value="x")).passed


def test_score__is_the_weighted_mean_and_all_must_pass():
    """Weights 3 and 1, the heavier check fails: 0.25, not passed."""
    checks = (specs.ContainsAll(id="a", value="x", weight=3), specs.ContainsAll(id="b", value="y"))
    found = scored("y only", *checks)
    assert (found.score, found.passed) == (0.25, False)
    assert [(check.id, check.score, check.passed) for check in found.checks] == [("a", 0, False), ("b", 1, True)]
    assert metrics(found, *checks) == {"contains_all": 0.5}


@pytest.mark.parametrize(
    ("spec", "raw", "passes"),
    [
        (specs.TokenF1(value="one two three four"), "one two", True),
        (specs.TokenF1(value="one two three four"), "one five six seven", False),
        (specs.TokenF1(value="one two three four", threshold=0.9), "one two", False),
        (specs.Retrieval(relevant=["a", "b"]), {"output": "t", "retrieved": ["a"]}, True),
        (specs.Retrieval(relevant=["a", "b", "c"]), {"output": "t", "retrieved": ["a"]}, False),
        (specs.ContainsAll(value=["x", "y"]), "x", False),
        (specs.ContainsAll(value=["x", "y"], threshold=0.5), "x", True),
        (specs.ContainsAll(value=["x", "y", "z"], threshold=0.333333333333), "x", True),
        (specs.ContainsAll(value=["x", "y", "z"], threshold=0.3334), "x", False),
    ],
)
def test_threshold__decides_what_passes(spec, raw, passes):
    """1 by default, 0.5 for token_f1, groundedness and retrieval; equal is enough, also after rounding."""
    assert scored(raw, spec).passed is passes


def test_metrics__are_means_over_the_checks_that_produce_them():
    """Two retrieval checks share mrr; each keeps its own cut-off; limits add no metric."""
    raw = {"output": "x", "retrieved": ["a", "b"], "latency_ms": 5}
    checks = (specs.Retrieval(id="r1", relevant=["a"], k=1), specs.Retrieval(id="r2", relevant=["b"], k=5), specs.MaxLatency(value=10))
    found = scored(raw, *checks)
    means = metrics(found, *checks)
    assert means["mrr"] == 0.75
    assert {"recall@1", "recall@5"} <= set(means)
    assert "latency_ms" not in means
    assert found.checks[0].values["recall@1"] == 1
    assert found.checks[2].values is None


def test_metrics__of_a_python_check_have_its_id():
    """Two functions, two metrics."""
    checks = (specs.PythonCheck(id="tone", callable="m:a"), specs.PythonCheck(id="depth", callable="m:b"))
    found = scored("x", *checks, callables={"m:a": lambda _case, _answer: 0.25, "m:b": lambda _case, _answer: True})
    assert metrics(found, *checks) == {"tone": 0.25, "depth": 1}


def test_ragbench_groundedness__leaves_no_trace_where_it_does_not_apply():
    """Without contexts the check is neither scored nor a metric, for an empty answer too."""
    checks = (specs.ExactMatch(id="exact_match", value="blue"), specs.RagbenchGroundedness(id="groundedness"))
    assert set(metrics(scored("blue", *checks), *checks)) == {"exact_match"}
    assert [check.id for check in scored(None, *checks).checks] == ["exact_match"]
    assert metrics(scored({"output": "blue", "contexts": ["blue"]}, *checks), *checks) == {"exact_match": 1, "groundedness": 1}
    with pytest.raises(MeasureError, match="no check"):
        scored("blue", checks[1])


def test_a_check_without_its_model__is_an_error():
    """What cannot be scored never passes in silence."""
    with pytest.raises(MeasureError, match="no embedding model was loaded") as caught:
        scored("x", specs.Similarity(value="x"))
    assert caught.value.code == "SCORER_FAILED"


@pytest.mark.parametrize(
    ("spec", "raw", "right", "detail"),
    [
        (specs.MaxLatency(value=100), {"output": "x", "latency_ms": 100}, 1, ""),
        (specs.MaxLatency(value=100), {"output": "x", "latency_ms": 812}, 0, "812 ms, at most 100 allowed"),
        (specs.MaxLatency(value=100), "x", 0, "the answer has no `latency_ms`"),
        (specs.MaxCost(value=0.02), {"output": "x", "cost_usd": 0.03}, 0, "0.03 USD, at most 0.02 allowed"),
        (specs.MaxCost(value=0.02), {"output": "x", "cost_usd": 0}, 1, ""),
        (specs.MaxCost(value=0.02), "x", 0, "the answer has no `cost_usd`"),
        (specs.MaxTokens(value=10), {"output": "x", "tokens": {"input": 6, "output": 5}}, 0, "11 tokens, at most 10 allowed"),
        (specs.MaxTokens(value=11), {"output": "x", "tokens": {"input": 6, "output": 5}}, 1, ""),
        (specs.MaxTokens(value=10), "x", 0, "the answer has no `tokens`"),
    ],
)
def test_limits__need_a_known_amount_within_the_limit(spec, raw, right, detail):
    """An amount that is not known does not pass; tokens are input and output together."""
    check = scored(raw, spec).checks[0]
    assert (check.score, check.detail) == (right, detail)


@pytest.mark.parametrize(
    ("returned", "score", "detail"),
    [(True, 1, ""), (False, 0, ""), (0.25, 0.25, ""), (1, 1, ""), (Fraction(1, 4), 0.25, ""), ({"score": 0.5, "reason": "so\nso"}, 0.5, "so so"), ({"score": True}, 1, "")],
)
def test_python__takes_bools_numbers_and_maps(returned, score, detail):
    """What a function may return, and its reason on one line."""
    check = python(lambda _case, _answer: returned).checks[0]
    assert (check.score, check.detail) == (score, detail)


@pytest.mark.parametrize("returned", [math.nan, math.inf, -math.inf, 1.5, -0.1, 10**400, None, "1", [1], {"reason": "x"}, {"score": math.nan}, {"score": "1"}, {"score": None}, 1j])
def test_python__that_returns_no_score_is_an_error(returned):
    """NaN, out of range or of a wrong type: unmeasured with a reason, never a fail or a pass."""
    with pytest.raises(MeasureError, match="`m:f` returned") as caught:
        python(lambda _case, _answer: returned)
    assert caught.value.code == "SCORER_FAILED"


def raises(error):
    """A scorer that raises."""

    def function(case, answer):
        raise error

    return function


@pytest.mark.parametrize("error", [RuntimeError("broke on\npurpose"), SystemExit(3), RecursionError(), KeyError("k")])
def test_python__that_raises_is_an_error_with_its_place(error):
    """Whatever the function raises ends this trial only; the detail names the line."""
    with pytest.raises(MeasureError, match=rf"`m:f` raised {type(error).__name__}") as caught:
        python(raises(error))
    assert "test_scoring.py" in caught.value.detail
    assert "\n" not in caught.value.message


def test_python__that_is_asynchronous_is_an_error():
    """A coroutine is no score, and is not left unawaited."""

    async def function(case, answer):
        return 1.0

    with pytest.raises(MeasureError, match="asynchronous"):
        python(function)


def test_python__that_was_not_loaded_is_an_error():
    """Without its function the check cannot be applied."""
    with pytest.raises(MeasureError, match="not loaded"):
        scored("x", specs.PythonCheck(id="q", callable="m:f"))


def test_python__sees_plain_copies():
    """Case and answer come as plain dicts, and changing them changes nothing."""
    seen = []

    def function(case, answer):
        seen.append((dict(case), dict(answer)))
        case["vars"]["n"].append(2)
        answer["rows"][0]["v"] = "changed"
        answer["retrieved"].clear()
        return 1.0

    answer = Answer(output="x", rows=({"v": 1},), retrieved=("d",), extra={"own": 1})
    asked = case(specs.PythonCheck(id="q", callable="m:f"), vars={"n": [1]}, tags=("t",), category="k", history=(Turn(role="user", content="hi"),), metadata={"m": 1})
    score_answer(asked, answer, Scoring(callables={"m:f": function}))
    told, given_answer = seen[0]
    assert set(told) == {"id", "input", "history", "vars", "category", "tags", "metadata"}
    assert (told["history"], told["tags"], told["category"], told["metadata"]) == ([{"role": "user", "content": "hi"}], ["t"], "k", {"m": 1})
    assert given_answer["own"] == 1
    assert (asked.vars, answer.rows, answer.retrieved) == ({"n": [1]}, ({"v": 1},), ("d",))


def test_python__looks_at_the_whole_answer_unless_a_field_is_named():
    """An answer without output is scored by the function; a named field that is missing scores 0 unasked."""
    assert python(lambda _case, _answer: 1.0, {"rows": []}).passed
    assert python(lambda _case, _answer: 1.0, {"rows": []}, field="insight").checks[0].detail == "the answer has no `insight`"


def test_references__are_the_expected_rows_of_a_live_check():
    """Rows fetched live are found by the check's id."""
    spec = specs.Rows(id="live", reference={"url": "x"})
    assert scored({"rows": [{"v": 1}]}, spec, references={"live": [{"V": "1"}]}).passed
    assert not scored({"rows": [{"v": 1}]}, spec, references={"live": []}).passed
    with pytest.raises(MeasureError, match="not fetched"):
        scored({"rows": []}, spec)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(), lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4), max_leaves=12
)
PARTS = st.fixed_dictionaries(
    {},
    optional={
        "output": JSON,
        "retrieved": st.lists(st.text()),
        "contexts": st.lists(st.text()),
        "rows": st.lists(st.dictionaries(st.text(), JSON, max_size=3), max_size=3),
        "intent": st.text(),
        "refusal": st.text(),
        "tool_calls": st.lists(st.dictionaries(st.sampled_from(["name", "args", "arguments"]), JSON), max_size=3),
        "latency_ms": st.floats(0, 1e9),
        "tokens": st.integers(0, 10**6),
    },
)


@given(PARTS)
def test_any_answer__gets_a_score_in_range_and_one_line_reasons(parts):
    """Whatever a target returns, every check gives a score in 0..1 and a bounded, printable reason."""
    found = score_answer(case(*EVERY[:-1]), read_answer(parts))
    assert 0 <= found.score <= 1
    for check in found.checks:
        assert 0 <= check.score <= 1
        assert len(check.detail) <= 300
        assert check.detail.isprintable()
    assert all(0 <= value <= 1 for check in found.checks for value in (check.values or {}).values())
    assert found.passed is all(check.passed for check in found.checks)
