"""A system under test that writes into the folder of the results while it is measured: what it writes is no record."""

from __future__ import annotations

import json

import pytest
import yaml


def system(work, script: str, name: str = "s", *ids: str, **top) -> str:
    """A suite whose system runs a Python script for every case; the answer is what it prints."""
    (work.folder / f"{name}.py").write_text(f"import glob, json, os, pathlib, sys\nasked = sys.stdin.read()\n{script}\n")
    document = {
        "version": 1, "name": name, "target": {"exec": {"command": ["python3", f"{name}.py"], "protocol": "text"}}, "limits": {"max_concurrency": 1}, **top,
        "cases": [{"id": one, "input": one, "checks": [{"type": "equals", "value": "yes"}]} for one in ids or ("a", "b")],
    }  # fmt: skip
    (work.folder / f"{name}.eval.yaml").write_text(yaml.safe_dump(document, sort_keys=False))
    return f"{name}.eval.yaml"


WAIT = "import time\nwhile not os.path.exists('eval-results/s/cases/a.json'): time.sleep(0.01)\npath = pathlib.Path('eval-results/s/cases/a.json')\n"
BETTER = """path.write_text(path.read_text().replace('"score": 0.0', '"score": 1.0').replace('"passed": false', '"passed": true'))"""
FORGERIES = {
    "a case made better": BETTER,
    "a case more": "path.with_name('zzz.json').write_text('{}')",
    "a case less": "path.unlink()",
    "a pipe for a case": "path.unlink()\nos.mkfifo(path)",
}


def after_a(script: str) -> str:
    """A system that answers wrongly, and does something else too when it is asked `b` and the file of `a` is written."""
    steps = "\n".join(f"    {line}" for line in (WAIT + script).splitlines())
    return f"if asked == 'b':\n{steps}\nprint('no')"


@pytest.mark.parametrize("forgery", FORGERIES.values(), ids=FORGERIES)
def test_forged__a_case_file_that_the_system_touched__ends_the_run_and_is_no_record(work, forgery):
    """Exit 2 names the file; the header goes, so that nobody can accept what is left."""
    done = work.run("gate", system(work, after_a(forgery)))

    assert (done.code, done.verdict["verdict"], done.verdict["reasons"][0]["code"]) == (2, "config_error", "INVALID_RECORD")
    assert done.verdict["reasons"][0]["file"].startswith("eval-results/s/cases/")
    assert not (work.folder / "eval-results/s/record.json").exists()
    assert work.run("accept", "eval-results", "--reason", "r").code == 2


def test_forged__the_record_of_a_suite_measured_before__is_found_too(work):
    """The target of one suite reaches into the finished record of another."""
    first = system(work, "print('yes')", "first")
    forge = "path = pathlib.Path('eval-results/first/record.json')\npath.write_text(path.read_text().replace('\"deterministic\": false', '\"deterministic\": true'))\nprint('yes')"
    done = work.run("run", first, system(work, forge, "second"))

    assert (done.code, done.verdict["reasons"][0]["file"]) == (2, "eval-results/first/record.json")
    assert not (work.folder / "eval-results/first/record.json").exists()


def test_forged__the_record_of_answers_from_a_file__is_found_too(work):
    """Nobody asks for them, and a system of another suite in the same run can reach them."""
    (work.folder / "answers.jsonl").write_text('{"id": "a", "output": "no"}\n')
    case = {"id": "a", "input": "x", "checks": [{"type": "equals", "value": "yes"}]}
    document = {"version": 1, "name": "filed", "target": {"predictions": {"path": "answers.jsonl"}}, "cases": [case]}
    (work.folder / "filed.eval.yaml").write_text(yaml.safe_dump(document))
    done = work.run("run", "filed.eval.yaml", system(work, f"path = pathlib.Path('eval-results/filed/cases/a.json')\n{BETTER}\nprint('yes')", "s", "a"))

    assert (done.code, done.verdict["reasons"][0]["file"]) == (2, "eval-results/filed/cases/a.json")


