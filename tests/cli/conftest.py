"""A workspace and the command line in it."""

from __future__ import annotations

import dataclasses
import json
import os
from pathlib import Path
from typing import Any

import pytest
import yaml

from evalaction.cli import execute


@dataclasses.dataclass
class Ended:
    """What a command left behind."""

    code: int
    out: str
    err: str
    folder: Path

    @property
    def verdict(self) -> dict[str, Any]:
        """verdict.json."""
        return json.loads((self.folder / "eval-results/verdict.json").read_text())

    @property
    def suite(self) -> dict[str, Any]:
        """The verdict on the one suite."""
        (suite,) = self.verdict["suites"]
        return suite

    @property
    def last_line(self) -> str:
        """The last line of the log."""
        return self.err.strip().splitlines()[-1]


class Workspace:
    """A folder with suites and a scripted system under test: the file `answers.json` maps each input to its answers, one after the other."""

    def __init__(self, folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
        self.folder, self._capfd = folder, capfd

    def run(self, *arguments: str) -> Ended:
        """One command, in this process."""
        self._capfd.readouterr()
        code = execute([str(argument) for argument in arguments])
        out, err = self._capfd.readouterr()
        return Ended(code, out, err, self.folder)

    def answers(self, **texts: Any) -> None:
        """What the system answers to each input; a list is played one by one, its last entry stays; a number is an exit status."""
        (self.folder / "answers.json").write_text(json.dumps({name: value if isinstance(value, list) else [value] for name, value in texts.items()}))
        for mark in self.folder.glob("count-*"):
            mark.unlink()

    def calls(self, name: str) -> int:
        """How often an input was asked."""
        mark = self.folder / f"count-{name}"
        return len(mark.read_text()) if mark.exists() else 0

    def suite(self, *ids: str, name: str = "s", expected: str = "yes", **top: Any) -> str:
        """A suite whose cases expect one text; returns its file's name."""
        case_keys = top.pop("case_keys", {})
        document = {
            "version": 1, "name": name, "target": {"exec": {"command": ["sh", "bot.sh"], "protocol": "text"}}, **top,
            "cases": [{"id": one, "input": one, "checks": [{"type": "equals", "value": expected}], **case_keys.get(one, {})} for one in ids],
        }  # fmt: skip
        (self.folder / f"{name}.eval.yaml").write_text(yaml.safe_dump(document, sort_keys=False))
        return f"{name}.eval.yaml"

    def measured(self, *ids: str, **top: Any) -> str:
        """A suite whose cases all pass, measured."""
        suite = self.suite(*ids, **top)
        self.answers(**dict.fromkeys(ids, "yes"))
        assert self.run("run", suite).code == 0
        return suite

    def accepted(self, *ids: str, **top: Any) -> str:
        """The same with its record accepted as baseline."""
        suite = self.measured(*ids, **top)
        assert self.run("accept", "eval-results", "--reason", "first").code == 0
        return suite

    def tree(self, name: str) -> dict[str, bytes]:
        """Every file below a folder."""
        root = self.folder / name
        return {str(path.relative_to(root)): path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file()}


BOT = """
import json, os, sys
name = sys.stdin.read()
answers = json.load(open("answers.json")).get(name, [""])
with open(f"count-{name}", "a+") as mark:
    mark.seek(0)
    seen = len(mark.read())
    mark.write(".")
answer = answers[min(seen, len(answers) - 1)]
if isinstance(answer, int):
    sys.exit(answer)
sys.stdout.write(answer)
"""


@pytest.fixture
def work(tmp_path, monkeypatch, capfd):
    """A workspace; the environment is small and known, and commands run in its folder."""
    for name in list(os.environ):
        if name.startswith(("GITHUB_", "ACTIONS_", "RUNNER_")):
            monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    (tmp_path / "bot.py").write_text(BOT)
    import sys

    (tmp_path / "bot.sh").write_text(f'exec "{sys.executable}" bot.py\n')
    return Workspace(tmp_path, capfd)
