"""examples/saiku, examples/golden-set and examples/ragbench do what their READMEs say."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.vendors import KEY, Object, Vendor

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def example(tmp_path):
    """Copies an example and runs eval-gate in it: (name, arguments, variables) → the process that ended."""

    def run(name, *arguments, **variables):
        folder = tmp_path / name
        if not folder.exists():
            shutil.copytree(ROOT / "examples" / name, folder)
        kept = {key: value for key, value in os.environ.items() if not key.startswith(("SAIKU_", "ANTHROPIC_", "GITHUB_"))}
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        command = [sys.executable, "-m", "evalaction", *arguments]
        return subprocess.run(command, cwd=folder, env={**kept, "PATH": path, "PYTHONPATH": str(ROOT), **variables}, capture_output=True, text=True, check=False, timeout=100)

    return run


def test_saiku_example__against_its_answers__passes_all_four_cases(example):
    """The seed's own suite with right answers."""
    done = example("saiku", "gate", "foodmart-sales.eval.yaml", "--predictions", "answers.jsonl")
    assert (done.returncode, done.stderr.splitlines()[-1][:22]) == (0, "eval-gate: no_baseline")
    assert "4/4 passed, 0 failed, 0 degraded, 0 skipped" in done.stdout


@pytest.mark.parametrize(("score", "code", "word"), [(4, 0, "passed"), (3, 1, "regressed")])
def test_golden_set_example__with_a_judge__passes_from_four_of_five(example, score, code, word):
    """The seed's own three cases: two are scored by rule, one by a model that gives each criterion a score."""
    judge = Vendor(lambda body, _number: Object({"criteria": {name: {"score": score, "reason": "r"} for name in _criteria(body)}}))
    try:
        arguments = ("gate", "golden.json", "--exec", "python app.py", "--judge", "anthropic:judge-1", "--baseline", "eval/baseline-score.txt")
        done = example("golden-set", *arguments, ANTHROPIC_API_KEY=KEY, ANTHROPIC_BASE_URL=judge.base_url("anthropic"))
    finally:
        judge.stop()
    assert (done.returncode, done.stdout.partition(":")[0]) == (code, word), done.stdout + done.stderr
    assert "suite level only" in done.stdout.replace("\n", " ")


def _criteria(body):
    return body["tools"][0]["input_schema"]["properties"]["criteria"]["required"]


def test_ragbench_example__a_change_that_loses_documents__is_red(example):
    """Recall falls from 1 to 0.75 over two questions: above the threshold, and named all the same."""
    assert example("ragbench", "run", "cases.jsonl", "--exec", "python my_rag.py", "--label", "main").returncode == 0
    arguments = ("--baseline-label", "main", "--threshold", "recall@k=0.5", "--format", "json")
    assert example("ragbench", "gate", "cases.jsonl", "--exec", "python my_rag.py", *arguments).returncode == 0
    done = example("ragbench", "gate", "cases.jsonl", "--exec", "CHUNKS=new python my_rag.py", *arguments)
    reasons = json.loads(done.stdout)["suites"][0]["reasons"]
    assert (done.returncode, {reason["metric"] for reason in reasons if reason["code"] == "METRIC_REGRESSED"}) == (1, {"recall@k", "ndcg@k"})
