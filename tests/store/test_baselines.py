"""The directory store: replaced whole or not at all, and never taken for something it is not."""

from __future__ import annotations

import json

import pytest

from evalaction.core.accept import accept
from evalaction.errors import ConfigError
from evalaction.store.baselines import DirectoryStore
from evalaction.store.files import write_atomic
from evalaction.store.history import PastRun, add, past_runs
from tests.making import baseline, case, record, request


def files(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def save(root, accepted):
    return DirectoryStore(root).save("s", accepted, accepted.record.cases)


def test_store__what_is_saved_is_loaded(tmp_path):
    """Scores, acceptance, chain and anchor come back; no baseline is None."""
    first = baseline(case("a", 1), case("b", 0.5, required=0.5))
    second = accept(record(case("a", 1), case("b", 0.5, required=0.5)), first, request(reason="again")).baseline
    store = DirectoryStore(tmp_path)
    assert store.load("s") is None
    save(tmp_path, second)

    found = store.load("s")

    assert [trial.score for one in found.record.cases.values() for trial in one.trials] == [1, 0.5]
    assert (found.acceptance.reason, [one.reason for one in found.chain], list(found.anchor.cases)) == ("again", ["right"], ["a", "b"])
    assert found.acceptance.digest.startswith("sha256:")


def test_store__one_small_file_per_case_and_the_same_keys_after_the_next_acceptance(tmp_path):
    """A change of baseline is a readable diff: only the changed case's file changes."""
    save(tmp_path, baseline(case("a", 1), case("b", 1)))
    before = files(tmp_path)
    save(tmp_path, baseline(case("a", 1), case("b", 0)))

    changed = {name for name, data in files(tmp_path).items() if data != before.get(name)}

    assert changed & {"s/cases/a.json", "s/cases/b.json"} == {"s/cases/b.json"}
    assert set(before) == set(files(tmp_path))
    assert all(data.count(b"\n") > 3 for name, data in before.items() if "/cases/" in name)


@pytest.mark.parametrize("name", ["cases/a.json", "record.json", "anchor.json"])
def test_store__a_file_changed_by_hand__is_untrusted(tmp_path, name):
    """The acceptance's digest covers everything: a forged level is refused, never compared with."""
    folder = save(tmp_path, baseline(case("a", 1)))
    path = folder / name
    path.write_text(path.read_text().replace("1.0", "0.5", 1) if "1.0" in path.read_text() else path.read_text() + " ")

    with pytest.raises(ConfigError, match="BASELINE_UNTRUSTED"):
        DirectoryStore(tmp_path).load("s")


def test_store__line_ends_of_another_system_are_no_forgery(tmp_path):
    """A checkout that turned LF into CRLF still holds the accepted baseline."""
    folder = save(tmp_path, baseline(case("a", 1)))
    for path in folder.rglob("*.json"):
        path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))

    assert DirectoryStore(tmp_path).load("s") is not None


@pytest.mark.parametrize("gone", ["acceptance.json", "record.json", "anchor.json"])
def test_store__an_incomplete_baseline__is_refused_and_never_no_baseline(tmp_path, gone):
    """A missing file is a configuration error: silence would switch the gate off."""
    (save(tmp_path, baseline(case("a", 1))) / gone).unlink()

    with pytest.raises(ConfigError, match="INVALID_RECORD"):
        DirectoryStore(tmp_path).load("s")


def test_store__a_failure_while_writing__leaves_the_old_baseline(tmp_path):
    """A full disk in the middle of an acceptance: clear error, old baseline whole, no rest of the new one."""
    save(tmp_path, baseline(case("a", 1)))
    before = files(tmp_path)
    broken = baseline(case("a", 0.5, required=0.5))

    class Full(dict):
        """Answers on a disk that is full by the time they are copied."""

        def get(self, *_):
            raise OSError(28, "No space left on device")

    with pytest.raises(ConfigError, match="CANNOT_WRITE"):
        DirectoryStore(tmp_path).save("s", broken, Full())

    assert files(tmp_path) == before


def test_store__a_kill_between_the_two_renames__keeps_the_old_baseline(tmp_path):
    """The old folder under its interim name is still the baseline, and the next acceptance tidies up."""
    folder = save(tmp_path, baseline(case("a", 1)))
    folder.rename(tmp_path / ".s.before")

    assert DirectoryStore(tmp_path).load("s").record.cases["a"].trials[0].score == 1
    save(tmp_path, baseline(case("a", 0)))
    assert [path.name for path in tmp_path.iterdir()] == ["s"]


def test_write_atomic__an_unwritable_place__is_a_clear_error(tmp_path):
    """A file where a folder is needed: CANNOT_WRITE with the place, nothing left behind."""
    (tmp_path / "file").write_text("x")

    with pytest.raises(ConfigError, match="CANNOT_WRITE"):
        write_atomic(tmp_path / "file" / "verdict.json", b"{}")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_history__remembers_runs_in_order(tmp_path):
    """Rows come back oldest first, of one suite or of all; a file that is no database is a clear error."""
    runs = [
        PastRun(started_at=f"2026-01-0{day}", key=key, suite=key, verdict="passed", commit=None, cases=1, errors=0, metrics={"equals": 0.5})
        for day, key in ((1, "a"), (2, "b"), (3, "a"))
    ]
    assert past_runs(tmp_path) == ()
    add(tmp_path, runs[:2])
    add(tmp_path, runs[2:])

    assert past_runs(tmp_path) == tuple(runs)
    assert past_runs(tmp_path, "a", most=1) == (runs[2],)
    (tmp_path / "history.sqlite").write_text("not a database, but long enough to be looked at as one " * 20)
    with pytest.raises(ConfigError, match="history"):
        past_runs(tmp_path)


def test_acceptance_file__is_readable_json_with_the_chain(tmp_path):
    """Who, when and why stand in one small file that a reviewer can read."""
    folder = save(tmp_path, baseline(case("a", 1)))

    stored = json.loads((folder / "acceptance.json").read_text())

    assert (stored["current"]["accepted_by"], stored["current"]["reason"], stored["chain"]) == ("Ada", "right", [])


def test_held__a_second_acceptance_is_refused_until_the_first_is_over(tmp_path):
    """From reading a baseline to replacing it nobody else may: the second would not continue the first. What held nothing leaves no folder."""
    store = DirectoryStore(tmp_path / "baselines")

    with store.held():
        with pytest.raises(ConfigError, match="another acceptance"), DirectoryStore(store.root).held():
            pass
        store.save("s", baseline(case("a", 1)), {})
    with store.held():
        assert store.load("s") is not None
    with DirectoryStore(tmp_path / "none").held():
        pass
    assert not (tmp_path / "none").exists()
