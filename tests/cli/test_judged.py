"""Judged suites and model targets, from the command line to the exit code."""

from __future__ import annotations

import json

import pytest

from tests.vendors import KEY, Object, Status, told, vendors, verdicts

RUBRIC = {"id": "tone", "type": "rubric", "criteria": {"polite": "Is polite", "short": "Is short"}}
GOOD = Object(verdicts(polite=True, short=True))


@pytest.fixture
def start(monkeypatch):
    """Starts a scripted model; the key is set."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    with vendors() as starter:
        yield starter


def judged(work, server, *ids, votes=1, **top):
    """A suite of judged cases."""
    block = {"provider": "anthropic", "model": "judge-1", "base_url": server.base_url("anthropic"), "votes": votes}
    return work.suite(*ids, judge=block, case_keys={one: {"checks": [RUBRIC]} for one in ids}, **top)


def accepted(work, server, *ids):
    """The same with a baseline in which every criterion is met."""
    suite = judged(work, server, *ids)
    work.answers(**dict.fromkeys(ids, "yes"))
    assert work.run("run", suite).code == 0
    assert work.run("accept", "eval-results", "--reason", "first").code == 0
    return suite


def case_of(work, name="a", suite="s"):
    """The stored file of a case."""
    return json.loads((work.folder / f"eval-results/{suite}/cases/{name}.json").read_text())


def test_criterion__that_is_no_longer_met_is_red_by_its_own_name(work, start):
    """One criterion breaks: exit 1, and the reason names tone.short, not the rubric."""
    broken = []
    suite = accepted(work, start(lambda _body, _number: Object(verdicts(polite=True, short=not broken))), "a")
    broken.append(True)

    done = work.run("gate", suite, "--report", "report.md")

    assert done.code == 1
    assert "tone.short" in {reason.get("check") for reason in done.suite["reasons"]}
    assert "tone.polite" not in {reason.get("check") for reason in done.suite["reasons"]}
    assert "tone.short" in (work.folder / "report.md").read_text()


def test_record__names_judge_calls_tokens_and_cost_and_no_key(work, start):
    """What was planned, made and used is in the record; the key is nowhere."""
    suite = judged(work, start(GOOD), "a", "b", votes=2)
    work.answers(a="yes", b="yes")

    done = work.run("run", suite)

    header = json.loads((work.folder / "eval-results/s/record.json").read_text())
    assert done.code == 0
    assert header["calls"] == {"planned": 2, "made": 2, "judge_planned": 4, "judge_made": 4, "replayed": 0, "judge_replayed": 0}
    assert {name: header["judge"][name] for name in ("provider", "model", "votes", "tokens")} == {
        "provider": "anthropic", "model": "judge-1", "votes": 2, "tokens": {"input": 4000, "output": 2000},
    }  # fmt: skip
    assert any("no price is known for the judge judge-1" in note for note in header["notes"])
    assert [check["id"] for check in case_of(work)["checks"]] == ["tone.polite", "tone.short"]
    assert KEY.encode() not in b"".join(work.tree("eval-results").values())


def test_outage__of_the_judge_is_not_measured_and_not_a_regression(work, start):
    """A perfect baseline, then HTTP 403 from the judge: exit 3, no current score."""
    down = []
    suite = accepted(work, start(lambda _body, _number: Status(403, "no access") if down else GOOD), "a")
    down.append(True)

    done = work.run("gate", suite)

    (case,) = done.suite["cases"]
    assert (done.code, done.verdict["verdict"], case["verdict"], case["current"]) == (3, "not_measured", "error", None)
    assert case_of(work)["trials"][0]["error"]["code"] == "JUDGE_FAILED"


def test_budget__that_cannot_hold_target_and_judge_stops_before_the_first_call(work, start):
    """3 cases with 2 votes each are 9 calls; a limit of 8 is refused with both numbers."""
    server = start(GOOD)
    suite = judged(work, server, "a", "b", "c", votes=2, limits={"max_calls": 8})

    done = work.run("gate", suite)

    assert (done.code, "BUDGET_TOO_SMALL" in done.err, " 9 " in done.err, work.calls("a"), server.seen) == (2, True, True, 0, [])


def test_key__missing_stops_before_the_first_call(work, start, monkeypatch):
    """Without the judge's key nothing is asked, the target included."""
    server = start(GOOD)
    suite = judged(work, server, "a")
    monkeypatch.delenv("ANTHROPIC_API_KEY")

    done = work.run("gate", suite)

    assert (done.code, "MISSING_SECRET" in done.err, "ANTHROPIC_API_KEY" in done.err, work.calls("a"), server.seen) == (2, True, True, 0, [])


