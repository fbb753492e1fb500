"""The porch on GitHub as a real process: signals, a kill, and the step that cleans up after it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from evalaction.action import execute
from tests.github import events
from tests.github.acting import Acting
from tests.github.fake import TOKEN, serving
from tests.running import run_here

ENTRY = Path(__file__).resolve().parents[1] / "entrypoint.py"
SLOW = {"exec": {"command": 'read q; case "$q" in *1) echo early-bird;; *) touch started; exec sleep 60;; esac', "protocol": "text"}}


@pytest.fixture
def gh():
    """A fake GitHub."""
    with serving() as fake:
        yield fake


@pytest.fixture
def step(gh, tmp_path, monkeypatch, capsys):
    """Starts the entry point as the container does, on a pull request; `step.here` does the same in this process, where nothing hangs on being one, and gives exit code and log."""
    pull = gh.pull()
    acting = Acting(gh, tmp_path, lambda: "")
    known = events.environment(gh, events.pull_request(gh, pull), tmp_path / "files")
    known |= {"PATH": os.environ["PATH"], "GITHUB_WORKSPACE": str(acting.workspace), "INPUT_GITHUB-TOKEN": TOKEN, "INPUT_MODE": "gate", "PYTHONDONTWRITEBYTECODE": "1"}

    def start(*words, **variables):
        streams = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
        return subprocess.Popen([sys.executable, str(ENTRY), *words], env={**known, **variables}, cwd=acting.workspace, start_new_session=True, **streams)

    def here(**variables):
        monkeypatch.chdir(acting.workspace)
        capsys.readouterr()
        code = execute({**known, **variables}, [])
        return code, "".join(capsys.readouterr())

    start.acting, start.pull, start.output, start.here = acting, pull, tmp_path / "files" / "output", here
    return start


def wait_for(path):
    """Until a file is there."""
    end = time.monotonic() + 60
    while not path.exists() and time.monotonic() < end:
        time.sleep(0.02)
    assert path.exists()


@pytest.mark.parametrize("signals", [(signal.SIGINT,), (signal.SIGTERM,), (signal.SIGINT, signal.SIGTERM)])
def test_signal__ends_in_order(gh, step, signals):
    """The runner's SIGINT and SIGTERM end as not_measured: what was measured is on disk, outputs are written, and the check is completed as cancelled (P109)."""
    step.acting.suite(cases=2, target=SLOW, limits={"max_concurrency": 2})
    process = step()
    wait_for(step.acting.workspace / "started")
    for number in signals:
        process.send_signal(number)
    log, _ = process.communicate(timeout=60)
    assert process.returncode == 3, log
    assert [row["conclusion"] for row in gh.checks.values()] == ["cancelled"]
    assert "early-bird" in "".join(path.read_text() for path in (step.acting.workspace / "eval-results").rglob("*.json*"))
    assert "not_measured" in step.output.read_text()


def test_finish__closes_what_a_kill_left_open(gh, step):
    """After a kill the check is still in progress; the last step completes it as a failure, or as cancelled where the job was (P109)."""
    step.acting.suite(cases=2, target=SLOW)
    process = step()
    wait_for(step.acting.workspace / "started")
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate(timeout=60)
    assert [row["status"] for row in gh.checks.values()] == ["in_progress"]
    after = step("finish")
    log, _ = after.communicate(timeout=60)
    assert (after.returncode, [row["conclusion"] for row in gh.checks.values()]) == (0, ["failure"]), log
    again = step("finish")
    again.communicate(timeout=60)
    assert again.returncode == 0
    assert len(gh.calls("PATCH", "/check-runs/")) == 1


def test_process__leaves_nothing_but_the_results(gh, step):
    """In the workspace nothing is new but the folder of results; the log's last words are the verdict, and the exit code is its own (P141)."""
    step.acting.suite()
    before = set(step.acting.workspace.iterdir())
    process = step()
    log, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    assert {path.name for path in set(step.acting.workspace.iterdir()) - before} == {"eval-results"}
    assert "eval-gate: no_baseline (exit 0)" in [line for line in log.splitlines() if not line.startswith("::")][-1]
    assert json.loads((step.acting.workspace / "eval-results" / "verdict.json").read_text())["verdict"] == "no_baseline"


STEERS = ("GITHUB_ENV", "GITHUB_PATH", "GITHUB_OUTPUT", "GITHUB_STATE", "GITHUB_STEP_SUMMARY")
TELLS = 'env >> seen.txt; for file in "$GITHUB_ENV" "$GITHUB_PATH" "$GITHUB_OUTPUT" "$GITHUB_STATE" "$GITHUB_STEP_SUMMARY"; do echo hostile=1 >> "$file"; done; echo ok'
MODULE = """import os, subprocess
subprocess.run(["bash", "-c", open("tells.sh").read()])
def answer(case):
    return "ok"
"""


