"""Signals around the measuring of a suite."""

import asyncio
import os
import signal

import pytest

from evalaction.app.signals import SIGNALS, stopping, stopping_at_once


@pytest.mark.parametrize("number", SIGNALS)
@pytest.mark.parametrize("turning", [True, False])
def test_stopping__a_signal_sets_the_event_and_the_handlers_of_before_come_back(number, turning):
    """Within, a signal only asks to stop; after, it ends the run as it did before, SIGTERM too."""
    before = {one: signal.signal(one, signal.default_int_handler) for one in SIGNALS}
    stop = asyncio.Event()

    async def in_a_loop():
        with stopping(stop):
            os.kill(os.getpid(), number)
            await asyncio.wait_for(stop.wait(), 10)

    try:
        if turning:
            asyncio.run(in_a_loop())
        else:
            with stopping_at_once(stop):
                os.kill(os.getpid(), number)
        assert stop.is_set()
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(number)
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)
