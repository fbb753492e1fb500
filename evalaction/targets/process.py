"""One child process in a process group of its own: started, read within bounds, and always ended with all it started.

POSIX only: groups and signals are what makes the promise hold.
"""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import os
import signal
import tempfile
from collections import deque
from collections.abc import AsyncIterator, Iterable, Mapping
from pathlib import Path
from typing import IO, cast

from evalaction.core.excerpts import CUT
from evalaction.errors import TargetError

TAIL_BYTES = 4096
_HELD_BYTES = 1024 * 1024
"""Read ahead of the consumer by this much; then the child waits."""
_LINGER_SECONDS = 0.3
"""After the exit of the command its helpers (such as `tee` in a process substitution) may flush this long."""
_GRACE_SECONDS = 0.5
"""Between SIGTERM and SIGKILL."""
_DRAIN_SECONDS = 2.0
"""After the exit nothing is read any longer than this, whoever still holds the pipe."""
_REAP_SECONDS = 5.0


@dataclasses.dataclass(frozen=True, slots=True)
class Launch:
    """How a command is started."""

    command: tuple[str, ...]
    cwd: Path
    environment: Mapping[str, str]


class Tail:
    """The last bytes of a stream."""

    def __init__(self) -> None:
        self._bytes = bytearray()

    def add(self, data: bytes) -> None:
        """Keep the end, and one byte more: it tells that something is missing."""
        self._bytes += data[-TAIL_BYTES - 1 :]
        if len(self._bytes) > 2 * TAIL_BYTES:
            del self._bytes[: -TAIL_BYTES - 1]

    def __str__(self) -> str:
        kept = self._bytes[-TAIL_BYTES:].decode("utf-8", "replace").strip()
        return f"{CUT}{kept}" if len(self._bytes) > TAIL_BYTES else kept


class Child(asyncio.SubprocessProtocol):
    """A running command. Read stdout with `read`, then await `ended`; `end` kills whatever is left of its group."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.SubprocessTransport
        self._chunks: deque[bytes] = deque()
        self._held = 0
        self._open = {1, 2}
        self._news = asyncio.Event()
        self._exited = asyncio.Event()
        self._timer: asyncio.TimerHandle | None = None
        self.stdout_tail, self.stderr_tail = Tail(), Tail()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the handle of the process."""
        self._transport = cast("asyncio.SubprocessTransport", transport)

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        """Queue stdout for the reader, keep the end of stderr."""
        if fd not in self._open:
            return
        if fd == 2:
            self.stderr_tail.add(data)
            return
        self.stdout_tail.add(data)
        self._chunks.append(data)
        self._held += len(data)
        if self._held > _HELD_BYTES:
            self._stdout_pipe().pause_reading()
        self._news.set()

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:  # noqa: ARG002  # the signature of the base class
        """One stream is over."""
        self._open.discard(fd)
        self._news.set()

    def process_exited(self) -> None:
        """The command is over; its helpers get a moment, then the group is ended and reading stops."""
        self._exited.set()
        self._news.set()
        self._timer = self._loop.call_later(_LINGER_SECONDS, self._wind_down, 0)

    def _wind_down(self, step: int) -> None:
        """SIGTERM, SIGKILL, end of reading, one after the other; all wait while read bytes wait for a busy consumer, who holds up the helpers."""
        if self._chunks:
            self._timer = self._loop.call_later(_LINGER_SECONDS, self._wind_down, step)
        elif step < 2:
            self._signal((signal.SIGTERM, signal.SIGKILL)[step])
            self._timer = self._loop.call_later((_GRACE_SECONDS, _DRAIN_SECONDS - _LINGER_SECONDS - _GRACE_SECONDS)[step], self._wind_down, step + 1)
        else:
            self._open.clear()
            self._news.set()

    async def read(self) -> bytes:
        """The next bytes of stdout; none at its end, which comes at the latest two seconds after the exit."""
        while not self._chunks:
            if 1 not in self._open:
                return b""
            self._news.clear()
            await self._news.wait()
        chunk = self._chunks.popleft()
        was_paused = self._held > _HELD_BYTES
        self._held -= len(chunk)
        if was_paused and self._held <= _HELD_BYTES and 1 in self._open:
            self._stdout_pipe().resume_reading()
        return chunk

    async def ended(self) -> int:
        """The exit status once the command is over and its streams are closed; -n when signal n ended it."""
        while self._open or not self._exited.is_set():
            self._news.clear()
            await self._news.wait()
        return self._transport.get_returncode() or 0

    async def end(self) -> None:
        """Kill what is left of the group, reap the command and close the pipes."""
        try:
            if self._signal(signal.SIGTERM):
                await self._gone()
        finally:
            self._signal(signal.SIGKILL)
        with contextlib.suppress(TimeoutError):  # a process in uninterruptible sleep cannot be reaped, and must not hold up the run
            await asyncio.wait_for(self._exited.wait(), _REAP_SECONDS)
        if self._timer is not None:
            self._timer.cancel()
        self._transport.close()

    async def _gone(self) -> None:
        deadline = self._loop.time() + _GRACE_SECONDS
        pause = 0.001
        while self._loop.time() < deadline and self._signal(0):
            await asyncio.sleep(pause)
            pause = min(pause * 2, 0.02)

    def _signal(self, number: int) -> bool:
        """Whether the group had a member that the signal reached."""
        try:
            os.killpg(self._transport.get_pid(), number)
        except (ProcessLookupError, PermissionError):
            return False
        return True

    def _stdout_pipe(self) -> asyncio.ReadTransport:
        return cast("asyncio.ReadTransport", self._transport.get_pipe_transport(1))


@contextlib.asynccontextmanager
async def running(launch: Launch, stdin: IO[bytes]) -> AsyncIterator[Child]:
    """A started command that is ended, group and all, when the block is left by any way.

    Raises TargetError TARGET_FAILED when it cannot be started.
    """
    loop, pipe = asyncio.get_running_loop(), asyncio.subprocess.PIPE
    try:
        _, child = await loop.subprocess_exec(Child, *launch.command, stdin=stdin, stdout=pipe, stderr=pipe, cwd=launch.cwd, env=dict(launch.environment), start_new_session=True)
    except (OSError, ValueError) as error:
        raise TargetError("TARGET_FAILED", f"the command could not be started: {getattr(error, 'strerror', None) or error}: {launch.command[0]}") from None
    try:
        yield child
    finally:
        await child.end()


def spooled(chunks: Iterable[bytes]) -> IO[bytes]:
    """A nameless file that holds a child's whole input, to be closed by the caller.

    A file, not a pipe: it is always at its end after the last byte, a child that does not read cannot
    block the feeding, and `/dev/stdin` can be opened by name. Raises TargetError TARGET_FAILED.
    """
    file = None
    try:
        file = cast("IO[bytes]", tempfile.TemporaryFile())  # noqa: SIM115  # the caller closes it
        file.writelines(chunks)
        file.flush()
        file.seek(0)
    except (OSError, TypeError, ValueError) as error:
        if file is not None:
            file.close()
        raise TargetError("TARGET_FAILED", f"the input could not be written: {getattr(error, 'strerror', None) or error}") from None
    return file
