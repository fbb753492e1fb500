"""How much text GitHub takes. Ours are in bytes of UTF-8, which are never fewer than characters, and leave room for what masking or GitHub itself may add."""

COMMENT_LIMIT = 65_000
"""Of a comment; GitHub refuses more than 65,536 characters."""
CHECK_LIMIT = 65_000
"""Of a check run's text; GitHub refuses more than 65,535 characters."""
SUMMARY_LIMIT = 1_000_000
"""Of a job summary; the runner drops one of more than 1 MiB whole."""