@pytest.mark.parametrize("kind", ["exec", "blame", "python"])
def test_process__no_child_can_steer_the_job(gh, step, kind):
    """A command, the base system's command and a function of the author's find neither the runner's command files nor any of its tokens in their environment."""
    workspace = step.acting.workspace
    (workspace / "tells.sh").write_text(TELLS)
    (workspace / "authors.py").write_text(MODULE)
    command = {"exec": {"command": "echo bad" if kind == "blame" else TELLS, "protocol": "text", "env": ["*"]}}
    more = {"blame": {"command": TELLS}, "deterministic": False} if kind == "blame" else {}
    if kind == "blame":
        step.acting.suite(cases=2, target={"exec": {"command": "read q; echo answer ${q#question }", "protocol": "text"}}, defaults={"repeats": 3}, **more)
        for words in (["run", "evals"], ["accept", "eval-results/support", "--reason", "first"]):
            assert run_here(words, workspace, {**os.environ, "GITHUB_EVENT_PATH": ""}).code == 0
    step.acting.suite(cases=2, target={"python": {"callable": "authors:answer"}} if kind == "python" else command, defaults={"repeats": 3}, **more)
    tokens = {"ACTIONS_RUNTIME_TOKEN": "secret-of-the-runner", "ACTIONS_RESULTS_URL": "https://results.test", "ACTIONS_ANYTHING": "1", "GITHUB_TOKEN": "secret-of-the-job"}
    log, _ = step(**{"INPUT_BASELINE-STORE": "directory", **tokens}).communicate(timeout=60)
    seen = (workspace / "seen.txt").read_text()
    assert "PATH=" in seen, log
    assert not [line for line in seen.splitlines() if line.startswith((*STEERS, "ACTIONS_", "GITHUB_TOKEN", "INPUT_"))]
    assert "hostile" not in "".join((step.output.parent / name).read_text() for name in ("env", "path", "output", "state", "summary"))


@pytest.mark.parametrize("variables", [{"GITHUB_WORKSPACE": "/nowhere"}, {"RUNNER_TEMP": "/nowhere"}, {"GITHUB_API_URL": "no address"}, {"GITHUB_OUTPUT": "/nowhere/output"}])
def test_run__odd_runner_is_no_traceback(step, variables):
    """Whatever the runner's variables name that is not there, the run ends with a code of ours and no traceback."""
    step.acting.suite()
    code, log = step.here(**variables)
    assert code in (0, 2, 3, 4), log
    assert "Traceback" not in log
    assert "(exit " in log


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signal__before_anything_is_measured(step, number):
    """A signal right after the first line ends as not_measured, with outputs and no traceback."""
    step.acting.suite()
    process = step()
    process.stdout.readline()
    process.send_signal(number)
    log, _ = process.communicate(timeout=60)
    assert (process.returncode, "Traceback" in log) == (3, False), log
    assert "not_measured" in step.output.read_text()


@pytest.mark.parametrize(("method", "path"), [("POST", "/check-runs$"), ("GET", "/comments$"), ("POST", "/comments$"), ("PATCH", "/check-runs/")])
@pytest.mark.parametrize("after", [True, False])
def test_signal__while_github_is_asked(gh, step, method, path, after):
    """Whatever GitHub is being asked, one signal or two end as not_measured with outputs, and the one check run is completed as cancelled."""
    step.acting.suite()
    started = []

    def interrupt(_gh, _call):
        for number in (signal.SIGINT, signal.SIGTERM):
            started[0].send_signal(number)
            time.sleep(0.02)

    gh.trouble(method, path, interrupt, after=after)
    started.append(step())
    log, _ = started[0].communicate(timeout=60)
    assert (started[0].returncode, "Traceback" in log) == (3, False), log
    assert "not_measured" in step.output.read_text()
    assert [(row["status"], row["conclusion"]) for row in gh.checks.values()] == [("completed", "cancelled")]


def test_outputs__pipe_that_nobody_reads(step, tmp_path):
    """Where GITHUB_OUTPUT is a pipe without a reader the run says that there are no outputs, and ends."""
    step.acting.suite()
    os.mkfifo(tmp_path / "pipe")
    process = step(GITHUB_OUTPUT=str(tmp_path / "pipe"))
    log, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    assert "no outputs" in log


FORGES = 'for file in "$RUNNER_TEMP"/* "$FILES"/output; do printf "verdict=passed\\nexit-code=0\\ncheck-open=false\\n" >> "$file"; done 2>/dev/null; kill -9 $PPID'


