"""Records on disk: what is written is read back the same, and what was not written by us is refused."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalaction.core.record import CaseRecord, CheckInfo, CheckResult, Failure, RunRecord, Tokens, Trial
from evalaction.errors import ConfigError
from evalaction.store.recorder import write_record
from evalaction.store.records import case_file, dump, light, load, read_cases, read_record, record_folders
from tests.making import case, record

TEXT = st.text(st.characters(codec="utf-8"), max_size=20)
UNIT = st.floats(0, 1)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)
RESULTS = st.builds(CheckResult, id=TEXT, score=UNIT, passed=st.booleans(), detail=TEXT, values=st.none())
MEASURED = st.builds(
    Trial,
    repeat=st.integers(0, 9),
    score=UNIT,
    passed=st.booleans(),
    checks=st.lists(RESULTS, min_size=1, max_size=3, unique_by=lambda result: result.id).map(tuple),
    latency_ms=st.none() | st.floats(0, 1e6),
    cost_usd=st.none() | UNIT,
    tokens=st.none() | st.builds(Tokens, input=st.integers(0, 9), output=st.integers(0, 9)),
    answer=JSON,
)
FAILED = st.builds(Trial, repeat=st.integers(0, 9), error=st.builds(Failure, code=TEXT, message=TEXT, detail=TEXT))
CASES = st.builds(
    CaseRecord,
    id=TEXT,
    fingerprint=TEXT,
    input=TEXT,
    category=st.none() | TEXT,
    tags=st.lists(TEXT, max_size=2).map(tuple),
    line=st.none() | st.integers(1, 99),
    repeats=st.integers(1, 5),
    checks=st.lists(
        st.builds(CheckInfo, id=TEXT, type=TEXT, fingerprint=TEXT, weight=st.floats(0.1, 9), metrics=st.lists(TEXT, max_size=2).map(tuple)),
        max_size=2,
        unique_by=lambda check: check.id,
    ).map(tuple),
    trials=st.lists(MEASURED | FAILED, max_size=3, unique_by=lambda trial: trial.repeat).map(tuple),
)


@settings(max_examples=80, deadline=None)
@given(CASES)
def test_case__file_and_back_is_the_same(tmp_path_factory, one):
    """Record → file → record is identity, and the file is strict JSON."""
    data = dump(one)

    assert load(CaseRecord, tmp_path_factory.getbasetemp() / "case.json", data) == one
    json.loads(data, parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))


def test_record__folder_and_back_is_the_same(tmp_path):
    """A whole record keeps header, cases and trials; without answers it is the light form."""
    whole = record(case("a", 1, 0.5, required=0.5), case("B/ö", None, check_ids=["equals"]))
    write_record(tmp_path / "s", whole)

    assert read_record(tmp_path / "s", whole=True) == whole
    assert read_record(tmp_path / "s").cases == {name: light(one) for name, one in whole.cases.items()}
    assert read_cases(tmp_path / "s", ["a", "nobody"]) == {"a": whole.cases["a"]}


@pytest.mark.parametrize("case_id", ["../../escape", "/etc/passwd", "..", "a\0b", "con", "x" * 5000])
def test_case_file__an_id_never_chooses_the_path(tmp_path, case_id):
    """Whatever the id, its file lies directly in the folder of cases and can be written."""
    path = case_file(tmp_path, case_id)

    assert path.parent == tmp_path / "cases"
    write_record(tmp_path, record(case(case_id, 1)))
    assert list(read_record(tmp_path).cases) == [case_id]


def damaged(tmp_path, name: str, text: str) -> str:
    write_record(tmp_path, record(case("a", 1)))
    (tmp_path / name).write_text(text)
    with pytest.raises(ConfigError) as raised:
        read_record(tmp_path)
    (fault,) = raised.value.faults
    assert (fault.code, fault.file) == ("INVALID_RECORD", str(tmp_path / name))
    return fault.what


@pytest.mark.parametrize("name", ["record.json", "cases/a.json"])
@pytest.mark.parametrize(
    "text", ["", "{", "<<<<<<< HEAD\n{}", "[1, 2, 3]", "null", '{"schema_version": 1}', "[" * 100_000 + "]" * 100_000, '{"schema_version": 1, "a": NaN}', "\xff"]
)
def test_read__a_damaged_file__is_refused_by_name(tmp_path, name, text):
    """Truncated, empty, foreign, nested beyond reason: INVALID_RECORD with the file, and no traceback."""
    assert damaged(tmp_path, name, text)


def test_read__a_newer_format__says_so(tmp_path):
    """A record of a later version is refused as such, not as rubbish."""
    assert "version 9999" in damaged(tmp_path, "record.json", json.dumps({"schema_version": 9999}))


@pytest.mark.parametrize("change", [{"score": 2}, {"score": -0.1}, {"score": "1"}, {"passed": "yes"}, {"extra": 1}])
def test_read__a_forged_trial__is_refused(tmp_path, change):
    """Scores outside 0..1, other types and unknown keys are not read."""
    write_record(tmp_path, record(case("a", 1)))
    stored = json.loads((tmp_path / "cases/a.json").read_text())
    stored["trials"][0].update(change)

    assert damaged(tmp_path, "cases/a.json", json.dumps(stored))


def test_read__a_case_under_anothers_name__is_refused(tmp_path):
    """A file cannot speak for a case whose name it does not bear."""
    write_record(tmp_path, record(case("a", 1)))
    (tmp_path / "cases/b.json").write_bytes((tmp_path / "cases/a.json").read_bytes())

    with pytest.raises(ConfigError, match="does not belong"):
        read_record(tmp_path)


def test_read__a_vanished_case__is_refused(tmp_path):
    """The header counts its cases; a lost file is not a removed case."""
    write_record(tmp_path, record(case("a", 1), case("b", 1)))
    (tmp_path / "cases/b.json").unlink()

    with pytest.raises(ConfigError, match="2 cases were written and 1 are there"):
        read_record(tmp_path)


def test_record_folders__the_folder_itself_or_those_below(tmp_path):
    """A suite's folder, the folder above several, and a clear refusal for neither."""
    for name in ("one", "two"):
        write_record(tmp_path / name, record(case("a", 1)))

    assert record_folders(tmp_path / "one") == (tmp_path / "one",)
    assert record_folders(tmp_path) == (tmp_path / "one", tmp_path / "two")
    with pytest.raises(ConfigError, match="FILE_NOT_FOUND"):
        record_folders(tmp_path / "nothing")


def test_record__identity_holds_for_the_run_record_type():
    """A record is its header and its cases; nothing else takes part in equality."""
    assert record(case("a", 1)) == RunRecord(header=record(case("a", 1)).header, cases={"a": case("a", 1)})
