"""`judge-audit`, from labels of people to the exit code."""

from __future__ import annotations

import json

import pytest

from tests.vendors import KEY, Object, Status, told, vendors, verdicts

RUBRIC = {"id": "tone", "type": "rubric", "criteria": {"polite": "Is polite", "short": "Is short"}}
POLITE = {"id": "tone", "type": "rubric", "criteria": {"polite": "Is polite"}}


@pytest.fixture
def start(monkeypatch):
    """Starts a scripted model; the key is set."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    with vendors() as starter:
        yield starter


class Audits:
    """A judged record and labels beside it."""

    def __init__(self, work, start):
        self.work, self.start = work, start

    def measure(self, says, *, name="s", checks=(POLITE,), repeats=1, code=0, answers=None):
        """A record of cases c0, c1, …: the judge's verdict on each, a reply of its own, or a status."""
        ids = [f"c{place}" for place in range(len(says))]

        def reply(body, _number):
            said = next(verdict for one, verdict in zip(ids, says, strict=True) if f"I am {one}." in told(body))
            return Object(verdicts(polite=said)) if isinstance(said, bool) else said

        block = {"provider": "anthropic", "model": "judge-1", "base_url": self.start(reply).base_url("anthropic")}
        suite = self.work.suite(*ids, name=name, judge=block, case_keys={one: {"checks": list(checks)} for one in ids})
        self.work.answers(**{one: f"I am {one}.{' Very.' * place}" for place, one in enumerate(ids)} | (answers or {}))
        assert self.work.run("run", suite, "--repeats", str(repeats), "--max-concurrency", "1").code == code

    def labels(self, *labels):
        """Write the labels: pairs of a case and a verdict, or whole lines."""
        lines = [{"case": label[0], "criterion": "tone.polite", "pass": label[1]} if isinstance(label, tuple) else label for label in labels]
        (self.work.folder / "labels.jsonl").write_text("".join(line if isinstance(line, str) else json.dumps(line) + "\n" for line in lines))

    def audit(self, *options, record="eval-results"):
        """Run the command."""
        return self.work.run("judge-audit", record, "--labels", "labels.jsonl", *options)

    def document(self, *options, code=0):
        """Run it for JSON."""
        done = self.audit("--format", "json", *options)
        assert done.code == code, done.err
        return json.loads(done.out)


@pytest.fixture
def audits(work, start):
    """A workspace with a judge."""
    return Audits(work, start)


def test_figures__of_ten_labels(audits):
    """Six agreed passes, two agreed fails, one of each mistake: agreement 0.8, kappa 0.5238 with its interval, both lists, the judge's words, no calls."""
    audits.measure([True] * 7 + [False] * 3)
    audits.labels(*((f"c{place}", place < 6 or place == 7) for place in range(10)))
    document = audits.document()
    assert (document["agreement"], round(document["kappa"], 4)) == (0.8, 0.5238)
    assert document["kappa_interval"][0] < document["kappa"] < document["kappa_interval"][1]
    assert document["confusion"] == {"both_pass": 6, "false_pass": 1, "false_fail": 1, "both_fail": 2}
    assert [(one["case"], one["judge"], one["score"]) for one in document["false_passes"]] == [("c6", "because of polite", 1.0)]
    assert [(one["case"], one["answer"]) for one in document["false_fails"]] == [("c7", "I am c7." + " Very." * 7)]
    assert document["judges"] == [{"provider": "anthropic", "model": "judge-1", "votes": 1, "prompt_version": "1"}]


def test_verbosity__shows_a_judge_that_likes_short_answers(audits):
    """The judge passes the seven shortest of ten, people passed at random: its score goes down with the length, theirs less."""
    audits.measure([True] * 7 + [False] * 3)
    audits.labels(*((f"c{place}", place % 2 == 0) for place in range(10)))
    found = audits.document()["verbosity"]
    assert found["judge"]["correlation"] < -0.7 < found["people"]["correlation"]
    assert found["judge"]["p_value"] < 0.05


