"""A workspace on disk, and the one door of the room: files in, suites or faults out."""

from __future__ import annotations

import pytest

from evalaction.core.suite import ExecTarget
from evalaction.datasets.load import load_suites
from evalaction.datasets.overrides import Overrides
from evalaction.errors import ConfigError

HEAD = "version: 1\nname: s\ntarget: {exec: x}\n"


class Room:
    """One workspace; its environment is empty until a test fills it."""

    def __init__(self, root):
        self.root, self.environment = root, {}

    def put(self, name, content):
        """Write a file, text or bytes; returns its name."""
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return name

    def load(self, *patterns, workspace=None, **flags):
        """All suites that the patterns name, under these flags."""
        return load_suites(patterns, Overrides(**flags), self.environment, workspace or self.root, self.root)

    def one(self, *patterns, **flags):
        """The one suite that the patterns name."""
        (suite,) = self.load(*patterns, **flags)
        return suite

    def suite(self, body, **flags):
        """A native suite of this body under the usual head."""
        return self.one(self.put("s.eval.yaml", HEAD + body), **flags)

    def alone(self, name, content, **flags):
        """A dataset that stands for a suite."""
        return self.one(self.put(name, content), target=ExecTarget(command="x"), **flags)

    def faults(self, call, *args, **flags):
        """The faults that a call ends in."""
        with pytest.raises(ConfigError) as raised:
            call(*args, **flags)
        return list(raised.value.faults)

    def codes(self, call, *args, **flags):
        """Each fault as (code, line, path)."""
        return [(fault.code, fault.line, fault.path) for fault in self.faults(call, *args, **flags)]


@pytest.fixture
def room(tmp_path):
    """An empty workspace."""
    return Room(tmp_path)
