"""A suite that is accepted and gone stands in everything that is written of a run."""

from __future__ import annotations

import json
from xml.etree import ElementTree as ET

import pytest

SINKS = ("--report", "r.md", "--html", "h.html", "--junit", "j.xml")


@pytest.fixture
def gone(work):
    """Two accepted suites of which one is removed; `policy` is the accepted one's word for what is removed."""

    def make(policy: str):
        work.answers(x="yes", y="yes")
        work.suite("x", name="kept")
        work.suite("y", name="lost", gate={"removed_cases": policy})
        work.run("run", ".")
        work.run("accept", "eval-results", "--reason", "r", "--by", "Ada")
        (work.folder / "lost.eval.yaml").unlink()
        return work

    return make


@pytest.mark.parametrize(("policy", "tag", "code"), [("warn", "skipped", 0), ("fail", "failure", 1)])
def test_gone__a_suite_is_named_in_every_sink_and_green_in_none(gone, policy, tag, code):
    """Markdown, HTML, JUnit, JSON and the terminal name it; in JUnit it is skipped or failed, never passed; nobody is told to accept a record that is not there."""
    work = gone(policy)
    done = work.run("gate", ".", *SINKS)
    (case,) = ET.fromstring((work.folder / "j.xml").read_text()).findall("testsuite[@name='lost']/testcase")

    assert done.code == code
    assert [(child.tag, child.get("message").startswith("the suite lost has an accepted baseline")) for child in case] == [(tag, True)]
    assert [suite["reasons"][0]["code"] for suite in done.verdict["suites"] if suite["suite"] == "lost"] == ["SUITE_REMOVED"]
    for text in (done.out, (work.folder / "r.md").read_text(), (work.folder / "h.html").read_text()):
        assert "accepted and not there any more: " in text
        assert "SUITE_REMOVED" in text
        assert "eval-results/lost" not in text


def test_gone__a_report_made_again_names_it_while_it_is_accepted(gone):
    """`report` does not lose what `gate` said, and stops saying it when the baseline goes too; a verdict that cannot be read names nothing."""
    work = gone("fail")
    work.run("gate", ".")
    again = work.run("report", "eval-results", "--junit", "j.xml")
    verdict = work.folder / "eval-results/verdict.json"
    stated = json.loads(verdict.read_text())
    verdict.write_text("{")
    unread = work.run("report", "eval-results")
    verdict.write_text(json.dumps(stated))
    (work.folder / "eval-baselines/lost").rename(work.folder / "elsewhere")
    later = work.run("report", "eval-results")

    assert "not there any more: lost" in again.out
    assert "<failure" in (work.folder / "j.xml").read_text()
    assert "lost" not in later.out
    assert "not there any more" not in unread.out
    assert (again.code, unread.code, later.code) == (0, 0, 0)
