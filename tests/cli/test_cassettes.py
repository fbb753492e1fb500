"""Answers that are recorded and replayed, from the command line to the exit code."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys

import pytest

from tests.cassettes import calls_of, header_of, lines_of, recorded, slots
from tests.vendors import KEY, Object, vendors, verdicts

RUBRIC = {"id": "tone", "type": "rubric", "criteria": {"polite": "Is polite"}}
GOOD = Object(verdicts(polite=True))
HANGING_ON_B = """
import os, sys, time
name = sys.stdin.read()
open("asked", "a").write(name)
if name == "b" and not os.path.exists("go"):
    open("waiting", "w").close()
    time.sleep(60)
sys.stdout.write("yes")
"""
TIMES = ("started_at", "finished_at")


@pytest.fixture
def start(monkeypatch):
    """Starts a scripted model; the keys of both vendors are set."""
    for name in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.setenv(name, KEY)
    with vendors() as starter:
        yield starter


def test_replay__asks_nothing_and_judges_exactly(work):
    """The recorded system is gone: its answers pass under the exact rule, counted apart from fresh calls."""
    work.answers(a="yes", b="yes")
    suite = recorded(work, "a", "b", defaults={"repeats": 2})
    (work.folder / "bot.sh").unlink()

    done = work.run("gate", suite, "--replay", "tape", "--report", "report.md")

    assert (done.code, done.suite["rule"], calls_of(work), header_of(work)["repeatable"]) == (0, "exact", (0, 4, 0, 0), False)
    assert (done.suite["calls"]["made"], done.suite["calls"]["replayed"]) == (0, 4)
    assert "calls: 0 fresh, 4 replayed" in (work.folder / "report.md").read_text()


def test_replay__of_a_worse_answer_is_red_at_once(work):
    """Replayed answers cannot come out otherwise: no case is asked again, no warning says that nothing was confirmed, and a stored record is judged alike."""
    work.answers(a="yes", b="yes")
    suite = recorded(work, "a", "b")
    work.answers(a="no", b="yes")
    assert work.run("run", suite, "--record-to", "worse").code == 0
    asked = work.calls("a")

    done, again = work.run("gate", suite, "--replay", "worse"), work.run("gate", "--record", "eval-results")

    assert [(one.code, one.suite["rule"], one.suite["warnings"]) for one in (done, again)] == [(1, "exact", done.suite["warnings"])] * 2
    assert (work.calls("a"), [case["case"] for case in done.suite["cases"] if case["verdict"] == "regressed"]) == (asked, ["a"])
    assert not any("confirmed" in warning for warning in done.suite["warnings"])


def test_replay__twice_gives_the_same_bytes(work, start):
    """Cases are those of the recording byte by byte, and two replays differ in nothing but their times."""
    work.answers(a=["yes", "no"], b="yes")
    judge = {"provider": "anthropic", "model": "judge-1", "base_url": start(GOOD).base_url("anthropic"), "votes": 2}
    suite = work.suite("a", "b", judge=judge, defaults={"repeats": 2, "checks": [RUBRIC, {"type": "max_latency_ms", "value": 60_000}, {"type": "regex", "pattern": "yes"}]})
    trees = []
    for options in (("--record-to", "tape"), ("--replay", "tape"), ("--replay", "tape")):
        assert work.run("run", suite, *options).code == 0
        trees.append(work.tree("eval-results/s"))
    headers = [json.loads(tree.pop("record.json")) for tree in trees]

    assert trees[0] == trees[1] == trees[2]
    assert {name for name, value in headers[1].items() if value != headers[2][name]} <= set(TIMES)
    assert {name for name, value in headers[0].items() if value != headers[1][name]} <= {*TIMES, "calls", "repeatable", "notes"}
    assert list(headers[0]["metrics"]) == list(headers[1]["metrics"])


def test_repeats__are_recorded_and_replayed_one_by_one(work):
    """Five runs are five calls and five exchanges, each with its own answer."""
    answers = ["yes", "no", "maybe", "yes", "no"]
    work.answers(a=answers)
    suite = work.suite("a", limits={"max_concurrency": 1})
    assert work.run("run", suite, "--record-to", "tape", "--repeats", "5").code == 0

    work.run("run", suite, "--replay", "tape", "--repeats", "5")

    trials = json.loads((work.folder / "eval-results/s/cases/a.json").read_text())["trials"]
    assert (work.calls("a"), [trial["answer"]["output"] for trial in trials]) == (5, answers)


@pytest.mark.parametrize(("options", "said"), [
    (("--repeats", "2"), "recorded is run 0"),
    (("--exec", "cat"), "the settings"),
])  # fmt: skip
def test_miss__is_never_green_and_says_what_differs(work, options, said):
    """What is not recorded for just this question is exit 3, whatever the policy allows, and no system is asked instead."""
    work.answers(a="yes", b="yes")
    suite = recorded(work, "a", "b", gate={"max_errors": 9})
    asked = work.calls("a")

    done = work.run("gate", suite, "--replay", "tape", *options)

    (reason,) = [one for one in done.suite["reasons"] if one["code"] == "NOT_RECORDED"]
    assert (done.code, done.verdict["verdict"], work.calls("a")) == (3, "not_measured", asked)
    assert "case a, run" in reason["message"]
    assert said in reason["message"]


def test_miss__of_another_input_names_the_case(work):
    """A case whose input was rewritten is not answered with what was said to the old one."""
    work.answers(a="yes", b="yes")
    recorded(work, "a", "b")
    suite = work.suite("a", "b", case_keys={"b": {"input": "another"}})

    done = work.run("gate", suite, "--replay", "tape")

    assert (done.code, calls_of(work)) == (3, (0, 1, 0, 0))
    assert "for case b, run 0: another one is recorded, and the case's input, history or variables differs" in done.out.replace("\n", " ")


def test_record_and_replay__asks_only_what_is_missing(work):
    """With both folders the recorded answer is replayed, and the new case is asked and recorded."""
    work.answers(a="yes", b="yes")
    recorded(work, "a")
    suite = work.suite("a", "b", limits={"max_calls": 1})

    done = work.run("gate", suite, "--replay", "tape", "--record-to", "tape")

    assert (done.code, work.calls("a"), work.calls("b"), calls_of(work)) == (0, 1, 1, (1, 1, 0, 0))
    assert (slots(work), header_of(work)["calls"]["planned"]) == ([("a", 0, "target"), ("b", 0, "target")], 1)


def test_record_to__another_folder_makes_it_whole(work):
    """What was replayed is written to the new folder beside what was asked, so that it can be replayed alone."""
    work.answers(a="yes", b="yes")
    recorded(work, "a")
    suite = work.suite("a", "b")

    assert work.run("run", suite, "--replay", "tape", "--record-to", "whole").code == 0
    assert work.run("run", suite, "--replay", "whole").code == 0
    assert (slots(work), slots(work, "whole")) == ([("a", 0, "target")], [("a", 0, "target"), ("b", 0, "target")])


def test_errors__are_never_recorded(work):
    """A run that fails for one case keeps the other's answer, and an earlier answer of the case stays."""
    work.answers(a=3, b="yes")
    suite = work.suite("a", "b")

    assert work.run("run", suite, "--record-to", "tape").code == 3
    assert slots(work) == [("b", 0, "target")]
    work.answers(a="yes", b=3)
    assert work.run("run", suite, "--record-to", "tape").code == 3
    assert slots(work) == [("a", 0, "target"), ("b", 0, "target")]


