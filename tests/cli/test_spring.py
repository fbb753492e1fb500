"""The promises of a Spring AI baseline, each with its own numbers: what was accepted, what came now, what the gate says."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from evalaction.cli import execute

ROOT = Path(__file__).resolve().parents[2]
PLANS = ("weekly-plan-01", "weekly-plan-02", "weekly-plan-03")
CHECKS = ("title", "relevance", "simplicity", "readability")
BASELINES = "src/test/resources/eval-baselines"


def result(case_id, score=92.0, *, passed=True, failing=(), minimum=80, note="# Weekly Plan\n"):
    checks = [{"id": name, "pass": name not in failing, "notes": f"on {name}"} for name in CHECKS]
    return {
        "id": case_id, "prompt": f"Write {case_id}.", "minimumScore": minimum, "pass": passed, "score": score, "feedback": "the grader's own words",
        "metadata": {"overallPass": passed, "checks": checks}, "noteContent": note,
    }  # fmt: skip


def aggregate(case_id, passing, average, runs=5):
    listed = [{"pass": number < passing, "score": average, "feedback": "", "metadata": {}} for number in range(runs)]
    return {
        "id": case_id, "prompt": f"Write {case_id}.", "minimumScore": 80, "graderRuns": runs, "passingRuns": passing, "averageScore": average, "runs": listed,
        "noteContent": "# Plan\n",
    }  # fmt: skip


class Project:
    """A Spring project: its baseline files, its results, and the gate over both."""

    def __init__(self, work):
        self.work, self.folder = work, work.folder

    def write(self, folder, *found):
        """Result files, alone in their folder."""
        place = self.folder / folder
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        for one in found:
            (place / f"{one['id']}.json").write_text(json.dumps(one))
        return folder

    def accepted(self, *found):
        """What lies in the folder of baseline files."""
        self.write(BASELINES, *found)

    def gate(self, *found, options=()):
        """The gate over these results."""
        return self.work.run("gate", "--import", "spring", self.write("build/eval-results", *found), "--name", "notes", "--baseline", BASELINES, *options)


@pytest.fixture
def spring(work):
    return Project(work)


def word(ended, case_id):
    return next(case["verdict"] for case in ended.suite["cases"] if case["case"] == case_id)


def codes(ended):
    return {reason["code"] for reason in ended.suite["reasons"]}


@pytest.mark.parametrize(("now", "code", "said"), [(82.0, 1, "regressed"), (86.0, 0, "within_tolerance"), (85.0, 1, "regressed"), (95.0, 0, "unchanged")])
def test_score__five_points_may_be_lost_and_no_more(spring, now, code, said):
    """From 91: 86 is exactly the allowed drop and passes, 85 and 82 are red although the minimum is 80."""
    spring.accepted(result("weekly-plan-01", 91.0), result("weekly-plan-02"))

    ended = spring.gate(result("weekly-plan-01", now), result("weekly-plan-02"))

    assert (ended.code, word(ended, "weekly-plan-01"), "BELOW_THRESHOLD" in codes(ended)) == (code, said, False)


def test_pass__that_flips_is_red_at_the_same_score(spring):
    """Pass true → false at 85 points each is a regression."""
    spring.accepted(result("weekly-plan-01", 85.0))

    assert spring.gate(result("weekly-plan-01", 85.0, passed=False)).code == 1


def test_check__that_passed_and_fails_is_red_whatever_the_score(spring):
    """Simplicity passed in the baseline and fails now: red at a higher score, and the check is named."""
    spring.accepted(result("weekly-plan-01", 90.0))

    ended = spring.gate(result("weekly-plan-01", 95.0, failing=("simplicity",)))

    assert (ended.code, [reason["check"] for reason in ended.suite["reasons"]]) == (1, ["simplicity"])


def test_check__that_failed_before_too_is_no_regression(spring):
    """A check that failed when it was accepted keeps nothing from passing, and the case still counts as passed."""
    spring.accepted(result("weekly-plan-01", failing=("readability",)))

    ended = spring.gate(result("weekly-plan-01", failing=("readability",)))

    assert (ended.code, ended.suite["cases"][0]["current_runs"]) == (0, {"passed": 1, "measured": 1})


def test_mean__is_no_matter_of_this_policy(spring):
    """All three lose four points: each is inside its five, so green; with `metric` in --fail-on the mean is red."""
    spring.accepted(*(result(plan) for plan in PLANS))
    lower = [result(plan, 88.0) for plan in PLANS]

    assert spring.gate(*lower).code == 0
    assert spring.gate(*lower, options=("--fail-on", "case,check,metric,threshold")).code == 1


@pytest.mark.parametrize(("passing", "average", "code"), [(4, 90.0, 0), (3, 90.0, 1), (5, 85.0, 0), (5, 84.0, 1)])
def test_aggregate__a_fifth_of_the_passes_and_five_points_may_be_lost(spring, passing, average, code):
    """From 5 of 5 at 90: 4 of 5 and 85 points are exactly allowed, 3 of 5 and 84 are red."""
    spring.accepted(aggregate("weekly-plan-01", 5, 90.0))

    assert spring.gate(aggregate("weekly-plan-01", passing, average)).code == code


def test_baseline__a_missing_file_passes_and_is_listed_as_added(spring):
    """A case without a baseline file is added, not compared, and not red."""
    spring.accepted(result("weekly-plan-01"))

    ended = spring.gate(result("weekly-plan-01"), result("weekly-plan-04", 81.0))

    assert (ended.code, word(ended, "weekly-plan-04"), ended.suite["counts"]["added"]) == (0, "added", 1)


def test_baseline__no_file_at_all_is_no_baseline(spring):
    """Without any baseline file nothing is compared, and the first thing said is just that."""
    ended = spring.gate(result("weekly-plan-01"))

    assert (ended.code, ended.verdict["verdict"]) == (0, "no_baseline")


@pytest.mark.parametrize(("score", "code"), [(79.0, 1), (80.0, 0)])
def test_minimum__is_the_cases_floor_with_or_without_a_baseline(spring, score, code):
    """79 with minimumScore 80 is below its threshold on the first run; 80 is enough."""
    ended = spring.gate(result("weekly-plan-01", score))

    assert (ended.code, codes(ended)) == (code, {"BELOW_THRESHOLD"} if code else set())


def test_minimum__that_was_lowered_is_a_loosened_policy(spring):
    """A minimumScore below the accepted one is said like any loosened tolerance."""
    spring.accepted(result("weekly-plan-01"))

    ended = spring.gate(result("weekly-plan-01", minimum=50))

    assert ended.suite["loosened"] == ["minimum of case weekly-plan-01 0.8 → 0.5"]


def test_results__are_kept_when_the_comparison_fails_and_baseline_files_never_move(spring):
    """After exit 1 record and cases are on disk with feedback and notes; not a byte of the baseline files has changed."""
    spring.accepted(result("weekly-plan-01"))
    before = spring.work.tree(BASELINES)

    ended = spring.gate(result("weekly-plan-01", 60.0, failing=("title",)))

    kept = (spring.folder / "eval-results/notes/cases/weekly-plan-01.json").read_text()
    assert ended.code == 1
    assert "the grader's own words" in kept
    assert "on title" in kept
    assert spring.work.tree(BASELINES) == before


def test_report__shows_both_notes_and_the_feedback(spring):
    """NoteContent of both sides and the grader's feedback stand in the report of a regressed case."""
    spring.accepted(result("weekly-plan-01", note="the accepted wording"))

    spring.gate(result("weekly-plan-01", 70.0, note="a lecture about productivity"), options=("--report", "r.md", "--html", "r.html"))

    for name in ("r.md", "r.html"):
        report = (spring.folder / name).read_text()
        assert all(text in report for text in ("the accepted wording", "a lecture about productivity", "own words"))


