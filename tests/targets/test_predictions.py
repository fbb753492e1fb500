"""Files of answers: what is accepted, what is refused, and how much they cost."""

import asyncio
import json
import time
import tracemalloc

import pytest

from evalaction.core.suite import Case, PredictionsTarget
from evalaction.errors import ConfigError, MeasureError
from evalaction.targets.base import Request
from evalaction.targets.build import build_target


@pytest.fixture
def predictions(tmp_path):
    """The target of a file with this content."""
    opened = []

    def make(content):
        (tmp_path / "answers.jsonl").write_bytes(content if isinstance(content, bytes) else content.encode())
        opened.append(build_target(PredictionsTarget(path="answers.jsonl"), environment={}, cwd=tmp_path, concurrency=1))
        return opened[-1]

    yield make
    for target in opened:
        asyncio.run(target.close())


def case(case_id):
    """A case of this id."""
    return Case(id=case_id, input="", checks=())


def faults(make, content):
    """Code and line of every fault of a file."""
    with pytest.raises(ConfigError) as caught:
        make(content)
    return [(fault.code, fault.line) for fault in caught.value.faults]


def test_lines__bom_crlf_comments_and_blank_lines(predictions):
    """Everything an editor leaves in such a file is accepted."""
    target = predictions(b'\xef\xbb\xbf{"id": "a", "output": "\xc3\xbc"}\r\n\r\n// note\r\n   {"id": "b", "answer": "y", "retrieved": ["d"]}  \n{"id": 7, "output": 1}')
    assert [target.answer(case(i), 0).output for i in ("a", "b", "7")] == ["ü", "y", 1]
    assert target.answer(case("b")).retrieved == ("d",)


def test_answer__a_case_without_a_line_was_answered_with_nothing(predictions):
    """An id that the file does not know is nothing, also in an empty file."""
    assert predictions("").answer(case("a"), 0).is_nothing


def test_answer__through_the_runners_door(predictions):
    """`ask` gives the same answer, and says that it cannot be asked again."""
    target = predictions('{"id": "a", "output": "x"}')
    assert asyncio.run(target.ask(Request(case("a"), 0))).output == "x"
    assert target.repeatable is False


def test_answer__ids_compare_composed_and_without_outer_blanks(predictions):
    """An id matches however its letters are composed and whatever blanks surround it."""
    assert predictions('{"id": " cafe\\u0301  x ", "output": "x"}').answer(case("caf\u00e9 x")).output == "x"


def test_repeats__are_those_on_file(predictions):
    """A line without `repeat` is repeat 0; the runs planned are those the file holds."""
    target = predictions('{"id": "a", "output": "0"}\n{"id": "a", "output": "2", "repeat": 2}\n{"id": "b", "output": "1", "repeat": 1}')
    assert (target.repeats_of("a"), target.repeats_of("b"), target.repeats_of("none")) == ((0, 2), (1,), (0,))
    assert (target.answer(case("a"), 2).output, target.answer(case("b"), 1).output) == ("2", "1")
    with pytest.raises(MeasureError, match="repeat 1"):
        target.answer(case("a"), 1)


def test_faults__all_at_once_with_their_lines(predictions):
    """Broken JSON, other values, missing ids, bad repeats and double answers are told together."""
    lines = ["{broken", "[1]", '{"output": 1}', '{"id": "a", "repeat": -1}', '{"id": "a", "repeat": "1"}']
    lines += ['{"id": "a"}', '{"id": " a"}', '{"id": null}', '{"id": "b", "output": NaN}', "\udcff"]
    found = faults(predictions, "\n".join(lines).encode("utf-8", "surrogateescape"))
    codes = ["MALFORMED_JSON", "TYPE_MISMATCH", "MISSING_FIELD", "TYPE_MISMATCH", "TYPE_MISMATCH", None, "DUPLICATE_ID", "MISSING_FIELD", "MALFORMED_JSON", "MALFORMED_JSON"]
    assert found == [(code, line) for line, code in enumerate(codes, 1) if code]


def test_faults__a_double_answer_names_both_lines(predictions):
    """The first line is named beside the second."""
    with pytest.raises(ConfigError, match=r"answers\.jsonl:3: .*first on line 1"):
        predictions('{"id":"a"}\n\n{"id":"a"}')


def test_faults__a_file_of_another_kind_does_not_flood_the_log(predictions):
    """After a hundred faults reading stops."""
    assert len(faults(predictions, "id,output\n" * 5000)) == 101


def test_faults__a_missing_file(tmp_path):
    """No file is FILE_NOT_FOUND, a folder too."""
    for path in ("none.jsonl", "."):
        with pytest.raises(ConfigError, match="FILE_NOT_FOUND"):
            build_target(PredictionsTarget(path=path), environment={}, cwd=tmp_path, concurrency=1)


def test_answer__a_malformed_part_is_an_error_of_its_trial(predictions):
    """A part of the wrong type is INVALID_ANSWER for that case."""
    with pytest.raises(MeasureError) as caught:
        predictions('{"id": "a", "retrieved": 5}').answer(case("a"))
    assert caught.value.code == "INVALID_ANSWER"


def test_note__names_ids_of_no_case(predictions):
    """Lines that belong to no case raise a doubt, in one line."""
    target = predictions("\n".join(json.dumps({"id": i}) for i in ("a", "b\nc", "d", "e", "f")))
    assert target.note(["a"]) == "answers.jsonl answers 4 ids that no case of the suite has: b c, d, e, …"
    assert target.note(["a", "b c", "d", "e", "f"]) is None


def test_scale__100_000_lines_in_time_and_memory(predictions, tmp_path):
    """100,000 lines are indexed within 1.5 s of CPU time and 1 kB each, however long they are."""
    content = "".join(json.dumps({"id": f"case-{i:06}", "output": "text " * 60, "retrieved": [f"d{i}", "d2"]}) + "\n" for i in range(100_000))
    started = time.process_time()
    predictions(content)
    assert time.process_time() - started < 1.5
    (tmp_path / "small.jsonl").write_text("".join(content.splitlines(keepends=True)[:10_000]))
    tracemalloc.start()
    target = build_target(PredictionsTarget(path="small.jsonl"), environment={}, cwd=tmp_path, concurrency=1)
    held = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    asyncio.run(target.close())
    assert held < 10_000 * 1000


def test_description__same_on_every_machine(tmp_path):
    """A file below the working directory is described by its place in there, so that shards of two machines agree."""
    described = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "answers.jsonl").write_text('{"id": "a", "output": "x"}\n')
        target = build_target(PredictionsTarget(path=str(tmp_path / name / "answers.jsonl")), environment={}, cwd=tmp_path / name, concurrency=1)
        described.append(target.description)
        asyncio.run(target.close())
    assert described[0] == described[1]
