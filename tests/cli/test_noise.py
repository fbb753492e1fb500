"""The statistical rule from outside: a real system that answers by seeded chance, measured, accepted and gated through the command line."""

from __future__ import annotations

import json
import random

import pytest

from tests.vendors import KEY, Object, told, vendors, verdicts

BOT = """
import json, random, sys
world = json.load(open("world.json"))
for line in sys.stdin:
    case = json.loads(line)
    name, repeat = case["id"], case["repeat"]
    fails = world["fails"].get(name, [])
    rate = world["rates"].get(name, world["rate"])
    good = repeat not in fails and random.Random(f"{world['seed']} {name} {repeat}").random() < rate
    print(json.dumps({"id": name, "output": "yes" if good else "no"}), flush=True)
"""


@pytest.fixture
def system(work):
    """A system whose cases pass at the rates of `world.json`."""
    (work.folder / "lines.py").write_text(BOT)
    return work


def world(work, seed, rate=1.0, fails=None, **rates):
    """How often each case passes from now on; `fails` names runs of a case that fail whatever its rate."""
    (work.folder / "world.json").write_text(json.dumps({"seed": seed, "rate": rate, "rates": rates, "fails": fails or {}}))


def accepted(work, count, **before):
    """A suite of so many cases with ten accepted runs of each."""
    suite = work.suite(*(f"c{number:03}" for number in range(count)), target={"exec": {"command": ["python3", "lines.py"]}})
    world(work, "accepted", **before)
    assert work.run("run", suite, "--repeats", "10").code == 0
    assert work.run("accept", "eval-results", "--reason", "ten runs").code == 0
    return suite


def word_of(done, case):
    """The word of one case."""
    return next(one["verdict"] for one in done.suite["cases"] if one["case"] == case)


def test_flaky_case__stays_green_and_says_why_it_was_run_again(system):
    """One failed first run of thirty: run again until cleared, green, and the extra runs are data with cause and end."""
    suite = accepted(system, 30)
    world(system, "today", fails={"c007": [0]})

    done = system.run("gate", suite, "--report", "r.md")

    assert (done.code, done.suite["rule"], word_of(done, "c007")) == (0, "statistical", "flaky")
    stages = [(extra["case"], extra["after"], extra["runs"], extra["cause"], extra["stopped"]) for extra in done.suite["extra_runs"]]
    assert stages == [(None, 1, 2, "suite_worse", "next_stage"), (None, 3, 2, "suite_worse", "last_stage")]
    assert [round(extra["p"], 4) for extra in done.suite["extra_runs"]] == [round(1 / 11, 4), round(3 / 13, 4)]
    assert json.loads((system.folder / "eval-results/s/record.json").read_text())["extra_runs"] == done.suite["extra_runs"]
    assert "Run again, and why" in (system.folder / "r.md").read_text()


def test_one_dead_case_among_two_hundred__is_red_by_name(system):
    """A case that always passed and now never does, in a noisy suite: exit 1 for that case alone, after few further runs of it."""
    rates = {f"c{number:03}": 0.9 for number in range(40)}
    suite = accepted(system, 200, **rates)
    world(system, "today", **rates, c150=0.0)

    done = system.run("gate", suite)

    assert done.code == 1
    assert {reason["case"] for reason in done.suite["reasons"] if reason["case"]} == {"c150"}
    (extra,) = (extra for extra in done.suite["extra_runs"] if extra["case"] == "c150")
    assert (extra["stage"], extra["stopped"]) == ("case", "proven")
    assert extra["after"] + extra["runs"] <= 10
    assert extra["z"] > 2


def test_a_break_hidden_behind_a_fix__is_red(system):
    """One case mended, one broken, the mean as before: exit 1 for the broken one."""
    suite = accepted(system, 20, c003=0.0)
    world(system, "today", c011=0.0)

    done = system.run("gate", suite)

    metric = next(one for one in done.suite["metrics"] if one["metric"] == "pass_rate")
    assert (done.code, word_of(done, "c011"), word_of(done, "c003")) == (1, "regressed", "unchanged")
    assert {reason["code"] for reason in done.suite["reasons"]} == {"CASE_REGRESSED", "CHECK_REGRESSED"}
    assert metric["delta"] == pytest.approx(0)


