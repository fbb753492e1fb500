"""Commands that are fed all cases as JSON lines: joining by id, noise, failures, the clock."""

import asyncio
import json
import time

import pytest

from evalaction.core.scalars import SpelledInt
from evalaction.errors import TargetError

ECHO = """
import json, sys
for line in sys.stdin.read().splitlines():
    case = json.loads(line)
    print(json.dumps({"id": case["id"], "output": case}))
"""


def ask_all(target, requests):
    """Replies of a batch by case."""
    async def collect():
        return [reply async for reply in target.ask_all(requests)]

    return {reply.request.case.id: reply for reply in asyncio.run(collect())}


def batch_failure(target, requests):
    """The error that stands for a batch."""
    with pytest.raises(TargetError) as caught:
        ask_all(target, requests)
    return caught.value


def test_jsonl__a_line_has_the_whole_case(command_target, script, request_for):
    """A line has id, input, history, vars, category, tags, metadata and repeat; no checks."""
    request = request_for("a", input="q", repeat=2, vars={"tier": "gold"}, tags=("smoke",), category="qa")
    line = ask_all(command_target(script(ECHO), "jsonl"), [request])["a"].answer.output
    assert line == {"id": "a", "input": "q", "history": [], "vars": {"tier": "gold"}, "category": "qa", "tags": ["smoke"], "metadata": {}, "repeat": 2}


def test_jsonl__a_foreign_record_is_sent_as_it_stands(command_target, script, request_for):
    """A foreign record keeps its own fields; only the repeat is added."""
    request = request_for("7", record={"id": 7, "question": "q"})
    assert ask_all(command_target(script(ECHO), "jsonl"), [request])["7"].answer.output == {"id": 7, "question": "q", "repeat": 0}


def test_jsonl__ids_compare_as_text(command_target, script, request_for):
    """A number as an id matches its text, also one whose record spelled it 012."""
    requests = [request_for("7"), request_for("012", record={"id": SpelledInt(12, "012")})]
    replies = ask_all(command_target(script('import json\nfor i in (7, 12): print(json.dumps({"id": i, "output": i}))'), "jsonl"), requests)
    assert {case: reply.answer.output for case, reply in replies.items()} == {"7": 7, "012": 12}


def test_jsonl__any_order_blank_lines_and_no_last_line_break(command_target, script, request_for):
    """Answers are joined by id; blank lines do not matter, and the last line may lack its end."""
    body = 'import sys\nsys.stdout.write(\'\\n{"id":"b","output":"2"}\\r\\n\\n   \\n{"id":"a","output":"1"}\')'
    replies = ask_all(command_target(script(body), "jsonl"), [request_for("a"), request_for("b"), request_for("c")])
    assert {case: reply.answer.output for case, reply in replies.items()} == {"a": "1", "b": "2"}


@pytest.mark.parametrize(
    "noise",
    ["WARNING: warming up", "[1, 2]", '{"no": "id"}', "{broken", "null", '{"id": "a", "output": NaN}', '{"id": "a", "output": 1e999}', '{"id": "stranger"}', "[" * 100_000],
)
def test_jsonl__noise_on_stdout_is_a_fault_of_the_batch(command_target, script, request_for, noise):
    """A line that answers nothing asked is INVALID_ANSWER and is shown."""
    error = batch_failure(command_target(script(f"import time\nprint({noise!r}, flush=True)\ntime.sleep(60)"), "jsonl"), [request_for("a")])
    assert error.code == "INVALID_ANSWER"
    assert noise[:20] in error.message


def test_jsonl__a_second_line_for_an_id_is_a_fault(command_target, script, request_for):
    """Two answers for one trial: nobody knows which one counts."""
    body = 'print(\'{"id":"a","output":1}\\n\' * 2)'
    error = batch_failure(command_target(script(body), "jsonl"), [request_for("a"), request_for("b")])
    assert (error.code, "second" in error.message) == ("INVALID_ANSWER", True)


