"""What is summed up of new games, and written when they are committed.

Each commit writes few sums, where each batch would write hundreds: the times of the moves by
bucket, and the running counts that tables are made of. Both go into the transaction of the games,
so that they count exactly the games that are there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from referee.store import tally
from referee.store.engine import Database
from referee.store.rows import FaultRow, PairingRow, TimesRow
from referee.store.tally import Played

_ADD_TIME = """INSERT INTO time VALUES (?, ?, ?, ?)
    ON CONFLICT (variant, bot, bucket) DO UPDATE SET moves = time.moves + excluded.moves"""
_GAMES = "SELECT id >> 32, id & 4294967295, pair, first, second, points, ending FROM game WHERE id"
_AT_ONCE = 500
"""Games that are looked up in one question."""


class Sums:
    """Games that were added since the last commit, as far as sums are made of them."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Nothing of it is in the database any more."""
        self._games: list[Played] = []
        self._faults: list[FaultRow] = []
        self._times: dict[tuple[str, int], dict[int, int]] = {}
        """Moves by variant and bot, and by bucket."""
        self._meetings: dict[tuple[str, int, int], int] = {}
        self._known = 0

    def __bool__(self) -> bool:
        return bool(self._games)

    def add(
        self,
        played: Iterable[Played],
        faults: Iterable[FaultRow],
        times: Iterable[TimesRow],
        pairings: Mapping[int, PairingRow],
    ) -> None:
        """Games that are new in the database, their faults and the times of their moves."""
        self._games += played
        self._faults += faults
        for pairing, bot, moves in times:
            counts = self._times.setdefault((pairings[pairing].variant, bot), {})
            for bucket, more in moves.items():
                counts[bucket] = counts.get(bucket, 0) + more

    def write(self, database: Database, pairings: Mapping[int, PairingRow]) -> None:
        """Into the transaction that the games are in."""
        database.executemany(
            _ADD_TIME,
            [
                (variant, bot, bucket, moves)
                for (variant, bot), counts in self._times.items()
                for bucket, moves in counts.items()
            ],
        )
        change = tally.change_by(
            self._games, self._faults, pairings, lambda keys: _found(database, keys)
        )
        for pairing, digests in change.digests.items():
            place = tally.COLUMNS.index("different")
            met = self._first_meeting(pairings, pairing)
            change.tallies[pairing][place] = database.insert_digests(met, digests)
        database.executemany(
            tally.ADD_TALLY, [(pairing, *each) for pairing, each in change.tallies.items()]
        )
        database.executemany(tally.ADD_BLAME, change.blame)
        self._games, self._faults, self._times = [], [], {}

    def _first_meeting(self, pairings: Mapping[int, PairingRow], pairing: int) -> int:
        """The first pairing in which its two bots met in its variant: they are numbered in turn."""
        if self._known != len(pairings):
            self._meetings = {}
            for each in sorted(pairings):
                self._meetings.setdefault(meeting(pairings[each]), each)
            self._known = len(pairings)
        return self._meetings[meeting(pairings[pairing])]


def _found(database: Database, keys: Sequence[int]) -> Iterator[Sequence[Any]]:
    """The games with these keys that are there: those of a pair whose other game is new."""
    for start in range(0, len(keys), _AT_ONCE):
        some = keys[start : start + _AT_ONCE]
        yield from database.execute(f"{_GAMES} IN ({', '.join('?' * len(some))})", some)


def meeting(pairing: PairingRow) -> tuple[str, int, int]:
    """The same for all pairings of the same two bots in the same variant."""
    low, high = sorted((pairing.first, pairing.second))
    return pairing.variant, low, high
