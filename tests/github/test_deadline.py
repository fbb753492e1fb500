"""How long GitHub may take."""

from __future__ import annotations

import socket
import threading
import time

import pytest

from evalaction.errors import GitHubError
from evalaction.github.deadline import TROUBLE_SECONDS, Deadline, LateAnswer, in_time
from tests.github.routes import Answer

LIST = "/actions/artifacts$"


@pytest.fixture
def dripping():
    """A server that sends a byte now and then, and never comes to an end; its address."""
    listening, over = socket.create_server(("127.0.0.1", 0)), threading.Event()

    def drip(client):
        with client:
            client.recv(65_536)
            client.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n")
            while not over.wait(0.05):
                try:
                    client.sendall(b" ")
                except OSError:
                    return

    def serve():
        while not over.is_set():
            try:
                client, _ = listening.accept()
            except OSError:
                return
            threading.Thread(target=drip, args=(client,), daemon=True).start()

    threading.Thread(target=serve, daemon=True).start()
    yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    over.set()
    listening.close()


def test_answer__that_drips(client, dripping, slept):
    """A body that never ends is given up after the time of an answer, three times."""
    started = time.monotonic()
    with pytest.raises(GitHubError, match="no whole answer") as said:
        client(api_url=dripping, deadline=Deadline(answer_seconds=0.3)).artifacts("x")
    assert said.value.kind == "unavailable"
    assert (slept, time.monotonic() - started < 10) == ([1.0, 3.0], True)


def test_answer__that_is_always_accepted(gh, client):
    """An answer 202, for which PyGithub asks again by itself for ever, is given up too; what is asked next gets its own answer."""
    gh.trouble("GET", LIST, lambda _gh, _call: Answer(202, {}), times=10**9)
    github = client(deadline=Deadline(answer_seconds=0.3))
    with pytest.raises(GitHubError, match="no whole answer"):
        github.artifacts("x")
    assert github.pull(gh.pull()["number"]).state == "open"


def test_within__nothing_is_asked_when_the_time_is_over(gh, github):
    """After the time of a stretch of work nothing more is asked within it; afterwards it is."""
    with github.within(0), pytest.raises(GitHubError, match="took too long"):
        github.artifacts("x")
    assert gh.seen == []
    assert github.artifacts("x") == []


def test_within__the_shorter_time_counts():
    """A stretch within another one ends with it."""
    deadline = Deadline()
    with deadline.within(0), deadline.within(60):
        assert deadline.is_over
    assert not deadline.is_over


def test_trouble__is_bounded_in_all(monkeypatch):
    """When failures took their time together, nothing is repeated, and what is still tried has less time."""
    deadline, clock = Deadline(), [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])
    while deadline.may_repeat:
        with deadline.counted() as seconds:
            clock[0] += seconds
    with deadline.counted() as seconds:
        assert seconds < 20
    assert TROUBLE_SECONDS <= clock[0] <= TROUBLE_SECONDS + 20


def test_in_time__what_the_work_does():
    """Results and exceptions come through; what takes longer is left behind."""

    def fails():
        raise KeyError("x")

    assert in_time(lambda: None, 5) is None
    with pytest.raises(KeyError):
        in_time(fails, 5)
    gate = threading.Event()
    with pytest.raises(LateAnswer):
        in_time(gate.wait, 0.05)
    gate.set()
