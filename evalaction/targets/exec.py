"""The system under test as a command: one process per trial (`text`), or one that is fed all cases (`jsonl`)."""

from __future__ import annotations

import asyncio
import contextlib
import json
import signal
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from evalaction.core.answer import Answer, read_answer
from evalaction.core.excerpts import cut, excerpt
from evalaction.core.suite import ExecTarget
from evalaction.errors import ConfigError, Fault, MeasureError, TargetError
from evalaction.targets.base import Reply, Request, case_line
from evalaction.targets.environment import missing_secrets, passed_on, unseen
from evalaction.targets.process import Child, Launch, running, spooled
from evalaction.targets.reading import OUTPUT_LIMIT, id_key, read_json

_NAMED = 3
"""Variables in a message at most."""


class _Command:
    """What both protocols share. Raises ConfigError MISSING_SECRET, one fault each, for named secrets that are not set."""

    repeatable = True
    retries = 0

    def __init__(self, spec: ExecTarget, *, environment: Mapping[str, str], cwd: Path) -> None:
        command = ("bash", "-o", "pipefail", "-c", spec.command) if isinstance(spec.command, str) else tuple(spec.command)
        if missing := missing_secrets(environment, spec.env):
            raise ConfigError(map(_missing, missing))
        self._spec, self._environment = spec, environment
        self._launch = Launch(command, cwd, passed_on(environment, spec.env))

    @property
    def description(self) -> Mapping[str, Any]:
        """Command and protocol, as written in the suite."""
        return {"kind": "exec", "command": self._spec.command if isinstance(self._spec.command, str) else list(self._spec.command), "protocol": self._spec.protocol}

    async def close(self) -> None:
        """Nothing outlives a call."""

    def _too_slow(self, child: Child, what: str) -> TargetError:
        return TargetError("TARGET_TIMEOUT", f"{what} within {self._spec.timeout_seconds:g} s", _tails(child))

    def _check_status(self, child: Child, status: int) -> None:
        if status != 0:
            said = str(child.stderr_tail)
            raise TargetError("TARGET_FAILED", f"the command {_ending(status)}{_last_words(said)}{self._not_given(said)}", _tails(child))

    def _not_given(self, said: str) -> str:
        names = unseen(said, self._environment, self._launch.environment)[:_NAMED]
        if not names:
            return ""
        return f" (the command sees PATH, HOME and the like, and what `env` of the suite names: {', '.join(names)} {'is' if len(names) == 1 else 'are'} not among them)"


class TextCommand(_Command):
    """`protocol: text`: the input on stdin, stdout is the output as it is; history and variables are not sent."""

    async def ask(self, request: Request) -> Answer:
        """The output of one process. Raises TargetError TARGET_FAILED, TARGET_TIMEOUT or INVALID_ANSWER."""
        with spooled([request.case.input.encode("utf-8", "replace")]) as stdin:
            async with running(self._launch, stdin) as child:
                try:
                    async with asyncio.timeout(self._spec.timeout_seconds):
                        output = await _whole_output(child)
                        status = await child.ended()
                except TimeoutError:
                    raise self._too_slow(child, "the command did not finish") from None
                self._check_status(child, status)
        return Answer(output=output.decode("utf-8", "replace"))


class JsonlCommand(_Command):
    """`protocol: jsonl`: all cases on stdin, one JSON line per answer on stdout, in any order."""

    async def ask_all(self, requests: Sequence[Request]) -> AsyncGenerator[Reply, None]:
        """Answers as they come; the requests share one repeat number.

        Raises TargetError TARGET_FAILED, TARGET_TIMEOUT or INVALID_ANSWER, which stands for the whole batch.
        """
        awaited = _Awaited(requests)
        with spooled(_lines_of(requests)) as stdin:
            async with running(self._launch, stdin) as child, contextlib.aclosing(self._lines(child, awaited)) as lines:
                async for line in lines:
                    yield awaited.reply(line, child)

    async def _lines(self, child: Child, awaited: _Awaited) -> AsyncGenerator[bytes, None]:
        """Lines of stdout that are not blank. The clock starts anew with every line, so it stands still while an answer is scored."""
        loop, buffer = asyncio.get_running_loop(), bytearray()
        deadline = loop.time() + self._spec.timeout_seconds
        while chunk := await self._read(child, awaited, deadline):
            for line in _full_lines(buffer, chunk):
                if line.strip():
                    yield line
                    deadline = loop.time() + self._spec.timeout_seconds
            if len(buffer) > OUTPUT_LIMIT:
                raise TargetError("INVALID_ANSWER", f"a line of more than {OUTPUT_LIMIT // 2**20} MiB on stdout", _tails(child))
        await self._finished(child, awaited)
        if buffer.strip():
            yield bytes(buffer)

    async def _read(self, child: Child, awaited: _Awaited, deadline: float) -> bytes:
        try:
            async with asyncio.timeout_at(deadline):
                await asyncio.sleep(0)  # a flood of blank lines must meet the clock, too
                return await child.read()
        except TimeoutError:
            raise self._too_slow(child, f"no answer came ({awaited.count})") from None

    async def _finished(self, child: Child, awaited: _Awaited) -> None:
        try:
            async with asyncio.timeout(self._spec.timeout_seconds):
                status = await child.ended()
        except TimeoutError:
            raise self._too_slow(child, f"the command closed its stdout ({awaited.count}) and did not exit") from None
        self._check_status(child, status)


