"""Checks on text: equality, tokens, needles, patterns, and an answer's intent and refusal.

Both sides of every comparison have their line ends folded (CRLF and CR become LF) and their characters
composed (Unicode NFC); nothing else is relaxed unless the check asks for it.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

from evalaction.core.answer import Answer, as_text
from evalaction.core.checks.base import QUOTED, RIGHT, CheckScore, is_blank, is_deep, listed, no_part, quoted, yes_or_no
from evalaction.core.patterns import PatternError, compiled, fold
from evalaction.core.specs import CheckSpec, ContainsAll, ContainsAny, Equals, ExactMatch, Intent, NotContains, NotRegex, PatternSpec, Refusal, Regex, TokenF1
from evalaction.errors import MeasureError

PATTERN_SECONDS = 5.0
"""Time one search may take; a pattern that backtracks without end must not hold up the run."""
_SHORT = 2000
_FEW = 20
_ARTICLES = frozenset({"a", "an", "the"})


def caseless(text: str) -> str:
    """Folded text without case (Unicode default case folding)."""
    return text.lower() if text.isascii() else unicodedata.normalize("NFC", text.casefold())


def read_text(spec: CheckSpec, answer: Answer) -> str | CheckScore:
    """The check's part of the answer as folded text, or a score of 0 saying why there is none."""
    part = answer.part(spec.part)
    if isinstance(part, str):
        return fold(part) if part.strip() else no_part(spec.part, part)
    if part is None or part == ():
        return no_part(spec.part, part)
    if is_deep(part):
        return CheckScore(0.0, f"`{spec.part}` of the answer is nested too deeply")
    return fold(as_text(part) or "")


class _Punctuation(dict[int, int | None]):
    """Drops punctuation: the signs of ASCII as SQuAD does, and every other character of a Unicode category P."""

    def __missing__(self, ordinal: int) -> int | None:
        char = chr(ordinal)
        kept = char.isspace() or not (unicodedata.category(char)[0] == "P" or (char.isascii() and unicodedata.category(char)[0] == "S"))
        self[ordinal] = ordinal if kept else None
        return self[ordinal]


_PUNCTUATION = _Punctuation()


def squad(text: str) -> tuple[str, ...]:
    """Tokens under SQuAD's normalisation: lower case, punctuation and the articles a, an, the dropped, split at blanks.

    Source: the evaluation script of SQuAD 1.1 (Rajpurkar et al. 2016). Unlike there, punctuation
    outside ASCII is dropped too.
    """
    return _short_squad(text) if len(text) <= _SHORT else _squad(text)


def _squad(text: str) -> tuple[str, ...]:
    return tuple(token for token in text.lower().translate(_PUNCTUATION).split() if token not in _ARTICLES)


_short_squad = lru_cache(maxsize=64)(_squad)  # exact_match and token_f1 of one case look at the same two texts