def test_jsonl__a_malformed_answer_is_an_error_of_its_case_alone(command_target, script, request_for):
    """A line with an id but a wrong part does not spoil the others."""
    replies = ask_all(command_target(script('print(\'{"id":"a","retrieved":"no list"}\\n{"id":"b","output":"x"}\')'), "jsonl"), [request_for("a"), request_for("b")])
    assert replies["a"].error.code == "INVALID_ANSWER"
    assert (replies["b"].error, replies["b"].answer.output) == (None, "x")


def test_jsonl__a_failed_exit_stands_for_the_batch(command_target, script, request_for):
    """Exit 3 after a good line and half a line: the status is what is told."""
    body = 'import sys\nsys.stdout.write(\'{"id":"a","output":1}\\n{"id":\')\nsys.stderr.write("boom")\nsys.exit(3)'
    error = batch_failure(command_target(script(body), "jsonl"), [request_for("a")])
    assert (error.code, "status 3" in error.message, "boom" in error.detail) == ("TARGET_FAILED", True, True)


def test_jsonl__answers_come_before_the_end(command_target, script, request_for):
    """An answer is handed on while the target still works."""

    async def first():
        stream = command_target(script('import time\nprint(\'{"id":"a","output":1}\', flush=True)\ntime.sleep(60)'), "jsonl").ask_all([request_for("a"), request_for("b")])
        reply = await anext(stream)
        await stream.aclose()
        return reply

    started = time.monotonic()
    assert asyncio.run(first()).answer.output == 1
    assert time.monotonic() - started < 10


@pytest.mark.parametrize("then", ["time.sleep(60)", "while True: print(flush=True)", "os.close(1); time.sleep(60)"])
def test_jsonl__the_clock_counts_time_without_an_answer(command_target, script, request_for, then):
    """Silence, blank lines and a closed stdout all end at the timeout, though each answer starts it anew."""
    body = f'import os, time\nfor i in "abc": time.sleep(0.4); print(\'{{"id":"%s","output":1}}\' % i, flush=True)\n{then}'
    error = batch_failure(command_target(script(body), "jsonl", timeout_seconds=0.8), [request_for(i) for i in "abcd"])
    assert (error.code, "3 of 4" in error.message) == ("TARGET_TIMEOUT", True)


def test_jsonl__a_slow_consumer_loses_nothing(command_target, script, request_for):
    """What a target wrote before its exit arrives complete, though the answer before it was dwelt on for seconds."""
    # the second answer is too long to be read ahead, yet short enough for the pipe to take its end, so that the target exits
    body = 'import json\nfor i, n in (("a", 100_000), ("b", 1_120_000)): print(json.dumps({"id": i, "output": "y" * n}))'

    async def slowly():
        lengths = []
        async for reply in command_target(script(body), "jsonl").ask_all([request_for("a"), request_for("b")]):
            await asyncio.sleep(2.6)
            lengths.append(len(reply.answer.output))
        return lengths

    assert asyncio.run(slowly()) == [100_000, 1_120_000]


def test_jsonl__many_cases_are_cheap(command_target, script, request_for):
    """20,000 tiny cases pass through in seconds."""
    requests = [request_for(f"c{i}") for i in range(20_000)]
    body = 'import json, sys\nfor line in sys.stdin: print(json.dumps({"id": json.loads(line)["id"], "output": "x"}))'
    started = time.monotonic()
    assert len(ask_all(command_target(script(body), "jsonl"), requests)) == 20_000
    assert time.monotonic() - started < 8


def test_jsonl__odd_characters_cannot_break_a_line(command_target, script, request_for):
    """Line separators and lone surrogates inside a text reach the target inside one line."""
    text = "a\u2028b\u0085c\ud800d\ne"
    assert json.dumps(ask_all(command_target(script(ECHO), "jsonl"), [request_for("a", input=text)])["a"].answer.output["input"]) == json.dumps(text)
