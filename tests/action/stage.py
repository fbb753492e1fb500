"""A runner's environment round the Action's scripts, with a `docker` of ours first on the PATH that writes down what it was told."""

import dataclasses
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DOCKER = """#!{python} -I
import json, os, sys
words, answers = sys.argv[1:], json.loads(os.environ.get("FAKE_DOCKER", "{{}}"))
with open(os.environ["FAKE_DOCKER_LOG"], "a") as log:
    log.write(json.dumps({{"words": words, "env": dict(os.environ)}}) + "\\n")
said, code = answers.get(next((name for name in answers if " ".join(words).startswith(name)), ""), ["", 0])
print(said)
sys.exit(code)
"""
WORKS = {"info": ["linux", 0], "build": ["sha256:built", 0], "image inspect": ["", 1]}


@dataclasses.dataclass
class Ended:
    """What a script left behind: exit code, log, outputs, and every call of docker as (words, environment)."""

    code: int
    log: str
    outputs: dict
    calls: list

    def words(self, first):
        """The calls of one command of docker."""
        return [call["words"] for call in self.calls if call["words"][0] == first]

    @property
    def run(self):
        """The words of the one `docker run` of the program; the look at the folders before it is left out."""
        (words,) = [words for words in self.words("run") if "none" not in words]
        return words

    @property
    def passed(self):
        """Names of the variables that go into the container."""
        return {name for flag, name in zip(self.run, self.run[1:], strict=False) if flag == "-e"}

    @property
    def handed(self):
        """The variables that go in by the file, which nobody but its owner may read."""
        (place,) = [Path(word.partition("=")[2]) for word in self.run if word.startswith("EVAL_GATE_HANDED=")]
        assert place.stat().st_mode & 0o777 == 0o600
        return dict(pair.split("=", 1) for pair in place.read_text().split("\0") if pair)

    @property
    def environment(self):
        """What the last docker process had in its own environment."""
        return self.calls[-1]["env"]


class Stage:
    """One runner: workspace, temp folder, file commands."""

    def __init__(self, folder):
        self.folder = folder
        self.workspace, self.temp, self.bin = folder / "a work space", folder / "temp", folder / "bin"
        for made in (self.workspace, self.temp / "_runner_file_commands", self.bin):
            made.mkdir(parents=True)
        self.output = self.temp / "_runner_file_commands" / "output"
        self.output.touch()
        self.calls = folder / "docker.jsonl"

    def with_docker(self):
        """Put the docker of ours on the PATH."""
        program = self.bin / "docker"
        program.write_text(DOCKER.format(python=sys.executable))
        program.chmod(0o755)
        return self

    def without(self, *names):
        """A PATH of links to the system's programs, but for these."""
        for place in os.get_exec_path():
            for program in Path(place).glob("*") if Path(place).is_dir() else []:
                if program.name not in names and not self.bin.joinpath(program.name).exists():
                    self.bin.joinpath(program.name).symlink_to(program)
        return str(self.bin)

    def environment(self, **more):
        """A runner's variables; None takes one away."""
        plain = {
            "PATH": f"{self.bin}:{os.environ['PATH']}", "HOME": str(self.folder), "RUNNER_OS": "Linux", "RUNNER_TEMP": str(self.temp), "GITHUB_WORKSPACE": str(self.workspace),
            "GITHUB_OUTPUT": str(self.output), "GITHUB_JOB": "eval", "GITHUB_RUN_ID": "7", "EVAL_GATE_KEY": "eval", "INPUT_RUNTIME": "auto",
            "FAKE_DOCKER": json.dumps(WORKS), "FAKE_DOCKER_LOG": str(self.calls),
        }  # fmt: skip
        return {name: value for name, value in {**plain, **more}.items() if value is not None}

    def run(self, *arguments, script="run.sh", root=ROOT, **more):
        """Run a script as the step does: bash, in the workspace."""
        command = [shutil.which("bash"), str(root / "action" / script), *arguments]
        done = subprocess.run(command, cwd=self.workspace, env=self.environment(**more), capture_output=True, text=True, timeout=60, check=False)
        outputs = dict(line.split("=", 1) for line in self.output.read_text().splitlines())
        calls = [json.loads(line) for line in self.calls.read_text().splitlines()] if self.calls.exists() else []
        return Ended(done.returncode, done.stdout + done.stderr, outputs, calls)
