"""What all tests share."""

import gc
import os
import sys

import pytest
from hypothesis import settings

# Compiled files are kept whatever the caller's shell says: without them each worker compiles every test, and each child the whole package, anew.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# A busy machine must not fail a property: how long one example takes says nothing about it.
# Fifty examples find what a hundred do in the small worlds that the properties draw; `--hypothesis-profile thorough` looks longer.
settings.register_profile("steady", deadline=None, max_examples=50)
settings.register_profile("thorough", deadline=None, max_examples=1000)
settings.load_profile("steady")


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """What collecting makes lives as long as the session: to look through it for garbage, again and again, takes as long as to make it."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()
