"""`judge-audit`: the verdicts of a record beside labels of people; nothing is called."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path

from evalaction import __version__
from evalaction.app.parts import Outputs, Parts
from evalaction.core.audit import Audit, audit
from evalaction.core.record import CaseRecord
from evalaction.core.verdict import EXIT_CODES
from evalaction.datasets.labels import read_labels, wanted_cases
from evalaction.errors import ConfigError
from evalaction.report.audit import Judgement, audit_json, audit_view, judgement
from evalaction.report.markdown import render_markdown
from evalaction.report.terminal import render_text
from evalaction.report.view import ReportView
from evalaction.store.files import write_named
from evalaction.store.records import read_cases, read_record, record_folders


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class AuditJob:
    """What is audited with which labels, and the smallest kappa that is good enough."""

    record: Path
    labels: Path
    min_kappa: float | None = None


def audit_judge(parts: Parts, job: AuditJob, outputs: Outputs) -> Judgement:
    """Compare, print, write the report asked for; returns the verdict with its reason. Raises ConfigError with every fault of the labels."""
    if outputs.report is not None and outputs.report.resolve() == job.labels.resolve():
        raise ConfigError.one("INVALID_INPUT", "the report would be written over the labels", "name another file", file=str(outputs.report))
    folders = {record.header.key: (folder, record) for folder in record_folders(job.record) for record in (read_record(folder),)}
    labels = read_labels(job.labels, parts.settings.cwd, [record for _, record in folders.values()])
    cases: dict[tuple[str, str], CaseRecord] = {}
    for key, wanted in wanted_cases(labels).items():
        cases.update({(key, name): case for name, case in read_cases(folders[key][0], wanted).items()})
    found = audit(labels, cases)
    used = {labelled.suite for labelled in labels}
    judges = [record.header.judge for key, (_, record) in folders.items() if key in used and record.header.judge is not None]
    verdict = judgement(found, job.min_kappa)
    _publish(parts, job, outputs, found, verdict, judges)
    return verdict


def _publish(parts: Parts, job: AuditJob, outputs: Outputs, found: Audit, verdict: Judgement, judges: list[Mapping[str, object]]) -> None:
    named = [{name: one.get(name) for name in ("provider", "model", "votes", "prompt_version")} for one in judges]
    different = [one for place, one in enumerate(named) if one not in named[:place]]
    view = audit_view(found, verdict, different, tool_version=__version__)
    if outputs.report is not None:
        write_named(outputs.report, parts.settings.masker.text(render_markdown(view)).encode())
    if outputs.format == "json":
        parts.console.document(audit_json(found, verdict, different, exit_code=int(EXIT_CODES[verdict.word]), min_kappa=job.min_kappa))
    else:
        parts.console.result(_as_text(parts, view) if outputs.format == "text" else render_markdown(view))


def _as_text(parts: Parts, view: ReportView) -> str:
    return render_text(view, width=parts.console.width, colour=parts.console.coloured)
