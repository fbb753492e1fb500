"""Cassettes of every kind of target, of references and of judges."""

from __future__ import annotations

import base64
import json
import sys
import urllib.parse

import pytest

from tests.cassettes import calls_of, equals, header_of, slots, write
from tests.vendors import KEY, Object, Status, vendors, verdicts

RUBRIC = {"id": "tone", "type": "rubric", "criteria": {"polite": "Is polite"}}
GOOD = Object(verdicts(polite=True))
SECRET = "s3cret/with+signs=0123"
SILENT_ON_B = """
import json, sys
for line in map(json.loads, sys.stdin):
    open("asked", "a").write(line["id"])
    if line["id"] != "b":
        print(json.dumps({"id": line["id"], "output": "yes"}))
"""


@pytest.fixture
def start(monkeypatch):
    """Starts a scripted model; the keys of both vendors are set."""
    for name in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.setenv(name, KEY)
    with vendors() as starter:
        yield starter


def test_prompt__that_changed_is_asked_again_and_both_stay(work, start):
    """An exchange is found by all that was asked: another temperature is another question, and the old exchange is still good for the old one."""
    server = start("yes")
    target = {"model": {"provider": "openai", "model": "m", "base_url": server.base_url("openai"), "temperature": 0.1}}
    suite = write(work, target=target, cases=[equals("a")])
    assert work.run("run", suite, "--record-to", "tape").code == 0
    write(work, target={"model": {**target["model"], "temperature": 0.9}}, cases=[equals("a")])

    assert work.run("run", suite, "--replay", "tape").code == 3
    assert work.run("run", suite, "--replay", "tape", "--record-to", "tape").code == 0
    assert (len(server.seen), slots(work)) == (2, [("a", 0, "target")] * 2)


def test_replay__needs_no_key_no_sdk_and_no_server(work, start, monkeypatch):
    """A model target and a judge are replayed where neither has a key and the SDKs cannot be imported."""
    model, judge = start("yes"), start(GOOD)
    target = {"model": {"provider": "openai", "model": "m", "base_url": model.base_url("openai")}}
    block = {"provider": "anthropic", "model": "judge-1", "base_url": judge.base_url("anthropic")}
    suite = write(work, target=target, judge=block, cases=[{"id": "a", "input": "a", "checks": [RUBRIC]}])
    assert work.run("run", suite, "--record-to", "tape").code == 0
    for name in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.delenv(name)
    for name in ("openai", "anthropic"):
        monkeypatch.setitem(sys.modules, name, None)

    done = work.run("run", suite, "--replay", "tape")

    assert (done.code, calls_of(work), len(model.seen), len(judge.seen)) == (0, (0, 1, 0, 1), 1, 1)
    assert header_of(work)["judge"]["tokens"] == {"input": 1000, "output": 500}


def test_judge__of_another_answer_or_wording_is_a_miss(work, start):
    """A verdict is replayed for just the answer and criteria that it was given on; its absence is an error of the case."""
    judge = {"provider": "anthropic", "model": "judge-1", "base_url": start(GOOD).base_url("anthropic")}
    work.answers(a="yes")
    suite = work.suite("a", judge=judge, case_keys={"a": {"checks": [RUBRIC]}})
    assert work.run("run", suite, "--record-to", "tape").code == 0
    work.suite("a", judge=judge, case_keys={"a": {"checks": [{**RUBRIC, "criteria": {"polite": "Is very polite"}}]}})

    done = work.run("run", suite, "--replay", "tape")

    (reason,) = [one for one in done.suite["reasons"] if one["code"] == "NOT_RECORDED"]
    assert (done.code, "no verdict for case a, run 0" in reason["message"], "the request differs" in reason["message"]) == (3, True, True)


def test_judge__reply_that_is_no_verdict_is_not_recorded(work, start):
    """Only the usable reply is kept: one exchange for a verdict that took two calls."""
    server = start(["I would say yes", GOOD])
    work.answers(a="yes")
    judge = {"provider": "anthropic", "model": "judge-1", "base_url": server.base_url("anthropic")}
    suite = work.suite("a", judge=judge, case_keys={"a": {"checks": [RUBRIC]}})

    assert work.run("run", suite, "--record-to", "tape").code == 0
    assert (len(server.seen), slots(work)) == (2, [("a", 0, "target"), ("a", 0, "judge")])
    assert (work.run("run", suite, "--replay", "tape").code, len(server.seen), calls_of(work)) == (0, 2, (0, 1, 0, 1))


