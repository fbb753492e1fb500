"""verdict.json and the published schemas."""

from __future__ import annotations

import json

import pytest
from jsonschema import Draft202012Validator
from pydantic import TypeAdapter

from evalaction.core.verdict import CaseVerdict, SuiteVerdict, Verdict, overall
from evalaction.report.schema import case_schema, record_schema, verdict_json, verdict_pieces, verdict_schema


def strict(text: bytes) -> dict:
    """JSON without NaN or infinity."""

    def refuse(constant: str) -> None:
        raise AssertionError(constant)

    return json.loads(text, parse_constant=refuse)


@pytest.mark.parametrize("schema", [verdict_schema, record_schema, case_schema])
def test_schemas__are_schemas_with_an_identity(schema):
    """Each published schema is valid under its own dialect and has an id and a title."""
    found = schema()

    Draft202012Validator.check_schema(found)
    assert found["$id"].startswith("urn:eval-gate:schema:")
    assert found["title"].startswith("eval-gate: ")


@pytest.mark.parametrize("kind", ["regressed", "no_baseline", "not_measured", "config_error", "hostile"])
def test_verdict_json__holds_under_its_schema_and_is_read_back(kind, samples):
    """Every kind of verdict is strict JSON that the published schema accepts and that reads back as the same verdict."""
    made = {"regressed": overall((samples.regressed_suite(),)), "hostile": samples.hostile()[0]}
    verdict = made[kind] if kind in made else getattr(samples, kind)()
    data = verdict_json(verdict)

    Draft202012Validator(verdict_schema()).validate(strict(data))
    assert TypeAdapter(Verdict).validate_json(data) == verdict


def test_verdict_schema__refuses_what_is_no_verdict(samples):
    """An unknown word, an unknown key and a missing verdict are refused."""
    document = strict(verdict_json(samples.no_baseline()))
    validator = Draft202012Validator(verdict_schema())

    assert not validator.is_valid({**document, "verdict": "fine"})
    assert not validator.is_valid({**document, "extra": 1})
    assert not validator.is_valid({key: value for key, value in document.items() if key != "verdict"})


def test_case_schema__accepts_a_stored_case(samples):
    """A case as it is written to disk holds under the schema of cases."""
    record = samples.record("a", "text", passed=True)
    document = TypeAdapter(type(record)).dump_python(record, mode="json")

    Draft202012Validator(case_schema()).validate(document)


@pytest.mark.slow
def test_verdict_json__a_hundred_thousand_cases_are_all_there(samples):
    """100,000 cases are written, compact, and nothing is left out."""
    verdict, _ = samples.large(100_000, 10)
    data = verdict_json(verdict)

    assert data.count(b'"case":"case-') >= 100_000


def test_verdict_json__of_a_large_run_is_the_same_document_in_pieces():
    """Above ten thousand cases the file is written without indents, piece by piece, and says the same; no text of a case can split it."""
    cases = tuple(CaseVerdict(case=f'"cases":[] {number}', verdict="unchanged", baseline=1.0, current=1.0, delta=0.0) for number in range(10_501))
    suites = tuple(SuiteVerdict(suite=f'{name} "cases":[]', verdict="passed", cases=held) for name, held in (("a", cases), ("b", ()), ("c", cases[:3])))
    verdict = Verdict(verdict="passed", exit_code=0, would_exit=0, suites=suites)

    pieces = list(verdict_pieces(verdict))

    assert json.loads(b"".join(pieces)) == TypeAdapter(Verdict).dump_python(verdict, mode="json")
    assert b"".join(pieces).count(b"\n") == 1
    assert max(map(len, pieces)) < len(b"".join(pieces)) / 5
