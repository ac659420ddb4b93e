"""The games of a season for somebody who leafs through them, the newest first.

A season's games are kept by pairing, and a pairing grows as long as its two bots play; when a game
was played, only its record tells. So the times of the newest games of every pairing are kept here
in memory, and those that came since are looked up when somebody asks. Of a season with more games
than are kept, the oldest are in no list; their records are still to be had by their names.
"""

from __future__ import annotations

import threading
import time
from bisect import bisect_left, insort
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec
from msgspec import Struct

from referee.record import Record
from referee.store.browsing import last_numbers, newest_records, records_of
from referee.store.database import Store
from referee.store.rows import GamesAt, PairingRow, RulingRow
from referee.verdict import Ending

KEPT = 50_000
"""Games whose times are kept, shared out over the pairings."""
LEAST_EACH = 10
BEHIND = 200
"""Games do not end in the order of their numbers: so far below the highest they are looked for."""
GROWS_S = 120.0
"""And so long after a pairing has grown."""
LOOK_S = 1.0
"""How often the store is looked at for new games, at most."""


class Heading(Struct, frozen=True, kw_only=True):
    """What a list shows of a record; the rest of it is passed over."""

    variant: str
    started: str
    players: tuple[str, str]
    winner: int | None
    scores: tuple[int, int]
    ending: Ending
    reason: str
    at_fault: tuple[int, ...]


class _Started(Struct, frozen=True):
    started: str


class Leaf(NamedTuple):
    """A game by the time of its beginning."""

    started: str
    pairing: int
    number: int


read_heading = msgspec.msgpack.Decoder(Heading).decode
read_record = msgspec.msgpack.Decoder(Record).decode
_read_started = msgspec.msgpack.Decoder(_Started).decode

Wanted = Callable[[PairingRow], bool]


class Leaves:
    """Which games there are. Several threads ask at a time."""

    def __init__(self, season: str, folder: Path) -> None:
        self.season = season
        self.folder = folder
        self._lock = threading.Lock()
        self._looked = 0.0
        self._last: dict[int, int] = {}
        self._grown: dict[int, float] = {}
        """Pairings that are being played, or were a moment ago."""
        self._seen: set[tuple[int, int]] = set()
        self._leaves: list[Leaf] = []
        """The oldest first."""
        self.pairings: dict[int, PairingRow] = {}

    def page(
        self, wanted: Wanted, before: Leaf | None, shown: GamesAt | None, most: int
    ) -> tuple[list[Leaf], bool]:
        """The newest games that are wanted and shown, before a game; and whether more follow.
        Where `shown` is None, all are."""
        self._look()
        found: list[Leaf] = []
        for leaf in self._down_from(before):
            if shown is not None and not shown.has(leaf.pairing, leaf.number):
                continue
            if wanted(self.pairings[leaf.pairing]):
                found.append(leaf)
                if len(found) > most:
                    return found[:most], True
        return found, False

    def _down_from(self, before: Leaf | None) -> Iterator[Leaf]:
        leaves = self._leaves
        end = len(leaves) if before is None else bisect_left(leaves, before)
        for at in range(end - 1, -1, -1):
            yield leaves[at]

    def read(self, leaves: list[Leaf]) -> list[tuple[Leaf, Heading, RulingRow | None]]:
        """What a list shows of these games."""
        with Store.read(self.folder) as store:
            bodies = records_of(store, [(leaf.pairing, leaf.number) for leaf in leaves])
            rulings = {row[:2]: row for row in store.rulings()}
        return [
            (leaf, read_heading(bodies[leaf[1:]]), rulings.get(leaf[1:]))
            for leaf in leaves
            if leaf[1:] in bodies
        ]

    def game(self, pairing: int, number: int) -> tuple[Record, RulingRow | None] | None:
        """A game's record, and the ruling on it; None where there is no such game."""
        with Store.read(self.folder) as store:
            body = store.record(pairing, number)
            if body is None:
                return None
            ruling = next((row for row in store.rulings() if row[:2] == (pairing, number)), None)
        return read_record(body), ruling

    def _look(self) -> None:
        """Take in the games that came since somebody looked last."""
        with self._lock:
            if time.monotonic() - self._looked < LOOK_S and self._looked:
                return
            with Store.read(self.folder) as store:
                now = time.monotonic()
                last = last_numbers(store)
                if last.keys() - self.pairings.keys():
                    self.pairings = {row.id: row for row in store.pairings()}
                for pairing in last:
                    if self._last.get(pairing) != last[pairing]:
                        self._grown[pairing] = now
                most = max(LEAST_EACH, KEPT // max(1, len(last)))
                new = [
                    Leaf(_read_started(body).started, pairing, number)
                    for pairing in self._grown
                    for number, body in newest_records(
                        store, pairing, most, above=self._last.get(pairing, 0) - BEHIND
                    )
                    if (pairing, number) not in self._seen
                ]
            self._take_in(new)
            self._last = last
            self._grown = {p: at for p, at in self._grown.items() if now - at < GROWS_S}
            self._looked = now

    def _take_in(self, new: list[Leaf]) -> None:
        """Readers go on with the list that they have, so it is replaced and not changed."""
        if not new:
            return
        self._seen |= {(leaf.pairing, leaf.number) for leaf in new}
        if len(new) < 100:
            leaves = self._leaves.copy()
            for leaf in new:
                insort(leaves, leaf)
        else:
            leaves = sorted([*self._leaves, *new])
        self._leaves = leaves[-2 * KEPT :]
        if len(self._seen) > 3 * KEPT:
            self._seen = {(leaf.pairing, leaf.number) for leaf in self._leaves}
