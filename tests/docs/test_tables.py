"""The tables and links of README.md and docs/ agree with the code."""

import dataclasses
import re
import typing
from pathlib import Path

import pytest

from evalaction.core import specs
from evalaction.core.answer import PARTS
from evalaction.core.metrics import metric_names
from evalaction.core.spec_base import RAW
from evalaction.core.suite import Limits, Policy, TargetBlock
from evalaction.core.verdict import EXIT_CODES, CaseVerdict, MetricVerdict
from evalaction.datasets.native import NativeCase, SuiteFile
from evalaction.errors import ExitCode

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = sorted([ROOT / "README.md", *ROOT.joinpath("docs").glob("*.md")])
CHECKS = {next(field.default for field in dataclasses.fields(check) if field.name == "type"): check for check in typing.get_args(typing.get_args(specs.Check)[0])}
COMMON = {field.name for field in dataclasses.fields(specs.CheckSpec)}


def text_of(name):
    """The text of a document by its path below the root."""
    return ROOT.joinpath(name).read_text(encoding="utf-8")


def rows_after(name, heading):
    """Rows of the first table after a heading, each a list of cells without the outer blanks."""
    after = text_of(name).split(f"# {heading}\n", 1)[1]
    table = re.search(r"^\|.*\n\|[-| ]+\|\n((?:\|.*\n)+)", after, re.MULTILINE)
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in table[1].splitlines()]


def names_in(cell):
    """What stands in code marks."""
    return set(re.findall(r"`([^`]+)`", cell))


def keys_of(model):
    """The keys of a model as an author writes them."""
    return {field.name.removesuffix("_") for field in dataclasses.fields(model)}


def bare(check, name):
    """A check that has nothing but its type, which is all that its metrics depend on."""
    made = object.__new__(check)
    object.__setattr__(made, "type", name)
    return made


def anchors_of(document):
    """The anchors that GitHub gives to the headings of a document."""
    unfenced = re.sub(r"^```.*?^```$", "", document.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in re.findall(r"^#+ (.+)$", unfenced, re.MULTILINE)}


def test_readme__exit_table_is_the_codes():
    """README's exit table has each code with exactly its verdict words and its meaning."""
    found = {int(code): (names_in(words), meaning) for code, words, meaning in rows_after("README.md", "Exit codes")}

    assert found == {int(code): ({word for word, its in EXIT_CODES.items() if its is code}, code.meaning) for code in ExitCode}


def test_gate__every_verdict_word_with_its_exit_code():
    """Each verdict word stands in gate.md, in the table with its exit code."""
    rows = {word: int(code) for words, code, _ in rows_after("docs/gate.md", "Verdicts") for word in names_in(words)}

    assert rows == {word: int(code) for word, code in EXIT_CODES.items()}


def test_gate__every_word_of_a_case_or_metric():
    """Exactly the words for cases, checks and metrics are explained."""
    words = set(typing.get_args(typing.get_type_hints(CaseVerdict)["verdict"])) | set(typing.get_args(typing.get_type_hints(MetricVerdict)["verdict"]))
    explained = {word for cell, _ in rows_after("docs/gate.md", "Words for cases, checks and metrics") for word in names_in(cell)}

    assert explained == words


@pytest.mark.parametrize("name", CHECKS)
def test_suite__each_check_type(name):
    """The table of checks names each type with all of its parameters and its metrics."""
    check = CHECKS[name]
    row = next(cells for cells in rows_after("docs/suite.md", "Checks") if cells[0] == f"`{name}`")
    parameters = {match[0] for name in names_in(row[1]) if (match := re.match(r"\w+", name))}

    assert keys_of(check) - COMMON - {"type"} <= parameters
    if name.startswith("max_"):
        assert names_in(row[3]) == {name.removeprefix("max_")} <= set(RAW)
    elif check not in (specs.Retrieval, specs.PythonCheck):
        assert names_in(row[3]) == set(metric_names(bare(check, name)))


def test_suite__no_check_type_that_is_not():
    """The table of checks names no type that the code does not know."""
    assert {name for cells in rows_after("docs/suite.md", "Checks") for name in names_in(cells[0])} == set(CHECKS)


@pytest.mark.parametrize(("heading", "model"), [("Keys of a suite", SuiteFile), ("Keys of a case", NativeCase)])
def test_suite__keys(heading, model):
    """The tables of keys have exactly the keys that are read."""
    assert {name for cells in rows_after("docs/suite.md", heading) for name in names_in(cells[0])} == keys_of(model)


def test_suite__parts_of_an_answer():
    """The table of the parts of an answer has exactly those that are read, and the other word for the output."""
    assert {name for cells in rows_after("docs/suite.md", "What an answer is") for name in names_in(cells[0])} == {*PARTS, "answer"}


def test_suite__kinds_of_targets_and_their_keys():
    """The table of targets has each kind, and the limits are named with the key that holds them."""
    assert {name for cells in rows_after("docs/suite.md", "Targets") for name in names_in(cells[0])} == keys_of(TargetBlock)
    assert keys_of(Limits) <= names_in(next(cells[2] for cells in rows_after("docs/suite.md", "Keys of a suite") if cells[0] == "`limits`"))


def test_suite__policy_keys_and_defaults():
    """The table of the gate policy has exactly the keys of the policy, with their defaults."""
    rows = {name: default for key, default, _ in rows_after("docs/suite.md", "Keys of the gate policy") for name in names_in(key)}
    policy = Policy()

    assert set(rows) == keys_of(Policy)
    for name, default in rows.items():
        value = getattr(policy, name)
        said = default.strip("`")
        if isinstance(value, bool | int | float):
            assert float(said) == value
        elif isinstance(value, dict):
            assert (said, value) == ("none", {})
        else:
            assert said == (value if isinstance(value, str) else ", ".join(value))


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_links__lead_somewhere(document):
    """Each relative link names a file that exists, and its anchor a heading of it."""
    unfenced = re.sub(r"^```.*?^```$", "", document.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    broken = []
    for target in re.findall(r"\]\(([^)\s]+)\)", unfenced):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, anchor = target.partition("#")
        path = document.parent / name if name else document
        if not path.exists() or (anchor and anchor not in anchors_of(path)):
            broken.append(target)

    assert broken == []