def test_prune__drops_what_a_whole_run_did_not_use(work):
    """Without it old exchanges stay; with it only those of this run do; a run with errors drops nothing."""
    work.answers(a="yes", b="yes", c=3)
    recorded(work, "a", "b")
    suite = work.suite("a", "c")

    assert work.run("run", suite, "--record-to", "tape", "--prune").code == 3
    assert slots(work) == [("a", 0, "target"), ("b", 0, "target")]
    assert work.run("run", work.suite("a"), "--replay", "tape", "--record-to", "tape", "--prune").code == 0
    assert slots(work) == [("a", 0, "target")]


@pytest.mark.parametrize("options", ["--prune", "--record-to tape --prune --filter a", "--record-to tape --prune --shard 1/1", "--replay nowhere"])
def test_options__that_do_not_fit_are_refused(work, options):
    """Nothing is asked: pruning needs a recording of a whole run, and a replay needs a cassette."""
    work.answers(a="yes")

    done = work.run("run", work.suite("a"), *options.split())

    assert (done.code, done.verdict["verdict"], work.calls("a")) == (2, "config_error", 0)


def test_interrupted_recording__is_kept_and_resumed(work):
    """A signal ends the run with what was recorded so far on disk; resumed, it asks only for the rest, and the cassette is whole."""
    (work.folder / "bot.py").write_text(HANGING_ON_B)
    suite = work.suite("a", "b", limits={"max_concurrency": 1})
    command = [sys.executable, "-m", "evalaction", "run", suite, "--record-to", "tape"]
    process = subprocess.Popen(command, cwd=work.folder, stderr=subprocess.PIPE, stdout=subprocess.PIPE, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})
    while not (work.folder / "waiting").exists():
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert (process.returncode, slots(work)) == (3, [("a", 0, "target")])
    (work.folder / "go").touch()

    assert work.run("run", suite, "--record-to", "tape", "--resume").code == 0
    assert ((work.folder / "asked").read_text(), slots(work)) == ("abb", [("a", 0, "target"), ("b", 0, "target")])


