"""Suites and datasets of any size, written line by line."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

NEEDLE = "forty-two"
_CHECKS = f"    checks:\n      - {{type: contains_all, value: [{NEEDLE}]}}\n"


def _lines(file: Path, objects: Iterator[Mapping[str, Any]]) -> Path:
    with file.open("w", encoding="utf-8") as out:
        out.writelines(json.dumps(item) + "\n" for item in objects)
    return file


def _head(name: str, port: int) -> str:
    target = f'{{http: {{url: "http://127.0.0.1:{port}/", method: POST, json: {{question: "{{{{ case.input }}}}"}}, extract: {{output: output}}}}}}'
    return f"version: 1\nname: {name}\ntarget: {target}\n"


def inline_suite(folder: Path, count: int, port: int = 9) -> Path:
    """A suite file that holds all its cases, each with one check."""
    file = folder / f"inline-{count}.eval.yaml"
    with file.open("w", encoding="utf-8") as out:
        out.write(_head(f"inline-{count}", port) + "cases:\n")
        out.writelines(f'  - id: case-{i:06}\n    input: "Question {i}: what is the answer?"\n{_CHECKS}' for i in range(count))
    return file


def dataset_suite(folder: Path, count: int, port: int) -> Path:
    """The same cases in a JSONL dataset beside a short suite file."""
    _lines(folder / f"cases-{count}.jsonl", ({"id": f"case-{i:06}", "question": f"Question {i}: what is the answer?", "must_contain": [NEEDLE]} for i in range(count)))
    file = folder / f"dataset-{count}.eval.yaml"
    file.write_text(_head(f"dataset-{count}", port) + f"datasets: [cases-{count}.jsonl]\n", encoding="utf-8")
    return file


def model_suite(folder: Path, count: int, port: int) -> Path:
    """The dataset, put to a model behind the Chat Completions API."""
    dataset_suite(folder, count, port)
    file = folder / f"model-{count}.eval.yaml"
    target = f'{{model: {{provider: openai, model: m, base_url: "http://127.0.0.1:{port}/v1"}}}}'
    file.write_text(f"version: 1\nname: model-{count}\ntarget: {target}\ndatasets: [cases-{count}.jsonl]\n", encoding="utf-8")
    return file


def judged_suite(folder: Path, count: int, port: int) -> Path:
    """Answers from a file, each put to a judge behind the same API."""
    _lines(folder / f"judged-{count}.jsonl", ({"id": f"case-{i:06}", "input": f"Question {i}: what is the answer?"} for i in range(count)))
    _lines(folder / f"given-{count}.jsonl", ({"id": f"case-{i:06}", "output": "The answer is forty-two."} for i in range(count)))
    file = folder / f"judged-{count}.eval.yaml"
    file.write_text(
        f"version: 1\nname: judged-{count}\ntarget: {{predictions: given-{count}.jsonl}}\njudge: {{provider: openai, model: m, base_url: 'http://127.0.0.1:{port}/v1'}}\n"
        f"datasets: [judged-{count}.jsonl]\ndefaults:\n  checks: [{{type: rubric, criteria: {{right: The answer names the number}}}}]\n",
        encoding="utf-8",
    )
    return file


def ragbench_cases(folder: Path, count: int) -> Path:
    """Questions with every expectation that the format knows."""
    return _lines(folder / "cases.jsonl", (_ragbench_case(i) for i in range(count)))


def _ragbench_case(i: int) -> dict[str, Any]:
    relevant = [f"doc-{i % 997}", f"doc-{i % 991 + 1000}"]
    expected = f"The refund window of product {i} is thirty days"
    question = f"How long is the refund window of product {i}?"
    return {"id": f"q{i:06}", "question": question, "expected_answer": expected, "relevant_docs": relevant, "must_contain": ["thirty days", f"product {i}"]}


def ragbench_answers(folder: Path, count: int) -> Path:
    """An answer per question: every tenth misses a document, every seventh is worded differently."""
    return _lines(folder / "answers.jsonl", (_ragbench_answer(i) for i in range(count)))


def _ragbench_answer(i: int) -> dict[str, Any]:
    retrieved = [f"doc-{i % 997}", *(f"other-{(i + j) % 503}" for j in range(8)), "doc-none" if i % 10 == 0 else f"doc-{i % 991 + 1000}"]
    answer = f"You have thirty days to return product {i}" if i % 7 == 0 else f"The refund window of product {i} is thirty days."
    return {"id": f"q{i:06}", "answer": answer, "retrieved": retrieved, "contexts": [f"Refund window: product {i} can be returned within thirty days of delivery."]}