def test_note__that_differs_alone_is_no_regression(spring):
    """Other words at the same score pass."""
    spring.accepted(result("weekly-plan-01"))

    assert spring.gate(result("weekly-plan-01", note="other words")).code == 0


def test_accept__writes_beside_their_files_with_the_reason(spring):
    """Accepting 85 leaves their files alone, says what it lowers, stores who and why beside them, and 85 passes from then on."""
    spring.accepted(result("weekly-plan-01"), result("weekly-plan-02"))
    theirs = spring.work.tree(BASELINES)
    assert spring.gate(result("weekly-plan-01", 85.0), result("weekly-plan-02")).code == 1

    accepted = spring.work.run("accept", "eval-results/notes", "--baseline", BASELINES, "--move-anchor", "--reason", "shorter notes are wanted", "--by", "Ada")

    assert (accepted.code, "lowers weekly-plan-01: 0.9200 to 0.8500" in accepted.err) == (0, True)
    assert {name: data for name, data in spring.work.tree(BASELINES).items() if not name.startswith("notes/")} == theirs
    again = spring.gate(result("weekly-plan-01", 85.0), result("weekly-plan-02"))
    assert (again.code, again.suite["baseline"]["reason"]) == (0, "shorter notes are wanted")


def test_accept__of_one_case_keeps_the_others_of_their_files(spring):
    """Accepting a single case takes the rest from the files that were the baseline, with their answers."""
    spring.accepted(result("weekly-plan-01"), result("weekly-plan-02", note="theirs"))
    spring.gate(result("weekly-plan-01", 99.0), result("weekly-plan-02", 10.0))

    accepted = spring.work.run("accept", "eval-results/notes", "--baseline", BASELINES, "--case", "weekly-plan-01", "--reason", "better", "--by", "Ada")

    stored = json.loads((spring.folder / BASELINES / "notes/cases/weekly-plan-02.json").read_text())
    assert (accepted.code, stored["trials"][0]["score"], stored["trials"][0]["answer"]["output"]) == (0, 0.92, "theirs")


