"""What both SDKs have in common on the wire."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from evalaction.providers.prices import Price
from evalaction.providers.wire import count_of, http_client, lost


def _missing(**_options):
    raise RuntimeError("the package lacks an extra")


@pytest.mark.parametrize("release", [{}, {"DefaultAioHttpClient": _missing}])
def test_http_client__of_a_release_without_aiohttp(release):
    """A release that does not speak HTTP by aiohttp uses its own library, and follows redirects no more than the others."""
    options = http_client(SimpleNamespace(DefaultAsyncHttpxClient=dict, **release), None, "openai:m")

    assert (options["follow_redirects"], options["verify"], len(options["event_hooks"]["response"])) == (False, True, 1)


@pytest.mark.parametrize(("cause", "code"), [(TimeoutError("read"), "TARGET_TIMEOUT"), (ConnectionResetError("gone"), "TARGET_UNREACHABLE"), (None, "TARGET_UNREACHABLE")])
def test_lost__by_the_cause_and_not_by_its_name(cause, code):
    """A closed connection is no timeout, whatever the SDK calls it; only where time ran out it is one."""
    error = OSError("Request timed out.")
    error.__cause__ = RuntimeError("renamed on the way")
    error.__cause__.__cause__ = cause
    assert (lost(error, "openai:m", 5).code, lost(error, "openai:m", 5).retryable) == (code, True)


@pytest.mark.parametrize(
    ("usage", "found"),
    [
        ({"in": 3, "cached": 4}, 7),
        ({"in": 10**30, "cached": 0}, None),
        ({"in": 1, "cached": 10**30}, None), ({"in": -1}, None), ({"in": True}, None), ([], None), ({"in": 1e300}, None),
    ],
)
def test_count_of__is_dropped_where_no_reply_can_have_taken_so_many(usage, found):
    """A count that no record could hold is no count, and the answer stays."""
    assert count_of(usage, "in", "cached") == found


def test_cost__beyond_what_an_answer_can_cost__is_not_known():
    """Counts inside the bound at a price above all sense give no cost."""
    assert Price(input=15.0, output=75.0).cost_usd(10**12, 10**12) is None
    assert Price(input=15.0, output=75.0).cost_usd(1_000_000, 0) == 15.0
