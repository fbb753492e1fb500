"""Habits of the project that no single module can keep."""

from __future__ import annotations

import ast
import fnmatch
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

import evalaction
from evalaction.codes import REGISTRY

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
LOCKS = {
    "lock.txt": PROJECT["project"]["dependencies"],
    "demo.txt": [*PROJECT["project"]["dependencies"], *PROJECT["project"]["optional-dependencies"]["examples"]],
    "dev.txt": [*PROJECT["project"]["dependencies"], *(name for extra in PROJECT["project"]["optional-dependencies"].values() for name in extra)],
}
BACKEND = {"hatchling", "editables"}
HEAVY = {"aiohttp", "jsonschema", "regex", "jinja2", "rich", "jmespath"}
# Written so that they do not find themselves.
FOREIGN = re.compile(r"(?<![\w./])/(?:work|root|farm)/[\w.]|/opt/(?:pypi|wheels)|python[h]osted|pypi[.]org/[s]imple|(?:extra-)?index-[u]rl[ =:]+\S*://|find-[l]inks[ =:]+/")


def _normal(requirement: str) -> str:
    name = re.match(r"[\w.-]+", requirement)
    assert name is not None
    return re.sub(r"[-_.]+", "-", name[0]).lower()


def _lock(name: str) -> str:
    return (ROOT / "requirements" / name).read_text(encoding="utf-8")


def _pins(name: str) -> dict[str, str]:
    return dict(re.findall(r"^([a-z0-9][\w.-]*)==(\S+)", _lock(name), re.MULTILINE))


def _direct(name: str) -> set[str]:
    blocks = re.split(r"^(?=[a-z0-9])", _lock(name), flags=re.MULTILINE)
    return {_normal(block) for block in blocks if re.search(r"#.* eval-gate \(pyproject\.toml[):]", block)}


def _project_files() -> list[Path]:
    """What git tracks or would track; in a tarball, everything that .gitignore does not name."""
    listed = _command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard") if shutil.which("git") else None
    if listed is not None and listed.returncode == 0:
        return [path for name in listed.stdout.split("\0") if name and (path := ROOT / name).is_file()]
    ignored = [line.strip("/") for line in (ROOT / ".gitignore").read_text(encoding="utf-8").split()] + [".git"]
    return [path for path in ROOT.rglob("*") if path.is_file() and not any(fnmatch.fnmatch(part, line) for part in path.relative_to(ROOT).parts for line in ignored)]


def _command(*command: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, check=False, capture_output=True, text=True, cwd=ROOT, env={**os.environ, **variables}, timeout=100)


@pytest.mark.parametrize("name", LOCKS)
def test_lock__direct_dependencies_are_those_of_pyproject(name):
    """Each lock's direct dependencies are exactly the ones that pyproject names for it."""
    stated = {_normal(requirement) for requirement in LOCKS[name]}

    assert _direct(name) - BACKEND == stated


@pytest.mark.parametrize("name", ["demo.txt", "dev.txt"])
def test_lock__holds_the_build_backend(name):
    """The environments of the demo and of the tests can install this project without asking an index for anything unlocked."""
    assert _pins(name).keys() >= BACKEND
    assert {_normal(requirement) for requirement in PROJECT["build-system"]["requires"]} <= BACKEND


@pytest.mark.parametrize("name", LOCKS)
def test_lock__every_pin_has_hashes_and_no_line_names_an_index(name):
    """A lock is exact versions and hashes: no option, no address, nothing that only one machine knows."""
    text = _lock(name)
    lines = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]

    assert all(re.fullmatch(r"[a-z0-9][\w.-]*==[\w.]+( ; .*)? \\|    --hash=sha256:[0-9a-f]{64}( \\)?", line) for line in lines)
    assert len(re.findall(r"^[a-z0-9].*\\\n    --hash", text, re.MULTILINE)) == len(_pins(name)) > 0
    assert "://" not in text


@pytest.mark.parametrize("name", ["lock.txt", "demo.txt", "image.txt"])
def test_lock__smaller_locks_are_parts_of_the_whole(name):
    """What users run is what the tests ran: the same release of every package."""
    assert _pins(name).items() <= _pins("dev.txt").items()


def test_version__stands_in_the_changelog():
    """The version that the program reports has a section in CHANGELOG.md."""
    assert re.search(rf"^## \[{re.escape(evalaction.__version__)}\]", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)


def test_files__name_no_machine_and_no_index():
    """No file of the project holds a path of one machine or the address of a package index."""
    found = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()[:80]}"
        for path in _project_files()
        for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), 1)
        if FOREIGN.search(line)
    ]

    assert found == []


@pytest.mark.parametrize(
    ("start", "end"), [("cp /", "work/main/x"), ("HOME=/", "root/.config"), ("--index-", "url https://a.example"), ("https://pypi.org/", "simple"), ("--find-", "links /srv")]
)
def test_files__a_path_or_an_index_would_be_found(start, end):
    """The search of the test above finds what it is for, in two halves here so that it does not find this list."""
    assert FOREIGN.search(start + end)