def test_baseline__files_in_git_bring_the_commit_that_changed_them(spring):
    """The last commit of the baseline folder says who accepted, when and why."""
    spring.accepted(result("weekly-plan-01"))
    who = {"GIT_AUTHOR_NAME": "Ada", "GIT_AUTHOR_EMAIL": "a@b", "GIT_COMMITTER_NAME": "Ada", "GIT_COMMITTER_EMAIL": "a@b"}
    for arguments in (["init", "-q"], ["add", "."], ["commit", "-qm", "Accept shorter notes"]):
        subprocess.run(["git", *arguments], cwd=spring.folder, check=True, env={**os.environ, **who})

    found = spring.gate(result("weekly-plan-01")).suite["baseline"]

    assert (found["accepted_by"], found["reason"], len(found["commit"])) == ("Ada", "Accept shorter notes", 40)


def test_record__judged_again_finds_the_same_baseline_files(spring):
    """`gate --record` and `report` compare a stored import with the same files as the run did."""
    spring.accepted(result("weekly-plan-01"))
    spring.gate(result("weekly-plan-01", 60.0))

    again = spring.work.run("gate", "--record", "eval-results/notes", "--baseline", BASELINES)

    assert (again.code, again.suite["baseline"]["found"]) == (1, True)


def test_example__is_red_for_the_reasons_that_its_page_gives(tmp_path, capfd, monkeypatch):
    """The example regresses on weekly-plan-01 and its simplicity alone."""
    shutil.copytree(ROOT / "examples/spring", tmp_path / "spring")
    monkeypatch.chdir(tmp_path / "spring")

    code = execute(["gate", "notes.eval.yaml", "--format", "json"])

    suite = json.loads(capfd.readouterr().out)["suites"][0]
    assert (code, {case["case"]: case["verdict"] for case in suite["cases"]}) == (
        1, {"weekly-plan-01": "regressed", "weekly-plan-02": "within_tolerance", "weekly-plan-03": "unchanged"},
    )  # fmt: skip
    assert {reason["check"] for reason in suite["reasons"]} == {None, "simplicity"}


def test_rows__take_their_checks_from_the_defaults_and_their_minimum_as_floor(work):
    """`id|prompt|minimumScore` rows: half of the phrases found is 0.5, below a minimum of 80 and not of 50; without default checks there is nothing to check."""
    answers = [json.dumps({"id": "weekly-plan-01", "output": "Work: one thing"})]
    (work.folder / "answers.jsonl").write_text("\n".join(answers))

    def run(minimum, checks="[{ type: contains_all, value: [Work, Budget] }]"):
        (work.folder / "cases.csv").write_text(f"id|prompt|minimumScore\nweekly-plan-01|Plan my week.|{minimum}\n")
        (work.folder / "s.eval.yaml").write_text(
            f"version: 1\nname: s\ntarget: {{ predictions: answers.jsonl }}\ndatasets: [cases.csv]\ndefaults: {{ checks: {checks} }}\n"
        )
        return work.run("gate", "s.eval.yaml")

    assert [run(minimum).code for minimum in (80, 50)] == [1, 0]
    assert "NOTHING_TO_CHECK cases.csv:2" in run(80, "[]").err
    assert "INVALID_VALUE cases.csv:2" in run("high").err
