"""Flags over what a suite says."""

from __future__ import annotations

CASE = "cases:\n  - id: a\n    input: x\n    checks: [{type: equals, value: x}]\n"


def test_overrides__of_every_flag__stand_over_the_suite(room):
    """Flags replace the suite's values, thresholds join them, and a native suite keeps its floor."""
    flags = {
        "name": "other",
        "repeats": 4,
        "tolerance": 0.2,
        "case_tolerance": 0.3,
        "pass_rate_tolerance": 0.4,
        "thresholds": (("mrr", 0.5),),
        "fail_on": ("case",),
        "max_concurrency": 2,
    }
    suite = room.suite("gate: {thresholds: {pass_rate: 0.9}, tolerances: {mrr: 0.1}}\ndefaults: {repeats: 2}\n" + CASE, **flags)
    gate = suite.gate
    assert (suite.name, suite.key, suite.repeats, suite.limits.max_concurrency, suite.floor) == ("other", "other", 4, 2, True)
    assert (gate.tolerance, gate.case_tolerance, gate.pass_rate_tolerance, gate.thresholds, gate.tolerances, gate.fail_on) == (
        0.2,
        0.3,
        0.4,
        {"pass_rate": 0.9, "mrr": 0.5},
        {"mrr": 0.1},
        ("case",),
    )


def test_flags__with_wrong_values__are_faults_beside_those_of_the_files(room):
    """A wrong flag hides nothing that is wrong with the file."""
    codes = room.codes(room.suite, "cases: []\n", tolerance=-1, repeats=0, fail_on=("all",), thresholds=(("mrr", float("nan")), ("recal@k", 0.1), ("recall@k", 80.0)))
    assert codes == [
        ("INVALID_TOLERANCE", None, "--tolerance"),
        ("INVALID_VALUE", None, "--fail-on"),
        ("INVALID_VALUE", None, "--repeats"),
        ("INVALID_VALUE", None, "--threshold mrr"),
        ("INVALID_VALUE", None, "--threshold recall@k"),
        ("UNKNOWN_METRIC", None, "--threshold recal@k"),
        ("NO_CASES", 4, "cases"),
    ]


def test_threshold__on_no_metric__is_answered_with_what_the_suite_has(room):
    """The nearest name is one that the suite's checks produce, its own cut-off included; the examples are its own too."""
    ragbench = '{"id": "1", "question": "q", "expected_answer": "a", "relevant_docs": ["d"]}\n'
    retrieval = "cases: [{id: a, input: x, checks: [{type: retrieval, relevant: [d], k: 3}, {id: tone, type: python, callable: 'm:f'}]}]\n"

    def fixes(call, *args, **flags):
        return [fault.fix for fault in room.faults(call, *args, **flags)]

    flags = {"thresholds": (("recall", 0.8), ("zzz", 0.8))}
    assert fixes(room.alone, "d.jsonl", ragbench, **flags) == [
        "write `recall@k`, if that is meant", "use a metric of the suite's checks, such as pass_rate, exact_match, token_f1, precision@k, recall@k",
    ]  # fmt: skip
    assert fixes(room.suite, retrieval, **flags)[0] == "write `recall@3`, if that is meant"
    assert sorted(fixes(room.suite, "gate: {thresholds: {recall@: 0.8, tome: 0.5}, tolerances: {acuracy: 0.1}}\n" + retrieval)) == [
        "use a metric of the suite's checks, such as pass_rate, precision@3, recall@3, mrr, ndcg@3", "write `recall@3`, if that is meant", "write `tone`, if that is meant",
    ]  # fmt: skip
    assert fixes(room.suite, CASE, thresholds=(("recall", 0.8),)) == ["write `recall@10`, if that is meant"]