def test_rubric__without_any_judge_is_a_configuration_error(work):
    """A rubric nobody applies would pass in silence: it is refused, with both remedies."""
    done = work.run("gate", work.suite("a", case_keys={"a": {"checks": [RUBRIC]}}))
    assert (done.code, "MISSING_FIELD" in done.err, "--judge PROVIDER:MODEL" in done.err) == (2, True, True)


def test_judge__of_the_command_line_stands_in_for_the_suites(work, start, monkeypatch):
    """`--judge` names the model; the address comes from the vendor's own variable."""
    server = start(GOOD)
    monkeypatch.setenv("ANTHROPIC_BASE_URL", server.base_url("anthropic"))
    suite = work.suite("a", case_keys={"a": {"checks": [RUBRIC]}})
    work.answers(a="yes")

    assert work.run("gate", suite, "--judge", "anthropic:judge-2").code == 0
    assert server.seen[0]["model"] == "judge-2"


@pytest.mark.parametrize("name", ["judge-2", "mistral:m", "anthropic:", ":m", ""])
def test_judge__of_another_form_is_refused(work, name):
    """Anything but PROVIDER:MODEL is a usage error."""
    done = work.run("gate", work.suite("a"), "--judge", name)
    assert (done.code, "INVALID_INPUT" in done.err) == (2, True)


def test_answers__of_a_file_are_judged_as_well(work, start):
    """Predictions call no target, and the judge all the same: only its calls are planned."""
    (work.folder / "answers.jsonl").write_text('{"id": "a", "output": "Good day."}\n')
    suite = judged(work, start(GOOD), "a", limits={"max_calls": 1})

    done = work.run("gate", suite, "--predictions", "answers.jsonl")

    assert (done.code, done.suite["calls"]["made"], done.suite["calls"]["judge_made"]) == (0, 0, 1)


def test_batch__answers_are_judged(work, start):
    """A system that answers line by line is judged answer by answer."""
    lines = "import json, sys\nfor line in sys.stdin:\n    case = json.loads(line)\n    print(json.dumps({'id': case['id'], 'output': 'reply-of-' + case['id']}), flush=True)\n"
    (work.folder / "lines.py").write_text(lines)
    server = start(lambda body, _number: Object(verdicts(polite="reply-of-b" not in told(body), short=True)))
    suite = judged(work, server, "a", "b", target={"exec": {"command": ["python3", "lines.py"]}})

    done = work.run("gate", suite)

    assert done.code == 0
    assert {case["case"]: case["current"] for case in done.suite["cases"]} == {"a": 1.0, "b": 0.5}


def test_model__target_and_judge_of_one_model_are_warned_about(work, start):
    """A model that judges itself: a warning in the report, not an error."""
    server = start(lambda body, _number: GOOD if "tools" in body else "Good day.")
    target = {"model": {"provider": "anthropic", "model": "judge-1", "base_url": server.base_url("anthropic")}}

    done = work.run("gate", judged(work, server, "a", target=target), "--report", "report.md")

    assert done.code == 0
    assert "self-preference" in (work.folder / "report.md").read_text()
    assert any("self-preference" in warning for warning in done.suite["warnings"])


def test_resume__another_judge_does_not_inherit_verdicts(work, start):
    """Trials that another judge decided are judged again."""
    server = start(GOOD)
    suite = judged(work, server, "a")
    work.answers(a="yes")
    assert work.run("run", suite).code == 0
    before = case_of(work)["checks"][0]["fingerprint"]

    (work.folder / suite).write_text((work.folder / suite).read_text().replace("judge-1", "judge-9"))
    assert work.run("run", suite).code == 0

    assert case_of(work)["checks"][0]["fingerprint"] != before
