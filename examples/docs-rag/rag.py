"""A small retrieval system over this project's own documentation: BM25 over chunks, answers made of sentences found.

Reads cases as JSON lines on standard input and prints one answer a line:

    {"id": "…", "output": "…", "retrieved": ["gate.md#thresholds", …], "contexts": ["…", …]}

Documents are README.md and docs/*.md of the repository this file lies in. What is retrieved is named by
`document#section`, the anchor of the nearest heading above, so that ids survive rewording and a change of chunking.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rank_bm25 import BM25Okapi  # type: ignore[import-untyped]  # the library has no types

HERE = Path(__file__).resolve().parent
STOP_WORDS = frozenset(
    re.findall(
        r"\w+",
        "a an and are as at be by can do does for from has have how i if in is it its may me my no not of on"
        " or that the then there this to was what when where which who why will with you",
    )
)


@dataclass(frozen=True)
class Block:
    """A paragraph, list item, table row or code block, and the section it stands in."""

    section: str
    heading: str
    text: str


@dataclass(frozen=True)
class Chunk:
    """What is indexed and retrieved as one; `section` is where it starts."""

    section: str
    heading: str
    text: str


def main() -> None:
    options = read_options()
    retriever = Retriever(cut(list(blocks_of_folder(options.root)), options.chunk), options)
    for line in sys.stdin:
        case = json.loads(line)
        print(json.dumps({"id": case["id"], **retriever.answer(case.get("question") or case["input"])}), flush=True)


def read_options() -> argparse.Namespace:
    """Options of the command line; what is not given there comes from the configuration file."""
    parser = argparse.ArgumentParser(description="Answer questions about the documentation.")
    parser.add_argument("--config", type=Path, default=HERE / "rag.toml")
    parser.add_argument("--root", type=Path, default=HERE.parent.parent, help="folder with README.md and docs/")
    parser.add_argument("--chunk", help="paragraphs, whole-file or fixed:N")
    options = parser.parse_args()
    config = tomllib.loads(options.config.read_text(encoding="utf-8"))
    options.chunk = options.chunk or config["chunk"]
    options.top, options.sentences = config["top"], config["sentences"]
    return options


# ------------------------------------------------------------------------------------------------ documents
def blocks_of_folder(root: Path) -> Iterator[Block]:
    documents = sorted([root / "README.md", *root.joinpath("docs").glob("*.md")])
    for path in documents:
        yield from blocks_of(path.name, path.read_text(encoding="utf-8"))


def blocks_of(document: str, markdown: str) -> Iterator[Block]:
    """The blocks of one document in order; a heading ends a block, comments and the heads of tables are dropped."""
    section, trail = document, [""]
    seen: dict[str, int] = {}
    text = re.sub(r"<!--.*?-->", "", markdown, flags=re.DOTALL)
    for group in paragraphs(re.sub(r"(?m)^\|.*\n\|[-| :]+\|$", "", text)):
        heading = re.fullmatch(r"(#{1,6}) (.+)", group)
        if heading:
            depth, title = len(heading[1]), plain(heading[2])
            trail = [*trail[:depth], *[""] * (depth - len(trail)), title]
            section = f"{document}#{anchor(title, seen)}"
        else:
            yield Block(section, " ".join(filter(None, trail)), plain(group))


def paragraphs(markdown: str) -> Iterator[str]:
    """Paragraphs without line breaks; headings, list items and table rows stand alone, a fenced block is one paragraph that starts with a blank."""
    group: list[str] = []
    fenced = False
    for line in markdown.splitlines():
        fence = line.startswith("```")
        ends = fence or (not fenced and (not line.strip() or bool(re.match(r"[#|]|- ", line))))
        if group and (ends or (not fenced and group[0].startswith("#"))):
            yield " " * fenced + " ".join(group)
            group = []
        fenced ^= fence
        if line.strip() and not fence:
            group.append(line)
    if group:
        yield " ".join(group)


def plain(markdown: str) -> str:
    """Text without links, emphasis, code marks and table borders."""
    text = re.sub(r"\[([^]]+)\]\([^)]+\)", r"\1", markdown)
    text = re.sub(r"\s*\|\s*", " : ", text.strip().strip("|"))
    return re.sub(r"[`*]", "", text).removeprefix("- ").strip()


def anchor(title: str, seen: dict[str, int]) -> str:
    """The anchor that GitHub gives a heading; a second one of the same name gets -1."""
    slug = re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
    count = seen.get(slug, 0)
    seen[slug] = count + 1
    return f"{slug}-{count}" if count else slug


# ------------------------------------------------------------------------------------------------ chunks
def cut(blocks: list[Block], how: str) -> list[Chunk]:
    if how == "paragraphs":
        return [Chunk(block.section, block.heading, block.text) for block in blocks]
    by_document: dict[str, list[Block]] = {}
    for block in blocks:
        by_document.setdefault(block.section.partition("#")[0], []).append(block)
    if how == "whole-file":
        return [Chunk(found[0].section, "", " ".join(block.text for block in found)) for found in by_document.values()]
    size = re.fullmatch(r"fixed:([1-9][0-9]*)", how)
    if not size:
        sys.exit(f"unknown chunking {how!r}: use paragraphs, whole-file or fixed:N")
    return [chunk for found in by_document.values() for chunk in windows(found, int(size[1]))]


def windows(blocks: list[Block], size: int) -> Iterator[Chunk]:
    words = [(word, block.section) for block in blocks for word in block.text.split()]
    for start in range(0, len(words), size):
        yield Chunk(words[start][1], "", " ".join(word for word, _ in words[start : start + size]))


# ------------------------------------------------------------------------------------------------ answers
class Retriever:
    """An index over chunks."""

    def __init__(self, chunks: list[Chunk], options: argparse.Namespace) -> None:
        self.chunks, self.top, self.sentences = chunks, options.top, options.sentences
        self.index = BM25Okapi([words(f"{chunk.heading} {chunk.text}") for chunk in chunks])

    def answer(self, question: str) -> dict[str, Any]:
        scores = self.index.get_scores(words(question))
        best = sorted(range(len(self.chunks)), key=lambda i: (-scores[i], i))
        sections: dict[str, Chunk] = {}
        for position in best:
            if len(sections) == self.top:
                break
            sections.setdefault(self.chunks[position].section, self.chunks[position])
        found = [self.chunks[position] for position in best[: self.top]]
        return {"output": self.extract(question, found), "retrieved": list(sections), "contexts": [chunk.text for chunk in found]}

    def extract(self, question: str, found: list[Chunk]) -> str:
        """The sentences of the best chunks that share most words with the question, best chunk first among equals."""
        asked = set(words(question))
        pool = [sentence for chunk in found for sentence in re.split(r"(?<=[.:;]) +(?=[A-Z`])", chunk.text)]
        ranked = sorted(range(len(pool)), key=lambda i: (-len(asked & set(words(pool[i]))), i))
        return " ".join(pool[i] for i in sorted(ranked[: self.sentences]))


def words(text: str) -> list[str]:
    """Lower-case words without the commonest ones and without simple endings."""
    return [re.sub(r"(?<=\w{3})(?:ing|ed|es|s)$", "", word) for word in re.findall(r"[a-z0-9@]+", text.lower()) if word not in STOP_WORDS]


if __name__ == "__main__":
    main()