def test_a_rubric_criterion_that_dies__is_red_under_an_unchanged_average(work, monkeypatch):
    """`short` is met half as often and `polite` always instead of half: the cases' mean stays, the criterion's fall is red by its name."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    rates, ids = {"polite": 0.5, "short": 1.0}, [f"c{number}" for number in range(8)]

    def reply(body, number):
        chance = random.Random(f"{told(body)} {number} {rates}")
        return Object(verdicts(**{name: chance.random() < rate for name, rate in rates.items()}))

    rubric = {"id": "tone", "type": "rubric", "criteria": {"polite": "Is polite", "short": "Is short"}}
    with vendors() as start:
        judge = {"provider": "anthropic", "model": "judge-1", "base_url": start(reply).base_url("anthropic")}
        suite = work.suite(*ids, judge=judge, target={"exec": {"command": ["python3", "lines.py"]}}, case_keys={one: {"checks": [rubric]} for one in ids})
        (work.folder / "lines.py").write_text(BOT)
        world(work, "same")
        assert work.run("run", suite, "--repeats", "6").code == 0
        assert work.run("accept", "eval-results", "--reason", "six runs").code == 0
        rates.update(polite=1.0, short=0.5)

        done = work.run("gate", suite)

    assert done.code == 1
    assert {reason["check"] for reason in done.suite["reasons"] if reason["check"]} == {"tone.short"}
    rubric_metric = next(one for one in done.suite["metrics"] if one["metric"] == "rubric")
    assert abs(rubric_metric["delta"]) < 0.1


def test_slow_drift__is_refused_at_acceptance(system):
    """Two points lost with each merge: each step alone may pass, the sum is refused as `drifted`, and every report shows it."""
    suite = accepted(system, 60, rate=0.98)
    codes, shown = [], []
    for merge in range(1, 6):
        world(system, f"merge {merge}", rate=0.98 - 0.02 * merge)
        gated = system.run("gate", suite, "--report", "r.md")
        anchor = gated.suite["baseline"]["anchor"]
        shown.append((anchor["acceptances_since"], "Since the anchor" in (system.folder / "r.md").read_text().split("<details")[0]))
        assert next(one for one in anchor["changes"] if one["metric"] == "pass_rate")["anchor"] == pytest.approx(0.98, abs=0.015)
        assert system.run("run", suite, "--repeats", "10").code == 0
        accepting = system.run("accept", "eval-results", "--reason", f"merge {merge}")
        codes.append(accepting.code)
        if accepting.code:
            assert "DRIFTED" in accepting.err
            break

    assert codes[0] == 0
    assert codes[-1] == 1
    assert shown == [(number, True) for number in range(len(codes))]


def test_anchor__moved_on_purpose__counts_anew(system):
    """After `--move-anchor` the change is counted from there, and the line in the report says that this baseline is the anchor."""
    suite = accepted(system, 10)
    world(system, "worse", rate=0.5)
    system.run("run", suite, "--repeats", "10")
    assert system.run("accept", "eval-results", "--reason", "a smaller model").code == 1
    assert system.run("accept", "eval-results", "--reason", "a smaller model", "--move-anchor").code == 0

    done = system.run("gate", suite)

    assert done.suite["baseline"]["acceptances"] == 2
    assert done.suite["baseline"]["anchor"]["acceptances_since"] == 0
    assert "which is this baseline" in done.out


def test_confirmation__under_the_tolerance_rule_is_told_too(work):
    """A drop by points that holds: two further runs after one, confirmed; a flip back: cleared."""
    suite = work.suite("a", "b", "c")
    work.answers(a="yes", b="yes", c="yes")
    work.run("run", suite)
    work.run("accept", "eval-results", "--reason", "one run")
    work.answers(a="no", b=["no", "yes"], c="yes")

    done = work.run("gate", suite)

    told_of = {extra["case"]: (extra["stage"], extra["cause"], extra["after"], extra["runs"], extra["stopped"]) for extra in done.suite["extra_runs"]}
    assert told_of["a"] == ("confirmation", "points", 1, 2, "proven")
    assert told_of["b"][:3] == ("confirmation", "points", 1)
    assert told_of["b"][4] == "cleared"
    assert "c" not in told_of


def test_budget__that_ends_the_asking__is_told(work):
    """One of two suspicious cases cannot be asked to the end: its extra runs, if any, end with the budget and never as proven."""
    suite = work.suite("a", "b", limits={"max_calls": 4})
    work.answers(a="yes", b="yes")
    work.run("run", suite)
    work.run("accept", "eval-results", "--reason", "one run")
    work.answers(a="no", b="no")

    done = work.run("gate", suite)

    assert {extra["case"]: extra["stopped"] for extra in done.suite["extra_runs"]} == {"a": "proven"}
