"""The report for a terminal, and the last line of the log."""

from __future__ import annotations

import dataclasses
import re

import pytest

from evalaction.core.verdict import EXIT_CODES, Verdict, overall
from evalaction.errors import Fault
from evalaction.report.details import Details
from evalaction.report.faults import render_faults
from evalaction.report.terminal import last_line, render_text
from evalaction.report.view import build_view

COMMAND = re.compile(r"\s*(?:::|##\[)")


def test_text__has_headline_tables_notes_and_warnings(samples):
    """A person at a terminal sees the verdict first, then notes, both tables, errors and warnings."""
    text = render_text(build_view(overall((samples.regressed_suite(),)), samples.regressed_details()), width=120)

    assert text.startswith("regressed: 2 cases of 5 got worse")
    for needle in ("pass_rate", "0.8567", "refund-window", "tone.polite", "case-to-go", "TARGET_TIMEOUT", "warning: equals fell 0.0050", "--repeats 5"):
        assert needle in text, needle
    assert "`" not in text
    assert "**" not in text


def test_text__says_that_nothing_was_compared_in_its_first_line(samples):
    """Without a baseline the first line says that nothing was compared."""
    assert "nothing was compared" in render_text(build_view(samples.no_baseline()), width=120).splitlines()[0]


def test_text__names_every_suite(samples):
    """Of several suites each has its own line with its own verdict."""
    verdict = overall((samples.passed_suite(suite="first", key="first"), samples.regressed_suite(suite="second", key="second")))
    lines = render_text(build_view(verdict), width=120).splitlines()

    assert any(line.startswith("second: regressed") for line in lines)
    assert any(line.startswith("first: passed") for line in lines)


@pytest.mark.parametrize("width", [40, 60, 100])
@pytest.mark.parametrize("colour", [False, True])
def test_text__hostile_words_start_no_command_at_any_width(width, colour, samples):
    """However lines wrap, none is a workflow command, and no terminal sequence comes from foreign text."""
    text = render_text(build_view(*samples.hostile()), width=width, colour=colour)
    bare = re.sub(r"\x1b\[[0-9;]*m", "", text)

    assert [line for line in bare.splitlines() if COMMAND.match(line)] == []
    assert "##[" not in bare
    assert "\x1b" not in bare
    assert colour is ("\x1b" in text)


@pytest.mark.parametrize("word", sorted(EXIT_CODES))
def test_last_line__says_word_code_and_meaning(word):
    """The last line has the verdict's word, its exit code and what they mean, for every verdict there is."""
    code = int(EXIT_CODES[word])
    line = last_line(Verdict(verdict=word, exit_code=code, would_exit=code))

    assert line.startswith(f"eval-gate: {word} (exit {code}): ")
    assert len(line.split("): ", 1)[1]) > 5
    assert "\n" not in line


def test_last_line__examples():
    """A regression reads as the documentation says, and under report-only says both codes."""
    assert last_line(Verdict(verdict="regressed", exit_code=1, would_exit=1)) == "eval-gate: regressed (exit 1): judged, and got worse or is below a threshold"
    held = last_line(Verdict(verdict="regressed", exit_code=0, would_exit=1, report_only=True))
    assert held == "eval-gate: regressed, would fail with exit 1; report-only (exit 0): judged, and got worse or is below a threshold"


def test_faults__one_harmless_line_each():
    """A fault is one line with code, place, what and fix, also when its words are hostile."""
    faults = [
        Fault(code="UNKNOWN_FIELD", what="unknown key chekcs", fix="did you mean checks?", file="s.eval.yaml", line=8, column=5, path="cases[0]"),
        Fault(code="DUPLICATE_ID", what="two cases are called \n::error::forged \x1b[31m", fix="rename one", file="::set-output name=x::y"),
    ]
    first, second = render_faults(faults).splitlines()

    assert first == "UNKNOWN_FIELD s.eval.yaml:8:5 cases[0]: unknown key chekcs. Fix: did you mean checks?"
    assert second == "DUPLICATE_ID ::set-output name=x::y: two cases are called  ⏎ ::error::forged . Fix: rename one."


def test_config_error__is_shown_as_a_table(samples):
    """A verdict without suites shows its faults."""
    text = render_text(build_view(samples.config_error()), width=160)

    assert "evals/s.eval.yaml:8:5" in text
    assert "MISSING_SECRET" in text


def test_text__says_why_a_case_is_red_in_one_line(samples):
    """A failed check is named with its own words; where none failed, the one that got worse is; a flaky case is no red one."""
    suite = samples.passed_suite(verdict="regressed", cases=(samples.regressed("fails"), samples.regressed("sinks", now=0.8), flaky(samples, "shaky")))
    answers = {
        "fails": (None, samples.record("fails", "no", passed=False, detail='expected "yes", got "no"')),
        "sinks": (None, samples.record("sinks", "hm", passed=True, detail="4 of 5")),
        "shaky": (None, samples.record("shaky", "no", passed=False, detail="expected")),
    }  # fmt: skip

    lines = render_text(build_view(overall((suite,)), {"support-bot": Details(answers=answers)}), width=120).splitlines()

    assert [line for line in lines if " equals: " in line] == [
        '- fails failed equals: expected "yes", got "no"', "- sinks got worse in equals: 4 of 5; the answer now: hm"
    ]  # fmt: skip


def flaky(samples, case):
    """A case that passed at last."""
    return dataclasses.replace(samples.regressed(case), verdict="flaky")


def test_text__why__is_bounded(samples):
    """Of many red cases twenty say why, and how many more there are."""
    names = [f"c{number:02}" for number in range(30)]
    suite = samples.passed_suite(verdict="regressed", cases=tuple(map(samples.regressed, names)))
    answers = {name: (None, samples.record(name, "no", passed=False, detail="wrong " * 100)) for name in names}

    text = render_text(build_view(overall((suite,)), {"support-bot": Details(answers=answers)}), width=4000)

    assert (text.count("failed equals"), "10 more in the record" in text, max(map(len, text.splitlines())) < 300) == (20, True, True)
    assert text.count("the answer now: ") == 3


def test_text__a_warning_that_only_sounds_like_one_of_the_headline__is_listed(samples):
    """What a warning is rests on its kind and not on its first words."""
    suite = samples.passed_suite(warnings=("the baseline holds a grudge", "partial run (of a river)"), doubts=())

    assert {"warning: the baseline holds a grudge", "warning: partial run (of a river)"} <= set(render_text(build_view(overall((suite,))), width=120).splitlines())
