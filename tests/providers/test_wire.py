"""What both SDKs have in common on the wire."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from evalaction.providers.wire import http_client, lost


def _missing(**_options):
    raise RuntimeError("the package lacks an extra")


@pytest.mark.parametrize("release", [{}, {"DefaultAioHttpClient": _missing}])
def test_http_client__of_a_release_without_aiohttp(release):
    """A release that does not speak HTTP by aiohttp uses its own library, and follows redirects no more than the others."""
    assert http_client(SimpleNamespace(DefaultAsyncHttpxClient=dict, **release), None) == {"follow_redirects": False, "verify": True}


@pytest.mark.parametrize(("cause", "code"), [(TimeoutError("read"), "TARGET_TIMEOUT"), (ConnectionResetError("gone"), "TARGET_UNREACHABLE"), (None, "TARGET_UNREACHABLE")])
def test_lost__by_the_cause_and_not_by_its_name(cause, code):
    """A closed connection is no timeout, whatever the SDK calls it; only where time ran out it is one."""
    error = OSError("Request timed out.")
    error.__cause__ = RuntimeError("renamed on the way")
    error.__cause__.__cause__ = cause
    assert (lost(error, "openai:m", 5).code, lost(error, "openai:m", 5).retryable) == (code, True)
