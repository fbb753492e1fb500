"""The least that makes the same calls: `python benchmarks/plain_calls.py CASES.jsonl PORT AT_ONCE OUT.json` on bare aiohttp."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import aiohttp


async def worker(session: aiohttp.ClientSession, url: str, cases: Iterator[dict[str, Any]], scores: dict[str, bool]) -> None:
    """Take the next case until none is left."""
    for case in cases:
        async with session.post(url, json={"question": case["question"]}) as response:
            response.raise_for_status()
            answer = await response.json()
        scores[case["id"]] = all(needle.casefold() in answer["output"].casefold() for needle in case["must_contain"])


async def ask_all(cases: Iterator[dict[str, Any]], url: str, at_once: int) -> dict[str, bool]:
    """Whether each case passed, by id."""
    scores: dict[str, bool] = {}
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=at_once)) as session, asyncio.TaskGroup() as group:
        for _ in range(at_once):
            group.create_task(worker(session, url, cases, scores))
    return scores


def main(cases_file: str, port: str, at_once: str, out: str) -> None:
    """Read, ask, check, and write one file at the end."""
    with Path(cases_file).open(encoding="utf-8") as lines:
        cases = [json.loads(line) for line in lines]
    scores = asyncio.run(ask_all(iter(cases), f"http://127.0.0.1:{port}/", int(at_once)))
    Path(out).write_text(json.dumps({"pass_rate": sum(scores.values()) / len(scores), "cases": scores}), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:5])
