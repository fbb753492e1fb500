"""`I/N`: part I of N of a suite, as command lines and workflows write it. Imports nothing, for `--help` must stay quick."""

MOST_SHARDS = 10_000


def read_shard(text: str) -> tuple[int, int]:
    """Index, counted from 1, and number of the parts. Raises ValueError, whose text goes on after the words that were read."""
    index, _, of = text.partition("/")
    numbers = all(part.isascii() and part.isdigit() and len(part) <= len(str(MOST_SHARDS)) for part in (index, of))
    if not numbers or not 1 <= int(index) <= int(of) <= MOST_SHARDS:
        raise ValueError("is not I/N with 1 <= I <= N, such as 2/4")
    return int(index), int(of)
