"""Acceptance: what may become a baseline, what it keeps, and what it may not drift below."""

from __future__ import annotations

import dataclasses

import pytest

from evalaction.core.accept import accept
from evalaction.core.record import Failure, Selection
from evalaction.core.suite import Policy
from evalaction.errors import ConfigError
from tests.making import baseline, case, record, request, verdict, words


def refused(*args) -> list[str]:
    with pytest.raises(ConfigError) as raised:
        accept(*args)
    return [fault.code for fault in raised.value.faults]


@pytest.mark.parametrize("reason", ["", "   ", "\n"])
def test_accept__without_a_reason__is_refused(reason):
    """A blank reason is no reason."""
    assert refused(record(case("a", 1)), None, request(reason=reason)) == ["REASON_REQUIRED"]


@pytest.mark.parametrize(
    ("measured", "asked"),
    [
        (record(), {}), (record(case("a", None, check_ids=["equals"])), {}), (record(case("a", 1), selection=Selection(filter="a")), {}),
        (record(case("a", 1), interrupted=Failure(code="INTERRUPTED", message="stopped")), {}), (record(case("a", 1), selection=Selection(tag="smoke")), {}),
    ],
    ids=["empty", "errors", "filtered", "interrupted", "tagged"],
)  # fmt: skip
def test_accept__of_what_is_no_whole_measurement__is_refused(measured, asked):
    """Empty, failed, filtered and interrupted records are no baseline."""
    assert set(refused(measured, None, request(**asked))) == {"INVALID_RECORD"}


def test_accept__of_named_cases__takes_just_those_from_a_partial_record():
    """`--case` takes the case named, also beside one that failed, and leaves the others as they were."""
    before = baseline(case("a", 0), case("b", 0))
    now = record(case("a", 1), case("b", None, check_ids=["equals"]), selection=Selection(filter="*"))

    accepted = accept(now, before, request(cases=("a",)))

    assert {name: one.trials[0].score for name, one in accepted.baseline.record.cases.items()} == {"a": 1, "b": 0}
    assert accepted.baseline.acceptance.cases == ("a",)
    assert refused(now, before, request(cases=("zzz*",))) == ["NO_CASES"]


def test_accept__only_regressions__takes_what_the_gate_flags_and_no_improvement():
    """A lower level is accepted for the regressed case; the improved one stays as it was."""
    before = baseline(case("a", 1), case("b", 0), case("c", 1))
    now = record(case("a", 0), case("b", 1), case("c", 1))

    accepted = accept(now, before, request(only="regressions", move_anchor=True)).baseline

    assert words(verdict(accepted, now)) == {"a": "unchanged", "b": "improved", "c": "unchanged"}
    assert refused(now, None, request(only="regressions"))


def test_accept__says_what_it_lowers_and_raises():
    """Every moved case with both values; added and removed ones by name."""
    accepted = accept(record(case("a", 0), case("b", 1), case("new", 1)), baseline(case("a", 1), case("b", 0), case("gone", 1)), request(move_anchor=True))

    assert {one.case: one.delta for one in accepted.moved} == {"a": -1, "b": 1}
    assert (accepted.added, accepted.removed) == (("new",), ("gone",))


def test_accept__keeps_the_chain_of_earlier_acceptances():
    """Oldest first, each with who, when and why."""
    first = accept(record(case("a", 0)), None, request(reason="first")).baseline
    second = accept(record(case("a", 1)), first, request(reason="second")).baseline

    third = accept(record(case("a", 1)), second, request(reason="third")).baseline

    assert [one.reason for one in third.chain] == ["first", "second"]
    assert third.acceptance.reason == "third"


def test_anchor__a_level_below_it_drifted_unless_it_is_moved():
    """The first accepted level is the anchor; a lower one needs move_anchor, and then is the anchor."""
    first = baseline(*(case(name, 1) for name in "abcde"))
    lower = record(case("a", 0), *(case(name, 1) for name in "bcde"))

    assert [metric.metric for metric in accept(lower, first, request()).drifted] == ["pass_rate", "equals"]
    moved = accept(lower, first, request(move_anchor=True))
    assert moved.drifted == ()
    assert accept(lower, moved.baseline, request()).drifted == ()


