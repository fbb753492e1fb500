"""The gate's promises in simulated pull requests, through the shipped comparison and plan; `benchmarks.verdict_quality` does the same at length."""

from __future__ import annotations

import pytest

from benchmarks.verdict_quality import Cell, Outcome, Reached, cells, main, measure

QUICK = [cell for cell in cells() if cell.quick]


@pytest.mark.slow
@pytest.mark.parametrize("cell", QUICK, ids=[cell.name for cell in QUICK])
def test_targets__are_met_within_the_error_of_the_simulation(cell):
    """False alarms, detection and calls of each situation are what docs/gate.md promises, as far as a few dozen pull requests can tell."""
    reached = measure(cell, cell.quick, "tests")

    assert not reached.missed, f"{reached.red:.1%} red, {reached.calls:.2f} calls per case"


def reached(red: int, count: int, **targets: float) -> Reached:
    """So many red of so many, at two calls per case each."""
    cell = Cell(name="any", simulate=lambda _: Outcome(red=True, calls=2.0), **targets)
    return Reached(cell=cell, outcomes=[Outcome(red=number < red, calls=2.0 + 0.1 * (number % 2)) for number in range(count)])


@pytest.mark.parametrize(
    ("red", "targets", "missed"),
    [
        (0, {"at_most": 0.015}, False), (4, {"at_most": 0.015}, False), (12, {"at_most": 0.015}, True), (1, {"at_most": 0.0}, True), (60, {"at_least": 0.88}, True),
        (84, {"at_least": 0.88}, False), (99, {"at_least": 1.0}, True), (100, {"at_least": 1.0}, False), (0, {"calls": 2.1}, False), (0, {"calls": 1.9}, True),
    ],
)  # fmt: skip
def test_reached__misses_a_target_only_beyond_chance(red, targets, missed):
    """Of a hundred pull requests: a gate at its target passes, one clearly off it does not."""
    assert reached(red, 100, **targets).missed is missed


def test_measure__draws_the_same_pull_requests_from_the_same_seed():
    """Seeded: twice the same, and another seed differs."""
    cell = QUICK[0]

    assert measure(cell, 3, "one").outcomes == measure(cell, 3, "one").outcomes
    assert [cell.name for cell in cells()] == list(dict.fromkeys(cell.name for cell in cells()))


def test_command__prints_the_table_and_ends_with_nought(capsys):
    """One row per situation with target and reached."""
    assert main(["--quick", "--only", "deterministic, one case", "--scale", "0.35"]) == 0

    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 3
    assert lines[2].startswith("| deterministic, one case always to never | red ≥ 100% | 100.0% |")
    assert lines[2].endswith("| 2 | met |")
