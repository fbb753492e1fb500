"""Foreign text for one-line messages, cut in one way everywhere."""

CUT = "…"


def cut(text: str, limit: int) -> str:
    """At most `limit` characters; a mark stands in the place of what is missing."""
    return text if len(text) <= limit else text[: limit - 1] + CUT


def excerpt(text: str, limit: int = 200) -> str:
    """The beginning of a foreign text on one line: no control, format or bidi characters, blanks collapsed."""
    head = "".join(sign if sign.isprintable() else " " for sign in text[: limit + 1])
    return cut(" ".join(head.split()), limit)


def aligned(rows: list[tuple[str, ...]]) -> list[str]:
    """Rows of equally many cells as lines, each column as wide as its widest cell."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip() for row in rows]
