"""What came back, in the reports of runs that were compared with nothing."""

from __future__ import annotations

import json

import pytest


def test_run__shows_the_answers_of_passing_cases_too(work):
    """On the terminal each in a row, in Markdown and on the page folded; a failing case says why and stands apart."""
    work.answers(good="yes", bad="oh no")
    suite = work.suite("good", "bad")

    text, markdown = work.run("run", suite), work.run("run", suite, "--format", "markdown", "--html", "h.html")

    rows = [line.split() for line in text.out.splitlines()]
    assert ["good", "good", "yes", "1"] in rows
    assert '- bad failed equals: expected "yes", got "oh no"' in text.out.splitlines()
    fold = markdown.out.split("<summary>Answers of passing cases (1)</summary>")[1].split("</details>")[0]
    assert fold.split("\n\n")[1] == "| case | asked | answer | now |\n|---|---|---|---|\n| `good` | `good` | `yes` | 1 |"
    assert "Answers of passing cases (1)" in (work.folder / "h.html").read_text()


def test_first_gate__shows_them_and_later_ones_do_not(work):
    """Without a baseline there is nothing else to look at; with one the report is about what changed."""
    work.answers(a="yes")
    suite = work.suite("a")

    first = work.run("gate", suite, "--format", "markdown")
    work.run("accept", "eval-results", "--reason", "first")

    assert "Answers of passing cases" in first.out
    assert "Answers of passing cases" not in work.run("gate", suite, "--format", "markdown").out


def test_answers__of_many_cases_and_hostile_ones__are_bounded_and_harmless(work):
    """Fifty rows at most, long texts cut, and no text of an answer is anything but text."""
    names = [f"c{number:02}" for number in range(60)]
    hostile = "yes | <b>x</b> @octo #1 ::error::x\n##[error]x </details>" + "y" * 5000
    (work.folder / "answers.jsonl").write_text("".join(json.dumps({"id": name, "output": hostile}) + "\n" for name in names))
    suite = work.suite(*names, target={"predictions": "answers.jsonl"}, case_keys={name: {"checks": [{"type": "contains_all", "value": ["yes"]}]} for name in names})

    text, markdown = work.run("run", suite), work.run("run", suite, "--format", "markdown")

    fold = markdown.out.split("Answers of passing cases (60)")[1].split("</details>\n")[0]
    assert (fold.count("\n| `c"), "10 more in the record" in fold, "y" * 301 in fold) == (50, True, False)
    assert "\\|" in fold
    assert not any(line.strip().startswith(("::", "##[")) for line in text.out.splitlines())
    assert "y" * 201 not in text.out.replace("\n", "")


@pytest.mark.parametrize("form", ["text", "markdown"])
def test_answers__of_results_without_any__make_no_empty_table(work, form):
    """Imported results hold no answers: there is no table of nothing."""
    (work.folder / "junit.xml").write_text('<testsuite name="t"><testcase name="a"/></testsuite>')

    done = work.run("run", "--import", "junit", "junit.xml", "--format", form)

    assert (done.code, "answer" in done.out.split()) == (0, False)


def test_ragbench__contexts_that_most_answers_lose__are_missed(work):
    """Groundedness applies where there are contexts, and an answer that had them loses a check of its definition without them: red, case by case."""
    ids = [f"c{number}" for number in range(4)]
    (work.folder / "cases.jsonl").write_text("".join(json.dumps({"id": one, "question": "q", "must_contain": ["days"]}) + "\n" for one in ids))
    whole = [{"id": one, "output": "30 days", "contexts": ["30 days"]} for one in ids]
    (work.folder / "out.jsonl").write_text("".join(json.dumps(line) + "\n" for line in whole))
    work.run("run", "cases.jsonl", "--predictions", "out.jsonl")
    work.run("accept", "eval-results", "--reason", "right")
    bare = [line if line["id"] == "c0" else {"id": line["id"], "output": "30 days"} for line in whole]
    (work.folder / "out.jsonl").write_text("".join(json.dumps(line) + "\n" for line in bare))

    done = work.run("gate", "cases.jsonl", "--predictions", "out.jsonl")

    assert (done.code, done.verdict["verdict"]) == (1, "regressed"), done.err
    assert [(reason["code"], reason["case"], reason["metric"]) for reason in done.suite["reasons"]] == [("METRIC_MISSING", one, "groundedness") for one in ids[1:]]
