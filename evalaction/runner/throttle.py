"""How many calls may run at once: fewer when the target says it is overloaded, slowly more when it copes."""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import AsyncIterator

RECOVERY_CALLS = 5
"""After so many good calls one more is permitted."""


class Throttle:
    """Permits `most` calls at once. An overload halves the permitted number, at the least to one."""

    def __init__(self, most: int) -> None:
        self._most = most
        self.permitted = most
        self._running = 0
        self._good = 0
        self._cuts = 0
        self._waiting: deque[asyncio.Future[None]] = deque()

    @contextlib.asynccontextmanager
    async def call(self) -> AsyncIterator[int]:
        """One permitted call; gives the number of cuts so far, to be handed to `overloaded`."""
        while self._running >= self.permitted:
            turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiting.append(turn)
            try:
                await turn
            except asyncio.CancelledError:
                self._wake()
                raise
        self._running += 1
        try:
            yield self._cuts
        finally:
            self._running -= 1
            self._wake()

    def overloaded(self, cuts_before: int) -> None:
        """Halve, once for all calls that were under way together."""
        self._good = 0
        if cuts_before == self._cuts:
            self._cuts += 1
            self.permitted = max(1, self.permitted // 2)

    def succeeded(self) -> None:
        """Count a good call."""
        if self.permitted == self._most:
            return
        self._good += 1
        if self._good >= RECOVERY_CALLS:
            self._good = 0
            self.permitted += 1
            self._wake()

    def _wake(self) -> None:
        free = self.permitted - self._running
        while free > 0 and self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(None)
                free -= 1
