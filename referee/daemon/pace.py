"""How fast the ladder plays: as fast as it is asked to, and slowly where little is left to learn.

Two quick bots play thousands of games a second, and every game is kept. So there is a pace, over
all places together; it falls when every rating is narrow, and games stop while the disk is nearly
full. What is asked for is games a second, 0 for as fast as can be.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from msgspec import Struct

from referee.daemon.journal import Journal

PACE = "pace"
"""The setting of the house that says how fast the ladder plays."""
LOOK_S = 10.0
"""How often the room on the disk is looked at."""


class PaceTerms(Struct, frozen=True, kw_only=True):
    """What organisers can set."""

    games_per_s: float = 20.0
    """While somebody's rating is wide; 0 is as fast as can be."""
    settled_per_s: float = 1.0
    """Once every rating is narrower than `settled_elo`; a day of it is some 50 MB."""
    settled_elo: float = 10.0
    """Half the width of the 95 % interval."""
    room_bytes: int = 1_000_000_000
    """Below this much free space no game is begun."""


class Pace:
    """When the next chunk may begin."""

    def __init__(
        self, terms: PaceTerms, folder: Path, journal: Journal, now: Callable[[], float]
    ) -> None:
        self.terms = terms
        self.room = True
        """Whether the disk has room for more games."""
        self._folder = folder
        self._journal = journal
        self._now = now
        self._free_at = now()
        self._look_at = now()
        self._per_s = terms.games_per_s

    def has_room(self) -> bool:
        """Whether the disk has room for more, as of a few seconds ago."""
        now = self._now()
        if now >= self._look_at:
            self._look_at = now + LOOK_S
            self._see_room()
        return self.room

    def may_begin(self, widest_elo: float) -> bool:
        """Whether a chunk may begin now, where this is the widest error of all who play."""
        self._per_s = self.terms.games_per_s
        if widest_elo <= self.terms.settled_elo and self.terms.settled_per_s:
            settled = self.terms.settled_per_s
            self._per_s = min(self._per_s or settled, settled)
        return self.has_room() and self._now() >= self._free_at

    def change(self, terms: PaceTerms) -> None:
        """Organisers have set it otherwise."""
        if terms != self.terms:
            self.terms = terms
            self._free_at = min(self._free_at, self._now())
            self._see_room()

    def _see_room(self) -> None:
        room = free_bytes(self._folder) >= self.terms.room_bytes
        if room != self.room:
            least = f"{self.terms.room_bytes / 1e9:g} GB"
            if room:
                self._journal.info("there is room again", folder=self._folder)
            else:
                told = "no room on the disk: no game is begun"
                self._journal.error(told, folder=self._folder, least=least)
        self.room = room

    def begin(self, games: int) -> None:
        """So many games begin now."""
        if self._per_s > 0:
            self._free_at = max(self._free_at, self._now()) + games / self._per_s

    def give_back(self, games: int) -> None:
        """So many of them were not played."""
        if self._per_s > 0:
            self._free_at -= games / self._per_s


def free_bytes(folder: Path) -> int:
    """What the disk of a folder still takes."""
    found = os.statvfs(folder)
    return found.f_bavail * found.f_frsize
