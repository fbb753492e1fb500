"""The other commands: init, schema, resume and signals; and what no command may do with what it is told."""

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


def test_schema__into_a_link__is_written_where_it_leads(work):
    """`--output` fills the file that a link means and leaves the link."""
    (work.folder / "link.json").symlink_to("real.json")

    assert work.run("schema", "--output", "link.json").code == 0
    assert (work.folder / "link.json").is_symlink()
    assert (work.folder / "real.json").read_text() == work.run("schema").out


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


@pytest.mark.parametrize(("pipe", "code", "word"), [(">/dev/full", 2, "config_error"), ("| true", 0, "no_baseline"), ("2>/dev/full", 0, "no_baseline")])
def test_streams__json_that_no_disk_takes__is_cannot_write(work, pipe, code, word):
    """What a program is to read is not lost in silence: exit 2, in verdict.json too; a reader that has gone wants no more."""
    suite = work.suite("a")
    work.answers(a="yes")
    script = f"{sys.executable} -m evalaction gate {suite} --format json {pipe}; exit ${{PIPESTATUS[0]}}"

    done = subprocess.run(["bash", "-c", script], cwd=work.folder, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=False)

    assert (done.returncode, "CANNOT_WRITE stdout" in done.stderr) == (code, code == 2)
    assert json.loads((work.folder / "eval-results/verdict.json").read_text())["verdict"] == word


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
