"""Blame from outside: a base system that is asked before the gate says no."""

from __future__ import annotations

import json
import subprocess

import pytest

from evalaction.core.blame import plan_blame

BOT = """
import json, random, sys
rates = json.load(open(sys.argv[1]))
world = json.load(open("world.json"))
for line in sys.stdin:
    case = json.loads(line)
    chance = random.Random(f"{sys.argv[2]} {case['id']} {case['repeat']} {world['day']}")
    rate = rates.get(case["id"], 1.0) * world["health"]
    print(json.dumps({"id": case["id"], "output": "yes" if chance.random() < rate else "no"}), flush=True)
"""
IDS = [f"c{number:02}" for number in range(20)]


def git(work, *arguments):
    """One git command in the workspace."""
    identity = ("-c", "user.name=Ada", "-c", "user.email=ada@example.invalid", "-c", "init.defaultBranch=main")
    return subprocess.run(["git", *identity, *arguments], cwd=work.folder, check=True, capture_output=True, text=True).stdout.strip()


def world(work, day, health=1.0):
    """How the provider behaves today, for every version of the system."""
    (work.folder / "world.json").write_text(json.dumps({"day": day, "health": health}))


def level(work, **rates):
    """How often the system under test passes each case."""
    (work.folder / "rates.json").write_text(json.dumps(rates))


@pytest.fixture
def system(work):
    """A repository whose system passes nearly always, and a base system beside it that stays as it is; `world.json` is the provider of both."""
    (work.folder / "lines.py").write_text(BOT)
    level(work)
    (work.folder / "base.json").write_text("{}")
    world(work, "first")
    return work


def suite_with(work, blame, **top):
    """The suite with a blame block."""
    return work.suite(*IDS, target={"exec": {"command": ["python3", "lines.py", "rates.json", "head"]}}, **({"blame": blame} if blame else {}), **top)


def accepted(work, blame, runs=10, **top):
    """The same with a baseline of several runs."""
    suite = suite_with(work, blame, **top)
    assert work.run("run", suite, "--repeats", str(runs)).code == 0
    assert work.run("accept", "eval-results", "--reason", "first").code == 0
    return suite


COMMAND = {"command": ["python3", "lines.py", "base.json", "base"]}


def test_blame__the_provider_got_worse__is_not_the_change(system):
    """Every version answers worse today: environment_drift, exit 0, and the report says to accept again."""
    suite = accepted(system, COMMAND)
    world(system, "second", health=0.6)

    done = system.run("gate", suite, "--report", "r.md")

    blame = done.suite["blame"]
    assert (done.code, done.verdict["verdict"], blame["outcome"]) == (0, "environment_drift", "environment")
    assert done.suite["reasons"] == []
    assert done.suite["counts"]["regressed"] == 0
    assert any(finding["moved"] for finding in blame["findings"])
    assert blame["calls"] >= 20
    assert "accept again" in (system.folder / "r.md").read_text().split("<details")[0]
    assert done.last_line.startswith("eval-gate: environment_drift (exit 0)")


def test_blame__the_change_broke_a_case__stays_red(system):
    """The base answers as ever, the head lost a case: red, by name, and the message tells all three levels."""
    suite = accepted(system, COMMAND)
    level(system, c07=0.0)

    done = system.run("gate", suite)

    assert (done.code, done.suite["blame"]["outcome"]) == (1, "change")
    assert {reason["case"] for reason in done.suite["reasons"] if reason["case"]} == {"c07"}
    assert "baseline 1.0000, base now 1.0000, this run 0.0000" in done.suite["blame"]["message"]


def test_blame__a_break_while_the_provider_moves__is_red_for_the_break_alone(system):
    """Both at once: what the base does not explain stays red."""
    suite = accepted(system, COMMAND)
    world(system, "second", health=0.7)
    level(system, c07=0.0, c08=0.0, c09=0.0)

    done = system.run("gate", suite)

    assert done.code == 1
    assert done.suite["blame"]["outcome"] == "change"
    assert {"c07", "c08", "c09"} >= {reason["case"] for reason in done.suite["reasons"] if reason["case"]} != set()


def test_blame__nothing_wrong__asks_nobody(system):
    """A quiet run costs one call a case, blame or not."""
    suite = accepted(system, COMMAND)

    done = system.run("gate", suite)

    assert (done.code, done.suite["blame"], done.suite["calls"]["made"]) == (0, None, 20)


@pytest.mark.parametrize(("health", "broken", "word"), [(0.1, (), "environment_drift"), (1.0, ("c03",), "regressed")])
def test_blame__under_the_tolerance_rule__both_are_asked_anew(system, health, broken, word):
    """With one stored run the same question is asked, with fresh runs of base and head."""
    suite = accepted(system, COMMAND, runs=1)
    world(system, "second", health=health)
    level(system, **dict.fromkeys(broken, 0.0))

    done = system.run("gate", suite)

    assert (done.suite["rule"], done.verdict["verdict"]) == ("tolerance", word)


def test_blame__beyond_the_budget__cannot_be_assigned_and_the_verdict_stands(system):
    """No calls are left for the base: red as before, and the report says why blame is open."""
    suite = accepted(system, COMMAND)
    world(system, "second", health=0.0)
    suite_with(system, COMMAND, limits={"max_calls": 130})

    done = system.run("gate", suite, "--report", "r.md")

    assert (done.code, done.suite["blame"]["outcome"], done.suite["blame"]["calls"]) == (1, "unassigned", 0)
    assert "blame could not be assigned" in (system.folder / "r.md").read_text().split("<details")[0]
    assert "max_calls" in done.suite["blame"]["message"]


