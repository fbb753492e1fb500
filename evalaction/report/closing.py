"""The last line of the log of a mode that compares nothing."""

from __future__ import annotations

from evalaction.core.verdict import EXIT_CODES


def closing_line(word: str) -> str:
    """Verdict word, code and what the code means."""
    code = EXIT_CODES[word]
    return f"eval-gate: {word} (exit {int(code)}): {code.meaning}"