def test_min_kappa__decides_the_exit_code(audits):
    """Below it exit 1 with both figures in the last line, at or above it exit 0; without it no figure is judged."""
    audits.measure([True] * 7 + [False] * 3)
    audits.labels(*((f"c{place}", place < 6 or place == 7) for place in range(10)))
    low, high, none = audits.audit("--min-kappa", "0.6"), audits.audit("--min-kappa", "0.5"), audits.audit()
    assert (low.code, low.last_line) == (1, "eval-gate: below_threshold (exit 1): kappa 0.5238 is below --min-kappa 0.6")
    assert (high.code, high.last_line) == (0, "eval-gate: passed (exit 0): kappa 0.5238 reaches --min-kappa 0.5")
    assert none.last_line.startswith("eval-gate: published (exit 0): judge and people agree in 0.8 of 10 verdicts, kappa 0.5238 (95%: ")


@pytest.mark.parametrize("value", ["nan", "-0.1", "1.1", "x", "inf"])
def test_min_kappa__out_of_range_is_refused(audits, value):
    """NaN would switch the threshold off."""
    audits.measure([True])
    audits.labels(("c0", True))
    done = audits.audit("--min-kappa", value)
    assert (done.code, "INVALID_INPUT" in done.err) == (2, True)


def test_min_kappa__of_verdicts_of_one_kind_cannot_be_judged(audits):
    """Where judge and people said pass every time there is no kappa, and no pass of the threshold."""
    audits.measure([True, True])
    audits.labels(("c0", True), ("c1", True))
    done = audits.audit("--min-kappa", "0.1")
    assert (done.code, "kappa is not defined" in done.last_line) == (3, True)
    assert audits.document()["kappa"] is None


def test_judge_errors__are_counted_apart_and_are_no_disagreement(audits):
    """A verdict that never came is neither a pass nor a fail; empty answers were not judged either."""
    audits.measure([True, False, Status(403, "no"), True], code=3, answers={"c3": ""})
    audits.labels(("c0", True), ("c1", False), ("c2", True), ("c3", True))
    document = audits.document()
    assert (document["labels"], document["compared"], document["agreement"]) == (4, 2, 1.0)
    assert document["without_verdict"] == {"judge_error": 1, "not_measured": 0, "not_judged": 1}
    assert [(one["case"], one["why"]) for one in document["missing"]] == [("c2", "judge_error"), ("c3", "not_judged")]


def test_judge_errors__alone_leave_nothing_to_compare(audits):
    """No label with a verdict: exit 3, the reason in the last line, and still a report."""
    audits.measure([Status(403, "no")], code=3)
    audits.labels(("c0", True))
    done = audits.audit("--report", "audit.md")
    assert (done.code, done.last_line) == (3, "eval-gate: not_comparable (exit 3): none of 1 label found a verdict: the judge gave no verdict: 1")
    assert "not_comparable" in (audits.work.folder / "audit.md").read_text()


def test_labels__every_fault_of_the_file_with_its_line(audits):
    """Unknown case, criterion, run and key, a wrong type, a double label and broken JSON come in one go, each with its line and remedy."""
    audits.measure([True, False], checks=(POLITE, {"type": "contains_all", "value": ["x"]}))
    audits.labels(
        {"case": "C0", "criterion": "tone.polite", "pass": True}, {"case": "c0", "criterion": "tone.polit", "pass": True}, {"case": "c0", "criterion": "polite", "pass": "yes"},
        {"case": "c0", "criterion": "polite", "pass": True, "repeat": 3}, {"case": "c0", "criterion": "polite", "verdict": True}, ("c1", True), ("c1", False), "{broken\n",
        {"case": "c0", "criterion": "contains_all", "pass": True}, {"case": "c0", "criterion": "polite", "pass": True, "suite": "other"},
    )  # fmt: skip
    done = audits.audit()
    assert done.code == 2
    found = [(line.split()[0], line.split()[1]) for line in done.err.splitlines() if "labels.jsonl" in line]
    assert found == [
        ("INVALID_VALUE", "labels.jsonl:1:"), ("INVALID_VALUE", "labels.jsonl:2:"), ("TYPE_MISMATCH", "labels.jsonl:3:1"), ("INVALID_VALUE", "labels.jsonl:4:"),
        ("MISSING_FIELD", "labels.jsonl:5:1"), ("UNKNOWN_FIELD", "labels.jsonl:5:1"), ("DUPLICATE_ID", "labels.jsonl:7:"), ("MALFORMED_JSON", "labels.jsonl:8:2:"),
        ("INVALID_VALUE", "labels.jsonl:9:"), ("INVALID_VALUE", "labels.jsonl:10:"),
    ]  # fmt: skip
    assert "use one of c0, c1" in done.err
    assert "did you mean `tone.polite`?" in done.err