def _full_lines(buffer: bytearray, chunk: bytes) -> list[bytes]:
    """The lines that `chunk` completes; what follows them stays in the buffer."""
    end = len(buffer) + chunk.rfind(b"\n") + 1 if b"\n" in chunk else 0
    buffer += chunk
    lines = bytes(buffer[:end])
    del buffer[:end]
    return lines.split(b"\n")[:-1]


class _Awaited:
    """Which answers are still to come, by id."""

    def __init__(self, requests: Sequence[Request]) -> None:
        self._asked = {id_key(request.case.id): request for request in requests}
        for request in requests:
            sent = id_key(_unspelled((request.case.record or {}).get("id")))
            if sent is not None:
                self._asked.setdefault(sent, request)
        self._total = len(requests)
        self._answered: set[str] = set()

    @property
    def count(self) -> str:
        """How far the batch is, for messages."""
        return f"{len(self._answered)} of {self._total} cases answered"

    def reply(self, line: bytes, child: Child) -> Reply:
        """The reply on a line. Raises TargetError INVALID_ANSWER when the line answers nothing that is awaited."""
        text = line.decode("utf-8", "replace")
        fields = _object(text, child)
        request = self._asked.get(id_key(fields.get("id")))
        if request is None:
            raise _noise(f"the line's `id` {excerpt(json.dumps(fields.get('id')), 80)} was not asked for" if "id" in fields else "the line has no `id`", text, child)
        if request.case.id in self._answered:
            raise _noise(f"a second answer for the id {excerpt(request.case.id, 80)}", text, child)
        self._answered.add(request.case.id)
        try:
            return Reply(request, read_answer(fields))
        except MeasureError as error:
            return Reply(request, Answer(), error=MeasureError(error.code, error.message, cut(text, 2000)))


def _unspelled(value: object) -> object:
    """A number as it comes back from JSON: 12 where a record wrote 012."""
    if isinstance(value, int) and not isinstance(value, bool):
        return int(value)
    return float(value) if isinstance(value, float) else value


def _object(text: str, child: Child) -> dict[str, Any]:
    try:
        value = read_json(text)
    except ValueError as error:
        raise _noise(f"a line on stdout is not JSON ({excerpt(str(error), 120)})", text, child) from None
    if not isinstance(value, dict):
        raise _noise("a line on stdout is not a JSON object", text, child)
    return value


def _noise(what: str, line: str, child: Child) -> TargetError:
    stderr = str(child.stderr_tail)
    return TargetError("INVALID_ANSWER", f"{what}: {excerpt(line)}", "write logs to stderr, answers only to stdout" + (f"\nstderr:\n{stderr}" if stderr else ""))


def _lines_of(requests: Sequence[Request]) -> Iterator[bytes]:
    """ASCII lines: lone surrogates and odd line separators inside a text cannot break them."""
    return (json.dumps(case_line(request), allow_nan=False).encode() + b"\n" for request in requests)


async def _whole_output(child: Child) -> bytes:
    output = bytearray()
    while chunk := await child.read():
        output += chunk
        if len(output) > OUTPUT_LIMIT:
            raise TargetError("INVALID_ANSWER", f"the command wrote more than {OUTPUT_LIMIT // 2**20} MiB to stdout", _tails(child))
    return bytes(output)


def _ending(status: int) -> str:
    """How a command ended, in words. A shell reports a signal n of its child as status 128 + n."""
    if status < 0:
        return f"was ended by signal {-status} ({_signal_name(-status)})"
    if status == 127:
        return "exited with status 127: command not found"
    name = _signal_name(status - 128) if status > 128 else ""
    return f"exited with status {status}" + (f" (128 + {status - 128}, {name})" if name else "")


def _last_words(said: str) -> str:
    """The last line of standard error that says anything, which in most programs is the reason."""
    last = next((line for line in reversed(said.splitlines()) if line.strip()), "")
    words = excerpt(last, len(last))  # cleaned first, so that a cut is always marked: a secret that is cut is known by the mark
    return f": {excerpt(words)}" if words else ""


def _missing(name: str) -> Fault:
    fix = f"set {name}; in a workflow, name it in `pass-env` and pass the secret on with `env:` (a pattern such as {name[:-1]}* makes it optional)"
    return Fault(code="MISSING_SECRET", what=f"{name} is named under env, and is not set or empty", fix=fix, path="target.exec.env")


def _signal_name(number: int) -> str:
    return next((one.name for one in signal.Signals if one == number), "")


def _tails(child: Child) -> str:
    tails = (("stderr", str(child.stderr_tail)), ("stdout", str(child.stdout_tail)))
    return "\n".join(f"{name}:\n{tail}" for name, tail in tails if tail)
