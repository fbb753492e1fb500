"""Runs while the image is built, in the last stage that has a shell: removes what the program never uses, and compiles what it imports.

Byte-code is checked by no time stamp (file times of a build mean nothing) and written for what a run loads; the rest
compiles in memory when it is asked for. All of it would be a sixth of the image. Time zones that count leap seconds are
nobody's, and the symbols of a package are for building others on it.
"""

import importlib
import pkgutil
import py_compile
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

STDLIB = Path(sysconfig.get_path("stdlib"))
APP = Path("/app")
PARTS_OF_PYTHON = ("ensurepip", "idlelib", "lib2to3", "pydoc_data", "site-packages/pip", "site-packages/setuptools", "site-packages/wheel", "test", "tkinter", "turtledemo")
PLACES = (
    "/usr/include", "/usr/local/include", "/usr/local/share/man", "/usr/share/info", "/usr/share/locale", "/usr/share/man", "/usr/share/zoneinfo/right",
    "/var/cache/apt", "/var/cache/debconf", "/var/lib/apt/lists",
)  # fmt: skip
SDKS = ("anthropic",)
"""SDKs whose import takes seconds without byte-code."""


CHARACTER_SETS = "/usr/lib/*-linux-gnu/gconv"
"""iconv's tables; Python brings its own, and everything here is UTF-8."""


def main() -> None:
    """Trim, then compile. An import that fails ends the build."""
    for place in (*(STDLIB / name for name in PARTS_OF_PYTHON), *map(Path, PLACES), Path.home() / ".cache", *Path("/").glob(CHARACTER_SETS.removeprefix("/"))):
        shutil.rmtree(place, ignore_errors=True)
    for place in [*STDLIB.rglob("__pycache__"), *Path("/opt/eval-gate").rglob("__pycache__")]:
        shutil.rmtree(place)
    for page in Path("/usr/share/doc").rglob("*"):
        if page.is_file() and page.name != "copyright":
            page.unlink()
    for symbols in Path("/var/lib/dpkg/info").glob("*.symbols"):
        symbols.unlink()
    for source in imported():
        py_compile.compile(source, doraise=True, invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)


def imported() -> list[str]:
    """Source files of every module of the program and of all that these import, seen by a child so that this process keeps its own modules out."""
    done = subprocess.run([sys.executable, "-B", __file__, "list"], check=True, capture_output=True, text=True)  # noqa: S603 - this file
    return done.stdout.splitlines()


def listing() -> None:
    """Import the whole program and print where its modules came from."""
    sys.path.insert(0, str(APP))
    package = importlib.import_module("evalaction")
    names = [module.name for module in pkgutil.walk_packages(package.__path__, "evalaction.") if not module.name.endswith("__main__")]
    for name in (*names, *SDKS):
        importlib.import_module(name)
    for file in sorted({str(module.__file__) for module in list(sys.modules.values()) if getattr(module, "__file__", None)}):
        if file.endswith(".py") and file != __file__:
            print(file)  # noqa: T201 - the answer to the parent


if __name__ == "__main__":
    listing() if sys.argv[1:] else main()
