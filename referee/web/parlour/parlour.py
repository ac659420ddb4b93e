"""The room in which people play against bots: so many tables, and no more.

A game is known by a name that nobody can guess, and whoever knows the name sits at the table. What
is over can be looked at for a while. Where all tables are taken, one whose person has not been
heard for a minute is cleared for the next.
"""

from __future__ import annotations

import asyncio
import secrets
import threading
import time
from collections import OrderedDict

from referee.web.parlour.sitting import Sitting, Terms
from referee.web.refusal import Refusal
from referee.web.settings import Limits

KEPT = 200
"""Games that are over."""
KEPT_S = 1800.0
MAKES_WAY_S = 60.0
LOOK_S = 0.02
PATIENCE_S = 1.2
"""How long a page waits for a bot before it shows that the bot thinks."""
CLOSES_S = 2.0
MADE_WAY = "Somebody else wanted to play, and this table had waited for a while."
CLOSED = "The referee is being shut down."


class Parlour:
    """All games of people that this process runs."""

    def __init__(self, limits: Limits, cores: frozenset[int] = frozenset()) -> None:
        """Bots run on these cores; none are those of this process."""
        self._limits = limits
        self._cores = cores
        self._lock = threading.Lock()
        self._sittings: OrderedDict[str, tuple[float, Sitting]] = OrderedDict()
        """By name, with the time when it began; the oldest first."""
        self._closed = False

    def sit_down(self, key: str, terms: Terms) -> str:
        """Begin a game; its name. Raises Refusal where there is no table for it."""
        with self._lock:
            if self._closed:
                raise Refusal(503, "the referee is being shut down")
            self._tidy()
            self._make_room(key)
            name = secrets.token_hex(16)
            sitting = Sitting(key, terms, self._cores)
            self._sittings[name] = (time.monotonic(), sitting)
            sitting.start()
        return name

    def find(self, name: str) -> Sitting:
        """Raises Refusal."""
        found = self._sittings.get(name)
        if found is None:
            raise Refusal(404, "there is no such game, or it was over long ago")
        return found[1]

    @property
    def playing(self) -> int:
        """Games that are not over."""
        return len(self._open())

    async def settle(self, name: str) -> None:
        """Wait a moment for the bot of a game, if it is the bot's turn."""
        found = self._sittings.get(name)
        deadline = time.monotonic() + PATIENCE_S
        while found is not None and not found[1].settled and time.monotonic() < deadline:
            await asyncio.sleep(LOOK_S)

    def close(self) -> None:
        """End all games; a bot that does not answer ends with this process."""
        with self._lock:
            self._closed = True
            # The bot of a game that has just ended may still be leaving.
            sittings = [sitting for _, sitting in self._sittings.values()]
        for sitting in sittings:
            sitting.leave(CLOSED)
        deadline = time.monotonic() + CLOSES_S
        for sitting in sittings:
            sitting.wait(max(0.0, deadline - time.monotonic()))

    def _open(self) -> list[Sitting]:
        return [sitting for _, sitting in list(self._sittings.values()) if not sitting.over]

    def _make_room(self, key: str) -> None:
        there = self._open()
        own = [sitting for sitting in there if sitting.key == key]
        if len(own) >= self._limits.plays_of_one:
            if not _clear(own):
                raise Refusal(429, "too many games are played from here: end one of them first")
        elif len(there) >= self._limits.plays_at_once and not _clear(there):
            raise Refusal(429, "all tables are taken; come back in a minute", {"Retry-After": "60"})

    def _tidy(self) -> None:
        now = time.monotonic()
        ended = [name for name, (_, sitting) in self._sittings.items() if sitting.over]
        old = [name for name in ended if now - self._sittings[name][0] > KEPT_S]
        for name in [*old, *ended[:-KEPT]]:
            self._sittings.pop(name, None)


def _clear(sittings: list[Sitting]) -> bool:
    """Clear the table that has waited longest, if it has waited long enough."""
    idle = max(sittings, key=lambda each: each.idle_s)
    if idle.idle_s < MAKES_WAY_S:
        return False
    idle.leave(MADE_WAY)
    return True
