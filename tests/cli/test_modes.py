"""The other commands: accept, compare, report, merge, history, init, schema, shards, resume and signals."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def measured(work, *ids, **top):
    """A suite whose cases all pass, measured."""
    suite = work.suite(*ids, **top)
    work.answers(**dict.fromkeys(ids, "yes"))
    assert work.run("run", suite).code == 0
    return suite


def test_accept__says_who_why_and_what_moved(work):
    """Name and reason are stored and shown by the next gate; moved cases are printed with both values."""
    suite = measured(work, "a", "b")
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
    suite = measured(work, *"abcde")
    work.run("accept", "eval-results", "--reason", "first")
    before = work.tree("eval-baselines")
    work.answers(**{**dict.fromkeys("abcde", "yes"), "a": "no"})
    work.run("run", suite)

    done = work.run("accept", "eval-results", "--reason", "lower")

    assert (done.code, "DRIFTED" in done.err, work.tree("eval-baselines") == before) == (1, True, True)
    assert done.last_line.startswith("eval-gate: drifted (exit 1)")
    assert "nothing was accepted; where the lower level is right, add --move-anchor" in done.err


def test_accept__several_suites__all_or_none(work):
    """One record with an error: nothing of any suite is stored."""
    measured(work, "a", name="one")
    two = work.suite("b", name="two")
    work.answers(b=7)
    work.run("run", two)

    assert work.run("accept", "eval-results", "--reason", "x").code == 2
    assert work.tree("eval-baselines") == {}


def test_compare__a_record_with_itself__is_clean(work):
    """compare(x, x) never regresses, and measures nothing."""
    measured(work, "a", "b")
    calls = work.calls("a")

    done = work.run("compare", "eval-results/s", "eval-results/s", "--out", "compared", "--format", "json")

    assert (done.code, json.loads(done.out)["suites"][0]["counts"]["compared"], work.calls("a")) == (0, 2, calls)


def test_report__renders_again_and_is_published(work):
    """The report of a finished run can be had later; the last line says so."""
    measured(work, "a")

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
    suite = measured(work, "a")
    work.run("gate", suite)

    rows = json.loads(work.run("history", suite, "--format", "json").out)["runs"]

    assert [row["verdict"] for row in rows] == ["measured", "no_baseline"]
    header, *rows = work.run("history", "s").out.splitlines()
    assert (header.split()[:4], any("no_baseline" in row for row in rows)) == (["time", "suite", "verdict", "pass"], True)


def test_init__writes_a_valid_suite_and_never_overwrites(work):
    """Four files; a second init keeps what is there, and says what the placeholder of the Action is only where it was written."""
    first = work.run("init", ".")
    assert (first.code, "init --action OWNER/REPO@REF" in first.err, "added eval-results/ to .gitignore" in first.err) == (0, True, True)
    (work.folder / "evals/starter.eval.yaml").write_text("# mine\n")

    done = work.run("init", ".")

    assert "kept evals/starter.eval.yaml" in done.err
    assert ("OWNER/REPO" in done.err, "added" in done.err) == (False, False)
    assert (work.folder / "evals/starter.eval.yaml").read_text() == "# mine\n"


@pytest.mark.parametrize("kind", ["suite", "verdict", "record", "case"])
def test_schema__is_the_published_one(work, kind):
    """What `schema` prints is what docs/schemas holds."""
    published = ROOT / "docs/schemas" / f"{kind}.schema.json"

    assert work.run("schema", "--of", kind).out == published.read_text()


def started(work, *arguments):
    """The command line as a process of its own."""
    root = str(ROOT)
    return subprocess.Popen(
        [sys.executable, "-m", "evalaction", *arguments], cwd=work.folder, env={**os.environ, "PYTHONPATH": root}, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True
    )


def slow_suite(work):
    """Four cases, one at a time; the third hangs until the file `go` is there."""
    (work.folder / "bot.sh").write_text('read -r name; echo -n . >> "count-$name"; if [ "$name" = c ]; then while [ ! -e go ]; do sleep 0.05; done; fi; printf yes\n')
    suite = work.suite(*"abcd", limits={"max_concurrency": 1})
    text = (work.folder / suite).read_text().replace("- sh\n", "- bash\n")
    (work.folder / suite).write_text(text)
    return suite


def wait_for(work, name):
    """Until the case with this input has been asked."""
    deadline = time.monotonic() + 30
    while not work.calls(name) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert work.calls(name)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signal__ends_as_not_measured_with_everything_on_disk(work, number):
    """What was measured is in the record, the rest is marked, and --resume asks only for the rest."""
    suite = slow_suite(work)
    process = started(work, "gate", suite)
    wait_for(work, "c")
    process.send_signal(number)
    _, err = process.communicate(timeout=30)

    assert process.returncode == 3
    assert err.strip().splitlines()[-1].startswith("eval-gate: not_measured (exit 3)")
    verdict = json.loads((work.folder / "eval-results/verdict.json").read_text())
    assert (verdict["verdict"], verdict["suites"][0]["counts"]["errors"]) == ("not_measured", 2)
    assert "yes" in (work.folder / "eval-results/s/cases/a.json").read_text()
    (work.folder / "go").touch()
    done = work.run("gate", suite, "--resume")
    assert (done.code, [work.calls(name) for name in "abcd"]) == (0, [1, 1, 2, 1])


def test_signal__ends_the_whole_run_and_not_only_one_suite(work):
    """After Ctrl-C the next suite is not started, and said to be not measured."""
    first = slow_suite(work)
    second = work.suite("z", name="second")
    process = started(work, "gate", first, second)
    wait_for(work, "c")
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=30)

    assert (process.returncode, work.calls("z")) == (3, 0)
    verdict = json.loads((work.folder / "eval-results/verdict.json").read_text())
    assert {suite["suite"]: suite["verdict"] for suite in verdict["suites"]} == {"s": "not_measured", "second": "not_measured"}


@pytest.mark.parametrize("pipe", ["| true", ">&-", ">&- 2>&-", "2>&-", ">/dev/full", "2>/dev/full"])
def test_streams__that_are_closed_or_full__never_change_the_exit_code(work, pipe):
    """The verdict's code stands whoever reads; never Python's own 1 or 120."""
    suite = work.suite("a")
    work.answers(a="yes")
    root = str(ROOT)
    script = f"{sys.executable} -m evalaction gate {suite} --format markdown {pipe}; exit ${{PIPESTATUS[0]}}"

    done = subprocess.run(["bash", "-c", script], cwd=work.folder, env={**os.environ, "PYTHONPATH": root}, capture_output=True, check=False)

    assert done.returncode == 0
    assert json.loads((work.folder / "eval-results/verdict.json").read_text())["verdict"] == "no_baseline"


def test_accept__takes_only_the_suites_of_the_last_run(work):
    """A record of an earlier run that lies beside is not accepted along with it."""
    measured(work, "a", name="old")
    measured(work, "b", name="new")

    assert work.run("accept", "eval-results", "--reason", "the new one").code == 0

    assert sorted(path.name for path in (work.folder / "eval-baselines").iterdir()) == ["new"]


def test_compare__suites_of_one_side_only__are_refused(work):
    """Neither side's suites may vanish without a word, and nothing is added to the history."""
    measured(work, "a", name="one")
    measured(work, "a", name="two")

    assert work.run("compare", "eval-results", "eval-results/one", "--out", "c").code == 2
    assert work.run("compare", "eval-results/one", "eval-results", "--out", "c").code == 2
    assert not (work.folder / "c/history.sqlite").exists()