def test_forged__runs_that_are_read_back_between_passes__decide_nothing(work):
    """A suspicious case is asked again, and its earlier runs come from disk: a system that makes them better there is found out before they count."""
    system(work, "print('yes')")
    work.run("run", "s.eval.yaml")
    work.run("accept", "eval-results", "--reason", "r", "--by", "Ada")
    done = work.run("gate", system(work, after_a(BETTER), deterministic=True))

    assert (done.code, done.verdict["reasons"][0]["code"]) == (2, "INVALID_RECORD")


def test_forged__a_verdict_is_that_of_the_run(work):
    """What the system writes into verdict.json is replaced at the end by what was measured."""
    forge = "pathlib.Path('eval-results/verdict.json').write_text('{\"verdict\": \"passed\"}')\nprint('no')"
    done = work.run("gate", system(work, forge))

    assert (done.code, done.verdict["verdict"]) == (0, "no_baseline")
    assert json.loads((work.folder / "eval-results/s/cases/a.json").read_text())["trials"][0]["score"] == 0


def test_untouched__a_suite_with_further_passes_is_verified_and_stands(work):
    """Runs that are added to a case, and a header that is written again, are our own."""
    system(work, "print('yes')", "s", "a")
    work.run("run", "s.eval.yaml")
    work.run("accept", "eval-results", "--reason", "r", "--by", "Ada")
    done = work.run("gate", system(work, "print('no')", "s", "a", deterministic=True))

    assert (done.code, done.verdict["verdict"]) == (1, "regressed")
    assert len(json.loads((work.folder / "eval-results/s/cases/a.json").read_text())["trials"]) == 3


RECORD = "import shutil\nfor part in ('cases', 'record.json'):\n    (shutil.copytree if part == 'cases' else shutil.copy)(f'good/s/{part}', f'{place}/{part}')\nprint('no')"


@pytest.mark.parametrize("place", ["eval-results", "eval-results/s/blame/base", "eval-results/s/blame/x"])
def test_forged__a_record_where_none_of_the_run_can_be__ends_the_run_and_is_none(work, place):
    """In the folder of the results itself it would stand for all of them, and beside a suite for what a base system said."""
    work.run("run", system(work, "print('yes')"), "--out", "good")
    done = work.run("run", system(work, f"place = {place!r}\nos.makedirs(place, exist_ok=True)\n{RECORD}\nsys.exit(0)", "s", "a"))

    assert (done.code, done.verdict["reasons"][0]["code"], done.verdict["reasons"][0]["file"]) == (2, "INVALID_RECORD", f"{place}/record.json")
    assert not (work.folder / place / "record.json").exists()


def test_forged__what_the_base_system_said__is_held_as_well(work):
    """A base system that makes its own record worse, so that a later report would blame it, is found out like the suite's target."""
    suite = system(work, "print('yes')")
    work.run("run", suite)
    work.run("accept", "eval-results", "--reason", "r", "--by", "Ada")
    wait = "for _ in range(100):\n        path.exists() or time.sleep(0.01)"
    hurt = f"path = pathlib.Path('eval-results/s/blame/base/cases/a.json')\nif asked == 'b':\n    {wait}\n    path.exists() and path.write_text('{{}}')"
    (work.folder / "base.py").write_text(f"import pathlib, sys, time\nasked = sys.stdin.read()\n{hurt}\nprint('yes')\n")
    system(work, "print('no')", blame={"command": ["python3", "base.py"]}, gate={"rule": "tolerance"})
    done = work.run("gate", suite)

    assert (done.code, done.verdict["reasons"][0]["code"]) == (2, "INVALID_RECORD")
    assert done.verdict["reasons"][0]["file"] == "eval-results/s/blame/base/cases/a.json"


def test_results__in_a_folder_that_is_a_record__are_refused_before_anything_is_asked(work):
    """Whoever reports or accepts that folder would get the old record, and not what was measured."""
    work.run("run", system(work, "print('yes')"), "--out", "good")
    done = work.run("run", system(work, "open('asked', 'w')\nprint('no')"), "--out", "good/s")

    assert (done.code, "INVALID_INPUT" in done.err, (work.folder / "asked").exists()) == (2, True, False)
    assert (work.folder / "good/s/record.json").exists()