def test_tests__each_states_its_claim_in_one_line():
    """Every test function has a docstring of exactly one line."""
    silent = [
        f"{path.relative_to(ROOT)}:{node.lineno} {node.name}"
        for path in sorted((ROOT / "tests").rglob("test_*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_")
        if not (claim := ast.get_docstring(node)) or "\n" in claim
    ]

    assert silent == []


def test_codes__that_the_program_says_are_explained():
    """Every code that a fault, a failure or a reason is made with stands in the registry, and so in docs/errors.md."""
    calls = [node for path in (ROOT / "evalaction").rglob("*.py") for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, ast.Call)]
    named = [keyword.value for call in calls for keyword in call.keywords if keyword.arg == "code"]
    first = [call.args[0] for call in calls if call.args and re.search(r"(ConfigError\.one|Error)$", ast.unparse(call.func))]
    said = {node.value for value in (*named, *first) for node in ast.walk(value) if isinstance(node, ast.Constant) and re.fullmatch(r"[A-Z]+(_[A-Z]+)+", str(node.value))}

    assert len(said) > 30
    assert said <= set(REGISTRY)


def test_version__console_script_and_module_agree():
    """`eval-gate --version` and `python -m evalaction --version` say the same, and the package's own version."""
    script = _command(str(Path(sys.executable).parent / "eval-gate"), "--version")
    module = _command(sys.executable, "-m", "evalaction", "--version")

    assert (script.returncode, module.returncode) == (0, 0)
    assert script.stdout == module.stdout
    assert evalaction.__version__ in script.stdout


def test_version__loads_nothing_heavy():
    """`--version` answers without loading an HTTP client, schemas, templates or terminal drawing."""
    done = _command(sys.executable, "-X", "importtime", "-m", "evalaction", "--version")
    loaded = {line.rpartition("|")[2].strip().partition(".")[0] for line in done.stderr.splitlines() if line.startswith("import time:")}

    assert done.returncode == 0
    assert "evalaction" in loaded
    assert loaded & HEAVY == set()


def test_hooks__run_the_tools_of_the_lock():
    """Commit hooks fetch nothing: each is local and runs what `make test` installed."""
    hooks = [(repo["repo"], hook) for repo in yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))["repos"] for hook in repo["hooks"]]

    assert {hook["id"] for _, hook in hooks} == {"ruff", "mypy", "lint-imports"}
    assert all(repo == "local" and hook["language"] == "system" and hook["entry"].startswith(".venv/bin/") for repo, hook in hooks)


def _checkout(folder: Path, make: str) -> Path:
    """A copy of .ci/run beside a Makefile of the test's own."""
    (folder / ".ci").mkdir(parents=True)
    shutil.copy2(ROOT / ".ci" / "run", folder / ".ci" / "run")
    (folder / "Makefile").write_text(make, encoding="utf-8")
    return folder / ".ci" / "run"


@pytest.mark.parametrize("red", [None, "test", "test-container", "lint"])
def test_ci__fails_when_any_part_fails_and_ends_with_the_closing_line(tmp_path, red):
    """.ci/run goes through tests, image and lint whatever happens, ends with pytest's closing line, and is red when one of them was."""
    said = {"test": "3 passed, 1 warning in 0.50s", "test-container": "2 passed in 9.00s", "lint": "linted"}
    make = "".join(f"{part}:\n\t@echo '{text}'\n\t@{'false' if part == red else 'true'}\n" for part, text in said.items())
    run = _checkout(tmp_path / "a b", make)

    done = _command(str(run))

    assert done.returncode == (0 if red is None else 1)
    assert "linted" in done.stdout
    assert done.stdout.splitlines()[-1] == "3 passed, 1 warning in 0.50s"


def _bare_project(folder: Path, requirement: str) -> list[str]:
    """The set-up script in a project of its own; returns its command line."""
    for name in (".ci", "requirements"):
        (folder / name).mkdir(parents=True)
    shutil.copy2(ROOT / ".ci" / "setup.py", folder / ".ci" / "setup.py")
    (folder / "pyproject.toml").write_text("", encoding="utf-8")
    (folder / "requirements" / "dev.txt").write_text(requirement, encoding="utf-8")
    return [sys.executable, str(folder / ".ci" / "setup.py"), "dev"]


@pytest.mark.slow
def test_setup__a_failed_install_is_told_and_tried_again(tmp_path):
    """An install that fails leaves no mark of success, in a folder with blanks in its name too, and says so in a sentence."""
    command = _bare_project(tmp_path / "a b", f"nothing-of-that-name==1.0 --hash=sha256:{'0' * 64}\n")

    first, second = (_command(*command, PIP_NO_INDEX="1") for _ in range(2))

    assert (first.returncode, second.returncode) == (1, 1)
    assert "nothing-of-that-name" in first.stderr
    assert "nothing-of-that-name" in second.stderr
    assert "Traceback" not in first.stderr
    assert list((tmp_path / "a b" / ".venv").glob("installed-*")) == []


def test_setup__an_unknown_purpose_is_refused(tmp_path):
    """Anything but the two purposes is a usage error and makes no environment."""
    command = _bare_project(tmp_path, "")

    done = _command(*command[:-1], "everything")

    assert done.returncode == 1
    assert "usage" in done.stderr
    assert not (tmp_path / ".venv").exists()


@pytest.mark.slow
@pytest.mark.parametrize(("part", "figures", "targets"), [("start", 3, 3), ("http", 18, 18), ("models", 10, 8), ("offline", 5, 5)])
def test_benchmark__quick_run_measures_every_part(tmp_path, part, figures, targets):
    """`python -m benchmarks.run --quick` drives the command line through each part and writes each figure with its target."""
    out = tmp_path / "bench.json"

    done = _command(sys.executable, "-m", "benchmarks.run", "--quick", "--only", part, "--out", str(out))

    assert done.returncode == 0, done.stderr
    assert re.search(rf"^\d+ of {targets} targets reached\.$", done.stdout, re.MULTILINE)
    assert out.read_text(encoding="utf-8").count('"what"') == figures
