"""The gate turning red, on a real retrieval system: measure, accept, change the chunking, gate.

Works in a copy of the documentation and of this example below build/demo (or in a new folder given as the only argument), and
leaves report.md, junit.xml and verdict.json there. Ends with 0 when everything went as told: the gate's exit code was 1.
"""

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
EXAMPLE = Path("examples/docs-rag")
SUITE = str(EXAMPLE / "docs-rag.eval.yaml")
GOOD, BAD = 'chunk = "paragraphs"', 'chunk = "fixed:120"'


class NotAsToldError(Exception):
    """A step of the demo ended in another way than the story says."""


def main() -> int:
    try:
        folder = fresh_copy(Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else None)
        play(folder)
    except NotAsToldError as error:
        say(f"The demo did not go as told: {error}")
        return 1
    return 0


def play(folder: Path) -> None:
    say("1. Measure the retrieval system as it is, and accept the result as the first baseline.")
    eval_gate(folder, 0, "run", SUITE)
    eval_gate(folder, 0, "accept", "eval-results", "--reason", "first baseline of the demo", "--by", "demo")

    say(f"2. Someone changes how documents are cut into chunks: {GOOD} becomes {BAD} in rag.toml.")
    change_chunking(folder / EXAMPLE / "rag.toml")

    say("3. The gate measures again and compares. It should object.")
    eval_gate(folder, 1, "gate", SUITE, "--report", "report.md", "--junit", "junit.xml")
    shutil.copyfile(folder / "eval-results" / "verdict.json", folder / "verdict.json")

    say("The gate ended with exit code 1, as it should: the regressed questions stand above. To open:")
    for name in ("report.md", "junit.xml", "verdict.json"):
        if not (folder / name).is_file():
            raise NotAsToldError(f"{name} is missing")
        print(f"   {shown(folder / name)}")


def fresh_copy(folder: Path | None) -> Path:
    """A folder with the documents and the example, and nothing from an earlier run."""
    if folder is None:
        folder = ROOT / "build" / "demo"
        shutil.rmtree(folder, ignore_errors=True)
    if folder.exists():
        raise NotAsToldError(f"{folder} exists already; name a new folder")
    (folder / EXAMPLE).mkdir(parents=True)
    shutil.copyfile(ROOT / "README.md", folder / "README.md")
    shutil.copytree(ROOT / "docs", folder / "docs")
    for name in ("rag.py", "rag.toml", "golden.jsonl", "docs-rag.eval.yaml"):
        shutil.copyfile(ROOT / EXAMPLE / name, folder / EXAMPLE / name)
    return folder


def change_chunking(config: Path) -> None:
    text = config.read_text(encoding="utf-8")
    if text.count(GOOD) != 1:
        raise NotAsToldError(f"{config} does not say {GOOD}")
    config.write_text(text.replace(GOOD, BAD), encoding="utf-8")


def eval_gate(folder: Path, expected: int, *args: str) -> None:
    """Run one command in the folder, its output shown as it comes."""
    print(f"\n$ eval-gate {shlex.join(args)}", flush=True)
    environment = {**os.environ, "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])}
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    found = subprocess.run([sys.executable, "-m", "evalaction", *args], cwd=folder, env=environment, stdin=subprocess.DEVNULL, check=False).returncode
    print(f"exit code {found}", flush=True)
    if found != expected:
        raise NotAsToldError(f"`eval-gate {args[0]}` ended with exit code {found} instead of {expected}")


def shown(path: Path) -> str:
    return str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else str(path)


def say(text: str) -> None:
    print(f"\n{text}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
