"""Commands that measure nothing: accept, compare, report, merge and history."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evalaction.store.baselines import DirectoryStore

ROOT = Path(__file__).parents[2]


def test_accept__says_who_why_and_what_moved(work):
    """Name and reason are stored and shown by the next gate; moved cases are printed with both values."""
    suite = work.measured("a", "b")
    work.run("accept", "eval-results", "--reason", "first", "--by", "Ada L")
    work.answers(a="yes", b="no")
    work.run("run", suite)

    done = work.run("accept", "eval-results", "--reason", "b may fail", "--by", "Grace H", "--move-anchor")

    assert done.code == 0
    assert "lowers b: 1.0000 to 0.0000" in done.err
    found = work.run("gate", suite).suite["baseline"]
    assert (found["accepted_by"], found["reason"], found["acceptances"]) == ("Grace H", "b may fail", 2)


def test_accept__drifted__is_exit_1_and_stores_nothing(work):
    """A level below the anchor needs --move-anchor."""
    suite = work.measured(*"abcde")
    work.run("accept", "eval-results", "--reason", "first")
    before = work.tree("eval-baselines")
    work.answers(**{**dict.fromkeys("abcde", "yes"), "a": "no"})
    work.run("run", suite)

    done = work.run("accept", "eval-results", "--reason", "lower")

    assert (done.code, "DRIFTED" in done.err, work.tree("eval-baselines") == before) == (1, True, True)
    assert done.last_line.startswith("eval-gate: drifted (exit 1)")
    assert "nothing was accepted; where the lower level is right, add --move-anchor" in done.err


def test_accept__while_another_is_at_work__is_refused(work):
    """Two acceptances at once would both continue the same one: the second is exit 2, and the first one's baseline stands."""
    work.measured("a")
    with DirectoryStore(work.folder / "eval-baselines").held():
        done = work.run("accept", "eval-results", "--reason", "x")

    assert (done.code, "another acceptance is at work" in done.err, work.tree("eval-baselines")) == (2, True, {})
    assert work.run("accept", "eval-results", "--reason", "x").code == 0


def test_accept__several_suites__all_or_none(work):
    """One record with an error: nothing of any suite is stored."""
    work.measured("a", name="one")
    two = work.suite("b", name="two")
    work.answers(b=7)
    work.run("run", two)

    assert work.run("accept", "eval-results", "--reason", "x").code == 2
    assert work.tree("eval-baselines") == {}


def test_compare__a_record_with_itself__is_clean(work):
    """compare(x, x) never regresses, and measures nothing."""
    work.measured("a", "b")
    calls = work.calls("a")

    done = work.run("compare", "eval-results/s", "eval-results/s", "--out", "compared", "--format", "json")

    assert (done.code, json.loads(done.out)["suites"][0]["counts"]["compared"], work.calls("a")) == (0, 2, calls)


def test_report__renders_again_and_is_published(work):
    """The report of a finished run can be had later; the last line says so."""
    work.measured("a")

    done = work.run("report", "eval-results", "--report", "again.md")

    assert (done.code, (work.folder / "again.md").exists()) == (0, True)
    assert done.last_line.startswith("eval-gate: published (exit 0)")


def test_shards__merge_into_the_whole_and_a_missing_one_is_refused(work):
    """Each case is asked once; 1/2 alone is no record; the merged one can be accepted."""
    suite = work.suite(*"abc")
    work.answers(a="yes", b="yes", c="yes")
    for part in ("1", "2"):
        assert work.run("run", suite, "--shard", f"{part}/2", "--out", f"part{part}").code == 0

    assert [work.calls(name) for name in "abc"] == [1, 1, 1]
    assert work.run("merge", "part1", "--into", "half").code == 2
    done = work.run("merge", "part1", "part2", "--into", "whole")
    assert done.last_line.startswith("eval-gate: merged (exit 0)")
    assert work.run("accept", "whole", "--reason", "all of it").code == 0
    assert work.run("gate", suite).suite["counts"]["compared"] == 3


def test_history__of_a_suite__needs_neither_its_secrets_nor_its_answers(work, monkeypatch):
    """A suite's file, its folder and a pattern name its runs where its variables are unset and its files of answers and results are gone."""
    monkeypatch.setenv("BOT_URL", "http://127.0.0.1:9/")
    suite = work.suite("a", target={"http": {"url": "{{ env.BOT_URL }}", "retries": 0}})
    (work.folder / "answers.jsonl").write_text('{"id": "a", "output": "yes"}\n')
    stored = work.suite("a", name="stored", target={"predictions": "answers.jsonl"})
    (work.folder / "imported.eval.yaml").write_text("version: 1\nname: imported\nimport: { format: ragas, path: results.csv }\ngate: { thresholds: { faithful: 0.5 } }\n")
    (work.folder / "results.csv").write_text("user_input,faithful\nx,0.9\n")
    work.run("run", suite, stored, "imported.eval.yaml")
    monkeypatch.delenv("BOT_URL")
    for name in ("answers.jsonl", "results.csv"):
        (work.folder / name).unlink()

    shown = {word: work.run("history", word, "--format", "json") for word in (suite, stored, "imported.eval.yaml", ".", "*.eval.yaml", "s")}

    assert {word: [run["suite"] for run in json.loads(done.out)["runs"]] for word, done in shown.items()} == {
        suite: ["s"], stored: ["stored"], "imported.eval.yaml": ["imported"], ".": ["s", "stored", "imported"], "*.eval.yaml": ["s", "stored", "imported"], "s": ["s"],
    }  # fmt: skip


