"""The report as Markdown: golden files, order, size, safety."""

from __future__ import annotations

import dataclasses
import html
import os
import re
from pathlib import Path

import cmarkgfm
import pytest
from cmarkgfm.cmark import Options

from evalaction.core.verdict import BaselineInfo, MetricVerdict, Reason, Verdict, overall
from evalaction.errors import EvalGateError
from evalaction.report.details import Details, shown_cases
from evalaction.report.markdown import marker_comment, render_markdown
from evalaction.report.said import ours
from evalaction.report.view import build_view

GOLDEN = Path(__file__).parent / "golden"
EXPECTED_TAGS = {"h2", "h3", "p", "ul", "li", "strong", "br", "table", "thead", "tbody", "tr", "th", "td", "details", "summary"}


def page(markdown: str) -> str:
    """What GitHub makes of it: its own parser, nothing sanitised."""
    return cmarkgfm.github_flavored_markdown_to_html(markdown, Options.CMARK_OPT_UNSAFE)


def outside_code(markdown: str) -> str:
    """The page without code, where mentions and the like are alive."""
    return re.sub(r"<(code|pre)\b.*?</\1>", "", page(markdown), flags=re.DOTALL)


def first_line(markdown: str) -> str:
    """The first line a reader sees."""
    return next(line for line in markdown.splitlines() if line.strip() and not line.startswith("<!--"))


@pytest.mark.parametrize("name", ["passed", "regressed", "several", "no_baseline", "not_measured", "config_error", "large", "hostile"])
def test_golden__the_report_is_what_was_last_looked_at(name, samples):
    """Each kind of report is the file that a person has read; EVAL_GATE_REWRITE_GOLDEN=1 writes them anew."""
    made = {
        "passed": (overall((samples.passed_suite(),)), {}),
        "regressed": (overall((samples.regressed_suite(),)), samples.regressed_details()),
        "several": (overall((samples.passed_suite(), samples.regressed_suite(suite="other", key="other")), report_only=True), {}),
        "no_baseline": (samples.no_baseline(), {}),
        "not_measured": (samples.not_measured(), {}),
        "config_error": (samples.config_error(), {}),
        "large": samples.large(600, 40),
        "hostile": samples.hostile(),
    }
    verdict, details = made[name]
    text = render_markdown(build_view(verdict, details, limit=12_000 if name == "large" else 65_536), marker="golden")

    file = GOLDEN / f"{name}.md"
    if os.environ.get("EVAL_GATE_REWRITE_GOLDEN"):
        file.write_text(text, encoding="utf-8")
    assert text == file.read_text(encoding="utf-8")


def test_tables__have_the_headers_of_the_contract(samples):
    """The two tables are there under their exact headers, the metric table first."""
    text = render_markdown(build_view(overall((samples.regressed_suite(),))))

    assert text.index("\n| metric | baseline | this run | change | verdict |\n") < text.index("\n| case | check | baseline | now | change |\n") < text.index("<details>")


def test_first_line__says_that_nothing_was_compared(samples):
    """Without a baseline the first visible line says so, whatever the verdict's word, and in a report of several suites too."""
    bare = samples.passed_suite(
        verdict="below_threshold", baseline=BaselineInfo(), reasons=(Reason(code="BELOW_THRESHOLD", message="m", metric="pass_rate", baseline=0.9, current=0.5),)
    )

    for verdict in (samples.no_baseline(), overall((bare,)), overall((bare, samples.passed_suite(suite="b", key="b")))):
        assert "nothing was compared" in first_line(render_markdown(build_view(verdict), marker="k"))
    assert "`pass_rate` is 0.5, below its threshold of 0.9" in first_line(render_markdown(build_view(overall((bare,)))))


def test_report_only__says_would_fail(samples):
    """Report-only keeps the verdict's word and says in the first line that it would fail."""
    line = first_line(render_markdown(build_view(overall((samples.regressed_suite(),), report_only=True))))

    assert "regressed" in line
    assert "would fail" in line
    assert "would fail" not in first_line(render_markdown(build_view(overall((samples.passed_suite(),), report_only=True))))


def test_headline_block__holds_what_must_not_be_overlooked(samples):
    """Removed cases and checks, loosened policy, unmeasured cases, a filter, a thin baseline and a missing confirmation stand above every fold."""
    head = render_markdown(build_view(overall((samples.regressed_suite(),)))).split("<details")[0]

    for needle in (
        "`case-to-go`",
        "`length` of `tone-of-voice`",
        "tolerance 0.01 → 0.02",
        "`lost`",
        "TARGET_TIMEOUT",
        "`tag smoke`",
        "The baseline holds 1 run",
        "--repeats 5",
        "not confirmed by further runs",
    ):
        assert needle in head, needle


