"""The other rules of the benchmark, each by an example that can be checked by hand."""

from __future__ import annotations

import itertools

import pytest

from benchmarks.rivals import OURS, RULES, Runs, mann_whitney_p, measure_rivals


def case(before, now, *, passes_before=None, passes_now=None):
    """One case; by default it passes at a score of 0.5."""
    passed = [tuple(float(score >= 0.5) for score in side) for side in (before, now)]
    return Runs(tuple(before), tuple(now), passes_before or passed[0], passes_now or passed[1])


@pytest.mark.parametrize(
    ("rule", "green", "red"),
    [
        ("mean falls 0.02", case([0.9], [0.88]), case([0.9], [0.87])), ("mean falls 0.01", case([0.9], [0.89]), case([0.9], [0.88])),
        ("mean falls 0.05", case([0.9], [0.85]), case([0.9], [0.84])), ("a case falls 0.05, or 0.20 of its passes", case([0.9], [0.85]), case([0.9], [0.84])),
        ("any case fails", case([0.0], [0.9]), case([0.0, 0.0], [0.9, 0.1])), ("Mann-Whitney per case", case([1] * 10, [0]), case([1] * 10, [0, 0])),
    ],
)  # fmt: skip
def test_rule__at_its_border(rule, green, red):
    """A drop as large as the tolerance passes, a larger one is red."""
    assert (RULES[rule]([green]), RULES[rule]([red])) == (False, True)


@pytest.mark.parametrize(("before", "now"), [((1, 2, 3, 4), (0, 2)), ((1, 1, 1, 0), (0, 0, 1)), ((3, 1, 2), (3, 1, 2)), ((5, 6, 7), (1, 2))])
def test_mann_whitney__is_the_share_of_all_choices_that_are_as_low(before, now):
    """The p equals that of trying every way to call some of the values the later ones, ties at their mean rank."""
    both = sorted((*before, *now))
    rank = {value: both.index(value) + (both.count(value) - 1) / 2 for value in both}
    seen = sum(rank[value] for value in now)
    sums = [sum(rank[both[place]] for place in chosen) for chosen in itertools.combinations(range(len(both)), len(now))]

    assert mann_whitney_p(before, now) == pytest.approx(sum(total <= seen + 1e-9 for total in sums) / len(sums))


@pytest.mark.slow
def test_rivals__are_seeded_and_complete():
    """The same seed gives the same table; every rule has a number in every situation."""

    def gate(before, system):
        system.passes(1)
        return True, 1.0

    once, again = (measure_rivals(gate, scale=0.003, seed="tests", said=lambda _: None) for _ in range(2))

    assert once == again
    assert once["rules"] == [OURS, *RULES]
    assert all(row["red"].keys() == {OURS, *RULES} and row["red"][OURS] <= row["pull_requests"] for row in once["rows"])
