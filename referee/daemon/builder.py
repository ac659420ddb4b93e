"""Versions whose build is gone, after a restore for one: built again one at a time, elsewhere.

A build takes seconds to minutes, and the loop of the daemon waits for nobody.
"""

from __future__ import annotations

from collections import deque
from pathlib import Path

import msgspec

from referee.bots.confinement import Confinement
from referee.bots.manifest import Bot
from referee.daemon.child import Child
from referee.daemon.journal import Journal
from referee.daemon.rebuilding import Request

MODULE = "referee.daemon.rebuilding"
NICE = 10
LEAVE_S = 1.0


class Builder:
    """The queue, and what is being built."""

    def __init__(self, cache: Path, journal: Journal) -> None:
        self._cache = cache
        self._journal = journal
        self._queue: deque[tuple[int, Bot, Confinement]] = deque()
        """The first of them is being built."""
        self._child: Child | None = None
        self._said = b""

    @property
    def fd(self) -> int | None:
        """Readable when a build has ended."""
        return None if self._child is None else self._child.fd

    @property
    def busy(self) -> bool:
        return bool(self._queue)

    def has(self, version: int) -> bool:
        return any(number == version for number, _, _ in self._queue)

    def want(self, version: int, bot: Bot, confinement: Confinement) -> None:
        self._queue.append((version, bot, confinement))
        self._begin()

    def hear(self) -> tuple[int, str] | None:
        """The version whose build has ended, and why it failed, if it did."""
        if self._child is None:
            return None
        data = self._child.read()
        if data is not None:
            self._said += data
            return None
        child, self._child = self._child, None
        child.close(LEAVE_S)
        version, bot, _ = self._queue.popleft()
        why = self._said.decode(errors="replace").strip()
        if not self._said.endswith(b"\n"):
            why = f"what builds it ended {child.how_it_ended()}"
        if not why:
            self._journal.info("built again", bot=bot.name)
        self._begin()
        return version, why

    def close(self) -> None:
        self._queue.clear()
        if self._child is not None:
            self._child.close(0.0)
            self._child = None

    def _begin(self) -> None:
        if self._child is not None or not self._queue:
            return
        _, bot, confinement = self._queue[0]
        self._said = b""
        self._child = Child(MODULE, "builder", self._journal, nice=NICE)
        request = Request(bot=bot, confinement=confinement, cache=str(self._cache))
        self._child.send(msgspec.json.encode(request, enc_hook=str) + b"\n")
        self._journal.info("building again", bot=bot.name)
