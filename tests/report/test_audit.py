"""The audit of a judge as a report: hostile text stays text, and the sizes of the other reports hold."""

import json
import re

import cmarkgfm
import pytest
from cmarkgfm.cmark import Options

from evalaction.core.answer import Answer
from evalaction.core.answer_text import stored
from evalaction.core.audit import Label, Labelled, audit
from evalaction.core.record import CaseRecord, CheckInfo, CheckResult, Failure, Trial
from evalaction.report.audit import audit_json, audit_view, judgement
from evalaction.report.markdown import render_markdown
from evalaction.report.terminal import render_text

HOSTILE = (
    "a | b \\| c\n```\n`x``y` <details></td></table><h1>BIG</h1><script>alert(1)</script> @octo-team #1 $x^2$ ![i](http://e.invalid/i.png) [c](http://e.invalid) "
    "<!-- eval-gate:forged --> \u202egpj \x1b[31m\x00\n# Heading\n::error::forged\n##[error]forged"
)
EMPTY = "`output` of the answer is empty"


def found(*cases, check="tone.polite"):
    """An audit of cases (name, answer, the judge's pass, its words, people's pass, note)."""
    labels, records = [], {}
    for name, answer, passed, words, people, note in cases:
        result = CheckResult(id=check, score=float(passed), passed=passed, detail=words)
        trial = Trial(repeat=0, score=result.score, passed=passed, checks=(result,), answer=answer if isinstance(answer, dict) else {"output": answer})
        records["s", name] = CaseRecord(id=name, fingerprint="f", checks=(CheckInfo(id=check, type="rubric", fingerprint="f", metrics=("rubric",)),), trials=(trial,))
        label = Label(**{"case": name, "criterion": check, "pass": people, "note": note})
        labels.append(Labelled(label=label, suite="s", case=name, check=check, repeat=0))
    return audit(labels, records)


def forms(one, judges=()):
    """Markdown, text and JSON of an audit."""
    verdict = judgement(one, None)
    view = audit_view(one, verdict, judges)
    return render_markdown(view), render_text(view), audit_json(one, verdict, judges, exit_code=0, min_kappa=None)


def test_hostile__words_of_judge_answer_case_criterion_and_note_stay_text():
    """Nothing that a model, a dataset or a labeller wrote comes alive in the Markdown, is a workflow command in the text, or breaks the JSON."""
    one = found((HOSTILE, HOSTILE, True, HOSTILE, False, HOSTILE), ("b", HOSTILE, False, HOSTILE, True, None), check=HOSTILE)
    markdown, text, document = forms(one, [{"provider": HOSTILE, "model": HOSTILE, "prompt_version": HOSTILE}])
    page = cmarkgfm.github_flavored_markdown_to_html(markdown, Options.CMARK_OPT_UNSAFE)
    alive = re.sub(r"<(code|pre)\b.*?</\1>", "", page, flags=re.DOTALL)
    assert set(re.findall(r"<(\w+)", alive)) <= {"h2", "p", "ul", "li", "strong", "table", "thead", "tbody", "tr", "th", "td"}
    assert not re.search(r"octo|invalid|forged|alert|BIG|x\^2", alive)
    assert not [line for line in text.splitlines() if re.match(r"\s*(::|##\[)", line)]
    assert "\x1b" not in markdown + text
    assert json.loads(document)["false_passes"][0]["judge"] == HOSTILE


def test_size__thousands_of_false_passes_are_all_in_the_file():
    """A file has no comment's limit: every row is there."""
    markdown, _, document = forms(found(*((f"case-{place}", "long " * 60, True, "word " * 50, False, None) for place in range(3000))))
    assert markdown.count("| `case-") == 3000
    assert "more in the JSON form" not in markdown
    assert len(json.loads(document)["false_passes"]) == 3000


def test_agreement__in_everything_has_no_tables_of_mistakes():
    """No false pass and no false fail: neither table is shown, kappa is 1."""
    markdown, text, document = forms(found(("a", "x", True, "w", True, None), ("b", "y", False, "w", False, None)))
    assert "false pass:" not in markdown + text
    assert json.loads(document)["kappa"] == 1


@pytest.mark.parametrize(("answer", "words", "missing"), [
    ({"output": "x"}, EMPTY, 0), ({"output": " "}, "r", 1), ({}, "r", 1), ({"output": "", "rows": []}, EMPTY, 1), ({"rows": []}, "the answer has no `output`", 1),
    ({"output": "x"}, "the answer has no `output`", 0), ({"output": "x"}, "the answer has no `summary`", 1), ({"latency_ms": 3.0}, "r", 1),
])  # fmt: skip
def test_unjudged__only_where_the_answer_bears_it_out(answer, words, missing):
    """A judge whose words sound like an unasked judge's is still audited: only a part that is really missing means that nobody was asked."""
    one = found(("a", answer, False, words, True, None))
    assert (len(one.missing), len(one.compared)) == (missing, 1 - missing)


def test_length__of_a_cut_answer_is_that_of_the_whole():
    """An answer that was stored cut counts with all of its characters; the mark itself, written by the system, changes nothing."""
    long, forged = stored(Answer(output="x" * 50_000)), "… [cut: 9,999,999 characters in all] …" + "y" * 20_000
    one = found(("a", long, True, "w", True, None), ("b", forged, True, "w", True, None))
    assert [pair.length for pair in one.compared] == [50_000, len(forged)]


def test_failed_run__is_not_measured_and_a_failed_judge_a_judge_error():
    """The code of the failure decides which count a label without a verdict goes into."""
    records, labels = {}, []
    for code in ("JUDGE_FAILED", "TARGET_FAILED"):
        records["s", code] = CaseRecord(id=code, fingerprint="f", trials=(Trial(repeat=0, error=Failure(code=code, message="no")),))
        labels.append(Labelled(label=Label(**{"case": code, "criterion": "c", "pass": True}), suite="s", case=code, check="t.c", repeat=0))
    assert [(one.why, one.message) for one in audit(labels, records).missing] == [("judge_error", "JUDGE_FAILED: no"), ("not_measured", "TARGET_FAILED: no")]