def test_blame__a_base_that_cannot_answer__leaves_the_verdict(system):
    """A base command that fails is no excuse for the change."""
    suite = accepted(system, {"command": ["python3", "missing.py"]})
    level(system, c07=0.0)

    done = system.run("gate", suite)

    assert (done.code, done.suite["blame"]["outcome"]) == (1, "unassigned")
    assert "TARGET_FAILED" in done.suite["blame"]["message"]


def test_blame__ref__runs_the_target_in_the_files_of_that_commit(system):
    """The base commit is checked out beside: its rates are those of the commit, the repository stays as it was."""
    git(system, "init", "-q")
    git(system, "add", "lines.py", "rates.json")
    git(system, "commit", "-qm", "base")
    (system.folder / "lines.py").write_text(BOT.replace('"world.json"', repr(str(system.folder / "world.json"))))
    git(system, "commit", "-qam", "the base reads the provider of today")
    base = git(system, "rev-parse", "HEAD")
    git(system, "checkout", "-qb", "change")
    suite = accepted(system, {"ref": "base"})
    level(system, c07=0.0)
    git(system, "commit", "-qam", "worse")

    done = system.run("gate", suite)
    state = git(system, "status", "--porcelain", "--untracked-files=no")

    assert (done.code, done.suite["blame"]["outcome"], done.suite["blame"]["commit"], done.suite["blame"]["system"]) == (1, "change", base, "commit")
    assert (state, git(system, "worktree", "list").count("\n")) == ("", 0)
    world(system, "second", health=0.6)
    level(system)
    assert system.run("gate", suite).verdict["verdict"] == "environment_drift"


def test_blame__ref__of_the_very_commit_that_is_measured__clears_nothing(system):
    """On the default branch itself there is no other system to compare with: the verdict stands."""
    git(system, "init", "-q")
    git(system, "add", "lines.py", "rates.json")
    git(system, "commit", "-qm", "base")
    suite = accepted(system, {"ref": "base"})
    level(system, c07=0.0)
    git(system, "commit", "-qam", "worse, and merged")

    done = system.run("gate", suite)

    assert (done.code, done.suite["blame"]["outcome"]) == (1, "unassigned")
    assert "very commit" in done.suite["blame"]["message"]


@pytest.mark.parametrize(
    ("blame", "said"),
    [
        ({"ref": "--output=/tmp/x"}, "INVALID_VALUE"), ({"ref": "no-such-branch"}, "no commit no-such-branch"), ({"ref": "main:bot.py"}, "INVALID_VALUE"),
        ({"ref": "a b"}, "INVALID_VALUE"),
        ({}, "exactly one of command and ref"), ({"ref": "base", "command": "x"}, "exactly one of command and ref"), ({"reff": "base"}, "did you mean `ref`"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("command", ["validate", "gate"])
def test_blame__that_cannot_be__is_a_configuration_error(system, blame, said, command):
    """Options in disguise, paths, refs that do not exist, both or neither: exit 2 before anything is called."""
    git(system, "init", "-q")
    done = system.run(command, suite_with(system, blame or {"command": None}))

    assert (done.code, said in done.err, "Traceback" in done.err) == (2, True, False)


def test_blame__needs_a_command_as_target(system):
    """Beside an http target there is nothing to start: refused; a target of the command line merely has no base."""
    suite = system.suite("a", target={"http": {"url": "http://127.0.0.1:9/"}}, blame=COMMAND)
    refused = system.run("validate", suite)
    (system.folder / "answers.jsonl").write_text('{"id": "a", "output": "yes"}\n')

    assert (refused.code, "`blame` needs a target that is a command" in refused.err) == (2, True)
    assert system.run("gate", suite, "--predictions", "answers.jsonl").code == 0


def test_blame__a_base_system_that_was_not_accepted__stands_in_the_headline(system):
    """A pull request that names another base system is told on."""
    accepted(system, COMMAND)
    suite = suite_with(system, {"command": ["true"]})

    assert any("blame command" in line for line in system.run("gate", suite).suite["loosened"])


def test_report__of_a_stored_run__comes_to_the_same_verdict(system):
    """What the base said is kept beside the record, so that a second stage judges alike; a run without blame does not inherit it."""
    suite = accepted(system, COMMAND)
    world(system, "second", health=0.6)
    first = system.run("gate", suite)

    again = system.run("report", "eval-results", "--format", "json")
    assert json.loads(again.out)["verdict"] == first.verdict["verdict"] == "environment_drift"

    suite_with(system, None)
    assert system.run("gate", suite).verdict["verdict"] == "regressed"
    assert json.loads(system.run("report", "eval-results", "--format", "json").out)["verdict"] == "regressed"


def test_plan__other_reasons_to_fail__ask_nobody():
    """A verdict that no answer of the base could turn costs no call."""
    from tests.making import baseline, case, record, verdict

    before, now = baseline(case("a", 1.0), case("b", 1.0)), record(case("a", 0.0), case("b", 1.0))
    red = verdict(before, now)
    from evalaction.core.compare import compare
    from evalaction.core.comparison import Rules
    from evalaction.core.suite import Policy

    def plan(policy):
        from evalaction.core.decide import decide
        from evalaction.core.evidence import Evidence

        found = compare(before.record, now, Rules(name="tolerance", policy=policy))
        return plan_blame(decide(Evidence(current=now, comparison=found, baseline=before, age_days=1.0)), found, now)

    assert red.verdict == "regressed"
    assert plan(Policy()) is not None
    assert plan(Policy(thresholds={"pass_rate": 0.9})) is None
