"""What is summed up of new games, and written when they are committed.

Each commit writes few sums, where each batch would write hundreds: the times of the moves by
bucket, and the running counts that tables are made of. Both go into the transaction of the games,
so that they count exactly the games that are there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from referee.store import tally
from referee.store.buckets import unpack
from referee.store.engine import Database
from referee.store.rows import FaultRow, GameRow, PairingRow
from referee.store.tally import PairKey, Played

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
        self._spent: dict[tuple[str, int], list[bytes]] = {}
        """Packed times by variant and bot."""
        self._meetings: dict[tuple[str, int, int], int] = {}
        self._known = 0

    def __bool__(self) -> bool:
        return bool(self._games)

    def add(
        self,
        games: Sequence[GameRow],
        played: Iterable[Played],
        faults: Iterable[FaultRow],
        pairings: Mapping[int, PairingRow],
    ) -> None:
        """Games that are new in the database, with and without their records."""
        self._games += played
        self._faults += faults
        for pairing in {game[0] for game in games}:
            row = pairings[pairing]
            for bot in (row.first, row.second):
                self._spent.setdefault((row.variant, bot), [])
        for game in games:
            variant, (first, second) = pairings[game[0]].variant, game[10]
            self._spent[variant, game[3]].append(first)
            self._spent[variant, game[4]].append(second)

    def write(self, database: Database, pairings: Mapping[int, PairingRow]) -> None:
        """Into the transaction that the games are in."""
        database.executemany(
            _ADD_TIME,
            [
                (variant, bot, bucket, moves)
                for (variant, bot), packed in self._spent.items()
                for bucket, moves in Counter(unpack(b"".join(packed))).items()
            ],
        )
        there = self._already_there(database, pairings)
        change = tally.change_by(self._games, self._faults, pairings, there)
        for pairing, digests in change.digests.items():
            place = tally.COLUMNS.index("different")
            met = self._first_meeting(pairings, pairing)
            change.tallies[pairing][place] = database.insert_digests(met, digests)
        database.executemany(
            tally.ADD_TALLY, [(pairing, *each) for pairing, each in change.tallies.items()]
        )
        database.executemany(tally.ADD_BLAME, change.blame)
        self._games, self._faults, self._spent = [], [], {}

    def _already_there(
        self, database: Database, pairings: Mapping[int, PairingRow]
    ) -> dict[PairKey, int]:
        """The kinds of pairs of which one game is new and the other one is not."""
        partners = tally.partner_keys(tally.halves(self._games, pairings))
        keys = list(partners)
        found: dict[PairKey, int] = {}
        for start in range(0, len(keys), _AT_ONCE):
            some = keys[start : start + _AT_ONCE]
            marks = ", ".join("?" * len(some))
            for game in database.execute(f"{_GAMES} IN ({marks})", some):
                row = pairings[game[0]]
                kind, pair = tally.kind_of(game, row), tally.pair_of(game, row)
                if kind and pair:
                    found[game[0], pair] = kind
        return found

    def _first_meeting(self, pairings: Mapping[int, PairingRow], pairing: int) -> int:
        """The first pairing in which its two bots met in its variant: they are numbered in turn."""
        if self._known != len(pairings):
            self._meetings = {}
            for each in sorted(pairings):
                self._meetings.setdefault(meeting(pairings[each]), each)
            self._known = len(pairings)
        return self._meetings[meeting(pairings[pairing])]


def meeting(pairing: PairingRow) -> tuple[str, int, int]:
    """The same for all pairings of the same two bots in the same variant."""
    low, high = sorted((pairing.first, pairing.second))
    return pairing.variant, low, high