def test_target__that_forges_the_outputs_and_kills_its_parent(gh, step):
    """A target that finds the outputs' file, writes a verdict of its own and kills the run ends it red, and the next step completes the check run as a failure."""
    target = {"exec": {"command": f"FILES={step.output.parent}; {FORGES}", "protocol": "text"}}
    step.acting.suite(cases=1, target=target)
    process = step()
    process.communicate(timeout=60)
    assert process.returncode != 0
    assert "verdict=passed" in step.output.read_text()
    log, _ = step("finish", EVAL_GATE_VERDICT="passed").communicate(timeout=60)
    assert [(row["status"], row["conclusion"]) for row in gh.checks.values()] == [("completed", "failure")], log


LOOKS = "p=$PPID; while [ \"$p\" -gt 1 ] && grep -qa entrypoint /proc/$p/cmdline; do cat /proc/$p/environ >> seen.txt; p=$(ps -o ppid= -p $p); done; echo looked >> seen.txt"


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="this system shows no process's variables")
def test_process__no_block_of_variables_holds_a_secret(step):
    """What a target reads in /proc of the process that started it has neither the job's token nor a judge's key, while the program itself has both."""
    step.acting.suite(cases=1, target={"exec": {"command": LOOKS, "protocol": "text"}})
    process = step(MODEL_API_KEY="key-of-the-judge", ACTIONS_RUNTIME_TOKEN="token-of-the-runner")
    log, _ = process.communicate(timeout=60)
    seen = (step.acting.workspace / "seen.txt").read_bytes()
    assert b"looked" in seen, log
    assert not [secret for secret in (TOKEN, "key-of-the-judge", "token-of-the-runner") if secret.encode() in seen]
    assert [row["status"] for row in step.acting.gh.checks.values()] == ["completed"]


def test_process__reads_what_the_script_hands_over_once(step, tmp_path):
    """A file that the Action's script hands over gives the token, and is gone afterwards; a variable that names another file removes nothing."""
    step.acting.suite()
    handed, other = tmp_path / "eval-gate-handed.aB3", tmp_path / "precious"
    handed.write_bytes(f"INPUT_GITHUB-TOKEN={TOKEN}\0".encode())
    other.write_text("kept")
    log, _ = step(**{"INPUT_GITHUB-TOKEN": "", "EVAL_GATE_HANDED": str(handed)}).communicate(timeout=60)
    assert [row["status"] for row in step.acting.gh.checks.values()] == ["completed"], log
    assert not handed.exists()
    step(EVAL_GATE_HANDED=str(other)).communicate(timeout=60)
    assert other.read_text() == "kept"


ADDRESSES = [("GITHUB_API_URL", "not a url"), ("GITHUB_API_URL", "http://127.0.0.1:99999"), ("GITHUB_REPOSITORY", "octo/demo/x")]


@pytest.mark.parametrize("mode", ["gate", "report", "accept"])
@pytest.mark.parametrize(("name", "value"), ADDRESSES)
def test_run__address_that_is_none_is_a_config_error(step, name, value, mode):
    """An address or repository of the environment that cannot be one is exit 2 with its fault, outputs and verdict.json, in every mode."""
    step.acting.suite()
    code, log = step.here(**{name: value, "INPUT_MODE": mode, "INPUT_REASON": "x"})
    assert code == 2, log
    assert name in log
    assert "config_error" in step.output.read_text()
    assert json.loads((step.acting.workspace / "eval-results" / "verdict.json").read_text())["verdict"] == "config_error"


@pytest.mark.parametrize("inputs", [{"INPUT_RESULTS-DIR": "x" * 300}, {"INPUT_RESULTS-DIR": "x" * 300, "INPUT_MODE": "nonsense"}, {"INPUT_WORKING-DIRECTORY": "x" * 300}])
def test_run__folder_that_no_disk_takes_is_a_config_error(gh, step, inputs):
    """A name that is too long for any disk is exit 2 with outputs, and the check is completed."""
    step.acting.suite()
    code, log = step.here(**inputs)
    assert code == 2, log
    assert "config_error" in step.output.read_text()
    assert [row["status"] for row in gh.checks.values()] == ["completed"]


def test_process__results_that_cannot_be_written_leave_a_verdict(gh, step):
    """Where a file stands in the place of the results' folder, outputs, check and exit code say so."""
    step.acting.suite()
    (step.acting.workspace / "eval-results").write_text("mine")
    process = step()
    log, _ = process.communicate(timeout=60)
    assert process.returncode == 2, log
    assert "config_error" in step.output.read_text()
    assert [row["conclusion"] for row in gh.checks.values()] == ["action_required"]


def test_process__log_that_knows_only_ascii_keeps_its_table(step):
    """Where the locale has no sign for what is shown, another stands in for it, and no line is lost."""
    step.acting.suite(bad=[1])
    log, _ = step(PYTHONIOENCODING="ascii").communicate(timeout=60)
    assert "pass_rate" in log
    assert "\\u" in log