def test_headline_block__says_a_shared_failure_once(samples):
    """Four cases that failed for one reason: the head says the reason once."""
    head = render_markdown(build_view(samples.not_measured())).split("<details")[0]

    assert head.count("connection refused") == 1
    assert "JUDGE_FAILED" in head


def test_headline__names_what_ended_the_run(samples):
    """A run that a signal or a budget ended says so in its first line."""
    suite = samples.passed_suite(verdict="not_measured", reasons=(Reason(code="BUDGET_EXHAUSTED", message="500 calls made, 500 allowed"),))

    assert "the run ended early: `BUDGET_EXHAUSTED` `500 calls made, 500 allowed`" in first_line(render_markdown(build_view(overall((suite,)))))


def test_compared__names_commits_and_who_accepted_why(samples):
    """The report names both commits, the baseline's age, who accepted it and why."""
    text = render_markdown(build_view(overall((samples.passed_suite(),))))

    for needle in ("fedcba987654", "0123456789ab", "3 days ago", "`Grace H`", "`spring cleaning`", "`2026-11`"):
        assert needle in text, needle


def test_statistical_rule__states_what_red_means_and_what_it_cannot_see(samples):
    """Under the statistical rule the report says what red means and the smallest visible drop."""
    suite = samples.passed_suite(
        rule="statistical", metrics=(MetricVerdict(metric="equals", baseline=0.7, current=0.68, delta=-0.02, p_value=0.3, mde=0.0812, verdict="within_noise"),)
    )
    text = render_markdown(build_view(overall((suite,))))

    assert "at most 1 time in 100" in text
    assert "0.0812 of `equals`" in text
    assert "within_noise, p = 0.3" in text


def test_failing_cases__are_listed_where_no_comparison_speaks_for_them(samples):
    """Without a baseline a failing case stands in a table with its failed checks, and its answer below."""
    answers = {"refund-window": (None, samples.record("refund-window", "No.", passed=False, detail='rows[2].storeSales: expected "24597"'))}
    verdict = samples.no_baseline()
    text = render_markdown(build_view(verdict, {"support-bot": Details(answers=answers)}))

    assert shown_cases(verdict.suites[0]) == ("refund-window",)
    assert "| `refund-window` | `equals` | 0 |" in text
    assert "rows[2].storeSales" in text


def test_order__the_largest_drop_and_the_worst_suite_come_first(samples):
    """Regressed rows are sorted by the size of the drop, suites by how bad they are."""
    suite = samples.regressed_suite(cases=(samples.regressed("a-small", before=1.0, now=0.9), samples.regressed("b-large", before=1.0, now=0.0)), warnings=())
    text = render_markdown(build_view(overall((samples.passed_suite(suite="fine"), suite))))

    assert text.index("`b-large`") < text.index("`a-small`")
    assert text.index("### ❌ `support-bot`") < text.index("### ✅ `fine`")


@pytest.mark.parametrize("limit", [65_536, 20_000, 8_000, 3_000, 600])
@pytest.mark.parametrize(("cases", "worse"), [(600, 5), (600, 60), (3_000, 3_000)])
def test_size__is_never_above_the_limit(limit, cases, worse, samples):
    """However much there is, the report fits, is cut by whole rows, and still closes what it opens."""
    verdict, details = samples.large(cases, worse)
    text = render_markdown(build_view(verdict, details, limit=limit), marker="k")

    assert len(text.encode()) <= limit
    assert text.count("<details>") == text.count("</details>")
    assert len([line for line in text.splitlines() if line.startswith("```")]) % 2 == 0
    assert all(line.endswith("|") for line in text.splitlines() if line.startswith("|"))


def test_headline__a_check_that_fell_over_the_suite_is_no_case(samples):
    """A check that got worse over the suite is named and not counted as a case."""
    reason = Reason(code="CHECK_REGRESSED", message="check tone.polite fell over 30 cases", check="tone.polite")
    suite = samples.passed_suite(verdict="regressed", reasons=(reason,))

    head = render_markdown(build_view(overall((suite,)))).split("<details")[0]

    assert "tone.polite" in head
    assert "got worse over the suite" in head
    assert "case of" not in head


def test_headline__not_measured_says_its_word_once(samples):
    """A run that ended before any suite has the word of the verdict once, then what it means."""
    verdict = Verdict(verdict="not_measured", exit_code=3, would_exit=3, reasons=(Reason(code="TARGET_FAILED", message="no answer"),))

    assert "not_measured: not_measured" not in render_markdown(build_view(verdict))


