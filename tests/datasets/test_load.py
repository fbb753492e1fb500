"""Which files are meant, and what a whole load costs."""

from __future__ import annotations

import subprocess
import sys
import tracemalloc

import pytest

from evalaction.core.fingerprint import suite_digest
from evalaction.core.suite import ExecTarget
from tests.datasets.conftest import HEAD

BODY = "cases: [{id: a, input: x, checks: [{type: equals, value: x}]}]\n"


def native(name):
    """A suite of one case."""
    return f"version: 1\nname: {name}\ntarget: {{exec: x}}\n" + BODY


@pytest.fixture
def evals(room):
    """A tree of suites, one of them hidden, and a file that is none."""
    for name in ("a", "b/c", "b/d", ".hidden/e"):
        room.put(f"evals/{name}.eval.yaml", native(name.replace("/", "-").strip(".")))
    room.put("evals/notes.yaml", "not: a suite")
    return room


@pytest.mark.parametrize(
    ("patterns", "files"),
    [
        (["evals"], ["a", "b/c", "b/d"]),
        (["evals/**/*.eval.yaml"], ["a", "b/c", "b/d"]),
        (["evals/b"], ["b/c", "b/d"]),
        (["evals/*.eval.yaml"], ["a"]),
        (["evals/b/[c].eval.yaml"], ["b/c"]),
        (["evals/a.eval.yaml", "evals"], ["a", "b/c", "b/d"]),
        (["./evals/../evals/a.eval.yaml"], ["a"]),
        (["evals/.hidden"], [".hidden/e"]),
    ],
)
def test_patterns__files_folders_and_globs__find_each_suite_once(evals, patterns, files):
    """Folders are searched, hidden ones only when named; files are shown relative to the working directory."""
    assert [suite.file for suite in evals.load(*patterns)] == [f"evals/{name}.eval.yaml" for name in files]


def test_pattern__that_is_also_a_file__is_the_file(room):
    """A literal path wins over a pattern."""
    room.put("x[1].eval.yaml", native("literal"))
    room.put("x1.eval.yaml", native("other"))
    assert room.one("x[1].eval.yaml").name == "literal"


@pytest.mark.parametrize(
    ("patterns", "code"),
    [([], "NO_SUITE"), (["evlas/**/*.eval.yaml"], "NO_SUITE"), (["gone.eval.yaml"], "FILE_NOT_FOUND"), (["empty"], "NO_SUITE"), (["x" * 5000], "FILE_NOT_FOUND")],
)
def test_pattern__that_finds_nothing__is_refused_by_name(room, patterns, code):
    """A typo never becomes a green run of nothing."""
    (room.root / "empty").mkdir()
    (fault,) = room.faults(room.load, *patterns)
    assert fault.code == code
    assert all(pattern[:20] in str(fault) for pattern in patterns)


def test_two_suites__of_one_key__name_both_files(room):
    """They would share a folder of results and a baseline."""
    room.put("a.eval.yaml", native("same"))
    room.put("b.eval.yaml", native("same"))
    (fault,) = room.faults(room.load, "a.eval.yaml", "b.eval.yaml")
    assert (fault.code, fault.file, "a.eval.yaml" in fault.what) == ("DUPLICATE_ID", "b.eval.yaml", True)


def test_suite__as_loaded__has_key_digest_and_folder(evals):
    """The digest is that of the cases, whatever file they come from."""
    suite = evals.one("evals/a.eval.yaml")
    assert (suite.key, suite.digest) == ("a", suite_digest(suite.cases))


@pytest.mark.parametrize(
    "content",
    ["just text", "5", "- 5\n- x\n", "{}", "[]", b"\xff\xfe", "a: &a {b: *a}", "version: 1\nname: [x]\ntarget: {exec: {command: 5, env: 3}}\ncases: {a: b}\ndatasets: x\n"],
)
@pytest.mark.parametrize("name", ["s.eval.yaml", "s.json", "s.jsonl", "s.csv", "s.bin"])
def test_file__of_nonsense__ends_in_faults_with_its_name(room, name, content):
    """Whatever a file holds, the answer is a list of faults."""
    room.put(name, content)
    faults = room.faults(room.load, name, target=ExecTarget(command="x"))
    assert {fault.file for fault in faults} == {name}


def test_thousand_inline_cases__validated_in_a_fresh_process__cost_little(room):
    """1000 cases of six lines take half a second of CPU with all imports on an idle machine; a busy one gets three times that."""
    case = '  - id: case-{0}\n    input: What is the number {0}?\n    tags: [smoke]\n    checks:\n      - type: contains_all\n        value: ["30 days", x{0}]\n'
    room.put("s.eval.yaml", HEAD + "cases:\n" + "".join(case.format(index) for index in range(1000)))
    script = (
        "import resource, sys\nfrom pathlib import Path\nfrom evalaction.datasets.load import load_suites\nfrom evalaction.datasets.overrides import Overrides\n"
        "here = Path(sys.argv[1])\nassert len(load_suites(['s.eval.yaml'], Overrides(), {}, here, here)[0].cases) == 1000\n"
        "used = resource.getrusage(resource.RUSAGE_SELF)\nprint(used.ru_utime + used.ru_stime)"
    )
    done = subprocess.run([sys.executable, "-c", script, str(room.root)], capture_output=True, text=True, check=True, cwd=sys.path[0] or ".")
    assert float(done.stdout) < 1.5


def test_ragbench_case__kept__takes_less_than_two_kilobytes(room):
    """Half a million checks fit into memory."""
    line = (
        '{{"id":"q{0:06}","question":"What does document {0} say about the refund window?","expected_answer":"{0} days",'
        '"relevant_docs":["doc-{0}","doc-x{0}"],"must_contain":["refund","{0}"]}}\n'
    )
    room.put("c.jsonl", "".join(line.format(index) for index in range(3000)))
    room.load("c.jsonl", target=ExecTarget(command="x"))  # warm: models and caches are built once
    tracemalloc.start()
    suite = room.one("c.jsonl", target=ExecTarget(command="x"))
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert kept / len(suite.cases) < 2048
