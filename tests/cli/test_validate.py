"""`validate` from outside: what `gate` would refuse before the first call, found without calling anything."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize(
    "target",
    [
        {"http": {"url": "http://127.0.0.1:9/", "extract": {"output": "a[["}}},
        {"http": {"url": "http://127.0.0.1:9/", "json": {"q": "{{ case.input"}}},
        {"predictions": "missing.jsonl"},
    ],
)
def test_validate__looks_at_the_target_too(work, target):
    """What `gate` would refuse before the first call, `validate` refuses, with the file."""
    done = work.run("validate", work.suite("a", target=target))

    assert done.code == 2
    assert "s.eval.yaml" in done.err


def test_validate__looks_up_python_functions_and_runs_nothing_of_them(work):
    """A wrong module, a wrong name and a wrong target come in one run, each once and with its case; no module is imported."""
    (work.folder / "scorer.py").write_text("open('ran', 'w')\ndef good(case, answer): return 1\n")
    checks = [{"type": "python", "id": name, "callable": name} for name in ("scorer:good", "scorer:bad", "nowhere:fn")]
    suite = work.suite("a", "b", target={"python": "nowhere.else:fn"}, defaults={"checks": checks})

    done = work.run("validate", suite)

    assert done.code == 2
    assert done.err.splitlines()[:3] == [
        "FILE_NOT_FOUND s.eval.yaml case a, check nowhere:fn: nowhere:fn: no module named nowhere. Fix: name a module that can be imported from the working directory.",
        "FILE_NOT_FOUND s.eval.yaml target: nowhere.else:fn: no module named nowhere.else. Fix: name a module that can be imported from the working directory.",
        "INVALID_VALUE s.eval.yaml case a, check scorer:bad: scorer:bad: the module has no `bad`. Fix: name a function that the module defines.",
    ]
    assert not (work.folder / "ran").exists()


def test_gate__broken_python_checks__are_named_together_with_their_cases(work):
    """All that cannot be loaded is said before the first call, and where it was asked for."""
    (work.folder / "scorer_of_two.py").write_text("def good(case, answer): return 1\n")
    cases = {name: {"checks": [{"type": "python", "callable": f"scorer_of_two:{name}"}]} for name in ("good", "bad", "worse")}

    done = work.run("gate", work.suite(*cases, case_keys=cases))

    assert (done.code, [("case bad" in line, "case worse" in line) for line in done.err.splitlines() if line.startswith("INVALID_VALUE")]) == (2, [(True, False), (False, True)])
    assert work.calls("good") == 0
