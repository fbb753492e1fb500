"""The pages: self-contained, escaped, and the same figures as everywhere else."""

from __future__ import annotations

import re
import sys
import xml.etree.ElementTree as ET
from html.parser import HTMLParser

import pytest

from evalaction.core.acceptance import Acceptance
from evalaction.core.verdict import overall
from evalaction.report.charts import Point, trend_chart
from evalaction.report.history_page import flakiest, render_history_page
from evalaction.report.html import render_html
from evalaction.report.view import build_view
from evalaction.store.history import PastRun
from tests.making import baseline, case, record, verdict

HOSTILE = "</title><script>alert(1)</script><img src=//evil.example/x onerror=alert(1)>\u202e"


def run(place, *, failing=None, metrics=None, **fields):
    common = {"started_at": f"2026-01-{place + 1:02d}T10:00:00Z", "key": "s", "suite": "s", "verdict": "passed", "commit": "c0ffee", "cases": 2, "errors": 0}
    return PastRun(**{**common, "metrics": metrics or {"pass_rate": 1.0}, "failing": failing or {}, **fields})


class Tags(HTMLParser):
    """Names and attributes of all tags of a page."""

    def __init__(self, page):
        super().__init__()
        self.found = []
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        """One tag."""
        self.found.append((tag, dict(attributes)))


def assert_self_contained(page):
    """No script, no handler, no address but the name of SVG's namespace, nothing that a browser would fetch."""
    tags = Tags(page).found
    assert not {tag for tag, _ in tags} & {"script", "img", "iframe", "object", "embed", "link", "base", "form", "audio", "video"}
    assert not [name for _, attributes in tags for name in attributes if name.startswith("on") or name in ("src", "href", "xlink:href", "action")]
    assert set(re.findall(r"https?://[^\"'\s<)]+", page)) <= {"http://www.w3.org/2000/svg"}
    assert "@import" not in page
    assert "url(" not in page.replace("url(#", "(#")


def page_of(before, now):
    suite = verdict(before, now)
    return render_html(build_view(overall((suite,))))


def test_report__hostile_names_are_text(tmp_path):
    """Names and reasons from a suite or a baseline come out escaped, and the page fetches and runs nothing."""
    page = page_of(baseline(case(HOSTILE, 1.0), suite=HOSTILE), record(case(HOSTILE, 0.0), suite=HOSTILE))

    assert_self_contained(page)
    assert "&lt;script&gt;alert(1)" in page
    assert "\u202e" not in page


def test_report__figures_are_those_of_the_other_reports():
    """Verdict, tables and marks are those of the view: words of ours in bold, foreign words as code."""
    page = page_of(baseline(case("a", 1.0), case("b", 1.0)), record(case("a", 0.5), case("b", 1.0)))

    assert "regressed: 1 case of 2 got worse" in page
    assert "<strong>regressed</strong>" in page
    assert re.search(r"<td><code>a</code></td><td><code>equals</code></td><td>1</td><td>0.5</td>", page)


def test_history__is_self_contained_with_a_chart_per_metric():
    """Each metric has a drawing with every value, whatever the suite is called; scripts of the chart library are gone."""
    runs = [run(place, suite=HOSTILE, metrics={"pass_rate": 1 - place / 10, HOSTILE: 0.5, "latency_ms": 1000.0 + place}) for place in range(5)]

    page = render_history_page(runs, {"s": [Acceptance(reason=HOSTILE, accepted_at="2026-01-02T12:00:00Z", accepted_by=HOSTILE)]})

    drawings = re.findall(r"<svg.*?</svg>", page, re.DOTALL)
    assert_self_contained(page)
    assert len(drawings) == 3
    assert all(drawing.count("</circle>") + drawing.count("<circle") >= len(runs) and ET.fromstring(drawing) is not None for drawing in drawings)
    assert "0.7, passed, 2026-01-04" in drawings[0]
    assert "accepted" in drawings[0]


def test_history__without_runs_says_so():
    """An empty history is a page that says that nothing is known."""
    assert "No past run is known here" in render_history_page([], {})


@pytest.mark.parametrize(
    ("outcomes", "changes", "mixed"),
    [([None, (0, 1), None, (0, 1)], 3, 0), ([(1, 2), (1, 2)], 0, 2), ([(0, 1), (0, 1), (0, 1)], None, None), ([None, None, (0, 1)], None, None)],
)
def test_flakiest__moves_without_an_end(outcomes, changes, mixed):
    """A case that changes more than once, or passes and fails in one run, is flaky; one that always fails, or broke once, is not."""
    runs = [run(place, failing={} if outcome is None else {"a": outcome}) for place, outcome in enumerate(outcomes)]

    assert [(one.changes, one.mixed) for one in flakiest(runs)] == ([] if changes is None else [(changes, mixed)])


def test_chart__leaves_the_search_for_modules_as_it_was():
    """The chart library's obsolete finder does not stay: every finder can be asked the way Python asks."""
    trend_chart("pass_rate", [Point("2026-01-01T00:00:00Z", 1.0, "1")], fraction=True)

    assert all(hasattr(finder, "find_spec") for finder in sys.meta_path)
