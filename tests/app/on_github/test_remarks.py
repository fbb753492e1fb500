"""Remarks on lines: where a case is defined, and nowhere outside the repository."""

from __future__ import annotations

from evalaction.app.on_github.remarks import remarks_on
from evalaction.core.verdict import CaseVerdict, Reason, SuiteVerdict, Verdict
from evalaction.report.details import Details


def worse(file, **lines):
    """Remarks on a suite whose cases got worse."""
    cases = tuple(CaseVerdict(case=name, verdict="regressed", baseline=1.0, current=0.0) for name in lines)
    verdict = Verdict(verdict="regressed", exit_code=1, would_exit=1, suites=(SuiteVerdict(suite="s", key="s", verdict="regressed", file=str(file), cases=cases),))
    return lambda cwd, root: list(remarks_on(verdict, {"s": Details(lines=lines)}, cwd, root))


def test_remarks__on_the_line_of_the_case(tmp_path):
    """The line that the record names is used where the case's id still stands there, else the file's first line."""
    path = tmp_path / "s.eval.yaml"
    path.write_text("version: 1\ncases:\n  - id: first\n    input: x\n  - id: second\n")
    found = worse(path, first=3, second=99, third=4)(tmp_path, tmp_path)
    assert [(one.path, one.line) for one in found] == [("s.eval.yaml", 3), ("s.eval.yaml", 1), ("s.eval.yaml", 1)]


def test_remarks__paths_are_relative_to_the_repository(tmp_path):
    """A suite below the working directory is named as the repository names it; one outside gets no remark."""
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "s.yaml").write_text("id: a\n")
    assert [one.path for one in worse("s.yaml", a=1)(tmp_path / "sub", tmp_path)] == ["sub/s.yaml"]
    assert worse("../../etc/hostname", a=1)(tmp_path / "sub", tmp_path / "sub") == []


def test_remarks__faults_where_they_stand(tmp_path):
    """A fault that knows its file and line is remarked there; one that names no file, or one that is gone, is not."""
    (tmp_path / "s.yaml").write_text("x\n")
    reasons = tuple(Reason(code="UNKNOWN_FIELD", message="m", file=file, line=7) for file in ("s.yaml", "gone.yaml", None))
    verdict = Verdict(verdict="config_error", exit_code=2, would_exit=2, reasons=reasons)
    assert [(one.path, one.line, one.title) for one in remarks_on(verdict, {}, tmp_path, tmp_path)] == [("s.yaml", 7, "UNKNOWN_FIELD")]
