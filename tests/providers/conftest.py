"""Scripted models on loopback."""

import pytest

from tests.vendors import VENDORS, vendors


@pytest.fixture
def start():
    """Starts a scripted model."""
    with vendors() as starter:
        yield starter


@pytest.fixture(params=VENDORS)
def vendor(request):
    """Each vendor in turn."""
    return request.param
