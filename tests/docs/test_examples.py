"""Every fenced example of README.md and docs/ is executed as it stands.

A comment before a fence says how:

    <!-- test: suite [NAME] -->     a whole suite: written as NAME (default example.eval.yaml), must validate
    <!-- test: part -->             top-level keys of a suite; what is missing of name, target and cases is filled in; must validate
    <!-- test: check -->            a list of checks; must validate as those of one case
    <!-- test: file NAME -->        written as NAME, for the fences after it
    <!-- test: run -->              a console session: lines starting with `$ ` are run; others must occur in what was printed (… stands for anything)
    <!-- exit: N -->                exit code of the last command of a session (default 0; the ones before it end with 0)
    <!-- test: none because … -->   not executed, for the reason given

The fences of one section (a heading of level one or two and what follows) share a folder and are executed in their order.
"""

import dataclasses
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.running import run_here

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = sorted([ROOT / "README.md", *ROOT.joinpath("docs").glob("*.md")])
FENCE = re.compile(r"^( *)(`{3,}|~{3,})[^\n]*\n(.*?)^\1\2 *$", re.DOTALL | re.MULTILINE)
MARKERS = re.compile(r"((?:<!-- [a-z]+: [^\n]* -->\n)*)\Z")
SHELL = re.compile(r"[|<>&;$`*?~#]|^\w+=")
"""What only a shell understands."""
KINDS = ("suite", "part", "check", "file", "run", "none")


@dataclasses.dataclass(frozen=True)
class Fence:
    """One fenced block with its markers and the line it starts on."""

    place: str
    body: str
    kind: str
    argument: str
    exit_code: int

    @property
    def executed(self):
        """Whether anything is run for it."""
        return self.kind in ("suite", "part", "check", "run")


def fences_of(text, name, first_line=1):
    """The fences of a text, in order."""
    for match in FENCE.finditer(text):
        place = f"{name}:{first_line + text.count(chr(10), 0, match.start())}"
        marks = re.findall(r"<!-- (test|exit): (.*?) -->", MARKERS.search(text[: match.start()])[1])
        said = dict(marks)
        kind, _, argument = said.get("test", "").partition(" ")
        yield Fence(place, match[3], kind, argument.strip(), int(said.get("exit", 0)))


def sections_of(document):
    """(heading, fences) of each section with something to execute; a `#` inside a fence is no heading."""
    text = document.read_text(encoding="utf-8")
    hidden = FENCE.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)
    starts = [0, *(match.start() for match in re.finditer(r"^##? ", hidden, re.MULTILINE) if match.start())]
    for start, end in zip(starts, [*starts[1:], len(text)], strict=True):
        heading = text[start:end].partition("\n")[0].lstrip("# ")
        yield heading, list(fences_of(text[start:end], document.name, 1 + text.count("\n", 0, start)))


STORIES = [pytest.param(fences, id=f"{document.name}: {heading}") for document in DOCUMENTS for heading, fences in sections_of(document) if any(fence.executed for fence in fences)]
FENCES = [pytest.param(fence, id=fence.place) for document in DOCUMENTS for _, fences in sections_of(document) for fence in fences]


