"""The registry of stable codes. `docs/errors.md` is generated from it (`make docs`), and a test holds the two equal."""

from __future__ import annotations

import dataclasses
import re
from typing import Literal

Kind = Literal["configuration", "measuring", "reason"]


@dataclasses.dataclass(frozen=True, slots=True)
class CodeInfo:
    """One code: what it means and what to do."""

    code: str
    kind: Kind
    meaning: str
    remedy: str


def _all(kind: Kind, rows: str) -> tuple[CodeInfo, ...]:
    """Rows of `CODE | meaning | remedy`."""
    cells = ([cell.strip() for cell in row.split("|")] for row in rows.strip().splitlines())
    return tuple(CodeInfo(code, kind, meaning, remedy) for code, meaning, remedy in cells)


CONFIGURATION = _all("configuration", """
MALFORMED_YAML | The file is not YAML that can be read: a syntax error, an unknown tag, several documents, nesting or aliases beyond all bounds, bytes that are not UTF-8. | Correct the file at the place named.
MALFORMED_JSON | A JSON file, or a line of a JSONL file, cannot be read; NaN and Infinity are not JSON. | Correct the line named; a trailing comma and single quotes are the usual causes.
MALFORMED_CSV | A row has another number of cells than the header, a quote in a cell is not doubled, or the header is blank or repeated. | Write a cell that holds quotes as `"{""a"": 1}"`: the whole cell in quotes, each inner quote twice.
MISSING_FIELD | A required key is not there. | Add the key named.
BLANK_FIELD | A required text is there and blank. | Write the text, or leave the key out where it is optional.
TYPE_MISMATCH | A value has another type than its key takes; nothing (null) is no text. | Write the type named; quote a text that looks like something else.
INVALID_TOLERANCE | A tolerance is negative or no number. | Write 0 for exact, or a positive number.
INVALID_VALUE | A value is of the right type and not allowed here. | Choose one of the values named.
UNKNOWN_FIELD | A key that nothing reads; the nearest known name is given. A key that is ignored would check nothing. | Correct the spelling, or remove the key.
UNKNOWN_CHECK | A check type that does not exist; the nearest one is named. | Correct the spelling; docs/suite.md lists all types.
DUPLICATE_KEY | A key is written twice in one mapping; both lines are named. | Keep one of them. A key that overrides a merged one (`<<`) is no duplicate.
DUPLICATE_ID | Two cases, two checks of a case, two answers or two suites share an id; both places are named. Ids that differ only in blanks or Unicode form are the same. | Rename one of them.
NOTHING_TO_CHECK | A case has no check, or a check has nothing to look for: it would pass whatever the answer. | Give it a check, or add `defaults.checks`.
MIXED_EXPECTATIONS | A golden-set case has more than one of expectedExact, mustContain and rubric. | Keep exactly one; split the case in two when both matter.
EMPTY_NEEDLE | A text to look for is empty or blank, and so is found in every answer. | Remove it, or write what is meant.
INVALID_PATTERN | A regular expression does not compile. | Correct it; the reason and place are given.
UNRESOLVED_VARIABLE | `{{ env.X }}` or `{{ vars.x }}` names a variable that is not set or is empty. | Set the variable, or correct its name; in a workflow, pass it on with `env:`.
UNKNOWN_METRIC | A threshold or tolerance names something that is no metric of any check: it would be skipped for ever. | Correct the name; docs/suite.md lists the metrics.
FILE_NOT_FOUND | A file or folder that is named does not exist. | Correct the path: inside a suite it is relative to the suite file, on the command line to the working directory.
OUTSIDE_WORKSPACE | A suite names a file outside the repository; what it reads must be what was reviewed. Paths typed on the command line may lie anywhere. | Move the file into the repository.
NO_SUITE | A pattern or folder has no suite file in it. | Correct the pattern; suites end in `.eval.yaml`.
NO_CASES | Nothing is left to measure: the suite is empty, or a filter, tag or shard leaves nothing. | Add a case, or correct the filter.
MISSING_SECRET | A variable that holds a key is not set. | Set it in the environment; in a workflow, pass it on with `env:`.
MISSING_PERMISSION | The token may not do what was asked. | Add the permission line named to the workflow.
INVALID_INPUT | An option or input of the command has a value it cannot have. | Correct the option named; `--help` lists them.
INVALID_RECORD | A stored record or baseline cannot be read, is incomplete, or must not be accepted. It is never taken for "no baseline". | Restore the files from version control, or measure again; for what must not be accepted, the message says which cases and why.
CANNOT_WRITE | Nothing can be written there: no space, no permission, or the folder of results is a link. What was there before is untouched. | Free space, correct the permissions, replace a link by a real folder, or choose another folder with `--out`.
BASELINE_EXPIRED | Only expired baselines are left in the artifact store. | Accept a new baseline; renew it on a schedule.
BASELINE_UNTRUSTED | The baseline is not what a person accepted: its files do not match the accepted digest, or its origin fails a condition. | Restore it, or accept a measured record again.
NOT_DEFAULT_BRANCH | An acceptance into the artifact store was asked for on another branch than the default one. | Run it on the default branch.
REASON_REQUIRED | An acceptance without a reason. | Say why this level is right: `--reason "…"`.
UNSAFE_CHECKOUT | The code of a pull request is checked out somewhere in the workspace under `pull_request_target`, or a fork's under `workflow_run`, where it could read secrets. | Use `pull_request`; publish for forks from a second workflow.
BUDGET_TOO_SMALL | The planned calls do not fit into `limits.max_calls`; nothing was called. | Raise the limit, or plan fewer cases or repeats.
""")

