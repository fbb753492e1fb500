"""What tests of cassettes share: suites that are recorded, and what the cassette holds then."""

from __future__ import annotations

import json

import yaml


def write(work, **top):
    """A suite file with the keys given."""
    (work.folder / "s.eval.yaml").write_text(yaml.safe_dump({"version": 1, "name": "s", **top}, sort_keys=False))
    return "s.eval.yaml"


def equals(case, value="yes", **keys):
    """A case that expects one text."""
    return {"id": case, "input": case, "checks": [{"type": "equals", "value": value}], **keys}


def lines_of(work, folder="tape"):
    """The exchanges of the cassette."""
    return [json.loads(line) for line in (work.folder / folder / "s.jsonl").read_text().splitlines()[1:]]


def slots(work, folder="tape"):
    """Case, run and kind of each exchange, as they stand in the file."""
    return [(line["case"], line["repeat"], line["kind"]) for line in lines_of(work, folder)]


def header_of(work):
    """record.json."""
    return json.loads((work.folder / "eval-results/s/record.json").read_text())


def calls_of(work):
    """Fresh and replayed calls of target and judge."""
    calls = header_of(work)["calls"]
    return calls["made"], calls["replayed"], calls["judge_made"], calls["judge_replayed"]


def recorded(work, *ids, **top):
    """A recorded and accepted suite."""
    suite = work.suite(*ids, **top)
    assert work.run("run", suite, "--record-to", "tape").code == 0
    assert work.run("accept", "eval-results", "--reason", "first").code == 0
    return suite
