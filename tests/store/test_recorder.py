"""The recorder: every trial is safe at once, a finished case has its file, a killed run can go on."""

from __future__ import annotations

import dataclasses
import json
import os
import pathlib
import signal
import subprocess
import sys
import textwrap

import pytest

from evalaction.core.fingerprint import suite_digest
from evalaction.core.masking import Masker
from evalaction.core.record import CheckResult, Failure, Trial
from evalaction.core.specs import Equals
from evalaction.core.suite import Case, ExecTarget, Policy, Suite
from evalaction.errors import ConfigError
from evalaction.store.recorder import JOURNAL, SET_ASIDE, Recorder
from evalaction.store.records import read_record
from evalaction.targets.base import Request
from tests.making import record

SECRET = "sk-very-secret-value"
IDENTITY = {"target": "t"}


def suite_of(*ids: str, repeats: int = 1) -> Suite:
    cases = tuple(Case(id=name, input=f"question {name}", checks=(Equals(id="equals", value="yes"),)) for name in ids)
    return Suite(name="s", key="s", file="s.eval.yaml", cases=cases, target=ExecTarget(command="true"), gate=Policy(), digest=suite_digest(cases), repeats=repeats)


def good(repeat: int = 0, answer: str = "yes") -> Trial:
    return Trial(repeat=repeat, score=1, passed=True, checks=(CheckResult(id="equals", score=1, passed=True, detail="equal"),), answer={"output": answer})


def put(recorder: Recorder, case: Case, trial: Trial) -> None:
    recorder.journal(Request(case, trial.repeat), trial)
    recorder.settle(Request(case, trial.repeat), trial)


def opened(folder, suite: Suite, *, resume: bool = False, masker: Masker | None = None) -> tuple[Recorder, dict]:
    recorder = Recorder(folder, suite, masker or Masker())
    found = recorder.start(IDENTITY, resume=resume)
    for case in suite.cases:
        recorder.expect(case, suite.planned(case))
    return recorder, found


def test_recorder__a_case_has_its_file_once_its_last_trial_is_in(tmp_path):
    """Files are written while calls run, at the latest when they are waited for; memory keeps scores and drops answers."""
    suite = suite_of("a", "b", repeats=2)
    recorder, _ = opened(tmp_path, suite)

    put(recorder, suite.cases[0], good(0))
    recorder.flush()
    assert not (tmp_path / "cases/a.json").exists()
    put(recorder, suite.cases[0], good(1))
    recorder.flush()

    assert json.loads((tmp_path / "cases/a.json").read_text())["trials"][1]["answer"] == {"output": "yes"}
    assert recorder.cases["a"].trials[0].answer is None


def test_recorder__a_confirmation_is_added_to_the_file(tmp_path):
    """Later passes join the earlier trials; nothing measured is lost."""
    suite = suite_of("a")
    recorder, _ = opened(tmp_path, suite)
    put(recorder, suite.cases[0], good(0, "first"))

    recorder.expect(suite.cases[0], 1)
    put(recorder, suite.cases[0], good(1, "second"))
    recorder.flush()

    stored = json.loads((tmp_path / "cases/a.json").read_text())
    assert [trial["answer"]["output"] for trial in stored["trials"]] == ["first", "second"]


def test_recorder__a_complete_record_needs_no_journal(tmp_path):
    """The journal goes with the header; what is read back is what was settled."""
    suite = suite_of("a")
    recorder, _ = opened(tmp_path, suite)
    put(recorder, suite.cases[0], good())
    recorder.write_header(record(*recorder.cases.values()).header)
    recorder.close()

    assert not (tmp_path / JOURNAL).exists()
    assert read_record(tmp_path).cases == recorder.cases


def test_recorder__resume_finds_measured_trials_and_measures_failed_ones_again(tmp_path):
    """Errors are never kept; a line cut short by a kill is dropped; a changed definition is not reused."""
    suite = suite_of("a", "b", "c")
    recorder, _ = opened(tmp_path, suite)
    put(recorder, suite.cases[0], good())
    put(recorder, suite.cases[1], Trial(repeat=0, error=Failure(code="TARGET_FAILED", message="x")))
    put(recorder, suite.cases[2], good())
    recorder.close(keep_journal=True)
    with (tmp_path / JOURNAL).open("ab") as journal:
        journal.write(b'{"case": "b", "tri')
    changed = dataclasses.replace(suite, cases=(*suite.cases[:2], dataclasses.replace(suite.cases[2], input="another question")))

    _, found = opened(tmp_path, changed, resume=True)

    assert found == {"a": {0: good()}}


