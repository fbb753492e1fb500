"""Signals around the measuring of a suite."""

import asyncio
import os
import signal
import threading

import pytest

from evalaction.app.signals import SIGNALS, held, let_in, one_interrupt, stopping, stopping_at_once


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


def test_one_interrupt__first_signal_raises_and_later_ones_do_not():
    """A signal that came before is raised when signals are let in, those after it change nothing, and handlers and mask are those of before."""
    handlers, mask = [signal.getsignal(number) for number in SIGNALS], signal.pthread_sigmask(signal.SIG_BLOCK, ())
    with one_interrupt():
        signal.pthread_kill(threading.get_ident(), signal.SIGTERM)
        with pytest.raises(KeyboardInterrupt):
            let_in()
        for number in SIGNALS:
            signal.raise_signal(number)
    assert ([signal.getsignal(number) for number in SIGNALS], signal.pthread_sigmask(signal.SIG_BLOCK, ())) == (handlers, mask)


def test_held__work_is_done_before_the_signal_is_raised():
    """What happens while signals are held happens whole."""
    done = []

    def work():
        with held():
            signal.raise_signal(signal.SIGINT)
            done.append(True)

    with one_interrupt():
        let_in()
        with pytest.raises(KeyboardInterrupt):
            work()
    assert done == [True]
