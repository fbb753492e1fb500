import asyncio
import json
import os
import shlex
import sys
import time
from pathlib import Path

import pytest

from evalaction.core.scalars import SpelledInt
from evalaction.core.suite import ExecTarget
from evalaction.errors import TargetError
from evalaction.targets.build import build_target


@pytest.fixture
def target(tmp_path):
    """A command in its own folder."""

    def make(command, protocol="text", environment=None, **options):
        spec = ExecTarget(command=command, protocol=protocol, **{"timeout_seconds": 20, **options})
        return build_target(spec, environment=os.environ if environment is None else environment, cwd=tmp_path, concurrency=2)

    return make


@pytest.fixture
def script(tmp_path):
    """A Python script in the folder; gives its command line."""

    def write(body):
        (tmp_path / "rag.py").write_text(body)
        return f"{shlex.quote(sys.executable)} rag.py"

    return write


def ask(target, request):
    return asyncio.run(target.ask(request))


def failure(target, request):
    with pytest.raises(TargetError) as caught:
        ask(target, request)
    return caught.value


def ask_all(target, requests):
    async def collect():
        return [reply async for reply in target.ask_all(requests)]

    return {reply.request.case.id: reply for reply in asyncio.run(collect())}


def batch_failure(target, requests):
    with pytest.raises(TargetError) as caught:
        ask_all(target, requests)
    return caught.value


def is_alive(pid):
    """Running, and not merely waiting to be reaped by init."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def wait_until_gone(pid):
    deadline = time.monotonic() + 5
    while is_alive(pid) and time.monotonic() < deadline:
        time.sleep(0.02)
    return not is_alive(pid)


ECHO = """
import json, sys
for line in sys.stdin.read().splitlines():
    case = json.loads(line)
    print(json.dumps({"id": case["id"], "output": case}))