def squad_pair(expected: str, actual: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Both sides as tokens. Where nothing of the expected text would be left (`A`, `+`), articles and punctuation are kept on both sides."""
    tokens = squad(expected)
    if tokens:
        return tokens, squad(actual)
    if kept := tuple(expected.lower().translate(_PUNCTUATION).split()):
        return kept, tuple(actual.lower().translate(_PUNCTUATION).split())
    return tuple(expected.lower().split()), tuple(actual.lower().split())


def text_form(text: str) -> str:
    """Form folded and wording kept: Unicode NFKC, case folded, blanks collapsed."""
    return " ".join(unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold()).split())


def _difference(expected: str, actual: str) -> str:
    """Both texts, the long ones from a little before the place where they part."""
    if len(expected) <= QUOTED and len(actual) <= QUOTED:
        return f"expected {quoted(expected)}, got {quoted(actual)}"
    at = next((index for index, (left, right) in enumerate(zip(expected, actual, strict=False)) if left != right), min(len(expected), len(actual)))
    start = max(0, at - 20) if at > 30 else 0
    place = f"differs at character {at + 1}: " if start else ""
    return f"{place}expected {quoted(expected[start:])}, got {quoted(actual[start:])}"


def score_equals(spec: Equals, answer: Answer) -> CheckScore:
    """1 when the whole text is `value`, outer blanks trimmed."""
    actual = read_text(spec, answer)
    if isinstance(actual, CheckScore):
        return actual
    expected = fold(spec.value)
    if spec.normalize == "squad":
        left, right = squad_pair(expected, actual)
        equal = left == right
    else:
        form: Callable[[str], str] = text_form if spec.normalize == "text" else caseless if spec.ignore_case else str
        equal = form(expected.strip()) == form(actual.strip())
    return RIGHT if equal else CheckScore(0.0, _difference(expected.strip(), actual.strip()))


def score_exact_match(spec: ExactMatch, answer: Answer) -> CheckScore:
    """1 when both texts have the same tokens in the same order after SQuAD normalisation."""
    actual = read_text(spec, answer)
    if isinstance(actual, CheckScore):
        return actual
    expected, found = squad_pair(fold(spec.value), actual)
    return RIGHT if expected == found else CheckScore(0.0, _difference(spec.value.strip(), actual.strip()))


def shared_tokens(expected: Sequence[str], found: Sequence[str]) -> int:
    """Tokens in both lists, each as often as it occurs in both."""
    left = list(expected)
    if len(left) <= _FEW:  # counting by hand is faster than two Counters for the usual short answer
        for token in found:
            if token in left:
                left.remove(token)
        return len(expected) - len(left)
    return sum((Counter(expected) & Counter(found)).values())


def score_token_f1(spec: TokenF1, answer: Answer) -> CheckScore:
    """2PR / (P + R) over the tokens shared by both texts, each as often as it occurs in both (SQuAD 1.1)."""
    actual = read_text(spec, answer)
    if isinstance(actual, CheckScore):
        return actual
    expected, found = squad_pair(fold(spec.value), actual)
    if expected == found:
        return RIGHT
    shared = shared_tokens(expected, found)
    return CheckScore(2 * shared / (len(expected) + len(found)), f"{shared} of {len(expected)} expected tokens in an answer of {len(found)}")


def _found(spec: ContainsAll | ContainsAny | NotContains, text: str) -> list[bool]:
    if not spec.ignore_case:
        return [fold(needle) in text for needle in spec.value]
    plain = caseless(text)
    return [caseless(fold(needle)) in plain for needle in spec.value]


def _needles(spec: ContainsAll | ContainsAny | NotContains, found: list[bool], wanted: bool) -> str:
    names = [quoted(needle) for needle, hit in zip(spec.value, found, strict=True) if hit is wanted]
    return listed(names, len(names), 280)


def score_contains_all(spec: ContainsAll, answer: Answer) -> CheckScore:
    """Share of the needles that are found."""
    text = read_text(spec, answer)
    if isinstance(text, CheckScore):
        return text
    found = _found(spec, text)
    return RIGHT if all(found) else CheckScore(sum(found) / len(found), f"missing: {_needles(spec, found, wanted=False)}")


def score_contains_any(spec: ContainsAny, answer: Answer) -> CheckScore:
    """1 when at least one needle is found."""
    text = read_text(spec, answer)
    if isinstance(text, CheckScore):
        return text
    found = _found(spec, text)
    return RIGHT if any(found) else CheckScore(0.0, f"none found of: {_needles(spec, found, wanted=False)}")


def score_not_contains(spec: NotContains, answer: Answer) -> CheckScore:
    """Share of the needles that are absent."""
    text = read_text(spec, answer)
    if isinstance(text, CheckScore):
        return text
    found = _found(spec, text)
    return CheckScore(1 - sum(found) / len(found), f"found: {_needles(spec, found, wanted=True)}") if any(found) else RIGHT


def _compiled(pattern: str, flags: str) -> Any:
    try:
        return compiled(pattern, flags)
    except PatternError as error:
        raise MeasureError("SCORER_FAILED", f"the pattern {quoted(pattern)} does not compile under the flags {quoted(flags)}: {error}") from None


def search(pattern: str, flags: str, text: str) -> str | None:
    """The first match as text, or None. Raises MeasureError SCORER_FAILED after five seconds of searching."""
    try:
        found = _compiled(pattern, flags).search(text, timeout=PATTERN_SECONDS, concurrent=True)
    except TimeoutError:
        raise MeasureError("SCORER_FAILED", f"the pattern {quoted(pattern)} was still searching after {PATTERN_SECONDS:g} s; rewrite it without nested repeats") from None
    return None if found is None else str(found.group())


def _searched(spec: PatternSpec, answer: Answer, judge: Callable[[str, str | None], CheckScore]) -> CheckScore:
    text = read_text(spec, answer)
    return text if isinstance(text, CheckScore) else judge(text, search(spec.pattern, spec.flags, text))


def score_regex(spec: Regex, answer: Answer) -> CheckScore:
    """1 when the pattern is found."""
    return _searched(spec, answer, lambda text, found: yes_or_no(found is not None, f"no match for {quoted(spec.pattern)} in {quoted(text.strip())}"))


def score_not_regex(spec: NotRegex, answer: Answer) -> CheckScore:
    """1 when the pattern is not found."""
    return _searched(spec, answer, lambda _, found: RIGHT if found is None else CheckScore(0.0, f"{quoted(spec.pattern)} matches {quoted(found)}"))


def score_intent(spec: Intent, answer: Answer) -> CheckScore:
    """1 when the intent is `value` in any case and, if asked, the output holds `contains` with its case."""
    intent = read_text(spec, answer)
    if isinstance(intent, CheckScore):
        return intent
    if caseless(intent.strip()) != caseless(fold(spec.value).strip()):
        return CheckScore(0.0, f"expected intent {quoted(spec.value)}, got {quoted(intent.strip())}")
    if spec.contains is None:
        return RIGHT
    if is_blank(answer.output):
        return no_part("output", answer.output)
    output = fold(as_text(answer.output) or "")
    return yes_or_no(fold(spec.contains) in output, f"the output lacks {quoted(spec.contains)}")


def score_refusal(spec: Refusal, answer: Answer) -> CheckScore:
    """1 when the answer is a refusal that is `value` in any case and holds `contains` with its case, as far as these are asked."""
    refusal = read_text(spec, answer)
    if isinstance(refusal, CheckScore):
        return refusal
    if spec.value is not None and caseless(refusal.strip()) != caseless(fold(spec.value).strip()):
        return CheckScore(0.0, f"expected the refusal {quoted(spec.value)}, got {quoted(refusal.strip())}")
    return yes_or_no(spec.contains is None or fold(spec.contains) in refusal, f"the refusal {quoted(refusal.strip())} lacks {quoted(spec.contains or '')}")