WAITING = """
import os, sys, time
name = sys.stdin.read()
open("waiting", "w").close()
while name == "b" and not os.path.exists("go"):
    time.sleep(0.01)
sys.stdout.write("yes")
"""


def test_record__of_two_runs_at_once_keeps_what_both_were_answered(work):
    """The run that ends last adds to what the other has recorded since, in place of writing over it."""
    (work.folder / "bot.py").write_text(WAITING)
    suite = work.suite("a", "b")
    command = [sys.executable, "-m", "evalaction", "run", suite, "--record-to", "tape", "--filter", "b", "--out", "other"]
    slow = subprocess.Popen(command, cwd=work.folder, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})
    while not (work.folder / "waiting").exists():
        assert slow.poll() is None
    assert work.run("run", suite, "--record-to", "tape", "--filter", "a").code == 0
    (work.folder / "go").touch()

    assert (slow.wait(60), slots(work)) == (0, [("a", 0, "target"), ("b", 0, "target")])


@pytest.mark.parametrize("damage", [
    lambda text: text.replace('"cassette": 1', '"cassette": 2'),
    lambda text: text[:-20],
    lambda text: text.replace('"repeat": 0', '"repeat": -1'),
    lambda text: text.replace('"repeat": 0', '"repeat": 0, "repeat": 0'),
    lambda text: text.replace('"reply": {', '"reply": {"cost_usd": -1, '),
    lambda text: text.replace('"reply": {', '"reply": {"x": ' + "[" * 5000 + "]" * 5000 + ", "),
    lambda text: text + text.splitlines()[1] + "\n",
    lambda text: text.replace('"output": "yes"', '"output": NaN'),
    lambda _text: "",
])  # fmt: skip
def test_damage__is_a_configuration_error_with_its_line(work, damage):
    """A cassette is a stranger's file: what is not just as it was written stops the run before anything is asked."""
    work.answers(a="yes")
    suite = recorded(work, "a")
    path = work.folder / "tape/s.jsonl"
    path.write_text(damage(path.read_text()))

    done = work.run("gate", suite, "--replay", "tape", "--record-to", "tape")

    assert (done.code, work.calls("a"), done.verdict["reasons"][0]["code"]) == (2, 1, "INVALID_RECORD")
    assert "tape/s.jsonl" in done.verdict["reasons"][0]["file"]


def test_hostile_cassette__cannot_choose_a_path_or_a_form(work):
    """A case id that looks like a path is only a text, and signs that hide text are written as escapes."""
    work.answers(**{"../../x": "yes\u202eno\u2028\x1b[31m"})
    (work.folder / "bot.py").write_text('import sys\nsys.stdout.buffer.write("yes\\u202eno\\u2028\\x1b[31m".encode())\n')
    suite = work.suite("../../x")
    assert work.run("run", suite, "--record-to", "tape").code == 0

    raw = (work.folder / "tape/s.jsonl").read_text()
    assert [path.name for path in (work.folder / "tape").iterdir()] == ["s.jsonl"]
    assert not {"\u202e", "\u2028", "\x1b"} & set(raw)
    assert lines_of(work)[0]["reply"]["output"] == "yes\u202eno\u2028\x1b[31m"
