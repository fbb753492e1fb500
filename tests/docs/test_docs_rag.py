"""examples/docs-rag: its golden set fits the documentation, and its chunking decides what is found."""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "docs-rag"
CASES = [json.loads(line) for line in EXAMPLE.joinpath("golden.jsonl").read_text(encoding="utf-8").splitlines() if not line.startswith("//")]


@pytest.fixture(scope="module")
def rag():
    """The example's own module, which lies outside any package."""
    spec = importlib.util.spec_from_file_location("docs_rag", EXAMPLE / "rag.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["docs_rag"] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def sections(rag):
    """Text of each section of the documentation by its name, blanks as they come out of paragraphs."""
    found = {}
    for block in rag.blocks_of_folder(ROOT):
        found[block.section] = f"{found.get(block.section, '')} {block.text}"
    return found


def ask(cases, *options):
    """Answers of the real program to JSON lines, by id."""
    text = "".join(json.dumps(case) + "\n" for case in cases)
    done = subprocess.run([sys.executable, str(EXAMPLE / "rag.py"), *options], input=text, capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    return {answer["id"]: answer for answer in map(json.loads, done.stdout.splitlines())}


def recall(answers):
    """Mean share of a question's relevant sections that were retrieved."""
    return sum(len(set(case["relevant_docs"]) & set(answers[case["id"]]["retrieved"])) / len(case["relevant_docs"]) for case in CASES) / len(CASES)


def test_golden__thirty_questions_each_once():
    """At least thirty different questions, each with its own id."""
    assert len({case["id"] for case in CASES}) == len({case["question"] for case in CASES}) == len(CASES) >= 30


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_golden__refers_to_the_documentation_as_it_is(case, sections):
    """Each relevant section exists, and each phrase to find occurs in one of them."""
    assert set(case["relevant_docs"]) <= set(sections)
    relevant = " ".join(sections[name] for name in case["relevant_docs"]).lower()
    assert [phrase for phrase in case["must_contain"] if phrase.lower() not in relevant] == []


def test_rag__good_chunking_finds_what_is_asked_for():
    """With paragraphs, recall over the golden set is at least the suite's threshold, and every answer is made of its contexts."""
    threshold = yaml.safe_load(EXAMPLE.joinpath("docs-rag.eval.yaml").read_text(encoding="utf-8"))["gate"]["thresholds"]["recall@k"]
    answers = ask(CASES)

    assert recall(answers) >= threshold >= 0.8
    assert all(answer["output"] and answer["contexts"] and len(set(answer["retrieved"])) == len(answer["retrieved"]) for answer in answers.values())


@pytest.mark.parametrize("chunking", ["fixed:120", "whole-file"])
def test_rag__bad_chunking_is_clearly_worse(chunking):
    """Chunks that run across headings lose at least a fifth of the relevant sections."""
    assert recall(ask(CASES)) - recall(ask(CASES, "--chunk", chunking)) >= 0.2


def test_rag__same_answer_every_time():
    """The suite says that the system is deterministic: two runs, and another order of questions, give equal answers."""
    assert ask(CASES) == ask(CASES[::-1])


def test_rag__unknown_chunking():
    """A chunking that does not exist ends the program with a word about the ones that do."""
    done = subprocess.run([sys.executable, str(EXAMPLE / "rag.py"), "--chunk", "sideways"], input="", capture_output=True, text=True, check=False)

    assert done.returncode == 1
    assert "paragraphs, whole-file or fixed:N" in done.stderr


def test_blocks__headings_fences_tables_and_lists(rag):
    """A heading names what follows, a `#` inside a fence is none, rows and items stand alone, heads of tables and comments are dropped."""
    markdown = "# One\n<!-- hidden -->\ntext\nmore `code`\n\n## Two: a/b\n- first\n- second [link](x.md)\n\n```sh\n# no heading\nrun\n```\n"
    markdown += "\n| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |\n# One\nagain\n"

    found = [(block.section, block.heading, block.text) for block in rag.blocks_of("d.md", markdown)]

    assert found == [
        ("d.md#one", "One", "text more code"),
        ("d.md#two-ab", "One Two: a/b", "first"),
        ("d.md#two-ab", "One Two: a/b", "second link"),
        ("d.md#two-ab", "One Two: a/b", "# no heading run"),
        ("d.md#two-ab", "One Two: a/b", "1 : 2"),
        ("d.md#two-ab", "One Two: a/b", "3 : 4"),
        ("d.md#one-1", "One", "again"),
    ]


def test_cut__a_fixed_chunk_is_known_by_the_section_it_starts_in(rag):
    """Words are counted off across headings, per document."""
    blocks = [rag.Block("d.md#a", "A", "one two three"), rag.Block("d.md#b", "B", "four five"), rag.Block("e.md#c", "C", "six")]

    assert [(chunk.section, chunk.text) for chunk in rag.cut(blocks, "fixed:2")] == [("d.md#a", "one two"), ("d.md#a", "three four"), ("d.md#b", "five"), ("e.md#c", "six")]


@pytest.mark.slow
def test_demo__ends_as_told_and_leaves_the_reports(tmp_path):
    """The demo turns the gate red, ends with 0 itself, names the files, and leaves them."""
    done = subprocess.run([sys.executable, str(EXAMPLE / "demo.py"), str(tmp_path / "demo")], capture_output=True, text=True, check=False, cwd=tmp_path)

    assert done.returncode == 0, done.stdout + done.stderr
    verdict = json.loads(tmp_path.joinpath("demo/verdict.json").read_text(encoding="utf-8"))
    assert (verdict["verdict"], verdict["exit_code"]) == ("regressed", 1)
    assert any(reason["code"] == "METRIC_REGRESSED" and reason["metric"] == "recall@k" for reason in verdict["suites"][0]["reasons"])
    assert all(tmp_path.joinpath("demo", name).stat().st_size for name in ("report.md", "junit.xml"))
    assert "report.md" in done.stdout
    assert "exit code 1" in done.stdout


def test_demo__says_when_it_did_not_go_as_told(tmp_path):
    """A folder that is taken ends the demo with 1 and a clear word, and nothing in it is touched."""
    tmp_path.joinpath("mine").write_text("x")

    done = subprocess.run([sys.executable, str(EXAMPLE / "demo.py"), str(tmp_path)], capture_output=True, text=True, check=False)

    assert done.returncode == 1
    assert "did not go as told" in done.stdout
    assert tmp_path.joinpath("mine").read_text() == "x"
