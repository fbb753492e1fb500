"""Fingerprints, slugs, masks, looser policies, merging: small pure parts."""

from __future__ import annotations

import base64
import dataclasses
import json
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalaction.core.fingerprint import case_fingerprint, check_fingerprint, digest, slug, suite_digest
from evalaction.core.loosened import loosened
from evalaction.core.masking import MASK, Masker, Shape, looks_secret
from evalaction.core.merge import merge
from evalaction.core.record import Calls, CheckInfo, CheckResult, Selection, Shard, Trial
from evalaction.core.sample import sample
from evalaction.core.specs import ContainsAll, Equals, Retrieval
from evalaction.core.suite import Case, Turn
from evalaction.errors import ConfigError
from tests.making import case, record

SECRET = 'p@ss/w"rd+1 é'


def test_fingerprint__is_over_what_is_asked_and_nothing_else():
    """Input, history and variables make a case; tags, category and line do not."""
    one = Case(id="a", input="q", checks=())

    assert case_fingerprint(one) == case_fingerprint(dataclasses.replace(one, id="b", tags=("x",), category="c", line=9))
    assert (
        len(
            {
                case_fingerprint(other)
                for other in (
                    one,
                    dataclasses.replace(one, input="r"),
                    dataclasses.replace(one, history=(Turn(role="user", content="x"),)),
                    dataclasses.replace(one, vars={"n": 1}),
                )
            }
        )
        == 4
    )


def test_check_fingerprint__changes_with_every_parameter_and_not_with_the_id():
    """Type, value, threshold, weight and options count; a default that is written out does not."""
    base = ContainsAll(id="x", value=("a",))

    assert check_fingerprint(base) == check_fingerprint(ContainsAll(id="y", value=("a",), ignore_case=True))
    others = [
        ContainsAll(value=("b",)),
        ContainsAll(value=("a",), ignore_case=False),
        ContainsAll(value=("a",), threshold=0.5),
        ContainsAll(value=("a",), weight=2),
        Equals(value="a"),
    ]
    assert len({check_fingerprint(check) for check in (base, *others)}) == 6
    assert check_fingerprint(Retrieval(relevant=("a",), k=5)) != check_fingerprint(Retrieval(relevant=("a",), k=6))


def test_suite_digest__does_not_depend_on_the_order_of_cases():
    """The version of a dataset is what it asks, not how it is sorted."""
    cases = [Case(id=name, input=name, checks=(Equals(id="equals", value="x"),)) for name in "abc"]

    assert suite_digest(cases) == suite_digest(cases[::-1]) != suite_digest(cases[:2])


@given(st.text(max_size=40), st.text(max_size=40))
def test_slug__is_safe_and_never_shared(one, other):
    """Any two names have safe slugs, and equal slugs only when they are equal."""
    assert (slug(one) == slug(other)) is (one == other)
    assert set(slug(one)) <= set("abcdefghijklmnopqrstuvwxyz0123456789._-~")
    assert len(slug(one)) <= 91
    assert not slug(one).startswith(".")


@pytest.mark.parametrize("name", ["con", "nul.txt", "a.", "A", "../x", "", ".", "a/b", "é"])
def test_slug__of_a_name_that_some_system_cannot_hold__is_another_one(name):
    """Device names, capitals on systems that fold them, dots and slashes are cleaned."""
    assert slug(name) != name
    assert slug("rag-prod") == "rag-prod"


@pytest.mark.parametrize(
    "form",
    [
        SECRET,
        json.dumps(SECRET)[1:-1],
        json.dumps(SECRET, ensure_ascii=False)[1:-1],
        quote(SECRET, safe=""),
        *(base64.b64encode(b"x" * shift + SECRET.encode() + b"tail").decode() for shift in range(4)),
    ],
)
def test_masker__finds_a_secret_in_every_spelling(form):
    """As it is, inside JSON, in a URL and in base64 at any phase."""
    masked = Masker([SECRET]).text(f"<{form}>")

    assert MASK in masked
    assert masked != f"<{form}>"
    assert SECRET not in masked


def test_masker__leaves_short_values_and_identities_alone():
    """Values under six characters are too common; ids under kept keys stay, so that records can be joined."""
    assert Masker(["abc", ""]).text("abc") == "abc"
    shape = Shape(frozenset({"answer"}), keep=frozenset({"id"}))
    assert Masker(["secret-1"]).json({"id": "secret-1", "answer": ["secret-1", 1, None]}, shape) == {"id": "secret-1", "answer": [MASK, 1, None]}
    assert "secret-1" not in repr(Masker(["secret-1"]))


@pytest.mark.parametrize(
    ("name", "secret"),
    [
        ("OPENAI_API_KEY", True),
        ("GITHUB_TOKEN", True),
        ("DB_PASSWORD", True),
        ("SESSION_COOKIE", True),
        ("PWD", False),
        ("SSH_AUTH_SOCK", False),
        ("GIT_AUTHOR_NAME", False),
        ("PROXY_AUTHORIZATION", True),
        ("BASIC_AUTH", True),
        ("HOME", False),
        ("GOOGLE_CREDENTIALS_FILE", False),
    ],
)
def test_looks_secret__by_the_words_people_use(name, secret):
    """Variable names tell; paths are no secrets."""
    assert looks_secret(name) is secret


