"""Functions of an author's, looked up without running a line of their modules."""

import sys
import uuid

import pytest

from evalaction.errors import ConfigError
from evalaction.targets.lookup import look_up
from evalaction.targets.python import load_callable


@pytest.fixture
def module(tmp_path):
    """Writes a module of a name of its own; returns that name."""

    def make(body, within=""):
        name = f"m_{uuid.uuid4().hex}"
        folder = tmp_path / within
        folder.mkdir(exist_ok=True)
        (folder / f"{name}.py").write_text(body)
        return f"{within}.{name}".lstrip(".")

    path = list(sys.path)
    yield make
    sys.path[:] = path


@pytest.mark.parametrize(
    "body",
    [
        "def fn(case, answer): ...",
        "async def fn(case): ...",
        "class fn: ...",
        "fn = print",
        "a, (fn, b) = 1, (2, 3)",
        "fn: object = print",
        "import json as fn",
        "from json import dumps as fn",
        "import fn.below",
        "if True:\n    def fn(): ...",
        "try:\n    import nothing_here\nexcept ImportError:\n    fn = None",
        "with open('x') as fn: ...",
        "for fn in []: ...",
        "if (fn := 1): ...",
        "match {}:\n    case {**fn}: ...",
        "def set_up():\n    global fn\n    fn = 1",
        "from json import *",
        "def __getattr__(name): ...",
        "globals()['fn'] = print",
        "import sys\nsys.modules[__name__].fn = print",
        "exec('def fn(): ...')",
    ],
)
def test_look_up__a_name_that_the_text_shows_or_may_make__is_no_fault(module, tmp_path, body):
    """Every way to bind a name counts, and where a module could make names as it runs nothing is said."""
    look_up(f"{module(body)}:fn", tmp_path)


@pytest.mark.parametrize(
    ("body", "code", "said"),
    [
        ("def other(): ...", "INVALID_VALUE", "has no `fn`"),
        ("def other():\n    fn = 1", "INVALID_VALUE", "has no `fn`"),
        ("class Other:\n    def fn(self): ...", "INVALID_VALUE", "has no `fn`"),
        ("print(fn)", "INVALID_VALUE", "has no `fn`"),
        ("def fn(:", "INVALID_VALUE", "the import failed: SyntaxError"),
        ("fn = '\0'", "INVALID_VALUE", "the import failed"),
    ],
)
def test_look_up__a_name_that_cannot_be_there__is_refused_as_the_import_would(module, tmp_path, body, code, said):
    """Code and words are those of the import, which comes to the same."""
    reference = f"{module(body)}:fn"

    with pytest.raises(ConfigError) as looked:
        look_up(reference, tmp_path)

    (fault,) = looked.value.faults
    assert (fault.code, said in fault.what) == (code, True)
    if "print" not in body:
        with pytest.raises(ConfigError) as imported:
            load_callable(reference, tmp_path)
        assert imported.value.faults[0].code == code


@pytest.mark.parametrize("reference", ["nothing_here:fn", "nothing.here:fn", "json.nothing:fn", "json.decoder.nothing:fn"])
def test_look_up__no_such_module__is_a_file_not_found(tmp_path, reference):
    """At whatever depth the name ends, the fault names the whole module."""
    with pytest.raises(ConfigError, match=f"no module named {reference.partition(':')[0]}") as caught:
        look_up(reference, tmp_path)
    assert caught.value.faults[0].code == "FILE_NOT_FOUND"


@pytest.mark.parametrize("reference", ["os.path:join", "json.decoder:JSONDecoder.decode", "math:sqrt", "builtins:len", "xml.etree:ElementTree.parse"])
def test_look_up__modules_of_every_kind__are_found(tmp_path, reference):
    """Built in, compiled, frozen, loaded already, a submodule as a name: none is called missing."""
    look_up(reference, tmp_path)


def test_look_up__runs_nothing(module, tmp_path):
    """Neither the module nor the packages above it are imported, and the import path is as it was before plus the folder at its end."""
    name = module("raise SystemExit('ran')\nfn = 1", within="pkg")
    (tmp_path / "pkg/__init__.py").write_text("raise SystemExit('ran')")
    before = list(sys.path)

    look_up(f"{name}:fn", tmp_path)

    assert "pkg" not in sys.modules
    assert sys.path == [*before, str(tmp_path)]
