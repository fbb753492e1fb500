"""A golden set with one accepted score: the seed's own numbers, and what a score cannot say."""

from __future__ import annotations

import json

import pytest


@pytest.fixture
def hundred(work):
    """A golden set of a hundred cases with an accepted score; a function that gates so many right answers."""
    cases = [{"id": f"c{number:03}", "category": "qa", "input": f"q{number}", "expectedExact": "yes"} for number in range(100)]
    (work.folder / "golden.json").write_text(json.dumps(cases))
    (work.folder / "eval").mkdir()
    (work.folder / "eval/baseline-score.txt").write_text("0.90\n")

    def gate(right, *arguments, score=("--baseline", "eval/baseline-score.txt")):
        lines = ({"id": f"c{number:03}", "output": "yes" if number < right else "no"} for number in range(100))
        (work.folder / "a.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
        return work.run("gate", "golden.json", "--predictions", "a.jsonl", *score, *arguments)

    return gate


@pytest.mark.parametrize(("right", "code"), [(90, 0), (89, 0), (88, 0), (87, 1), (95, 0)])
def test_drop__of_two_points_is_allowed_and_of_three_is_not(hundred, right, code):
    """0.90 to 0.89 passes and to 0.87 fails; a drop equal to the tolerance passes."""
    done = hundred(right)
    (metric,) = [one for one in done.suite["metrics"] if one["metric"] == "pass_rate"]
    assert (done.code, metric["baseline"], metric["current"], metric["tolerance"]) == (code, 0.9, right / 100, 0.02)
    assert (done.suite["verdict"], done.suite["rule"]) == ("regressed" if code else "passed", "tolerance")


def test_regression__names_score_baseline_and_the_drop(hundred):
    """Nobody has to compute: both scores, the drop and the tolerance stand in the log and in verdict.json."""
    done = hundred(87)
    (reason,) = done.suite["reasons"]
    assert (reason["code"], reason["metric"], reason["baseline"], reason["current"]) == ("METRIC_REGRESSED", "pass_rate", 0.9, 0.87)
    assert "x pass_rate fell 0.0300, from 0.9000 to 0.8700 (tolerance 0.0200)" in done.err


@pytest.mark.parametrize("right", [89, 87])
def test_suite_level_only__is_said_in_headline_report_and_verdict(work, hundred, right):
    """One number knows no cases: nothing is called compared, and failing cases are listed instead of regressed ones."""
    done = hundred(right, "--report", "r.md")
    headline = (work.folder / "r.md").read_text().splitlines()[0]
    assert "suite level only" in headline
    assert "suite level only" in done.out.partition("- This run")[0].replace("\n", " ")
    assert (done.suite["baseline"]["found"], done.suite["baseline"]["suite_level_only"], done.suite["baseline"]["file"]) == (True, True, "eval/baseline-score.txt")
    assert (done.suite["counts"]["compared"], done.suite["counts"]["regressed"], done.suite["loosened"]) == (0, 0, [])
    assert "c099" in done.out


def test_score__in_the_folder_of_the_baseline__holds_until_a_record_is_accepted(work, hundred):
    """The same file, found by itself; an acceptance takes its place."""
    (work.folder / "eval-baselines/golden").mkdir(parents=True)
    (work.folder / "eval-baselines/golden/baseline-score.txt").write_text("0.90")
    assert (hundred(87, score=()).code, hundred(89, score=()).code) == (1, 0)
    assert work.run("accept", "eval-results", "--reason", "read", "--by", "Ada").code == 0
    assert not (work.folder / "eval-baselines/golden/baseline-score.txt").exists()
    done = hundred(87, score=())
    assert (done.code, done.suite["baseline"]["suite_level_only"], done.suite["counts"]["compared"]) == (0, False, 100)


@pytest.mark.parametrize(("flags", "code"), [(("--tolerance", "0.05"), 0), (("--tolerance", "0.001"), 1), (("--threshold", "pass_rate=0.9"), 1)])
def test_flags__over_the_sets_own_tolerance__decide(hundred, flags, code):
    """0.90 to 0.87 under a wider tolerance, a narrower one, and a threshold."""
    assert hundred(87, *flags).code == code


def test_part_of_the_set__is_not_compared_with_the_score_of_the_whole(hundred):
    """The rate of other cases is no drop: exit 3, not red and not green."""
    done = hundred(0, "--filter", "c00*")
    assert (done.code, done.verdict["verdict"]) == (3, "not_comparable")


def test_stored_record__is_compared_with_the_score_as_well(work, hundred):
    """`gate --record` and `report` look at the same file."""
    hundred(87)
    score = ("--baseline", "eval/baseline-score.txt")
    assert work.run("gate", "--record", "eval-results", *score).code == 1
    assert "suite level only" in work.run("report", "eval-results", *score).out.replace("\n", " ")


@pytest.mark.parametrize("text", ["", "ninety", "90", "-0.1", "nan", "0.9 0.8", "inf", "0." + "9" * 5000])
def test_score_file__that_is_no_score__is_a_config_error_with_its_place(work, hundred, text):
    """Never taken for no baseline."""
    (work.folder / "eval/baseline-score.txt").write_text(text)
    done = hundred(100)
    assert done.code == 2
    assert "INVALID_RECORD eval/baseline-score.txt" in done.err


def test_score_file__for_several_suites__is_refused(work, hundred):
    """One number belongs to one suite."""
    hundred(90)
    (work.folder / "other.json").write_text((work.folder / "golden.json").read_text())
    done = work.run("gate", "golden.json", "other.json", "--predictions", "a.jsonl", "--baseline", "eval/baseline-score.txt")
    assert done.code == 2
    assert "INVALID_INPUT" in done.err


def test_score__beside_cases_that_could_not_be_measured__judges_nothing(work):
    """An application that is down has no score: exit 3."""
    (work.folder / "golden.json").write_text(json.dumps([{"id": "a", "input": "a", "expectedExact": "yes"}]))
    (work.folder / "s.txt").write_text("0.9")
    done = work.run("gate", "golden.json", "--exec", "exit 7", "--baseline", "s.txt")
    assert (done.code, done.verdict["verdict"]) == (3, "not_measured")


def test_report__of_a_set__names_its_version_wherever_it_goes(work, hundred):
    """A score is reported against a version: label and digest in terminal, Markdown, JUnit and verdict.json."""
    hundred(90)
    (work.folder / "n.eval.yaml").write_text('version: 1\nname: n\ndataset_version: "2026-11"\ntarget: {predictions: a.jsonl}\ndatasets: [golden.json]\n')
    done = work.run("gate", "n.eval.yaml", "--report", "r.md", "--junit", "j.xml")
    digest = done.suite["digest"]
    assert done.suite["dataset_version"] == "2026-11"
    for text in (done.out, (work.folder / "r.md").read_text(), (work.folder / "j.xml").read_text()):
        assert "2026-11" in text
        assert digest[:12] in text