@pytest.mark.parametrize("content", ["", "\n// nothing yet\n"])
def test_labels__none_at_all_are_refused(audits, content):
    """A file without a label audits nothing."""
    audits.measure([True])
    audits.labels(content)
    assert (audits.audit().code, "NO_CASES" in audits.audit().err) == (2, True)


def test_labels__a_file_that_is_not_there_is_refused(audits):
    """FILE_NOT_FOUND names the file."""
    audits.measure([True])
    done = audits.audit()
    assert (done.code, "FILE_NOT_FOUND labels.jsonl" in done.err) == (2, True)


def test_criterion__bare_name_counts_where_it_is_unambiguous(audits):
    """`polite` is `tone.polite` where no other rubric has a criterion of that name; else the whole id is asked for."""
    other = {"id": "manner", "type": "rubric", "criteria": {"polite": "Is polite too"}}
    audits.start_reply = Object({"criteria": {"c1": {"reason": "r", "pass": True}, "c2": {"reason": "r", "pass": False}}})
    audits.measure([audits.start_reply], checks=(POLITE, other))
    audits.labels({"case": "c0", "criterion": "polite", "pass": True})
    done = audits.audit()
    assert (done.code, "may be any of tone.polite, manner.polite" in done.err) == (2, True)
    audits.labels({"case": "c0", "criterion": "manner.polite", "pass": True})
    assert audits.document()["confusion"]["false_fail"] == 1


def test_repeat__names_the_run_and_the_first_is_meant_without(audits):
    """Each run can be labelled; a label without `repeat` speaks of the first, and the report says so."""
    audits.measure([True], repeats=3, answers={"c0": ["I am c0.", "I am c0. Again.", ""]})
    audits.labels(("c0", True), {"case": "c0", "criterion": "polite", "pass": False, "repeat": 1})
    document = audits.document()
    assert [(one["repeat"], one["answer"]) for one in document["false_passes"]] == [(1, "I am c0. Again.")]
    assert "1 label named no run of several: compared with the first" in audits.audit().out


def test_suites__several_below_one_folder(audits):
    """A case that two suites have needs `suite`, by name or key; figures are over both."""
    audits.measure([True, False], name="one")
    audits.measure([False], name="two")
    audits.labels(("c1", False), {"case": "c0", "criterion": "polite", "pass": True, "suite": "two"})
    assert audits.document()["confusion"] == {"both_pass": 0, "false_pass": 0, "false_fail": 1, "both_fail": 1}
    audits.labels(("c0", True))
    done = audits.audit()
    assert (done.code, "is in several suites: one, two" in done.err) == (2, True)


def test_report__is_never_written_over_the_labels(audits):
    """Labels are hours of somebody's work."""
    audits.measure([True])
    audits.labels(("c0", True))
    before = (audits.work.folder / "labels.jsonl").read_text()
    done = audits.audit("--report", "labels.jsonl")
    assert (done.code, "INVALID_INPUT" in done.err) == (2, True)
    assert (audits.work.folder / "labels.jsonl").read_text() == before


def test_forms__text_and_markdown_name_the_same(audits):
    """Every form names the false pass, what the judge said, and the figures by criterion."""
    audits.measure([True, False])
    audits.labels({"case": "c0", "criterion": "polite", "pass": False, "note": "calls the customer names"}, ("c1", False))
    text, markdown = audits.audit().out, audits.audit("--format", "markdown", "--report", "audit.md").out
    for form in (text, markdown, (audits.work.folder / "audit.md").read_text()):
        assert all(words in form for words in ("false pass: people failed it", "c0", "because of polite", "calls the customer names", "tone.polite", "kappa"))


def test_secret__in_an_answer_is_masked_in_every_form(audits, monkeypatch):
    """What the environment calls secret stands in no output."""
    audits.measure([True], answers={"c0": "I am c0. hunter2-hunter2"})
    audits.labels({"case": "c0", "criterion": "polite", "pass": False, "note": "hunter2-hunter2"})
    monkeypatch.setenv("MY_TOKEN", "hunter2-hunter2")
    for form in ("text", "json", "markdown"):
        done = audits.audit("--format", form, "--report", "audit.md")
        assert "hunter2" not in done.out + done.err + (audits.work.folder / "audit.md").read_text()