class Desk:
    """A folder with `eval-gate` and `python` on the PATH, in which the fences of a section are executed."""

    def __init__(self, folder):
        self.folder, self.count = folder / "work", 0
        self.folder.mkdir()
        programs = folder / "bin"
        programs.mkdir()
        for name, arguments in (("eval-gate", "-m evalaction "), ("python", "")):
            program = programs / name
            program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} {arguments}"$@"\n')
            program.chmod(0o755)
        kept = {name: os.environ[name] for name in ("HOME", "LANG", "TMPDIR") if name in os.environ}
        self.environment = {**kept, "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": str(ROOT), "COLUMNS": "240", "NO_COLOR": "1"}

    def execute(self, fence):
        """Do what the fence's marker says."""
        getattr(self, f"do_{fence.kind}")(fence)

    def do_none(self, fence):
        """Nothing, for the reason given."""

    def do_file(self, fence):
        """Write a file."""
        path = self.folder / fence.argument
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(fence.body, encoding="utf-8")

    def do_suite(self, fence):
        """Write a suite and validate it."""
        name = fence.argument or "example.eval.yaml"
        self.folder.joinpath(name).write_text(fence.body, encoding="utf-8")
        self.command(f"eval-gate validate {shlex.quote(name)}", 0, fence)

    def do_part(self, fence):
        """Fill the keys up to a suite and validate it; the part itself stands in the file as written."""
        keys = yaml.safe_load(fence.body)
        rest = {"version": "1", "name": "part", "target": "{ exec: cat }", "cases": "[{ id: filler, input: x, checks: [{ type: retrieval, relevant: [a], k: 5 }] }]"}
        text = "".join(f"{key}: {value}\n" for key, value in rest.items() if key not in keys)
        self.validate(text + fence.body, fence)

    def do_check(self, fence):
        """Validate a list of checks as those of one case."""
        indented = "".join(f"      {line}\n" for line in fence.body.splitlines())
        self.validate(f"version: 1\nname: check\ntarget: {{ exec: cat }}\ncases:\n  - id: a\n    input: x\n    checks:\n{indented}", fence)

    def validate(self, text, fence):
        """Write a suite of its own name and validate it."""
        self.count += 1
        name = f"part-{self.count}.eval.yaml"
        for module, function in re.findall(r'(?:python|callable): "([\w.]+):(\w+)"', text):  # the reader's own, which validate looks up
            path = self.folder.joinpath(*module.split(".")).with_suffix(".py")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"def {function}(case, answer=None): ...\n", encoding="utf-8")
        self.folder.joinpath(name).write_text(text, encoding="utf-8")
        self.command(f"eval-gate validate {name}", 0, fence)

    def do_run(self, fence):
        """Run a console session, command by command."""
        commands = re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", fence.body, re.MULTILINE)
        assert commands, f"{fence.place}: a session without a command"
        for position, (command, expected) in enumerate(commands, 1):
            printed = self.command(command, fence.exit_code if position == len(commands) else 0, fence)
            for line in filter(str.strip, expected.splitlines()):
                pattern = ".*".join(re.escape(part) for part in line.strip().split("…"))
                assert re.search(pattern, printed), f"{fence.place}: `{command}` did not print {line!r} but\n{printed}"

    def command(self, command, exit_code, fence):
        """Run one command; its output. Fails when it ends otherwise than it should."""
        code, printed = self.ended(command, fence)
        assert code == exit_code, f"{fence.place}: `{command}` ended with {code} instead of {exit_code}\n{printed}"
        return printed

    def ended(self, command, fence):
        """Exit code and output of a command. The README's sessions are typed into a shell; elsewhere one that is nothing but `eval-gate` spares its process."""
        typed = fence.place.startswith("README") and fence.kind == "run"
        if command.startswith("eval-gate ") and not typed and not SHELL.search(command):
            done = run_here(shlex.split(command)[1:], self.folder, self.environment)
            return done.code, done.printed
        streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
        done = subprocess.run(["bash", "-c", command], cwd=self.folder, env=self.environment, timeout=100, check=False, **streams)
        return done.returncode, done.stdout


@pytest.mark.parametrize("fence", FENCES)
def test_fence__is_marked(fence):
    """Each fence says how it is tested, or why it is not."""
    assert fence.kind in KINDS, f"{fence.place}: put <!-- test: … --> before the fence"
    assert fence.kind != "file" or fence.argument, f"{fence.place}: name the file"
    assert fence.kind != "none" or re.match(r"because \S+ \S+", fence.argument), f"{fence.place}: say why it is not tested"


@pytest.mark.parametrize("fences", STORIES)
def test_section__examples_do_what_they_say(fences, tmp_path):
    """The examples of a section, executed in their order, validate and end as the text says."""
    desk = Desk(tmp_path)
    for fence in fences:
        desk.execute(fence)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_no_fence__is_overlooked(document):
    """Each line that opens or closes a fence belongs to a fence that was found."""
    text = document.read_text(encoding="utf-8")

    assert len(re.findall(r"^ *(?:`{3,}|~{3,})", text, re.MULTILINE)) == 2 * len(list(fences_of(text, document.name)))
