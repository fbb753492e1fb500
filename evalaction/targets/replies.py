"""From the bytes of an HTTP reply to an answer."""

from __future__ import annotations

import time
from collections.abc import Mapping

import jmespath
from jmespath.exceptions import JMESPathError

from evalaction.core.answer import PARTS, Answer, read_answer
from evalaction.core.excerpts import cut, excerpt
from evalaction.core.retry_after import retry_after_seconds
from evalaction.errors import Fault, TargetError
from evalaction.targets.reading import read_json


class Replies:
    """Reads replies; `extract` maps parts of the answer to JMESPath expressions. `faults` holds those that do not compile."""

    def __init__(self, extract: Mapping[str, str]) -> None:
        self.faults: list[Fault] = []
        self._paths: dict[str, jmespath.parser.ParsedResult] = {}
        for part, expression in extract.items():
            try:
                self._paths[part] = jmespath.compile(expression)
            except JMESPathError as error:
                fix = "correct the JMESPath expression"
                self.faults.append(Fault(code="INVALID_VALUE", what=f"not a JMESPath expression: {excerpt(str(error))}", fix=fix, path=f"http.extract.{part}"))

    def answer(self, body: bytes, content_type: str) -> Answer:
        """The answer in a reply.

        With `extract` the reply must be JSON; a part that is not found stays empty. Without, JSON is an answer as
        it stands, and anything else is the output as text. Raises MeasureError INVALID_ANSWER.
        """
        text = body.decode("utf-8-sig", "replace")
        if self._paths:
            return self._extracted(text)
        if "json" not in content_type.lower():
            return _from_text(text)
        try:
            return read_answer(read_json(text))
        except ValueError:
            return Answer(output=text)

    def _extracted(self, text: str) -> Answer:
        try:
            reply = read_json(text)
        except ValueError as error:
            raise TargetError("INVALID_ANSWER", f"the reply is not JSON ({excerpt(str(error), 80)}): {excerpt(text)}", cut(text, 4096)) from None
        try:
            parts = {part: path.search(reply) for part, path in self._paths.items()}
        except (JMESPathError, TypeError, ValueError, ArithmeticError, RecursionError) as error:
            raise TargetError("INVALID_ANSWER", f"`extract` does not fit the reply: {excerpt(str(error))}", cut(text, 4096)) from None
        found = {part: value for part, value in parts.items() if value is not None}
        return read_answer(found) if found else Answer()


def _from_text(text: str) -> Answer:
    """A reply that does not call itself JSON: an answer object all the same, else text, of which `1.50` and `true` stay as written."""
    if text.lstrip().startswith("{"):
        try:
            value = read_json(text)
        except ValueError:
            return Answer(output=text)
        if any(name in value for name in (*PARTS, "answer")):
            return read_answer(value)
    return Answer(output=text)


def retry_after(value: str | None) -> float | None:
    """Seconds from now that a Retry-After header names, as a number or an HTTP date; None when it names none."""
    return retry_after_seconds(value, time.time())
