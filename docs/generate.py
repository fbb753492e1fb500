"""Writes what the documentation takes from the code, or with --check proves that it is fresh.

docs/errors.md from the registry of codes, docs/schemas/ from the types of the files.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from evalaction.app.schemas import KINDS, schema_text
from evalaction.codes import errors_page

DOCS = Path(__file__).parent


def generated() -> Iterator[tuple[Path, str]]:
    """Every generated file with its text."""
    yield DOCS / "errors.md", errors_page()
    for kind in KINDS:
        yield DOCS / "schemas" / f"{kind}.schema.json", schema_text(kind)


def main() -> int:
    """0 when everything is fresh, or has been written."""
    stale = [(path, text) for path, text in generated() if not path.is_file() or path.read_text(encoding="utf-8") != text]
    if "--check" in sys.argv[1:]:
        for path, _ in stale:
            sys.stderr.write(f"{path.relative_to(DOCS.parent)} is stale: run make docs\n")
        return 1 if stale else 0
    for path, text in stale:
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
