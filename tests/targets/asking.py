"""Building an http target and asking it."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from evalaction.core.suite import HttpTarget
from evalaction.errors import ConfigError, MeasureError
from evalaction.targets.build import build_target


def build(url, environment=None, **spec):
    """A target for a URL."""
    return build_target(HttpTarget(url=url, **spec), environment=environment or {}, cwd=Path(), concurrency=4)


def ask(target, *requests):
    """The answer, or several; the target is closed twice."""
    async def both():
        try:
            return [await target.ask(request) for request in requests]
        finally:
            await target.close()
            await target.close()

    answers = asyncio.run(both())
    return answers[0] if len(answers) == 1 else answers


def failure(target, request):
    """The error of one trial."""
    with pytest.raises(MeasureError) as caught:
        ask(target, request)
    return caught.value


def faults(url="http://127.0.0.1:1/", environment=None, **spec):
    """Code and place of every fault of a target."""
    with pytest.raises(ConfigError) as caught:
        build(url, environment, **spec)
    return {(fault.code, fault.path) for fault in caught.value.faults}