@pytest.mark.parametrize("command", ["gate", "compare", "report", "accept", "merge"])
def test_readers__of_a_record__need_no_secret_of_its_suite(work, monkeypatch, command):
    """What was measured is judged, compared, shown, accepted and joined where nothing can be asked."""
    monkeypatch.setenv("KEY", "secret-of-the-bot")
    suite = work.suite("a", target={"http": {"url": "http://127.0.0.1:9/", "headers": {"authorization": "{{ env.KEY }}"}, "retries": 0}})
    (work.folder / "answers.jsonl").write_text('{"id": "a", "output": "yes"}\n')
    assert work.run("run", suite, "--predictions", "answers.jsonl", *(("--shard", "1/1") if command == "merge" else ())).code == 0
    monkeypatch.delenv("KEY")
    (work.folder / "answers.jsonl").unlink()
    more = {
        "gate": (suite, "--record", "eval-results"), "compare": ("eval-results", "eval-results"), "report": ("eval-results",),
        "accept": ("eval-results", "--reason", "right"), "merge": ("eval-results", "--into", "whole"),
    }  # fmt: skip

    done = work.run(command, *more[command])

    assert (done.code, "KEY" in done.err) == (0, False), done.err


def test_history__shows_runs_oldest_first(work):
    """Two gates, two rows, as text and as JSON, by name and by file."""
    suite = work.measured("a")
    work.run("gate", suite)

    rows = json.loads(work.run("history", suite, "--format", "json").out)["runs"]

    assert [row["verdict"] for row in rows] == ["measured", "no_baseline"]
    header, *rows = work.run("history", "s").out.splitlines()
    assert (header.split()[:4], any("no_baseline" in row for row in rows)) == (["time", "suite", "verdict", "pass"], True)


def test_accept__takes_only_the_suites_of_the_last_run(work):
    """A record of an earlier run that lies beside is not accepted along with it."""
    work.measured("a", name="old")
    work.measured("b", name="new")

    assert work.run("accept", "eval-results", "--reason", "the new one").code == 0

    assert sorted(path.name for path in (work.folder / "eval-baselines").iterdir()) == ["new"]


def test_compare__suites_of_one_side_only__are_refused(work):
    """Neither side's suites may vanish without a word, and nothing is added to the history."""
    work.measured("a", name="one")
    work.measured("a", name="two")

    assert work.run("compare", "eval-results", "eval-results/one", "--out", "c").code == 2
    assert work.run("compare", "eval-results/one", "eval-results", "--out", "c").code == 2
    assert not (work.folder / "c/history.sqlite").exists()


@pytest.mark.parametrize("narrowed", [("--filter", "[bd]"), ("--tag", "smoke")])
def test_merge__of_shards_of_different_selections__is_refused(work, narrowed):
    """A shard that left out more than its part would make cases vanish: exit 2, and nothing is written."""
    suite = work.suite(*"abcd", case_keys={"b": {"tags": ["smoke"]}, "d": {"tags": ["smoke"]}})
    work.answers(**dict.fromkeys("abcd", "yes"))
    assert work.run("run", suite, "--shard", "1/2", "--out", "part1").code == 0
    assert work.run("run", suite, "--shard", "2/2", *narrowed, "--out", "part2").code == 0

    done = work.run("merge", "part1", "part2", "--into", "whole")

    assert (done.code, f"differ in their {narrowed[0]}" in done.err, (work.folder / "whole").exists()) == (2, True, False), done.err


def test_merge__into_a_folder_that_holds_one_of_the_suites__writes_none(work):
    """The refusal comes before anything is written."""
    for name in ("one", "two"):
        suite = work.suite("a", name=name)
        work.answers(a="yes")
        assert work.run("run", suite, "--shard", "1/1", "--out", "part").code == 0
    work.run("merge", "part/two", "--into", "whole")

    done = work.run("merge", "part", "--into", "whole")

    assert (done.code, sorted(path.name for path in (work.folder / "whole").iterdir())) == (2, ["two"])


def test_filter__an_id_with_the_signs_of_a_glob__is_meant_as_it_is_written(work):
    """`--filter 'a[1]'` measures the case of that id, and the gate counts it as one that was to be measured."""
    suite = work.accepted("a[1]", "a2")

    done = work.run("gate", suite, "--filter", "a[1]")

    assert (done.code, [case["case"] for case in done.suite["cases"]]) == (0, ["a[1]"])


def test_merge__counts_what_the_shards_hold(work):
    """The record of the whole says how many cases and trials it holds, as that of a run that was never split."""
    suite = work.suite(*"abc")
    work.answers(a="yes", b="yes", c="yes")
    for part in ("1", "2"):
        work.run("run", suite, "--shard", f"{part}/2", "--repeats", "2", "--out", f"part{part}")
    work.run("merge", "part1", "part2", "--into", "whole")

    assert json.loads((work.folder / "whole/s/record.json").read_text())["counts"] == {"cases": 3, "errors": 0, "trials": 6}
