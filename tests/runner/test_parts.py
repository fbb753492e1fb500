"""The small parts of the runner: pauses, budget, progress."""

import io
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalaction.core.suite import Limits
from evalaction.errors import MeasureError
from evalaction.runner.backoff import delay_seconds
from evalaction.runner.budget import Budget
from evalaction.runner.progress import Bar, NoProgress, PlainLines, progress_on

SECONDS = st.floats(0, 1e9)


@given(st.integers(0, 10_000), st.none() | SECONDS, st.floats(0, 1))
def test_delay__is_bounded(attempt, hint, chance):
    """No pause is negative or longer than a minute, and without a hint none is longer than 30 s."""
    assert 0 <= delay_seconds(attempt, hint, chance) <= (30 if hint is None else 60)


@given(st.integers(0, 50), st.floats(0, 60), st.floats(0, 1))
def test_delay__never_undercuts_the_servers_hint(attempt, hint, chance):
    """A hint within the cap is kept whole."""
    assert delay_seconds(attempt, hint, chance) >= hint


def test_delay__doubles_from_half_a_second():
    """At the far end of the jitter the pauses are 0.5, 1, 2, … 30 seconds."""
    assert [delay_seconds(attempt, None, 1.0) for attempt in range(8)] == [0.5, 1, 2, 4, 8, 16, 30, 30]


def test_budget__the_clock_starts_when_it_is_made():
    """The deadline is minutes after the start, and is named when it has passed."""
    now = [100.0]
    budget = Budget(Limits(max_minutes=2), lambda: now[0])
    budget.take_call()
    now[0] = 219.0
    assert budget.seconds_left == 1.0
    now[0] = 220.0
    with pytest.raises(MeasureError, match="max_minutes") as caught:
        budget.take_call()
    assert (caught.value.code, budget.calls) == ("BUDGET_EXHAUSTED", 1)


def test_budget__without_limits_never_ends():
    """No limits: endless time, any number of calls."""
    budget = Budget(Limits(), lambda: 0.0)
    for _ in range(1000):
        budget.take_call()
    budget.spend(1e9)
    assert (budget.seconds_left, budget.is_overspent) == (float("inf"), False)


class Lines(io.StringIO):
    """A stream that tells when a text has been written to it."""

    def __init__(self, awaited):
        super().__init__()
        self.awaited, self.seen = awaited, threading.Event()

    def write(self, text):
        """Write, and tell."""
        if self.awaited in text:
            self.seen.set()
        return super().write(text)


def test_progress__plain_lines_come_though_no_trial_ends():
    """While a slow target lets nothing finish the log still says where the run is."""
    stream = Lines("bot: 1 of 9 trials")
    progress = PlainLines(stream, interval_seconds=0.01)
    progress.start("bot", 9)
    progress.step("a", failed=False)
    assert stream.seen.wait(5)
    progress.step("b", failed=True)
    progress.finish()
    progress.finish()
    assert stream.getvalue().splitlines()[-1] == "eval-gate: bot: 2 of 9 trials, 1 could not be measured, last b"


@pytest.mark.parametrize("name", ["::error::x", "a\n::add-mask::b", "a\r::stop-commands::t", "\u202eevil\x1b[31m", "x" * 500, "a\u2028::debug::"])
def test_progress__a_foreign_id_cannot_become_a_command(name):
    """No id begins a line, breaks one or carries control characters."""
    stream = io.StringIO()
    progress = PlainLines(stream, interval_seconds=60)
    progress.start(name, 2)
    progress.step(name, failed=False)
    progress.finish()
    lines = stream.getvalue().splitlines()
    assert len(lines) == 1
    assert lines[0].startswith("eval-gate: ")
    assert lines[0].isprintable()
    assert len(lines[0]) < 250


def test_progress__fits_the_stream():
    """Quiet says nothing, a terminal gets a bar, a log gets lines."""

    class Terminal(io.StringIO):
        def isatty(self):
            return True

    assert isinstance(progress_on(io.StringIO(), quiet=True), NoProgress)
    assert isinstance(progress_on(io.StringIO()), PlainLines)
    terminal = Terminal()
    bar = progress_on(terminal)
    assert isinstance(bar, Bar)
    bar.start("[red]bot[/nonsense]", 2)
    bar.step("a", failed=True)
    bar.step("b", failed=False)
    bar.finish()
    assert "[red]bot[/nonsense]" in terminal.getvalue()
    assert "1 not measured" in terminal.getvalue()
