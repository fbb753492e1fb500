"""Functions as targets, and how functions of an author's are loaded."""

import asyncio
import os
import subprocess
import sys
import textwrap
import time
import uuid
from pathlib import Path

import pytest

import evalaction
from evalaction.core.suite import PythonTarget
from evalaction.errors import ConfigError, MeasureError
from evalaction.targets.build import build_target
from evalaction.targets.python import load_callable


@pytest.fixture
def bot(tmp_path):
    """Writes a module of a name of its own and gives the target of one function in it."""

    def make(body, function="ask", **options):
        name = f"bot_{uuid.uuid4().hex}"
        (tmp_path / f"{name}.py").write_text(textwrap.dedent(body))
        return build_target(PythonTarget(callable=f"{name}:{function}", **options), environment={}, cwd=tmp_path, concurrency=2)

    path = list(sys.path)
    yield make
    sys.path[:] = path


def ask(target, request):
    """The answer to one trial."""
    return asyncio.run(target.ask(request))


def failure(target, request):
    """The error of one trial."""
    with pytest.raises(MeasureError) as caught:
        ask(target, request)
    return caught.value


def test_call__gets_the_case_as_a_plain_dict(bot, request_for):
    """A function gets the case line and may answer with text or an object."""
    answer = ask(bot("def ask(case):\n    return {'output': case['vars']['x'], 'retrieved': (case['id'], 'd')}"), request_for(vars={"x": 5}))
    assert (answer.output, answer.retrieved) == (5, ("a", "d"))


def test_call__cannot_change_the_case_of_the_next_trial(bot, request_for):
    """A function that alters its argument alters a copy."""
    target, request = bot("def ask(case):\n    case['vars']['x'].append(1)\n    return len(case['vars']['x'])"), request_for(vars={"x": []})
    assert [ask(target, request).output for _ in range(2)] == [1, 1]


@pytest.mark.parametrize(
    "body",
    [
        "async def ask(case):\n    return 'x'",
        "class A:\n    async def __call__(self, case):\n        return 'x'\nask = A()",
        "import functools\nask = functools.partial(lambda a, case: a, 'x')",
    ],
)
def test_call__any_kind_of_callable(bot, request_for, body):
    """Coroutine functions, objects with an async call and partials work."""
    assert ask(bot(body), request_for()).output == "x"


def test_call__imports_inside_the_function_work(bot, request_for, tmp_path):
    """A helper module that is imported only when called is found."""
    (tmp_path / "late_helper_module.py").write_text("VALUE = 'late'")
    assert ask(bot("def ask(case):\n    import late_helper_module\n    return late_helper_module.VALUE"), request_for()).output == "late"


def test_call__prints_go_to_stderr(bot, request_for, capfd):
    """What the function and its module print leaves stdout to the report."""
    target = bot("print('on import')\ndef ask(case):\n    print('on call')\n    return 'x'\nasync def later(case):\n    print('on loop')")
    ask(target, request_for())
    print("ours")  # noqa: T201  # stdout is what is tested
    out, err = capfd.readouterr()
    assert (out, err) == ("ours\n", "on import\non call\n")


@pytest.mark.parametrize(
    ("raised", "named"),
    [("raise KeyError('x')", "KeyError: 'x'"), ("import sys; sys.exit(3)", "SystemExit: 3"), ("raise TimeoutError", "TimeoutError"), ("raise StopIteration", "StopIteration")],
)
@pytest.mark.parametrize("kind", ["def", "async def"])
def test_call__whatever_it_raises_is_a_failed_target(bot, request_for, kind, raised, named):
    """Any exception, an exit too, is TARGET_FAILED with its type, message and place."""
    error = failure(bot(f"{kind} ask(case):\n    {raised}"), request_for())
    assert (error.code, named in error.message) == ("TARGET_FAILED", True)


def test_call__the_place_of_a_failure_is_kept(bot, request_for):
    """The detail names file, line and source of the last frame."""
    detail = failure(bot("def ask(case):\n    return 1 / 0"), request_for()).detail
    assert ":2 in ask" in detail
    assert "return 1 / 0" in detail


@pytest.mark.parametrize("result", ["object()", "float('nan')", "{1, 2}", "b'x'"])
def test_call__a_result_that_is_no_json_is_an_invalid_answer(bot, request_for, result):
    """What cannot be stored is no answer."""
    assert failure(bot(f"def ask(case):\n    return {result}"), request_for()).code == "INVALID_ANSWER"


@pytest.mark.parametrize("body", ["import time\ndef ask(case):\n    time.sleep(5)", "import asyncio\nasync def ask(case):\n    await asyncio.sleep(60)"])
def test_call__times_out(bot, request_for, body):
    """A call that takes too long is TARGET_TIMEOUT at once."""
    started = time.monotonic()
    assert failure(bot(body, timeout_seconds=0.2), request_for()).code == "TARGET_TIMEOUT"
    assert time.monotonic() - started < 3


def test_call__a_hung_function_does_not_keep_the_process(tmp_path):
    """A function that never returns is left behind when the process ends, and does not keep stdout aside."""
    (tmp_path / "hung.py").write_text("import threading\ndef ask(case):\n    threading.Event().wait()")
    script = """
    import asyncio, pathlib
    from evalaction.core.suite import Case, PythonTarget
    from evalaction.errors import TargetError
    from evalaction.targets.base import Request
    from evalaction.targets.build import build_target
    target = build_target(PythonTarget(callable="hung:ask", timeout_seconds=0.2), environment={}, cwd=pathlib.Path(), concurrency=1)
    try:
        asyncio.run(target.ask(Request(Case(id="a", input="", checks=()), 0)))
    except TargetError as error:
        print(error.code)
    """
    environment = {**os.environ, "PYTHONPATH": str(Path(evalaction.__file__).parents[1])}
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], check=False, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=20)
    assert (done.returncode, done.stdout, done.stderr) == (0, "TARGET_TIMEOUT\n", "")


@pytest.mark.parametrize(
    ("reference", "body", "code"),
    [
        ("absent_mod_1:ask", None, "FILE_NOT_FOUND"),
        ("absent_pkg.mod:ask", None, "FILE_NOT_FOUND"),
        ("mod_a:none", "x = 1", "INVALID_VALUE"),
        ("mod_b:x", "x = 1", "INVALID_VALUE"),
        ("mod_c:ask", "1 / 0", "INVALID_VALUE"),
        ("mod_d:ask", "import absent_other", "INVALID_VALUE"),
        ("mod_e:ask", "def (", "INVALID_VALUE"),
        ("mod_f:ask", "import sys; sys.exit()", "INVALID_VALUE"),
    ],
)
def test_load__what_cannot_be_loaded_is_a_config_error(tmp_path, reference, body, code):
    """A missing module, a missing function and a module that fails to import are told with their reason."""
    if body is not None:
        (tmp_path / f"{reference.split(':')[0]}.py").write_text(body)
    path = list(sys.path)
    with pytest.raises(ConfigError) as caught:
        load_callable(reference, tmp_path)
    sys.path[:] = path
    assert [fault.code for fault in caught.value.faults] == [code]
    assert reference in str(caught.value)


def test_load__a_file_of_the_author_hides_no_module_of_ours(tmp_path):
    """After loading, the folder is the last place where modules are looked for."""
    (tmp_path / "loaded_module.py").write_text("def check(case, answer):\n    return 1.0")
    path = list(sys.path)
    assert load_callable("loaded_module:check", tmp_path)({}, {}) == 1.0
    assert (sys.path[-1], sys.path[0] == str(tmp_path)) == (str(tmp_path), False)
    sys.path[:] = path
