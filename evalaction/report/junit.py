"""JUnit XML: one testsuite per suite, one testcase per case; what JUnit's readers call a failure is what the gate calls red."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from xml.etree import ElementTree as ET

from evalaction.core.record import CaseRecord
from evalaction.core.verdict import GONE, CaseVerdict, Reason, SuiteVerdict, Verdict
from evalaction.errors import ExitCode
from evalaction.report.answers import AnswerView, answer_views
from evalaction.report.details import Details
from evalaction.report.figures import number
from evalaction.report.tables import first_failure

_NOT_XML = re.compile("[^\t\n\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Everything outside the Char production of XML 1.0, and DEL and the C1 controls, which it only discourages."""
_ALWAYS = ("BELOW_THRESHOLD", "METRIC_MISSING")
_TEXT_LIMIT = 4000


def render_junit(verdict: Verdict, details: Mapping[str, Details] | None = None) -> str:
    """The whole document. Thresholds, and reasons that no case shows, are testcases of their own named after what they speak of.

    A case that fails without having got worse is no failure; an unmeasured one is an error, a removed one is skipped (or failed, where the policy says so),
    and so is a suite that is gone.
    """
    root = ET.Element("testsuites", name="eval-gate")
    for suite in verdict.suites:
        _suite(root, suite, (details or {}).get(suite.key) or Details())
    if not verdict.suites:
        _close(root, "eval-gate", [_reason_case(reason, "eval-gate", verdict.would_exit) for reason in verdict.reasons])
    ET.indent(root, " ")
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _suite(root: ET.Element, suite: SuiteVerdict, details: Details) -> None:
    views = {view.case: view for view in answer_views(suite, details)}
    gone = {reason.case for reason in suite.reasons if reason.code == "CASE_REMOVED"}
    cases = [_case(case, suite, views.get(case.case), details.answers.get(case.case, (None, None))[1], gone=case.case in gone) for case in suite.cases]
    _close(root, suite.suite, [*cases, *_suite_level(suite, cases)], {"dataset_version": suite.dataset_version, "digest": suite.digest})


def _case(case: CaseVerdict, suite: SuiteVerdict, view: AnswerView | None, record: CaseRecord | None, *, gone: bool) -> ET.Element:
    element = ET.Element("testcase", name=_xml(case.case), classname=_xml(suite.suite))
    if case.verdict == "regressed":
        _child(element, "failure", "regressed", f"score {number(case.baseline)} -> {number(case.current)}", _words(case, view))
    elif case.verdict == "error":
        code, message = first_failure(case, record)
        _child(element, "error", code or "error", message, view.now if view else "")
    elif case.verdict == "removed":
        _child(element, "failure" if gone else "skipped", "CASE_REMOVED", "in the baseline and no longer in the suite", "")
    return element


def _words(case: CaseVerdict, view: AnswerView | None) -> str:
    flipped = [f"{check.check}: {number(check.baseline)} -> {number(check.current)}" for check in case.checks if check.verdict == "regressed"]
    return "\n".join([*flipped, *([view.checks, "--- baseline", view.baseline, "--- now", view.now] if view else [])])


def _suite_level(suite: SuiteVerdict, cases: list[ET.Element]) -> Iterable[ET.Element]:
    """Thresholds always; a reason of a case where that case is not marked, and one of the suite where no case is: a red gate is never a green file."""
    red = {case.case for case, element in zip(suite.cases, cases, strict=True) if element.find("failure") is not None or element.find("error") is not None}
    for reason in suite.reasons:
        if reason.code in _ALWAYS or (reason.case not in red if reason.case is not None else not red):
            yield _reason_case(reason, suite.suite, int(suite.exit_code))


def _reason_case(reason: Reason, classname: str, exit_code: int) -> ET.Element:
    place = ":".join(str(part) for part in (reason.file, reason.line, reason.column) if part is not None)
    about = reason.metric or reason.case or reason.check or place
    name = f"threshold {about}" if reason.code == "BELOW_THRESHOLD" else " ".join(part for part in (reason.code, about) if part)
    element = ET.Element("testcase", name=_xml(name), classname=_xml(classname))
    if exit_code == ExitCode.OK and reason.code in GONE:
        _child(element, "skipped", reason.code, reason.message, "")
    if exit_code != ExitCode.OK:
        _child(element, "failure" if exit_code == ExitCode.REGRESSED else "error", reason.code, reason.message, "")
    return element


def _child(element: ET.Element, tag: str, kind: str, message: str, text: str) -> None:
    child = ET.SubElement(element, tag, {"message": _xml(message)} if tag == "skipped" else {"type": _xml(kind), "message": _xml(message)})
    child.text = _xml(text) or None


def _close(root: ET.Element, name: str, cases: list[ET.Element], stated: Mapping[str, str | None] | None = None) -> None:
    counts = {plural: str(sum(case.find(tag) is not None for case in cases)) for plural, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped"))}
    element = ET.SubElement(root, "testsuite", {"name": _xml(name), "tests": str(len(cases)), **counts})
    known = {key: value for key, value in (stated or {}).items() if value}
    if known:
        properties = ET.SubElement(element, "properties")
        for key, value in known.items():
            ET.SubElement(properties, "property", name=key, value=_xml(value))
    element.extend(cases)


def _xml(text: str) -> str:
    return _NOT_XML.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))[:_TEXT_LIMIT]