@pytest.mark.parametrize(
    ("before", "now", "said"),
    [
        ({}, {"case_tolerance": 0.1}, "case_tolerance 0.05 → 0.1"),
        ({}, {"max_errors": 3}, "max_errors 0 → 3"),
        ({"thresholds": {"equals": 0.9}}, {"thresholds": {"equals": 0.8}}, "threshold on equals 0.9 → 0.8"),
        ({"thresholds": {"latency_ms": 100}}, {"thresholds": {"latency_ms": 200}}, "threshold on latency_ms 100 → 200"),
        ({"tolerances": {"latency_ms": 0.5}}, {}, "tolerance of latency_ms (0.5) is gone"),
        ({"tolerances": {"equals": 0.001}}, {}, "tolerance of equals 0.001 → 0.01"),
        ({}, {"fail_on": ("threshold",)}, "fail_on no longer has case"),
        ({"removed_cases": "fail"}, {}, "removed_cases fail → warn"),
        ({}, {"min_comparable": 0.1}, "min_comparable 0.5 → 0.1"),
    ],
)
def test_loosened__names_each_looser_part(before, now, said):
    """One line for each part of a policy that lets more through than the accepted one."""
    assert said in loosened(before, now)


def test_loosened__a_stricter_policy_says_nothing():
    """A new tolerance on a raw metric, a lower tolerance and a new threshold are no loosening."""
    assert loosened({}, {"tolerance": 0.001, "tolerances": {"latency_ms": 0.5}, "thresholds": {"equals": 0.5}, "removed_cases": "fail"}) == ()


def shard(index: int, of: int, *cases, filter=None, tag=None, **header):  # noqa: A002 - the option's name
    return record(*cases, selection=Selection(filter=filter, tag=tag, shard=Shard(index=index, of=of)), calls=Calls(planned=1, made=1), **header)


def test_merge__joins_all_shards_once():
    """Cases of all parts, calls summed up, no selection left."""
    whole = merge([shard(2, 2, case("b", 1)), shard(1, 2, case("a", 0))])

    assert list(whole.cases) == ["a", "b"]
    assert (whole.header.selection, whole.header.calls.made, whole.header.metrics["equals"]) == (Selection(), 2, 0.5)


@pytest.mark.parametrize(
    ("shards", "said"),
    [
        ([shard(1, 2, case("a", 1))], "shard 2 of 2 is missing"),
        ([shard(1, 2), shard(1, 2), shard(2, 2)], "twice"),
        ([shard(1, 2), shard(2, 2, digest="other")], "differ in their digest"),
        ([shard(1, 2), shard(2, 2, commit="other")], "differ in their commit"),
        ([shard(1, 2), shard(2, 3)], "different widths"),
        ([shard(1, 2), record(case("b", 1))], "no shard"),
        ([shard(1, 2), shard(2, 2, filter="c[24]")], "differ in their --filter"),
        ([shard(1, 2, tag="smoke"), shard(2, 2)], "differ in their --tag"),
        ([shard(1, 2, case("a", 1)), shard(2, 2, case("a", 0))], "case a is in two shards"),
    ],
)
def test_merge__of_what_is_not_one_run__is_refused(shards, said):
    """Missing, doubled and foreign shards are named."""
    with pytest.raises(ConfigError, match=said):
        merge(shards)


def test_digest__does_not_depend_on_key_order():
    """Canonical JSON: equal values, equal digests."""
    assert digest({"a": 1, "b": [1, {"c": None, "d": 2}]}) == digest({"b": [1, {"d": 2, "c": None}], "a": 1})


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0.1, 5)), min_size=1, max_size=4), st.booleans())
def test_sample__one_trial_is_what_the_general_case_says(scored, alike):
    """The short cut for a single trial gives the very numbers of the general path, which sees the trial twice."""
    infos = [CheckInfo(id=f"c{number}", type="t", fingerprint="f", weight=1.0 if alike else weight, metrics=(f"m{number}",)) for number, (_, weight) in enumerate(scored)]
    one = Trial(
        repeat=0, score=0.5, passed=False, latency_ms=2.5, checks=tuple(CheckResult(id=f"c{number}", score=score, passed=score > 0.5) for number, (score, _) in enumerate(scored))
    )

    short, general = sample([one], infos), sample([one, dataclasses.replace(one, repeat=1)], infos)

    assert short.scores == pytest.approx(general.scores[:1], abs=1e-12)
    assert short.passes == general.passes[:1]
    assert {name: values[:1] for name, values in general.metrics.items()} == short.metrics
    assert {name: values[:1] for name, values in general.check_scores.items()} == short.check_scores