"""


def test_text__reads_stdin_to_its_end(target, request_for):
    """A target that reads all of its input first gets there (P132)."""
    assert ask(target("cat"), request_for(input="grüße\n")).output == "grüße\n"


def test_text__stdin_can_be_opened_by_name(target, request_for):
    """A program that opens /dev/stdin instead of reading descriptor 0 finds the input."""
    assert ask(target("cat /dev/stdin"), request_for(input="x" * 300_000)).output == "x" * 300_000


def test_text__a_child_that_does_not_read_its_input(target, request_for):
    """Megabytes of input that nobody reads break nothing."""
    assert ask(target("echo x"), request_for(input="y" * 3_000_000)).output == "x\n"


def test_text__no_output_at_exit_0_is_nothing(target, request_for):
    """A target that exits 0 and prints nothing answered with nothing (P131)."""
    assert ask(target("true"), request_for()).is_nothing


@pytest.mark.parametrize(("command", "named"), [("if then", "2"), ("exit 7", "7"), ("no-such-program-at-all", "127"), ("false | true", "1"), ("kill -9 $$", "SIGKILL"), ("(kill -TERM $BASHPID)", "SIGTERM")])
def test_text__a_failed_command_is_an_error_that_names_the_status(target, request_for, command, named):
    """Syntax error, exit status, missing program, failing pipe and signals are TARGET_FAILED and say which (P131)."""
    error = failure(target(command), request_for())
    assert error.code == "TARGET_FAILED"
    assert named in error.message


def test_text__a_list_runs_without_a_shell(target, request_for):
    """A list is an argument vector: nothing in it is expanded."""
    assert ask(target(["printf", "%s", "$HOME;id"]), request_for()).output == "$HOME;id"


def test_text__a_missing_program_of_a_list(target, request_for):
    """A program that does not exist is TARGET_FAILED naming it, not a traceback."""
    error = failure(target(["no-such-program-at-all"]), request_for())
    assert (error.code, "no-such-program-at-all" in error.message) == ("TARGET_FAILED", True)


def test_text__status_survives_bytes_that_are_not_utf8(target, request_for):
    """0xff on both streams and exit 7: the status is named, the tails are readable (P138)."""
    error = failure(target(r"printf 'out\xff'; printf 'err\xff' >&2; exit 7"), request_for())
    assert "status 7" in error.message
    assert "err\ufffd" in error.detail
    assert "out\ufffd" in error.detail


def test_text__bytes_that_are_not_utf8_are_replaced(target, request_for):
    """Any bytes are an answer at exit 0 (P138)."""
    assert ask(target(r"printf '\xff good \xc3'"), request_for()).output == "\ufffd good \ufffd"


def test_text__stderr_is_no_part_of_the_answer(target, request_for):
    """Warnings on stderr stay out of the output (P137)."""
    assert ask(target("echo warning >&2; printf x"), request_for()).output == "x"


def test_text__both_tails_survive_a_timeout(target, request_for):
    """What was printed before a timeout is kept in the detail (P136)."""
    error = failure(target("echo partial; echo complaint >&2; sleep 60", timeout_seconds=0.5), request_for())
    assert error.code == "TARGET_TIMEOUT"
    assert "partial" in error.detail
    assert "complaint" in error.detail


@pytest.mark.parametrize(
    "command", ["sleep 300 & echo $! > child.pid; wait", "(sleep 300 & echo $! > child.pid); sleep 300", "sleep 300 & echo $! > child.pid; exit 0", "trap '' TERM; sleep 300 & echo $! > child.pid; wait; wait"]
)
def test_text__a_grandchild_that_keeps_the_pipe_is_ended(target, request_for, tmp_path, command):
    """Neither timeout nor exit leaves a grandchild behind or waits for one (P133)."""
    started = time.monotonic()
    try:
        assert ask(target(command, timeout_seconds=0.5), request_for()).output == ""
    except TargetError as error:
        assert error.code == "TARGET_TIMEOUT"
    assert time.monotonic() - started < 5
    assert wait_until_gone(int((tmp_path / "child.pid").read_text()))


def test_text__reading_stops_though_a_stranger_keeps_the_pipe(target, request_for, tmp_path):
    """A grandchild that left the group and holds stdout does not hold up the answer (P133)."""
    started = time.monotonic()
    answer = ask(target("setsid sleep 30 & echo $! > child.pid; printf x"), request_for())
    os.kill(int((tmp_path / "child.pid").read_text()), 9)
    assert answer.output == "x"
    assert time.monotonic() - started < 4


def test_text__a_helper_that_still_flushes_is_heard(target, request_for):
    """Output that a process substitution passes on after the exit of the shell is part of the answer."""
    assert ask(target("exec > >(sleep 0.1; cat); printf late"), request_for()).output == "late"


def test_text__a_long_output_is_read_whole(target, request_for):
    """50 MB come through complete (P139)."""
    answer = ask(target("head -c 50000000 /dev/zero | tr '\\0' y; printf end"), request_for())
    assert len(answer.output) == 50_000_003
    assert answer.output.endswith("yend")


def test_text__an_endless_output_is_cut_off(target, request_for):
    """More than 64 MiB is INVALID_ANSWER, soon, and the writer is ended."""
    error = failure(target("yes"), request_for())
    assert (error.code, "64 MiB" in error.message) == ("INVALID_ANSWER", True)


def test_text__cancelling_ends_the_whole_group(target, request_for, tmp_path):
    """A cancelled call leaves no process behind."""

    async def cancelled():
        task = asyncio.create_task(target("sleep 300 & echo $! > child.pid; wait").ask(request_for()))
        while not (tmp_path / "child.pid").exists() or not (tmp_path / "child.pid").read_text():
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())
    assert wait_until_gone(int((tmp_path / "child.pid").read_text()))


def test_text__many_runs_leak_no_descriptors(target, request_for):
    """Descriptors are given back after good runs, failures and timeouts."""

    async def runs():
        before = None
        for command in ("true", "true", "exit 3", "sleep 9", "no-such-program-at-all", "true"):
            with_timeout = target(command, timeout_seconds=0.2)
            try:
                await with_timeout.ask(request_for())
            except TargetError:
                assert command not in {"true"}
            await asyncio.sleep(0.05)
            before = before or len(os.listdir("/proc/self/fd"))
        return before, len(os.listdir("/proc/self/fd"))

    before, after = asyncio.run(runs())
    assert after == before


def test_environment__only_named_variables_and_never_a_token(target, request_for):
    """PATH and HOME pass, others only when named, tokens and command files of the runner never, not even as a copy a glob catches."""
    token = "ghs_" + "x" * 36
    environment = {
        "PATH": os.environ["PATH"], "HOME": "/h", "LC_ALL": "C", "RAG_MODEL": "m", "ONE": "1", "OTHER": "o", "OPENAI_API_KEY": "sk", "GITHUB_TOKEN": token, "GITHUB_SHA": "abc",
        "ACTIONS_RUNTIME_TOKEN": "t", "INPUT_GITHUB-TOKEN": token, "GITHUB_ENV": "/f", "RAG_COPY": token,
    }  # fmt: skip
    command = [sys.executable, "-c", "import os; print(*os.environ)"]
    plain = ask(target(command, environment=environment), request_for()).output.split()
    named = ask(target(command, environment=environment, env=["RAG_*", "ONE", "GITHUB_*", "ACTIONS_*", "GITHUB_TOKEN", "INPUT_*"]), request_for()).output.split()
    assert set(plain) - {"LC_CTYPE"} == {"PATH", "HOME", "LC_ALL"}
    assert set(named) - set(plain) == {"RAG_MODEL", "ONE", "GITHUB_SHA"}


def test_jsonl__a_line_has_the_whole_case(target, script, request_for):
    """A line has id, input, history, vars, category, tags, metadata and repeat; no checks."""
    request = request_for("a", input="q", repeat=2, vars={"tier": "gold"}, tags=("smoke",), category="qa")
    line = ask_all(target(script(ECHO), "jsonl"), [request])["a"].answer.output
    assert line == {"id": "a", "input": "q", "history": [], "vars": {"tier": "gold"}, "category": "qa", "tags": ["smoke"], "metadata": {}, "repeat": 2}


def test_jsonl__a_foreign_record_is_sent_as_it_stands(target, script, request_for):
    """A foreign record keeps its own fields; only the repeat is added."""
    request = request_for("7", record={"id": 7, "question": "q"})
    assert ask_all(target(script(ECHO), "jsonl"), [request])["7"].answer.output == {"id": 7, "question": "q", "repeat": 0}


def test_jsonl__ids_compare_as_text(target, script, request_for):
    """A number as an id matches its text, also one whose record spelled it 012."""
    requests = [request_for("7"), request_for("012", record={"id": SpelledInt(12, "012")})]
    replies = ask_all(target(script('import json\nfor i in (7, 12): print(json.dumps({"id": i, "output": i}))'), "jsonl"), requests)
    assert {case: reply.answer.output for case, reply in replies.items()} == {"7": 7, "012": 12}


def test_jsonl__any_order_blank_lines_and_no_last_line_break(target, script, request_for):
    """Answers are joined by id; blank lines do not matter, and the last line may lack its end."""
    body = 'import sys\nsys.stdout.write(\'\\n{"id":"b","output":"2"}\\r\\n\\n   \\n{"id":"a","output":"1"}\')'
    replies = ask_all(target(script(body), "jsonl"), [request_for("a"), request_for("b"), request_for("c")])
    assert {case: reply.answer.output for case, reply in replies.items()} == {"a": "1", "b": "2"}


@pytest.mark.parametrize("noise", ["WARNING: warming up", "[1, 2]", '{"no": "id"}', "{broken", "null", '{"id": "a", "output": NaN}', '{"id": "a", "output": 1e999}', '{"id": "stranger"}', "[" * 100_000])
def test_jsonl__noise_on_stdout_is_a_fault_of_the_batch(target, script, request_for, noise):
    """A line that answers nothing asked is INVALID_ANSWER and is shown (P137)."""
    error = batch_failure(target(script(f"import time\nprint({noise!r}, flush=True)\ntime.sleep(60)"), "jsonl"), [request_for("a")])
    assert error.code == "INVALID_ANSWER"
    assert noise[:20] in error.message


def test_jsonl__a_second_line_for_an_id_is_a_fault(target, script, request_for):
    """Two answers for one trial: nobody knows which one counts."""
    error = batch_failure(target(script('print(\'{"id":"a","output":1}\\n\' * 2)'), "jsonl"), [request_for("a"), request_for("b")])
    assert (error.code, "second" in error.message) == ("INVALID_ANSWER", True)


def test_jsonl__a_malformed_answer_is_an_error_of_its_case_alone(target, script, request_for):
    """A line with an id but a wrong part does not spoil the others."""
    replies = ask_all(target(script('print(\'{"id":"a","retrieved":"no list"}\\n{"id":"b","output":"x"}\')'), "jsonl"), [request_for("a"), request_for("b")])
    assert replies["a"].error.code == "INVALID_ANSWER"
    assert (replies["b"].error, replies["b"].answer.output) == (None, "x")


def test_jsonl__a_failed_exit_stands_for_the_batch(target, script, request_for):
    """Exit 3 after a good line and half a line: the status is what is told."""
    error = batch_failure(target(script('import sys\nsys.stdout.write(\'{"id":"a","output":1}\\n{"id":\')\nsys.stderr.write("boom")\nsys.exit(3)'), "jsonl"), [request_for("a")])
    assert (error.code, "status 3" in error.message, "boom" in error.detail) == ("TARGET_FAILED", True, True)


def test_jsonl__answers_come_before_the_end(target, script, request_for):
    """An answer is handed on while the target still works."""

    async def first():
        stream = target(script('import time\nprint(\'{"id":"a","output":1}\', flush=True)\ntime.sleep(60)'), "jsonl").ask_all([request_for("a"), request_for("b")])
        reply = await anext(stream)
        await stream.aclose()
        return reply

    started = time.monotonic()
    assert asyncio.run(first()).answer.output == 1
    assert time.monotonic() - started < 10


@pytest.mark.parametrize("then", ["time.sleep(60)", "while True: print(flush=True)", "os.close(1); time.sleep(60)"])
def test_jsonl__the_clock_counts_time_without_an_answer(target, script, request_for, then):
    """Silence, blank lines and a closed stdout all end at the timeout, though each answer starts it anew."""
    body = f'import os, time\nfor i in "abc": time.sleep(0.4); print(\'{{"id":"%s","output":1}}\' % i, flush=True)\n{then}'
    error = batch_failure(target(script(body), "jsonl", timeout_seconds=0.8), [request_for(i) for i in "abcd"])
    assert (error.code, "3 of 4" in error.message) == ("TARGET_TIMEOUT", True)


def test_jsonl__a_slow_consumer_loses_nothing(target, script, request_for):
    """Megabytes of answers of a target that has exited long ago arrive complete while each is dwelt on."""
    body = 'import json\nfor i in range(40): print(json.dumps({"id": str(i), "output": "y" * 100_000}))'

    async def slowly():
        count = 0
        async for reply in target(script(body), "jsonl").ask_all([request_for(str(i)) for i in range(40)]):
            await asyncio.sleep(0.08)
            count += len(reply.answer.output)
        return count

    assert asyncio.run(slowly()) == 4_000_000


def test_jsonl__many_cases_are_cheap(target, script, request_for):
    """20,000 tiny cases pass through in seconds (P139)."""
    requests = [request_for(f"c{i}") for i in range(20_000)]
    body = 'import json, sys\nfor line in sys.stdin: print(json.dumps({"id": json.loads(line)["id"], "output": "x"}))'
    started = time.monotonic()
    assert len(ask_all(target(script(body), "jsonl"), requests)) == 20_000
    assert time.monotonic() - started < 8


def test_jsonl__odd_characters_cannot_break_a_line(target, script, request_for):
    """Line separators and lone surrogates inside a text reach the target inside one line."""
    text = "a\u2028b\u0085c\ud800d\ne"
    assert json.dumps(ask_all(target(script(ECHO), "jsonl"), [request_for("a", input=text)])["a"].answer.output["input"]) == json.dumps(text)


def test_description__is_what_the_suite_says(target):
    """Command and protocol, nothing of the environment."""
    assert target("cat").description == {"kind": "exec", "command": "cat", "protocol": "text"}