@pytest.mark.parametrize("how", ["head", "merge", "shallow merge", "beside", "deep beside"])
def test_unsafe_checkout__of_a_pull_request_or_its_merge__is_refused(work, monkeypatch, how):
    """Under pull_request_target the head, or a merge of it, must not be checked out anywhere in the workspace; nothing is asked."""

    def git(*arguments, of="origin"):
        call = ["git", "-C", str(work.folder / of), "-c", "user.name=t", "-c", "user.email=t@example.invalid", *arguments]
        return subprocess.run(call, check=True, capture_output=True, text=True).stdout.strip()

    (work.folder / "origin").mkdir()
    git("init", "-q", "-b", "main")
    git("commit", "-q", "--allow-empty", "-m", "base")
    git("checkout", "-q", "-b", "change")
    git("commit", "-q", "--allow-empty", "-m", "head")
    head = git("rev-parse", "HEAD")
    if "merge" in how:
        git("checkout", "-q", "main")
        git("merge", "-q", "--no-ff", "-m", "merge", "change")
    place = work.folder / {"beside": "pr", "deep beside": "a/b/pr"}.get(how, "checkout")
    git("clone", "-q", *(["--depth", "1"] if "shallow" in how else []), (work.folder / "origin").as_uri(), str(place), of=".")
    shutil.rmtree(work.folder / "origin")
    if place.name == "checkout":
        (place / ".git").rename(work.folder / ".git")
    (work.folder / "event.json").write_text(json.dumps({"pull_request": {"number": 7, "head": {"sha": head}}}))
    monkeypatch.setenv("GITHUB_EVENT_NAME", "pull_request_target")
    monkeypatch.setenv("GITHUB_EVENT_PATH", str(work.folder / "event.json"))
    monkeypatch.setenv("GITHUB_WORKSPACE", str(work.folder))

    done = work.run("gate", work.suite("a"))

    assert (done.code, "UNSAFE_CHECKOUT" in done.err, work.calls("a")) == (2, True, 0)


