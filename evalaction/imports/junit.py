"""JUnit XML of any producer: a case per test. The parser knows no document type, so there are no entities and nothing is fetched."""

from __future__ import annotations

import dataclasses
import math
from xml.parsers import expat

from evalaction.core.answer import LARGEST
from evalaction.core.foreign import ForeignCase, ForeignCheck, ForeignTrial
from evalaction.errors import ConfigError
from evalaction.imports.files import Place, Reader
from evalaction.imports.intake import Intake, Spot, failed

_DEEPEST = 64
_LONGEST = 65_536
"""Characters of one text that are kept while reading."""
_NAMED_SKIPS = 10
_NOT_RUN = frozenset({"notrun", "not_run", "skipped", "suppressed", "disabled", "ignored"})
_FAILED = frozenset({"failed", "fail", "failure"})
"""Words of `status` and `result`, by which some producers say what others say by an element."""


@dataclasses.dataclass(slots=True)
class _Test:
    """One `<testcase>` while it is being read; `said` are the texts of its children by tag."""

    name: str
    line: int
    seconds: float | None
    said: dict[str, str] = dataclasses.field(default_factory=dict)

    @property
    def is_red(self) -> bool:
        """Whether it failed or could not run; that it was skipped as well does not matter then."""
        return "failure" in self.said or "error" in self.said


@dataclasses.dataclass(slots=True)
class _Suite:
    """One `<testsuite>` while it is being read: failures and errors that it states, and those of its tests."""

    stated: int
    red: int = 0


class _Refused(Exception):
    """Something in the document that is not read."""


class _Document:
    """Collects the tests of one document."""

    def __init__(self) -> None:
        self.tests: list[_Test] = []
        self._open: list[str] = []
        self._test: _Test | None = None
        self._suites: list[_Suite] = []
        self._parser = expat.ParserCreate()
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._text
        self._parser.StartDoctypeDeclHandler = self._doctype
        self._parser.buffer_text = True

    def read(self, data: bytes) -> None:
        """Parse all of it. Raises expat.ExpatError or _Refused."""
        self._parser.Parse(data, True)

    @property
    def line(self) -> int:
        """Where the parser stands."""
        return self._parser.CurrentLineNumber

    def _doctype(self, *_args: object) -> None:
        raise _Refused("a document type is declared; results need none, and entities are never read")

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        tag = _local(name)
        if not self._open and tag not in ("testsuites", "testsuite"):
            raise _Refused(f"the document is a <{tag[:40]}>, not a <testsuites> or <testsuite>")
        self._open.append(tag)
        if len(self._open) > _DEEPEST:
            raise _Refused("elements are nested too deeply")
        if tag == "testsuite":
            self._suites.append(_Suite(_count(attributes.get("failures")) + _count(attributes.get("errors"))))
        elif tag == "testcase":
            self._test = _begun(attributes, self.line)
        elif self._test is not None:
            self._test.said[tag] = self._test.said.get(tag) or f"{attributes.get('message') or ''}\n"[:_LONGEST]
        elif tag in ("error", "failure"):
            raise _Refused(f"a suite ended with an <{tag}> outside of its tests, so that nobody knows which of them ran")

    def _text(self, text: str) -> None:
        tag = self._open[-1] if self._open else ""
        if self._test is not None and tag in self._test.said and len(self._test.said[tag]) < _LONGEST:
            self._test.said[tag] += text[:_LONGEST]

    def _end(self, name: str) -> None:
        tag = _local(name)
        self._open.pop()
        if tag == "testcase" and self._test is not None:
            self.tests.append(self._test)
            for suite in self._suites:
                suite.red += self._test.is_red
            self._test = None
        elif tag == "testsuite":
            suite = self._suites.pop()
            if suite.stated > suite.red:
                raise _Refused(f"a suite counts {suite.stated} failures and errors, and its tests show {suite.red}: results are missing")


def _local(name: str) -> str:
    """A tag without its namespace, in small letters: producers spell `failure` in more than one way."""
    return name.rpartition(":")[2].lower()


def _begun(attributes: dict[str, str], line: int) -> _Test:
    owner, name = attributes.get("classname", ""), attributes.get("name", "")
    words = {attributes.get(word, "").strip().lower() for word in ("status", "result")}
    test = _Test(f"{owner}.{name}" if owner and name else owner or name, line, _seconds(attributes.get("time")))
    for tag, meant in (("failure", _FAILED), ("error", frozenset({"error"})), ("skipped", _NOT_RUN)):
        if words & meant:
            test.said[tag] = ""
    return test


def _count(text: str | None) -> int:
    """A stated number; what is none states nothing."""
    return int(text) if text and text.isascii() and text.isdigit() and len(text) < 10 else 0


def _seconds(text: str | None) -> float | None:
    """A test's time; producers write anything there, and it decides nothing."""
    try:
        seconds = float((text or "").replace(",", ""))
    except ValueError:
        return None
    return seconds if math.isfinite(seconds) and 0 <= seconds * 1000 <= LARGEST["latency_ms"] else None


def read(place: Place, intake: Intake) -> None:
    """Each test of each `*.xml` is a case: 1 or 0, an error where the test could not run. Skipped tests were not measured and are said."""
    reader, skipped = Reader(), list[str]()
    for file in place.files("*.xml"):
        document = _Document()
        try:
            document.read(reader.data(file))
        except ConfigError as error:
            intake.refused(error)
            continue
        except (expat.ExpatError, _Refused, LookupError, ValueError) as error:
            intake.fault(Spot(file, document.line), "INVALID_VALUE", f"not JUnit XML that can be read: {error}", "name JUnit XML; write the results anew")
            continue
        for test in document.tests:
            if "skipped" in test.said and not test.is_red:
                skipped.append(test.name)
            else:
                spot = Spot(file, test.line, case=test.name)
                intake.add(ForeignCase(id=test.name, input=test.name, trials=(_trial(test),), line=test.line), spot)
    if skipped:
        more = f" and {len(skipped) - _NAMED_SKIPS} more" if len(skipped) > _NAMED_SKIPS else ""
        intake.notes.append(f"{len(skipped)} skipped test{'s were' if len(skipped) > 1 else ' was'} not measured: {', '.join(skipped[:_NAMED_SKIPS])}{more}")


def _trial(test: _Test) -> ForeignTrial:
    latency = None if test.seconds is None else test.seconds * 1000
    said = {tag: text.strip() for tag, text in test.said.items()}
    answer = {"output": said.get("system-out", "")}
    if "error" in said:
        return failed(said["error"] or "the test ended with an error", answer=answer, latency_ms=latency)
    passed = "failure" not in said
    detail = "" if passed else said["failure"] or "the test failed"
    return ForeignTrial(checks=(ForeignCheck(id="test", type="junit", score=float(passed), passed=passed, detail=detail),), answer=answer, latency_ms=latency)