def test_size__all_regressed_rows_stay_and_answers_go_first(samples):
    """600 cases, the last five regressed: all five are there, also when nothing else is."""
    verdict, details = samples.large(600, 5)
    small = render_markdown(build_view(verdict, details, limit=3_000))
    large = render_markdown(build_view(verdict, details))

    for text in (small, large):
        assert all(f"| `case-{index:05}` | `equals` | 1 | 0 (0/3) |" in text for index in range(595, 600))
    assert "no no no" in large
    assert "no no no" not in small
    assert "more" in small


def test_size__too_many_regressed_rows_are_cut_last_and_counted(samples):
    """3,000 regressed cases in 8,000 bytes: rows and the rest add up."""
    text = render_markdown(build_view(*samples.large(3_000, 3_000), limit=8_000))
    rows = text.count("\n| `case-")
    (more,) = re.findall(r"^([\d,]+) more in verdict.json$", text, re.MULTILINE)

    assert rows > 50
    assert rows + int(more.replace(",", "")) == 3_000


def test_size__many_suites_and_wide_letters(samples):
    """Bytes are counted, not letters: 60 suites in Chinese fit, and the suites left out are counted."""
    suites = tuple(samples.regressed_suite(suite="回归测试" * 40, key=f"s{index}", removed_cases=("退款" * 100,) * 30) for index in range(60))
    text = render_markdown(build_view(overall(suites), limit=20_000))

    assert len(text.encode()) <= 20_000
    assert "more suites" in text


def test_size__thousands_of_faults_are_cut_by_whole_rows(samples):
    """A configuration with 5,000 faults fits a comment."""
    verdict = samples.config_error()
    verdict = dataclasses.replace(verdict, reasons=verdict.reasons[:1] * 5_000)
    text = render_markdown(build_view(verdict, limit=10_000))

    assert len(text.encode()) <= 10_000
    assert "more in verdict.json" in text


def test_hostile__every_table_row_has_as_many_cells_as_its_header(samples):
    """Hostile ids, metrics, names, messages and answers break no table."""
    for table in re.findall(r"<table>(.*?)</table>", page(hostile_text(samples)), re.DOTALL):
        width = len(re.findall(r"<th\b", table))
        for row in re.findall(r"<tr>(.*?)</tr>", table, re.DOTALL):
            assert len(re.findall(r"<t[hd]\b", row)) == width


def test_hostile__nothing_foreign_is_alive(samples):
    """Outside code no tag but the report's own, no mention, reference, address, image, formula or comment."""
    text = hostile_text(samples)
    rest = outside_code(text)

    assert set(re.findall(r"</?([a-z][a-z0-9]*)", rest)) <= EXPECTED_TAGS
    assert not re.search(r"octo|evil|forged|#1|GH-2|\$|BIG|Heading", html.unescape(rest))
    assert re.findall(r"<!--.*?-->", text) == ["<!-- eval-gate:k -->"]
    assert not re.search("[\u202a-\u202e\u2066-\u2069\x00-\x08\x0b-\x1f]", text)
    assert "<script" not in text


def hostile_text(samples) -> str:
    """The report in which every foreign text is hostile."""
    return render_markdown(build_view(*samples.hostile()), marker="k")


def test_templates__print_no_text_that_is_not_a_sentence_of_ours(samples):
    """A text that reaches a template without being marked as ours becomes a code span, so that a slip in a template is no hole."""
    view = dataclasses.replace(build_view(samples.no_baseline()), mark="<b>@octo-team</b>")

    assert "## `<\u2060b>@octo-team<\u2060/b>` no_baseline" in render_markdown(view)


@pytest.mark.parametrize("key", ["main", "job (a, b)", "--> <b>", "x\ny", "", "é"])
def test_marker__is_one_well_formed_comment_for_any_key(key, samples):
    """Any key gives a hidden first line of its own; without a key there is none."""
    text = render_markdown(build_view(samples.no_baseline()), marker=key)

    assert re.findall(r"<!--.*?-->", text) == [text.split("\n")[0]] == [marker_comment(key)]
    assert "<!--" not in render_markdown(build_view(samples.no_baseline()))


def test_marker__a_second_comment_in_the_finished_text_is_refused(samples):
    """The marker is checked after rendering: a comment that slipped in raises instead of being published."""
    view = dataclasses.replace(build_view(samples.no_baseline()), notes=(ours("<!-- eval-gate:other -->"),))

    with pytest.raises(EvalGateError, match="hidden comment"):
        render_markdown(view, marker="k")
