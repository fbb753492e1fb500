"""Makes `.venv` with exactly what a lock file names, and this project in it: `python .ci/setup.py demo`, `dev` or `live`.

Standard library only, because it runs before anything is installed. A stamp in `.venv` carries a digest of the
lock, so that a second run has nothing to do. An environment of another interpreter or of another place (scripts
in it carry its full path) is made anew.
"""

import hashlib
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HOME = ROOT / ".venv"
PYTHON = HOME / "bin" / "python"
OLDEST = (3, 11)
COVERED_BY = {"demo": ("demo", "dev", "live"), "dev": ("dev", "live"), "live": ("live",)}
WHOLE = {"live": "dev"}
"""A lock that only adds to another one: its own packages are installed without their dependencies."""


def main(arguments: list[str]) -> int:
    """Set up for one purpose. Returns 0, or 1 with the reason on stderr."""
    if len(arguments) != 1 or arguments[0] not in COVERED_BY:
        return complain("usage: python .ci/setup.py demo|dev|live")
    if sys.version_info < OLDEST:
        return complain(f"eval-gate needs Python {OLDEST[0]}.{OLDEST[1]} or newer; {sys.executable} is {sys.version.split()[0]}. Name another: make test PYTHON=python3.12")
    purpose = arguments[0]
    if any(stamp(name).exists() for name in COVERED_BY[purpose]):
        return 0
    print(f"setting up .venv for `{purpose}` from requirements/{purpose}.txt (once per lock)", flush=True)
    try:
        install(purpose)
    except (subprocess.CalledProcessError, OSError) as error:
        return complain(f"the environment could not be made: {error}. What failed stands above; nothing was marked as done, so the next run tries again")
    return 0


def complain(message: str) -> int:
    """Say on stderr why there is no environment."""
    print(message, file=sys.stderr)
    return 1


def digest(*parts: bytes) -> str:
    """A short name for these contents."""
    return hashlib.sha256(b"\0".join(parts)).hexdigest()[:16]


def stamp(purpose: str) -> Path:
    """The file that says: this lock is installed."""
    locks = (ROOT / "requirements" / f"{name}.txt" for name in (purpose, *filter(None, [WHOLE.get(purpose)])))
    contents = (path.read_bytes() if path.exists() else b"" for path in (*locks, ROOT / "pyproject.toml", Path(__file__)))
    return place().with_name(f"installed-{purpose}-{digest(place().name.encode(), *contents)}")


def place() -> Path:
    """The file that says: this environment was made here, by this interpreter."""
    return HOME / f"made-{digest(sys.version.encode(), sys.base_prefix.encode(), str(HOME).encode())}"


def install(purpose: str) -> None:
    """Raises CalledProcessError when pip fails, OSError when the folder cannot be written."""
    if not place().exists():
        if HOME.exists():
            shutil.rmtree(HOME)
        # The base interpreter: ours may be the one of the environment that was just removed.
        subprocess.run([getattr(sys, "_base_executable", sys.executable), "-I", "-m", "venv", str(HOME)], check=True)
        place().touch()
    for old in HOME.glob("installed-*"):
        old.unlink()
    pip = [str(PYTHON), "-I", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input"]
    subprocess.run([*pip, "--require-hashes", "-r", str(ROOT / "requirements" / f"{WHOLE.get(purpose, purpose)}.txt")], check=True)
    if purpose in WHOLE:
        subprocess.run([*pip, "--require-hashes", "--no-deps", "-r", str(ROOT / "requirements" / f"{purpose}.txt")], check=True)
    subprocess.run([*pip, "--no-deps", "--no-build-isolation", "-e", str(ROOT)], check=True)
    stamp(purpose).touch()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
