"""JUnit XML: what its readers call a failure is what the gate calls red."""

from __future__ import annotations

from xml.etree import ElementTree as ET

from hypothesis import given
from hypothesis import strategies as st

from evalaction.core.verdict import CaseVerdict, Counts, Reason, SuiteVerdict, Verdict, overall
from evalaction.report.junit import render_junit


def cases(text: str) -> dict[str, ET.Element]:
    """The testcases by name."""
    return {case.get("name", ""): case for case in ET.fromstring(text).iter("testcase")}


def marks(case: ET.Element) -> list[str]:
    """What a testcase is marked with."""
    return [child.tag for child in case]


def test_junit__marks_regressed_errors_and_removed(samples):
    """One testcase per case: regressed fails, unmeasured errs, removed is skipped, the others pass."""
    text = render_junit(overall((samples.regressed_suite(),)), samples.regressed_details())
    found = cases(text)

    assert {name: marks(case) for name, case in found.items() if marks(case)} == {
        "tone-of-voice": ["failure"],
        "refund-window": ["failure"],
        "case-to-go": ["skipped"],
        "lost": ["error"],
        "METRIC_MISSING recall@5": ["failure"],
    }
    assert "We have no such policy." in found["refund-window"][0].text
    assert found["lost"][0].attrib == {"type": "TARGET_TIMEOUT", "message": "no answer within 60 s"}
    suite = ET.fromstring(text).find("testsuite")
    assert {key: suite.get(key) for key in ("tests", "failures", "errors", "skipped")} == {"tests": "9", "failures": "3", "errors": "1", "skipped": "1"}


def test_junit__red_cases_need_no_testcase_beside_them(samples):
    """A regression and an error among the cases: metric and error reasons add no testcase of their own."""
    reasons = (
        Reason(code="CASE_REGRESSED", message="m", case="worse"),
        Reason(code="METRIC_REGRESSED", message="m", metric="equals"),
        Reason(code="TOO_MANY_ERRORS", message="m"),
        Reason(code="TARGET_FAILED", message="m", case="lost"),
    )
    suite = samples.passed_suite(
        verdict="regressed", cases=(samples.unchanged("good"), samples.regressed("worse"), CaseVerdict(case="lost", verdict="error", note="TARGET_FAILED: exit 3")), reasons=reasons
    )

    assert list(cases(render_junit(overall((suite,))))) == ["good", "worse", "lost"]


def test_junit__a_red_gate_is_never_a_green_file(samples):
    """A fallen metric under cases that all hold, and a missed threshold, are testcases of their own."""
    fell = samples.passed_suite(verdict="regressed", reasons=(Reason(code="METRIC_REGRESSED", message="equals fell", metric="equals"),))
    below = samples.passed_suite(verdict="below_threshold", reasons=(Reason(code="BELOW_THRESHOLD", message="pass_rate is 0.5", metric="pass_rate", baseline=0.9, current=0.5),))

    assert marks(cases(render_junit(overall((fell,))))["METRIC_REGRESSED equals"]) == ["failure"]
    assert marks(cases(render_junit(overall((below,))))["threshold pass_rate"]) == ["failure"]


def test_junit__a_reason_no_case_shows(samples):
    """A check that fell over the suite, a case that may be worse, and one that could not be confirmed are marked though their cases hold."""
    family = Reason(code="CHECK_REGRESSED", message="check tone.polite fell over 30 cases", check="tone.polite")
    unsure = Reason(code="CASE_REGRESSED", message="case refund-window is inconclusive", case="refund-window")
    unconfirmed = Reason(code="TOO_MANY_ERRORS", message="could not be confirmed", case="refund-window")

    def marked(reason, verdict):
        found = cases(render_junit(overall((samples.passed_suite(verdict=verdict, reasons=(reason,)),))))
        return {name: marks(case) for name, case in found.items() if marks(case)}

    assert marked(family, "regressed") == {"CHECK_REGRESSED tone.polite": ["failure"]}
    assert marked(unsure, "regressed") == {"CASE_REGRESSED refund-window": ["failure"]}
    assert marked(unconfirmed, "not_measured") == {"TOO_MANY_ERRORS refund-window": ["error"]}


def test_junit__a_failing_case_that_did_not_get_worse_is_no_failure(samples):
    """Without a baseline a failing case is not marked."""
    assert all(not marks(case) for case in cases(render_junit(samples.no_baseline())).values())


def test_junit__a_removed_case_fails_where_the_policy_says_so(samples):
    """`removed_cases: fail` turns the skip into a failure."""
    suite = samples.passed_suite(verdict="regressed", cases=(CaseVerdict(case="gone", verdict="removed"),), reasons=(Reason(code="CASE_REMOVED", message="m", case="gone"),))

    assert marks(cases(render_junit(overall((suite,))))["gone"]) == ["failure"]


def test_junit__configuration_errors_are_errors(samples):
    """A verdict without suites has one erring testcase per fault, named by code and place."""
    found = cases(render_junit(samples.config_error()))

    assert {name: marks(case) for name, case in found.items()} == {"UNKNOWN_FIELD evals/s.eval.yaml:8:5": ["error"], "MISSING_SECRET": ["error"]}


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"]), min_size=1, max_size=40))
def test_junit__any_text_gives_well_formed_xml(text):
    """Any id, message and name, control characters included, gives XML that parses, with one testcase."""
    suite = SuiteVerdict(suite=text, verdict="not_measured", cases=(CaseVerdict(case=text, verdict="error", note=f"CODE: {text}"),), counts=Counts(errors=1))
    root = ET.fromstring(render_junit(Verdict(verdict="not_measured", exit_code=3, would_exit=3, suites=(suite,))))

    assert len(list(root.iter("testcase"))) == 1


def test_junit__hostile_text_stays_text(samples):
    """Markup in ids and answers is text again after parsing."""
    root = ET.fromstring(render_junit(*samples.hostile()))

    assert {element.tag for element in root.iter()} == {"testsuites", "testsuite", "properties", "property", "testcase", "failure", "error"}
    assert "<script>alert(1)</script>" in root.find(".//testcase").get("name")
