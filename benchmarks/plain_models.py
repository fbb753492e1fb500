"""The least that asks a model as often: `python benchmarks/plain_models.py CASES.jsonl PORT AT_ONCE OUT.json` on the bare SDK."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import openai


async def worker(client: openai.AsyncOpenAI, cases: Iterator[dict[str, Any]], answers: dict[str, str | None]) -> None:
    """Take the next case until none is left."""
    for case in cases:
        reply = await client.chat.completions.create(model="m", messages=[{"role": "user", "content": case["question"]}])
        answers[case["id"]] = reply.choices[0].message.content


async def ask_all(cases: Iterator[dict[str, Any]], base_url: str, at_once: int) -> dict[str, str | None]:
    """Every answer, by id."""
    answers: dict[str, str | None] = {}
    async with openai.AsyncOpenAI(api_key="none", base_url=base_url, max_retries=0) as client, asyncio.TaskGroup() as group:
        for _ in range(at_once):
            group.create_task(worker(client, cases, answers))
    return answers


def main(cases_file: str, port: str, at_once: str, out: str) -> None:
    """Read, ask, and write one file at the end."""
    with Path(cases_file).open(encoding="utf-8") as lines:
        cases = [json.loads(line) for line in lines]
    answers = asyncio.run(ask_all(iter(cases), f"http://127.0.0.1:{port}/v1", int(at_once)))
    Path(out).write_text(json.dumps(answers), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:5])
