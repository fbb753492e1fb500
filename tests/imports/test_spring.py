"""Spring AI result files, single and aggregate."""

import pytest

CHECKS = [{"id": "title", "pass": True, "notes": "The note has a clear Markdown title."}, {"id": "simplicity", "pass": False, "notes": "Adds unrelated advice."}]


def single(case_id="weekly-plan-01", **changes):
    return {
        "id": case_id, "prompt": "Create a note.", "minimumScore": 80, "pass": True, "score": 92.0, "feedback": "StyleRubricResult[score=92]",
        "metadata": {"overallPass": True, "checks": CHECKS}, "noteContent": "# Weekly Plan\n", **changes,
    }  # fmt: skip


def aggregate(case_id="weekly-plan-01", passing=4, runs=5, average=90.0, **changes):
    listed = [{"pass": number < passing, "score": average, "feedback": f"run {number}", "metadata": {}} for number in range(runs)]
    return {
        "id": case_id, "prompt": "Create a note.", "minimumScore": 80, "graderRuns": runs, "passingRuns": passing, "averageScore": average, "runs": listed,
        "noteContent": "# Plan\n", **changes,
    }  # fmt: skip


def test_single__points_become_fractions_and_everything_is_kept(results):
    """92 points are 0.92 and the case's own score; each rubric line is a check of its own; note and feedback are the answer."""
    results.write("weekly-plan-01.json", single())

    (case,) = results.read("spring").cases
    (trial,) = case.trials

    assert (case.id, case.input, case.floor) == ("weekly-plan-01", "Create a note.", 0.8)
    assert [(check.id, check.score, check.passed, check.weight) for check in trial.checks] == [("score", 0.92, True, 1), ("title", 1, True, 0), ("simplicity", 0, False, 0)]
    assert trial.checks[2].detail == "Adds unrelated advice."
    assert trial.answer == {"output": "# Weekly Plan\n", "feedback": "StyleRubricResult[score=92]"}


def test_aggregate__each_grader_run_is_a_run(results):
    """GraderRuns 5 with four passing are five runs of one case, four of them passed."""
    results.write("a.json", aggregate())

    (case,) = results.read("spring").cases

    assert [trial.checks[0].passed for trial in case.trials] == [True] * 4 + [False]
    assert {trial.checks[0].score for trial in case.trials} == {0.9}


def test_aggregate__without_its_runs_stands_for_as_many(results):
    """An aggregate that lists no runs has graderRuns runs with the average as score."""
    results.write("a.json", aggregate(runs=3, passing=1) | {"runs": []})

    (case,) = results.read("spring").cases

    assert [(trial.checks[0].score, trial.checks[0].passed) for trial in case.trials] == [(0.9, True), (0.9, False), (0.9, False)]


@pytest.mark.parametrize("changes", [{"passingRuns": 5}, {"averageScore": 95.0}, {"graderRuns": 6}])
def test_aggregate__that_contradicts_its_runs_is_refused(results, changes):
    """A sum that its own runs do not give is INVALID_VALUE: nobody knows which is meant."""
    results.write("a.json", aggregate() | changes)

    assert set(results.codes("spring")) == {"INVALID_VALUE"}


def test_aggregate__of_no_run_is_an_error(results):
    """GraderRuns 0 is a case that could not be measured, not one that failed."""
    results.write("a.json", aggregate(runs=0, passing=0))

    (case,) = results.read("spring").cases

    assert case.trials[0].error is not None


def test_faults__of_all_files_at_once(results):
    """One reading names every fault of every file, with file and case."""
    results.write("a.json", single("a", score=101))
    results.write("b.json", single("b") | {"pass": "yes"})
    results.write("c.json", '{"id": "c", "score": NaN}')
    results.write("d.json", {"prompt": "p", "pass": True, "score": 1})

    faults = results.faults("spring")

    assert {(fault.file.rpartition("/")[2], fault.code) for fault in faults} == {
        ("a.json", "INVALID_VALUE"), ("b.json", "TYPE_MISMATCH"), ("c.json", "MALFORMED_JSON"), ("d.json", "MISSING_FIELD"),
    }  # fmt: skip
    assert any("case `a`" in fault.what for fault in faults)


def test_ids__that_differ_in_nothing_visible_are_one(results):
    """Two files with one id are DUPLICATE_ID, and the other file is named."""
    results.write("a.json", single("plan 1"))
    results.write("b.json", single("plan  1"))

    (fault,) = results.faults("spring")

    assert (fault.code, "a.json" in fault.what) == ("DUPLICATE_ID", True)
