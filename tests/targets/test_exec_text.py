"""Commands with one process per trial: real children, grandchildren, floods and silence."""

import asyncio
import os
import sys
import time
from pathlib import Path

import pytest

from evalaction.errors import ConfigError, TargetError


def ask(target, request):
    """The answer to one trial."""
    return asyncio.run(target.ask(request))


def failure(target, request):
    """The error of one trial."""
    with pytest.raises(TargetError) as caught:
        ask(target, request)
    return caught.value


def is_alive(pid):
    """Running, and not merely waiting to be reaped by init."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def wait_until_gone(pid):
    """Whether a process ends within seconds."""
    deadline = time.monotonic() + 5
    while is_alive(pid) and time.monotonic() < deadline:
        time.sleep(0.02)
    return not is_alive(pid)


def descriptors():
    """Open file descriptors of this process."""
    return len(list(Path("/proc/self/fd").iterdir()))


def test_text__reads_stdin_to_its_end(command_target, request_for):
    """A target that reads all of its input first gets there."""
    assert ask(command_target("cat"), request_for(input="grüße\n")).output == "grüße\n"


def test_text__stdin_can_be_opened_by_name(command_target, request_for):
    """A program that opens /dev/stdin instead of reading descriptor 0 finds the input."""
    assert ask(command_target("cat /dev/stdin"), request_for(input="x" * 300_000)).output == "x" * 300_000


def test_text__a_child_that_does_not_read_its_input(command_target, request_for):
    """Megabytes of input that nobody reads break nothing."""
    assert ask(command_target("echo x"), request_for(input="y" * 3_000_000)).output == "x\n"


def test_text__no_output_at_exit_0_is_nothing(command_target, request_for):
    """A target that exits 0 and prints nothing answered with nothing."""
    assert ask(command_target("true"), request_for()).is_nothing


@pytest.mark.parametrize(
    ("command", "named"),
    [("if then", "2"), ("exit 7", "7"), ("no-such-program-at-all", "127"), ("false | true", "1"), ("kill -9 $$", "SIGKILL"), ("(kill -TERM $BASHPID)", "SIGTERM")],
)
def test_text__a_failed_command_is_an_error_that_names_the_status(command_target, request_for, command, named):
    """Syntax error, exit status, missing program, failing pipe and signals are TARGET_FAILED and say which."""
    error = failure(command_target(command), request_for())
    assert error.code == "TARGET_FAILED"
    assert named in error.message


def test_text__a_failed_command_says_its_last_words(command_target, request_for):
    """The message ends with the last line of stderr that says anything, on one line and cut; the rest is in the details."""
    error = failure(command_target(r"printf 'early\nValueError: no\033 model %0300d\n\n' 7 >&2; exit 1"), request_for())
    assert error.message.startswith("the command exited with status 1: ValueError: no model 000")
    assert error.message.endswith("…")
    assert len(error.message) < 250
    assert "early" in error.detail


@pytest.mark.parametrize(("name", "environment", "told"), [("BOT_KEY", {}, True), ("BOT_MODE", {"BOT_MODE": "fast"}, True), ("BOT_MODE", {}, False), ("GITHUB_TOKEN", {}, False)])
def test_text__a_failed_command_that_misses_a_variable(command_target, request_for, name, environment, told):
    """A variable that the program speaks of and did not get is named with the remedy; an unknown word and what never passes are not."""
    error = failure(command_target(f"echo \"KeyError: '{name}'\" >&2; exit 1", environment={**os.environ, **environment}), request_for())
    assert (f"what `env` of the suite names: {name} is not among them" in error.message) is told


@pytest.mark.parametrize("environment", [{}, {"BOT_KEY": " "}])
def test_text__a_named_secret_that_is_not_set(command_target, environment):
    """A variable under `env` whose name says secret must be set: MISSING_SECRET before anything is started; plain names, patterns and tokens may be missing."""
    with pytest.raises(ConfigError) as caught:
        command_target("true", environment=environment, env=["BOT_KEY", "OTHER_TOKEN", "BOT_MODE", "MY_KEY*", "GITHUB_TOKEN"])
    assert [(fault.code, fault.what.split()[0]) for fault in caught.value.faults] == [("MISSING_SECRET", "BOT_KEY"), ("MISSING_SECRET", "OTHER_TOKEN")]


def test_text__a_list_runs_without_a_shell(command_target, request_for):
    """A list is an argument vector: nothing in it is expanded."""
    assert ask(command_target(["printf", "%s", "$HOME;id"]), request_for()).output == "$HOME;id"


def test_text__a_missing_program_of_a_list(command_target, request_for):
    """A program that does not exist is TARGET_FAILED naming it, not a traceback."""
    error = failure(command_target(["no-such-program-at-all"]), request_for())
    assert (error.code, "no-such-program-at-all" in error.message) == ("TARGET_FAILED", True)


def test_text__status_survives_bytes_that_are_not_utf8(command_target, request_for):
    """0xff on both streams and exit 7: the status is named, the tails are readable."""
    error = failure(command_target(r"printf 'out\xff'; printf 'err\xff' >&2; exit 7"), request_for())
    assert "status 7" in error.message
    assert "err\ufffd" in error.detail
    assert "out\ufffd" in error.detail


def test_text__bytes_that_are_not_utf8_are_replaced(command_target, request_for):
    """Any bytes are an answer at exit 0."""
    assert ask(command_target(r"printf '\xff good \xc3'"), request_for()).output == "\ufffd good \ufffd"


def test_text__stderr_is_no_part_of_the_answer(command_target, request_for):
    """Warnings on stderr stay out of the output."""
    assert ask(command_target("echo warning >&2; printf x"), request_for()).output == "x"


def test_text__both_tails_survive_a_timeout(command_target, request_for):
    """What was printed before a timeout is kept in the detail."""
    error = failure(command_target("echo partial; echo complaint >&2; sleep 60", timeout_seconds=0.5), request_for())
    assert error.code == "TARGET_TIMEOUT"
    assert "partial" in error.detail
    assert "complaint" in error.detail


@pytest.mark.parametrize(
    ("command", "code"),
    [
        ("sleep 300 & echo $! > child.pid; wait", "TARGET_TIMEOUT"),
        ("(sleep 300 & echo $! > child.pid); sleep 300", "TARGET_TIMEOUT"),
        ("trap '' TERM; sleep 300 & echo $! > child.pid; wait; wait", "TARGET_TIMEOUT"),
        ("sleep 300 & echo $! > child.pid; exit 3", "TARGET_FAILED"),
    ],
)
def test_text__a_grandchild_that_keeps_the_pipe_is_ended(command_target, request_for, tmp_path, command, code):
    """Neither timeout nor exit leaves a grandchild behind or waits for one."""
    started = time.monotonic()
    assert failure(command_target(command, timeout_seconds=1.5), request_for()).code == code
    assert time.monotonic() - started < 5
    assert wait_until_gone(int((tmp_path / "child.pid").read_text()))


def test_text__reading_stops_though_a_stranger_keeps_the_pipe(command_target, request_for, tmp_path):
    """A grandchild that left the group and holds stdout does not hold up the answer."""
    started = time.monotonic()
    answer = ask(command_target("setsid sleep 30 & echo $! > child.pid; printf x"), request_for())
    os.kill(int((tmp_path / "child.pid").read_text()), 9)
    assert answer.output == "x"
    assert time.monotonic() - started < 4


def test_text__a_helper_that_still_flushes_is_heard(command_target, request_for):
    """Output that a process substitution passes on after the exit of the shell is part of the answer."""
    assert ask(command_target("exec > >(sleep 0.1; cat); printf late"), request_for()).output == "late"


def test_text__a_long_output_is_read_whole(command_target, request_for):
    """50 MB come through complete."""
    answer = ask(command_target("head -c 50000000 /dev/zero | tr '\\0' y; printf end"), request_for())
    assert len(answer.output) == 50_000_003
    assert answer.output.endswith("yend")


def test_text__an_endless_output_is_cut_off(command_target, request_for):
    """More than 64 MiB is INVALID_ANSWER, soon, and the writer is ended."""
    error = failure(command_target("yes"), request_for())
    assert (error.code, "64 MiB" in error.message) == ("INVALID_ANSWER", True)


def test_text__cancelling_ends_the_whole_group(command_target, request_for, tmp_path):
    """A cancelled call leaves no process behind."""

    async def cancelled():
        task = asyncio.create_task(command_target("sleep 300 & echo $! > child.pid; wait").ask(request_for()))
        while not (tmp_path / "child.pid").exists() or not (tmp_path / "child.pid").read_text():  # noqa: ASYNC110  # the event is in another process
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())
    assert wait_until_gone(int((tmp_path / "child.pid").read_text()))


def test_text__many_runs_leak_no_descriptors(command_target, request_for):
    """Descriptors are given back after good runs, failures and timeouts."""

    async def runs():
        before = None
        for command in ("true", "true", "exit 3", "sleep 9", "no-such-program-at-all", "true"):
            with_timeout = command_target(command, timeout_seconds=0.2)
            try:
                await with_timeout.ask(request_for())
            except TargetError:
                assert command not in {"true"}
            await asyncio.sleep(0.05)
            before = before or descriptors()
        return before, descriptors()

    before, after = asyncio.run(runs())
    assert after == before


def test_environment__only_named_variables_and_never_a_token(command_target, request_for):
    """PATH and HOME pass, others only when named, tokens and command files of the runner never, not even as a copy a glob catches."""
    token = "ghs_" + "x" * 36
    environment = {
        "PATH": os.environ["PATH"], "HOME": "/h", "LC_ALL": "C", "RAG_MODEL": "m", "ONE": "1", "OTHER": "o", "OPENAI_API_KEY": "sk", "GITHUB_TOKEN": token, "GITHUB_SHA": "abc",
        "ACTIONS_RUNTIME_TOKEN": "t", "INPUT_GITHUB-TOKEN": token, "GITHUB_ENV": "/f", "RAG_COPY": token,
    }  # fmt: skip
    command = [sys.executable, "-c", "import os; print(*os.environ)"]
    plain = ask(command_target(command, environment=environment), request_for()).output.split()
    named = ask(command_target(command, environment=environment, env=["RAG_*", "ONE", "GITHUB_*", "ACTIONS_*", "GITHUB_TOKEN", "INPUT_*"]), request_for()).output.split()
    assert set(plain) - {"LC_CTYPE"} == {"PATH", "HOME", "LC_ALL"}
    assert set(named) - set(plain) == {"RAG_MODEL", "ONE", "GITHUB_SHA"}


def test_description__is_what_the_suite_says(command_target):
    """Command and protocol, nothing of the environment."""
    assert command_target("cat").description == {"kind": "exec", "command": "cat", "protocol": "text"}


def test_text__an_input_that_cannot_be_written_is_an_error(command_target, request_for, tmp_path, monkeypatch):
    """Without a place for temporary files the trial is TARGET_FAILED, not a traceback."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "gone"))
    assert failure(command_target("cat"), request_for()).code == "TARGET_FAILED"
