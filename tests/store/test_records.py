"""Records on disk: what is written is read back the same, and what was not written by us is refused."""

from __future__ import annotations

import dataclasses
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalaction.core.record import CaseRecord, CheckInfo, CheckResult, Failure, RunRecord, Tokens, Trial
from evalaction.errors import ConfigError
from evalaction.store.recorder import write_record
from evalaction.store.records import case_file, dump, light, load, read_cases, read_record, read_records, record_folders
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


def declared(checks, trials):
    """These checks, and one for every result of the trials that has none."""
    named = {check.id for check in checks}
    return (*checks, *(CheckInfo(id=name, type="t", fingerprint="f") for name in dict.fromkeys(result.id for trial in trials for result in trial.checks) if name not in named))


FAILED = st.builds(Trial, repeat=st.integers(0, 9), error=st.builds(Failure, code=TEXT, message=TEXT, detail=TEXT))
CASES = st.builds(
    lambda checks, trials, **more: CaseRecord(checks=declared(checks, trials), trials=trials, **more),
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


def forged(tmp_path, name, change):
    """A record of one case with values, one of whose files was changed."""
    one = case("a", 0.5, required=0.5)
    check = dataclasses.replace(one.checks[0], metrics=("m",))
    result = dataclasses.replace(one.trials[0].checks[0], values={"m": 0.5})
    write_record(tmp_path, record(dataclasses.replace(one, checks=(check,), trials=(dataclasses.replace(one.trials[0], checks=(result,)),))))
    path = tmp_path / name
    content = json.loads(path.read_text())
    change(content)
    path.write_text(json.dumps(content))
    return path


def at(*steps, value):
    """Sets a value deep inside a document."""

    def change(document):
        for step in steps[:-1]:
            document = document[step]
        document[steps[-1]] = value

    return change


TRIAL = ("trials", 0)
FORGED = {
    "a value above 1": at(*TRIAL, "checks", 0, "values", "m", value=1.5), "a value below 0": at(*TRIAL, "checks", 0, "values", "m", value=-1),
    "a value that is not finite": at(*TRIAL, "checks", 0, "values", "m", value=float("nan")), "no value for a metric": at(*TRIAL, "checks", 0, "values", value={}),
    "a score above 1": at(*TRIAL, "score", value=2), "no score": at(*TRIAL, "score", value=None), "no passed": at(*TRIAL, "passed", value=None),
    "no check": at(*TRIAL, "checks", value=[]),
    "scores and an error": at(*TRIAL, "error", value={"code": "TARGET_FAILED", "message": "x"}),
    "a check twice in a trial": lambda document: document["trials"][0]["checks"].append(document["trials"][0]["checks"][0]),
    "a check twice in a case": lambda document: document["checks"].append(document["checks"][0]),
    "a result of a check that the case does not have": at(*TRIAL, "checks", 0, "id", value="y"), "results of checks and no check": at("checks", value=[]),
    "a trial twice": lambda document: document["trials"].append(document["trials"][0]),
    "repeat below 0": at(*TRIAL, "repeat", value=-1), "repeat beyond all": at(*TRIAL, "repeat", value=100_001),
    "no repeats": at("repeats", value=0), "endless repeats": at("repeats", value=10**30),
    "a weight below 0": at("checks", 0, "weight", value=-1), "a weight that overflows": at("checks", 0, "weight", value=1e308),
    "latency below 0": at(*TRIAL, "latency_ms", value=-1), "latency that overflows": at(*TRIAL, "latency_ms", value=1e300), "cost below 0": at(*TRIAL, "cost_usd", value=-0.1),
    "cost that overflows": at(*TRIAL, "cost_usd", value=1e308), "tokens below 0": at(*TRIAL, "tokens", value={"input": -1, "output": 0}),
    "tokens that overflow": at(*TRIAL, "tokens", value={"input": 10**400, "output": 0}),
}  # fmt: skip


@pytest.mark.parametrize("change", FORGED.values(), ids=FORGED)
def test_read_record__a_case_that_no_run_can_have_measured__is_refused_by_file(tmp_path, change):
    """Every number that is read back lies in its range, so that no later step can be surprised by it."""
    path = forged(tmp_path, "cases/a.json", change)

    with pytest.raises(ConfigError, match="INVALID_RECORD") as caught:
        read_record(tmp_path)
    assert caught.value.faults[0].file == str(path)


HEADERS = {
    "a negative tolerance": at("policy", value={"tolerance": -1}), "an unknown key": at("policy", value={"nonsense": 1}),
    "a rule that is none": at("policy", value={"rule": "magic"}),
    "a threshold that is text": at("policy", value={"thresholds": {"equals": "high"}}), "a tolerance that is not finite": at("policy", value={"tolerance": float("inf")}),
    "a metric that overflows": at("metrics", value={"equals": 1e308}), "a cost below 0": at("cost_usd", value=-1), "a count below 0": at("counts", value={"cases": -1}),
    "calls below 0": at("calls", value={"made": -1}),
}  # fmt: skip


@pytest.mark.parametrize("change", HEADERS.values(), ids=HEADERS)
def test_read_record__a_header_with_no_policy_or_impossible_sums__is_refused_by_file(tmp_path, change):
    """The policy of a stranger's record is checked when it is read, not where it is used."""
    path = forged(tmp_path, "record.json", change)

    with pytest.raises(ConfigError, match="INVALID_RECORD") as caught:
        read_record(tmp_path)
    assert caught.value.faults[0].file == str(path)


def placed(tmp_path, *names, key="support"):
    """Records of the suite `support` below a place, in folders of these names."""
    for name in names:
        write_record(tmp_path / name, record(case("a"), key=key))
    return tmp_path


def test_read_records__a_record_in_anothers_folder__is_refused(tmp_path):
    """Among several a record lies under its own key, so that it cannot pass for another suite's; a folder named by itself may be called anything."""
    place = placed(tmp_path, "support", "rag")

    with pytest.raises(ConfigError, match=r"INVALID_RECORD.*support"):
        read_records(place)
    assert [found.header.key for _, found in read_records(place / "rag")] == ["support"]


def test_read_records__two_of_one_suite__are_refused(tmp_path):
    """Two places may not bring a record of one suite each: nobody could say which is meant."""
    one, two = placed(tmp_path / "one", "support"), placed(tmp_path / "two", "support")

    with pytest.raises(ConfigError, match=r"INVALID_RECORD.*support"):
        read_records(one, two)
    assert len(read_records(one, one)) == 2  # the same folder named twice is one record


def test_record_folders__what_a_cut_short_replacement_left__is_no_record(tmp_path):
    """A hidden folder beside the others is passed over."""
    assert [folder.name for folder in record_folders(placed(tmp_path, "support", ".support.before"))] == ["support"]
