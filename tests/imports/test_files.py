"""Files of an import are bounded, and lead nowhere else."""

import pytest

from evalaction.core.fingerprint import suite_digest
from evalaction.core.foreign import as_cases
from evalaction.imports import files

FORMS = ["spring", "promptfoo", "junit", "deepeval", "inspect", "lm-eval", "ragas", "csv", "generic"]


@pytest.mark.parametrize("form", FORMS)
def test_nothing_there__is_file_not_found(results, form):
    """A path without a file is FILE_NOT_FOUND in every format."""
    assert results.codes(form, "missing") == ["FILE_NOT_FOUND"]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("data", [b"", b"\xff\xfe\x00", b"\x00" * 100, b"[" * 100_000, b"null", b'"text"', b"{}", b"[]", b"0"])
def test_garbage__is_a_configuration_error_in_every_format(results, form, data):
    """Whatever bytes a file holds, the reader names faults and never fails in another way, and never finds a case."""
    name = "samples_x.jsonl" if form == "lm-eval" else "x.xml" if form == "junit" else "x.json"
    results.write(name, data)

    assert results.codes(form, name)


def test_byte_order_mark__is_passed_over(results):
    """A file that begins with a byte-order mark is read like any other."""
    results.write("r.jsonl", b'\xef\xbb\xbf{"id": "a", "m": 1}\r\n')

    assert [case.id for case in results.read("generic", "r.jsonl").cases] == ["a"]


def test_link__out_of_the_workspace_is_refused(results, tmp_path_factory):
    """A file inside the folder that links outside is OUTSIDE_WORKSPACE when the suite names the folder."""
    outside = tmp_path_factory.mktemp("outside") / "a.json"
    outside.write_text("{}")
    (results.folder / "res").mkdir()
    (results.folder / "res" / "a.json").symlink_to(outside)

    assert results.codes("spring", "res", within=results.folder) == ["OUTSIDE_WORKSPACE"]


def test_size__of_all_files_together_is_bounded(results, monkeypatch):
    """Results beyond the limit are refused before they are read."""
    monkeypatch.setattr(files, "MOST_BYTES", 100)
    for number in range(3):
        results.write(f"{number}.json", {"id": f"{number}", "prompt": "p" * 20, "pass": True, "score": 90})

    assert "INVALID_VALUE" in results.codes("spring")


def test_faults__end_after_a_thousand(results):
    """A file of a million faults gives a thousand of them."""
    results.write("r.jsonl", "[]\n" * 5000)

    assert len(results.codes("generic", "r.jsonl")) == 1000


def test_id__that_is_very_long_is_cut_and_stays_its_own(results):
    """Two long ids that begin alike stay two cases with names of bounded length."""
    results.write("r.jsonl", [{"id": "x" * 5000 + tail, "m": 1} for tail in "ab"])

    first, second = (case.id for case in results.read("generic", "r.jsonl").cases)

    assert first != second
    assert len(first) < 300


def test_fingerprints__of_two_readings_are_the_same(results):
    """The same results give the same digest each time, and another check gives another."""
    results.write("r.jsonl", [{"id": "a", "input": "q", "m": 1}])
    results.write("s.jsonl", [{"id": "a", "input": "q", "n": 1}])

    one, again, other = (suite_digest(as_cases(results.read("generic", name))[0]) for name in ("r.jsonl", "r.jsonl", "s.jsonl"))

    assert one == again != other
