"""A fake GitHub and a workspace for each test."""

from __future__ import annotations

import pytest

from evalaction.github import client
from tests.github.acting import Acting
from tests.github.fake import serving


@pytest.fixture
def gh():
    """A fake GitHub; requests that GitHub would not have understood fail the test."""
    with serving() as fake:
        yield fake


@pytest.fixture
def acting(gh, tmp_path, monkeypatch, capsys):
    """The Action in a workspace of its own, which tries again without a pause; the process comes back to where it was."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(client, "_PAUSES", (0.0,) * len(client._PAUSES))
    return Acting(gh, tmp_path, lambda: capsys.readouterr().out)


@pytest.fixture
def baseline(acting, gh):
    """An accepted baseline of the suite `support`, four right answers, made by the product itself."""
    from tests.github import events

    def make(name="support", **suite):
        acting.suite(name, **suite)
        run = acting.upload(acting.act(events.push(gh)))
        ended = acting.accepted(events.dispatch(gh), run=run, reason="first level")
        assert ended.word == "accepted", ended.log
        return ended

    return make
