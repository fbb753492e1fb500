"""A GitHub on loopback for each test, and clients of it."""

from __future__ import annotations

import pytest

from evalaction.github.client import GitHub
from tests.github.fake import TOKEN, serving


@pytest.fixture
def gh():
    """A fake GitHub; requests that GitHub would not have understood fail the test."""
    with serving() as fake:
        yield fake


class Slept(list):
    """Seconds that a client would have slept, which let its clock run."""

    now = 1_800_000_000.0

    def sleep(self, seconds: float) -> None:
        """Let time pass."""
        self.append(seconds)
        self.now += seconds


@pytest.fixture
def slept():
    """What the clients of a test slept."""
    return Slept()


@pytest.fixture
def client(gh, slept):
    """Makes clients of the fake; waiting is noted, not done."""
    made = []

    def make(**more):
        one = GitHub(**{"token": TOKEN, "api_url": gh.api_url, "repository": "octo/demo", "sleep": slept.sleep, "clock": lambda: slept.now, **more})
        made.append(one)
        return one

    yield make
    for one in made:
        one.close()


@pytest.fixture
def github(client):
    """One client of the fake."""
    return client()
