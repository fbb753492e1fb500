"""Sentences of ours with foreign words in them, kept apart until a renderer joins them."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable


@dataclasses.dataclass(frozen=True, slots=True)
class Foreign:
    """A word that is not ours: a case id, a message, a name."""

    text: str


@dataclasses.dataclass(frozen=True, slots=True)
class Said:
    """A sentence: plain strings are ours, the rest is foreign."""

    parts: tuple[str | Foreign, ...] = ()

    def render(self, quote: Callable[[str], str]) -> str:
        """The sentence with `quote` applied to each foreign word."""
        return "".join(part if isinstance(part, str) else quote(part.text) for part in self.parts)

    def __bool__(self) -> bool:
        return bool(self.parts)


def say(template: str, *words: str | int | Said) -> Said:
    """A sentence from a template of ours with one `{}` per word: texts are foreign, numbers and sentences are ours."""
    pieces = template.split("{}")
    parts: list[str | Foreign] = [pieces[0]]
    for word, piece in zip(words, pieces[1:], strict=True):
        parts += _parts(word)
        parts.append(piece)
    return Said(tuple(part for part in parts if part != ""))


def ours(text: str) -> Said:
    """A text of ours, in which braces mean nothing."""
    return Said((text,) if text else ())


def join(sentences: Iterable[Said], separator: str = ", ") -> Said:
    """Several sentences as one."""
    parts: list[str | Foreign] = []
    for sentence in sentences:
        parts += [separator, *sentence.parts] if parts else sentence.parts
    return Said(tuple(parts))


def listed(words: Iterable[str], limit: int) -> Said:
    """Foreign words with commas, the first `limit` of them and how many more there are."""
    all_words = list(words)
    shown = join(say("{}", word) for word in all_words[:limit])
    return shown if len(all_words) <= limit else say("{} and {} more", shown, len(all_words) - limit)


def count(number: int, noun: str) -> str:
    """`1 case`, `2 cases`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def _parts(word: str | int | Said) -> tuple[str | Foreign, ...]:
    if isinstance(word, Said):
        return word.parts
    return (Foreign(word),) if isinstance(word, str) else (f"{word:,}",)