def test_anchor__many_small_steps_down_are_one_large_one():
    """Each step is inside the tolerance of the baseline; the anchor sees their sum."""
    names = [f"c{number}" for number in range(100)]
    current = baseline(*(case(name, 0.9, required=0.5) for name in names))
    drifted_at = None
    for step in range(1, 6):
        level = record(*(case(name, 0.9 - 0.008 * step, required=0.5) for name in names))
        assert verdict(current, level).verdict == "passed"
        accepted = accept(level, current, request())
        if accepted.drifted:
            drifted_at = step
            break
        current = accepted.baseline

    assert drifted_at == 2


def test_anchor__a_case_added_later_is_held_to_its_own_first_level():
    """The anchor of a new or rewritten case is the level at which it was first accepted."""
    first = baseline(*(case(name, 1) for name in "ab"))
    wider = accept(record(case("a", 1), case("b", 1), *(case(f"n{number}", 1) for number in range(8))), first, request()).baseline

    lower = accept(record(case("a", 1), case("b", 1), *(case(f"n{number}", 0) for number in range(8))), wider, request())

    assert lower.drifted


def test_partial_acceptance__does_not_accept_a_looser_policy():
    """`--case` takes values; the accepted policy changes only with a whole record."""
    first = baseline(case("a", 1), case("b", 1))

    accepted = accept(record(case("a", 0), case("b", 1), policy=Policy(tolerance=0.5)), first, request(cases=("a",), move_anchor=True)).baseline

    assert accepted.record.header.policy["tolerance"] == 0.01


@pytest.mark.parametrize("reason", ["", " \t\n", "\u200b\u200d", "\ufeff", "\x00\x1b", "\u2060 \u00ad", "\u3164", "\u2800", "\u0301", "\U000e0041"])
def test_accept__a_reason_that_nobody_can_see__is_none(reason):
    """Zero-width, control and filler characters and marks without a base do not make a reason."""
    with pytest.raises(ConfigError, match="REASON_REQUIRED"):
        accept(record(case("a", 1)), None, request(reason=reason))


@pytest.mark.parametrize("reason", ["ok", "7", "是", "👍", "-", "\u200bright"])
def test_accept__a_short_reason__is_one(reason):
    """One visible sign is enough; judging it is for people."""
    assert accept(record(case("a", 1)), None, request(reason=reason)).baseline.acceptance.reason == reason.strip()


@pytest.mark.parametrize(
    ("fields", "said"), [({"cases": ("",)}, "by --case ''"), ({"cases": ("x", "y*")}, "by --case 'x' --case 'y*'"), ({"only": "regressions"}, "by --only regressions")]
)
def test_accept__nothing_is_meant__names_what_was_asked(fields, said):
    """The message repeats the options as they were given."""
    with pytest.raises(ConfigError, match="nothing in the record is meant") as caught:
        accept(record(case("a", 1)), baseline(case("a", 1)), request(**fields))
    assert said in str(caught.value)


def test_anchor__a_suite_written_anew_as_a_whole_needs_it_moved():
    """Where no case is defined as in the anchor nothing shows whether the level fell: a person says so with `--move-anchor`."""
    first = accept(record(case("a", 1), case("b", 1)), None, request()).baseline
    anew = record(*(dataclasses.replace(case(name, 0), fingerprint="rewritten") for name in "ab"))
    assert refused(anew, first, request()) == ["INVALID_INPUT"]
    assert accept(anew, first, request(move_anchor=True)).baseline.record.cases.keys() == {"a", "b"}
    partly = record(case("a", 1), dataclasses.replace(case("b", 1), fingerprint="rewritten"))
    assert not accept(partly, first, request()).drifted
