"""examples/saiku, examples/golden-set and examples/ragbench do what their READMEs say."""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path

import pytest

from tests.running import run_here
from tests.vendors import KEY, Object, Vendor

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def example(tmp_path):
    """Copies an example and runs eval-gate in it: (name, arguments, variables) → how it ended."""

    def run(name, *arguments, **variables):
        folder = tmp_path / name
        if not folder.exists():
            shutil.copytree(ROOT / "examples" / name, folder)
        kept = {key: value for key, value in os.environ.items() if not key.startswith(("SAIKU_", "ANTHROPIC_", "GITHUB_"))}
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        return run_here(arguments, folder, {**kept, "PATH": path, **variables})

    return run


def test_saiku_example__against_its_answers__passes_all_four_cases(example):
    """The seed's own suite with right answers."""
    done = example("saiku", "gate", "foodmart-sales.eval.yaml", "--predictions", "answers.jsonl")
    assert (done.code, done.err.splitlines()[-1][:22]) == (0, "eval-gate: no_baseline")
    assert "4/4 passed, 0 failed, 0 degraded, 0 skipped" in done.out


@pytest.mark.parametrize(("score", "code", "word"), [(4, 0, "passed"), (3, 1, "regressed")])
def test_golden_set_example__with_a_judge__passes_from_four_of_five(example, score, code, word):
    """The seed's own three cases: two are scored by rule, one by a model that gives each criterion a score."""
    judge = Vendor(lambda body, _number: Object({"criteria": {name: {"score": score, "reason": "r"} for name in _criteria(body)}}))
    try:
        arguments = ("gate", "golden.json", "--exec", "python app.py", "--judge", "anthropic:judge-1", "--baseline", "eval/baseline-score.txt")
        done = example("golden-set", *arguments, ANTHROPIC_API_KEY=KEY, ANTHROPIC_BASE_URL=judge.base_url("anthropic"))
    finally:
        judge.stop()
    assert (done.code, done.out.partition(":")[0]) == (code, word), done.printed
    assert "suite level only" in done.out.replace("\n", " ")


def _criteria(body):
    return body["tools"][0]["input_schema"]["properties"]["criteria"]["required"]


def test_ragbench_example__a_change_that_loses_documents__is_red(example):
    """Recall falls from 1 to 0.75 over two questions: above the threshold, and named all the same."""
    assert example("ragbench", "run", "cases.jsonl", "--exec", "python my_rag.py", "--label", "main").code == 0
    arguments = ("--baseline-label", "main", "--threshold", "recall@k=0.5", "--format", "json")
    assert example("ragbench", "gate", "cases.jsonl", "--exec", "python my_rag.py", *arguments).code == 0
    done = example("ragbench", "gate", "cases.jsonl", "--exec", "CHUNKS=new python my_rag.py", *arguments)
    reasons = json.loads(done.out)["suites"][0]["reasons"]
    assert (done.code, {reason["metric"] for reason in reasons if reason["code"] == "METRIC_REGRESSED"}) == (1, {"recall@k", "ndcg@k"})