MEASURING = _all("measuring", """
TARGET_FAILED | The system under test failed: a command ended with another status than 0, a server answered with an error, a function raised. | Read the status and the tail of what it said in the case's file below `cases/` of the record, and ask the system the same by hand.
TARGET_TIMEOUT | No answer within `timeout_seconds`. What had been printed is kept. | Raise `timeout_seconds` when the system is only slow; when it hangs, run it by hand with the case's input and see where it stops.
TARGET_UNREACHABLE | No connection. Inside a container, `localhost` is the container itself. | Start the system before the gate; use the host's network or name.
INVALID_ANSWER | The system answered with something that is no answer: a log line on the JSON channel, a part of the wrong type, more than 64 MiB. | Print log lines to stderr; docs/suite.md describes an answer.
JUDGE_FAILED | The judge could not be asked, or did not reply in the form asked for. | Read the reply kept in the case's file. Where the judge was not reached, check key and `base_url` and run again; where its reply was not usable, shorten the criteria or name another judge.
SCORER_FAILED | A check could not be applied: a python check raised or returned no score in 0..1, a pattern ran out of time. | Correct the check. A check that did not run is an error, never a pass.
BUDGET_EXHAUSTED | A limit of `limits:` was reached while measuring, or before a suspicious case was asked again; what was measured is kept. This is no verdict on the change. | Raise the limit named, or measure less: `--filter`, `--tag`, fewer repeats. When suspicious cases could not be asked again, leave room for the further runs.
NOT_RECORDED | A replay asked for an answer or a verdict that the cassette does not hold, or holds for another question: the message names the case and what differs. Nothing was asked instead, and no other verdict counts as green. | Give `--record-to` the folder of the cassette beside `--replay`, so that what is missing is asked and recorded; or undo what changed.
INTERRUPTED | A signal ended the run; what was measured is kept. | Continue with `--resume`.
NO_PULL_REQUEST | The second stage found no single open pull request whose head the finished run measured: there was a newer push, it was closed, or the run had another event. Nothing was published. | Nothing; the newer push has a run of its own.
GITHUB_UNAVAILABLE | GitHub could not be reached, or failed. | Run the job again; if it fails again, look at the status page of your GitHub.
""")