def test_kill__loses_only_the_trial_in_flight(work):
    """After SIGKILL --resume goes on from the journal, also after a second one and a torn line."""
    suite = slow_suite(work)
    process = started(work, "run", suite)
    wait_for(work, "c")
    process.kill()
    process.communicate(timeout=30)
    (work.folder / "go").touch()

    with (work.folder / "eval-results/s/trials.jsonl").open("ab") as journal:
        journal.write(b'{"case": "c", "tri')  # what a kill in the middle of a line leaves
    (work.folder / "go").unlink()
    again = started(work, "run", suite, "--resume")
    deadline = time.monotonic() + 30
    while work.calls("c") < 2 and time.monotonic() < deadline:
        time.sleep(0.02)
    again.kill()
    again.communicate(timeout=30)
    (work.folder / "go").touch()

    done = work.run("run", suite, "--resume")

    assert (done.code, [work.calls(name) for name in "abcd"]) == (0, [1, 1, 3, 1])
    assert any("earlier, interrupted run" in warning for warning in done.suite["warnings"])


def test_secrets__appear_in_no_sink(work, monkeypatch):
    """A system that echoes its key: masked in log, verdict, record, report, JUnit, history and stdout."""
    secret = "sk-work-0123456789abcdef"
    monkeypatch.setenv("MY_API_KEY", secret)
    (work.folder / "bot.sh").write_text('printf "%s" "$MY_API_KEY"; printf "%s" "$MY_API_KEY" >&2\n')
    suite = work.suite("a", target={"exec": {"command": ["sh", "bot.sh"], "protocol": "text", "env": ["MY_API_KEY"]}}, gate={"thresholds": {"equals": 1}})

    outputs = [work.run("gate", suite, "-v", "--format", form, "--report", "r.md", "--junit", "j.xml") for form in ("text", "markdown", "json")]

    stored = "".join(data.decode(errors="replace") for data in work.tree("eval-results").values())
    text = stored + (work.folder / "r.md").read_text() + (work.folder / "j.xml").read_text() + "".join(done.out + done.err for done in outputs)
    assert secret not in text
    assert "***" in stored


def test_commands_for_the_runner__in_foreign_text__never_start_a_line(work):
    """`::error::` in ids, answers and stderr is only text."""
    evil = "::error::forged"
    (work.folder / "bot.sh").write_text('echo "::add-mask::x"; echo "::error::forged" >&2; exit 1\n')
    suite = work.suite(evil, "a")

    done = work.run("gate", suite, "-v")

    lines = [line.strip() for line in (done.out + done.err).splitlines()]
    assert not [line for line in lines if line.startswith(("::error", "::add-mask", "##["))]
