"""Patterns are refused before they cost memory, and compile in one way for validating and scoring."""

from __future__ import annotations

import resource

import pytest
from pydantic import ValidationError

from evalaction.core.answer import Answer
from evalaction.core.checks.text import score_regex
from evalaction.core.patterns import PatternError, compiled
from evalaction.core.specs import NotRegex, Regex

TOO_LARGE = {
    "long": "a" * 10_001,
    "a count": "a{10001}",
    "a least count": "a{99999,}",
    "a most count": "(?:ab){,20000}",
    "a count of many digits": "a{" + "9" * 5000 + "}",
    "a count inside a group": "(x(a{10001})?)*",
    "counts inside counts": "((a{9999}){9999}){9999}",
    "doubling": "(" * 30 + "a" + "){2}" * 30,
    "at least once, nested": "(" * 30 + "a" + ")+" * 30,
    "behind a comment": "(?x)(?:a{9999} # )\n){9999}",
    "behind an inner comment": "(a{9999}(?#()){9999}",
    "behind a class": "(?:[)](?:a{9999})){9999}",
    "nested groups": "(" * 4000 + ")" * 4000,
}


@pytest.mark.parametrize("pattern", TOO_LARGE.values(), ids=TOO_LARGE)
@pytest.mark.parametrize("kind", [Regex, NotRegex])
def test_pattern__that_would_eat_the_memory__is_refused_without_eating_it(kind, pattern):
    """Long patterns, large counts, counts that multiply and deep nesting are INVALID_PATTERN."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(ValidationError) as caught:
        kind(pattern=pattern)
    assert caught.value.errors()[0]["type"] == "INVALID_PATTERN"
    assert len(caught.value.errors()[0]["msg"]) < 300
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200_000


USUAL = [
    r"^\d{4}-\d{2}-\d{2}$",
    r"(?:[a-z]{1,100}\s+){0,100}",
    r"(?i)order\s#?\d+",
    r"a{10000}",
    r"([^,]+,){12}",
    r"item{e}",
    r"\p{Lu}\p{Ll}+",
    r"[]{}()+]{3}",
    "(((x+)+)+)+",
    r"(a{100}){50}",
]


@pytest.mark.parametrize("pattern", USUAL)
def test_pattern__of_a_usual_size__is_accepted(pattern):
    """What people write stays allowed."""
    assert Regex(pattern=pattern).pattern == pattern
    compiled(pattern, "")


@pytest.mark.parametrize(
    ("pattern", "flags", "right"), [("(a # )", "x", False), ("a # (", "x", True), ("a # (", "", False), ("a)", "", False), ("item{e", "", True), ("(?<n>a)(?P<n>b", "i", False)]
)
def test_pattern__compiles_for_validating_just_as_for_scoring(pattern, flags, right):
    """A bracket that a verbose comment swallows is found when the suite is read, and one in a comment is no fault."""
    if right:
        score_regex(Regex(pattern=pattern, flags=flags), Answer(output="text"))
        return
    with pytest.raises(ValidationError, match="does not compile"):
        Regex(pattern=pattern, flags=flags)
    with pytest.raises(PatternError):
        compiled(pattern, flags)


def test_pattern__under_unknown_flags__has_one_fault():
    """Flags that are none are said once, not again as a pattern that does not compile."""
    with pytest.raises(ValidationError) as caught:
        Regex(pattern="(", flags="q")
    assert [error["loc"] for error in caught.value.errors()] == [("flags",)]