REASONS = _all("reason", """
CASE_REGRESSED | A case's score or pass rate is below the accepted one by more than its tolerance. | Compare both answers in the report. Undo what made the answer worse; if the new answer is right, `eval-gate accept RECORD_DIR --only regressions --reason "…"`, with `--move-anchor` when it asks for that.
CHECK_REGRESSED | A check of a case passed and now fails, whatever the case's average says. | Read the check's detail in the report: it says what was missing. Correct the system, or accept the case with `--case` and a reason if the new answer is right.
METRIC_REGRESSED | A metric's mean over the compared cases fell by more than its tolerance. | Start with the cases that fell most: the report lists them first. When none stands out, all fell a little: look for what they share, such as a prompt, a model or an index.
METRIC_MISSING | The baseline has a metric, or a threshold names one, that this run did not produce. | Put back the checks or labels that produced it. If they were removed on purpose, accept a whole record without them; if a threshold names it, remove the threshold.
BELOW_THRESHOLD | A metric over the whole suite is below its threshold. | Look at the failing cases and correct the system. If the threshold asks for more than the system is meant to reach, lower it in a change of its own that people review.
CASE_REMOVED | A case of the baseline is no longer in the suite, and the policy says that this fails. | Put it back, or accept a record without it.
SUITE_REMOVED | A suite has an accepted baseline, and its file is no longer among those that were asked for. As with removed cases, the accepted policy says whether this fails. | Put it back. If it was removed or renamed on purpose, remove its folder of `eval-baselines/`, or merge and accept a run without it.
SUITE_MISSING | Accepted suites are not in the results that a second stage reports on: they were dropped, or another job measured them. | Measure them again, and keep all results. If another workflow measures them, give the second stage its `key` and `suite`.
TOO_MANY_ERRORS | More cases than `max_errors` could not be measured, or one that looked worse could be asked again without success only. This is no verdict on the change. | Read the first error in the report and remove its cause, then run again; `--resume` does not repeat what was measured. Raise `max_errors` only if single failures are normal for this system.
TOO_FEW_COMPARABLE | Fewer of the baseline's cases than `min_comparable` are left to compare. | Run the whole suite, without a filter if there was one, and accept a baseline of the new suite.
DRIFTED | The record to be accepted is below the anchor by more than the tolerance: many small steps down are one large one. | Raise the quality to the anchor's level. If the lower level is meant, accept with `--move-anchor` and say in the reason why.
NOT_MEASURED | A finished run says that it could not be measured, and gives no reason that a second stage can repeat. | Open the run that is named, and read its log.
INTERNAL_ERROR | A bug in eval-gate: it ended where it must not. This is no verdict on the change. | Report it with the message; `--verbose` adds where it happened.
""")

_LINE = 120
"""Characters of a paragraph that stays on one line of the page."""
REGISTRY = {info.code: info for info in (*CONFIGURATION, *MEASURING, *REASONS)}
_TITLES: dict[Kind, str] = {
    "configuration": "Configuration errors (exit 2): a person must change something",
    "measuring": "Measuring errors: one case or trial could not be measured",
    "reason": "Reasons of a verdict",
}


def errors_page() -> str:
    """`docs/errors.md` as a whole."""
    lines = ["# Codes", "", "Generated from `evalaction/codes.py` by `make docs`; do not edit by hand.", ""]
    lines += ["A configuration error reads `CODE file:line:column path: what. Fix: …`; all errors of all files come in one run, before anything is called.", ""]
    for kind, title in _TITLES.items():
        lines += [f"## {title}", ""]
        for info in REGISTRY.values():
            if info.kind == kind:
                lines += [f"### {info.code}", "", *_sentences(info.meaning), "", *_sentences(f"**Fix:** {info.remedy}"), ""]
    return "\n".join(lines)


def _sentences(text: str) -> list[str]:
    """One sentence per line, so that a difference shows which one changed."""
    return re.split(r"(?<=[.;:]) (?=[A-Za-z`])", text) if len(text) > _LINE else [text]