def test_recorder__resume_of_another_target__starts_afresh_and_keeps_the_old_journal(tmp_path):
    """Answers of another system or commit are not mixed in; they are set aside, not lost."""
    suite = suite_of("a")
    recorder, _ = opened(tmp_path, suite)
    put(recorder, suite.cases[0], good())
    recorder.close(keep_journal=True)

    fresh = Recorder(tmp_path, suite, Masker())

    assert fresh.start({"target": "another"}, resume=True) == {}
    assert (tmp_path / SET_ASIDE).read_text().count("\n") == 2


def test_recorder__without_resume__sets_an_interrupted_journal_aside(tmp_path):
    """A new run does not overwrite what an interrupted one measured."""
    suite = suite_of("a")
    recorder, _ = opened(tmp_path, suite)
    put(recorder, suite.cases[0], good())
    recorder.close(keep_journal=True)

    _, found = opened(tmp_path, suite)

    assert found == {}
    assert (tmp_path / SET_ASIDE).exists()


def test_recorder__abandon__fills_every_gap_with_the_failure(tmp_path):
    """After a signal each planned trial is there: measured, or failed with the reason."""
    suite = suite_of("a", "b", repeats=2)
    recorder, _ = opened(tmp_path, suite)
    put(recorder, suite.cases[0], good(0))

    recorder.abandon(Trial(repeat=0, error=Failure(code="INTERRUPTED", message="stopped")))

    assert [trial.measured for trial in recorder.cases["a"].trials] == [True, False]
    assert recorder.cases["b"].is_error


def test_recorder__masks_secrets_in_journal_and_files(tmp_path):
    """A target that echoes its key does not publish it; ids stay, so that cases can be joined."""
    suite = suite_of("a")
    recorder, _ = opened(tmp_path, suite, masker=Masker([SECRET]))

    put(recorder, suite.cases[0], good(0, f"key={SECRET}"))

    stored = "".join(path.read_text() for path in tmp_path.rglob("*") if path.is_file())
    assert SECRET not in stored
    assert "key=***" in stored


def test_recorder__a_killed_process_loses_nothing_that_was_journaled(tmp_path):
    """After SIGKILL right behind the second trial both are in the journal."""
    script = textwrap.dedent(f"""
        import os, pathlib, runpy, signal
        this = runpy.run_path({__file__!r})
        suite = this["suite_of"]("a", "b", "c")
        recorder, _ = this["opened"](pathlib.Path({str(tmp_path)!r}), suite)
        this["put"](recorder, suite.cases[0], this["good"]())
        this["put"](recorder, suite.cases[1], this["good"]())
        os.kill(os.getpid(), signal.SIGKILL)
    """)

    done = subprocess.run([sys.executable, "-c", script], check=False, env={**os.environ, "PYTHONPATH": str(pathlib.Path(__file__).parents[2])})

    assert done.returncode == -signal.SIGKILL
    _, found = opened(tmp_path, suite_of("a", "b", "c"), resume=True)
    assert set(found) == {"a", "b"}


@pytest.mark.skipif(not pathlib.Path("/dev/full").exists(), reason="needs /dev/full to stand for a full disk")
def test_recorder__a_full_disk__is_a_clear_error(tmp_path):
    """Out of space: CANNOT_WRITE naming the file, not a traceback."""
    suite = suite_of("a")
    recorder, _ = opened(tmp_path, suite)
    os.dup2(os.open("/dev/full", os.O_WRONLY), recorder._journal)

    with pytest.raises(ConfigError, match=r"CANNOT_WRITE .*trials.jsonl: cannot write: No space left"):
        put(recorder, suite.cases[0], good())


def test_recorder__a_second_run_in_the_folder_is_refused_until_the_first_ends(tmp_path):
    """Two runs in one folder would mix their cases: the second is told so and touches nothing; after the first has ended the folder is free."""
    suite = suite_of("a")
    first, second = Recorder(tmp_path / "s", suite, Masker()), Recorder(tmp_path / "s", suite, Masker())
    first.start(IDENTITY)
    first.expect(suite.cases[0], 1)
    put(first, suite.cases[0], good())
    with pytest.raises(ConfigError, match="another run"):
        second.start(IDENTITY)
    first.flush()
    assert len(list((tmp_path / "s" / "cases").iterdir())) == 1
    first.close()
    second.start(IDENTITY)
    second.close()