def test_judge__that_cannot_be_reached_is_not_recorded(work, start):
    """The answer is kept and the failure is not, so that the next run asks the judge again."""
    server = start([Status(403), GOOD])
    work.answers(a="yes")
    judge = {"provider": "anthropic", "model": "judge-1", "base_url": server.base_url("anthropic")}
    suite = work.suite("a", judge=judge, case_keys={"a": {"checks": [RUBRIC]}})

    assert (work.run("run", suite, "--record-to", "tape").code, slots(work)) == (3, [("a", 0, "target")])
    assert work.run("run", suite, "--replay", "tape", "--record-to", "tape").code == 0
    assert (work.calls("a"), slots(work)) == (1, [("a", 0, "target"), ("a", 0, "judge")])


def test_secrets__are_in_no_cassette_and_not_needed_for_a_replay(work, monkeypatch, start):
    """An echoed key is masked however it is spelled, a key in a header or URL is named and not spelled, and another key replays as well."""
    quoted, packed = urllib.parse.quote(SECRET, safe=""), base64.b64encode(f"key={SECRET}".encode()).decode()
    server = start(lambda _body, _number: f"{SECRET} {quoted} {packed} yes")
    monkeypatch.setenv("MY_API_KEY", SECRET)
    reply = {"output": "choices[0].message.content"}
    address = f"{server.base_url('openai')}/chat/completions"
    target = {"http": {"url": f"{address}?key={{{{ env.MY_API_KEY }}}}", "headers": {"Authorization": "Bearer {{ env.MY_API_KEY }}"}, "extract": reply}}
    suite = write(work, target=target, cases=[{"id": "a", "input": "a", "checks": [{"type": "contains_all", "value": ["yes"]}]}])

    assert work.run("run", suite, "--record-to", "tape").code == 0
    text = (work.folder / "tape/s.jsonl").read_text()
    assert [spelled for spelled in (SECRET, quoted, packed, packed[8:20]) if spelled in text] == []
    assert "yes" in text
    monkeypatch.setenv("MY_API_KEY", "another-one-012345")
    assert (work.run("run", suite, "--replay", "tape").code, len(server.seen)) == (0, 1)


def test_batch__that_fails_in_the_end_is_not_recorded(work):
    """Answers of a process that ends with another status than 0 are errors, and so none of them is kept."""
    (work.folder / "bot.py").write_text('import sys\nfor line in sys.stdin: print(line.strip().replace("\\"input\\"", "\\"output\\""), flush=True)\nsys.exit(1)\n')
    suite = write(work, target={"exec": "sh bot.sh"}, cases=[equals("a", "a")])

    assert (work.run("run", suite, "--record-to", "tape").code, (work.folder / "tape").exists()) == (3, False)


def test_batch__unanswered_case_is_replayed_as_such(work):
    """A case without a line was answered with nothing: recorded, it scores 0 again; a new case is all that the process is asked."""
    (work.folder / "bot.py").write_text(SILENT_ON_B)
    suite = write(work, target={"exec": "sh bot.sh"}, cases=[equals("a"), equals("b")])
    assert work.run("run", suite, "--record-to", "tape").code == 0
    write(work, target={"exec": "sh bot.sh"}, cases=[equals("a"), equals("b"), equals("c")])

    assert work.run("run", suite, "--replay", "tape", "--record-to", "tape").code == 0
    assert ((work.folder / "asked").read_text(), header_of(work)["metrics"]["equals"], calls_of(work)) == ("abc", pytest.approx(2 / 3), (1, 2, 0, 0))


def test_python_target__is_not_even_imported_for_a_replay(work):
    """Replayed answers need no code of the author's."""
    (work.folder / "my_bot_of_tapes.py").write_text("def answer(case):\n    return {'output': 'yes', 'mine': [1]}\n")
    suite = write(work, target={"python": "my_bot_of_tapes:answer"}, cases=[equals("a")])
    assert work.run("run", suite, "--record-to", "tape").code == 0
    (work.folder / "my_bot_of_tapes.py").unlink()
    sys.modules.pop("my_bot_of_tapes")

    assert work.run("run", suite, "--replay", "tape").code == 0


def test_reference__rows_are_replayed_too(work, start):
    """A reference query is recorded with the answer it is compared with, and neither is asked for again."""
    server = start(lambda body, _number: json.dumps([{"n": 1}]) if "q" in body else "[]")
    address = f"{server.base_url('openai')}/chat/completions"
    target = {"http": {"url": address, "json": {"q": "{{ case.input }}"}, "extract": {"rows": "[{n: `1`}]"}}}
    reference = {"url": address, "json": {"q": "expected"}, "extract": {"rows": "[{n: `1`}]"}}
    suite = write(work, target=target, cases=[{"id": "a", "input": "a", "checks": [{"type": "rows", "reference": reference}]}])
    assert work.run("run", suite, "--record-to", "tape").code == 0
    assert (slots(work), len(server.seen)) == ([("a", 0, "target"), ("a", 0, "reference")], 2)

    assert (work.run("run", suite, "--replay", "tape").code, len(server.seen)) == (0, 2)
