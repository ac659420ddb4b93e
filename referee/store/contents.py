"""What is in a tournament's database, for whoever reads it.

Questions are asked a few thousand rows at a time: a table of a hundred million games is never in
memory. Sums of new games (sums.py) and records that wait for their block (blocks.py) are written
first where a question is about them, so that whoever writes sees what was added.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from referee.store import blocks
from referee.store.engine import Database
from referee.store.rows import (
    BotRow,
    Columns,
    Dropped,
    FaultRow,
    PairingRow,
    RulingRow,
    TimeCount,
    game_id,
    keys_of,
    ordered,
)
from referee.store.tally import BlameRow, Tally
from referee.store.trouble import damaged

ROWS_AT_ONCE = 10_000
DROPPED = "dropped"
"""The key of the value that tells which records are no longer kept."""
_KEY = "id >> 32, id & 4294967295"


class Contents:
    """A tournament's database, open to be read."""

    def __init__(self, folder: Path, database: Database) -> None:
        self.folder = folder
        """Where its other files are; of one that is read by its address, its name there."""
        self._database = database

    def _sum_up(self) -> None:
        """Write what was summed up of games that were added; a reader has added none."""

    def _write_records(self) -> None:
        """Write the records of games that were added; a reader has added none."""

    def value(self, key: str) -> str | None:
        row = self._first("SELECT text FROM value WHERE key = ?", (key,))
        return None if row is None else row[0]

    def dropped(self) -> Dropped | None:
        """Which records are no longer kept; None while all are."""
        text = self.value(DROPPED)
        return None if text is None else msgspec.json.decode(text, type=Dropped)

    def bots(self) -> list[BotRow]:
        return [BotRow(*row) for row in self._rows("SELECT * FROM bot ORDER BY id")]

    def pairings(self) -> list[PairingRow]:
        return [PairingRow(*row) for row in self._rows("SELECT * FROM pairing ORDER BY id")]

    def counts(self) -> dict[int, int]:
        """How many games of each pairing are there; pairings without any are left out."""
        return dict(self._rows("SELECT id >> 32, count(*) FROM game GROUP BY id >> 32"))

    def played(self, pairing: int) -> list[tuple[int, int]]:
        """The numbers of the games that are there, as ranges [from, to], in order."""
        self._sum_up()
        row = self._first("SELECT played FROM tally WHERE pairing = ?", (pairing,))
        last = self._first("SELECT max(id) FROM game WHERE id BETWEEN ? AND ?", keys_of(pairing))
        if row is not None and last[0] == game_id(pairing, row[0]):
            # As many games as the highest number says: none is missing, and none need be read.
            return [(1, row[0])]
        ranges: list[tuple[int, int]] = []
        query = "SELECT id & 4294967295 FROM game WHERE id BETWEEN ? AND ? ORDER BY id"
        first = last = 0
        for (number,) in self._rows(query, keys_of(pairing)):
            if number != last + 1 or not first:
                if first:
                    ranges.append((first, last))
                first = number
            last = number
        if first:
            ranges.append((first, last))
        return ranges

    def columns(self, pairing: int | None = None) -> Iterator[list[Columns]]:
        """All games, or those of a pairing, without their records, in order, in lists of up to
        10,000."""
        query = f"SELECT {_KEY}, pair, first, second, points, ending, digest FROM game"
        return self._chunks(*ordered(query, "id", pairing))

    def records(self, pairing: int | None = None) -> Iterator[tuple[int, int, bytes]]:
        """Pairing, number and record of every game, or of every game of a pairing, in order."""
        keys = blocks.ALL if pairing is None else keys_of(pairing)
        with self._sound():
            for key, body, _ in blocks.between(self._rows, *keys):
                yield key >> 32, key & 0xFFFFFFFF, body

    def record(self, pairing: int, number: int) -> bytes | None:
        with self._sound():
            return blocks.one(self._rows, game_id(pairing, number))

    def faults(self, pairing: int | None = None) -> Iterator[FaultRow]:
        """All of them, or those of a pairing, by pairing, number and seat."""
        query = "SELECT game >> 32, game & 4294967295, seat, bot, code, turn, detail FROM fault"
        query, values = ordered(query, "game", pairing)
        return map(FaultRow._make, self._rows(f"{query}, seat", values))

    def tallies(self) -> Iterator[list[Tally]]:
        """The running counts of every pairing with games, in order, in lists of up to 10,000; with
        what was added since the last commit."""
        self._sum_up()
        return self._chunks("SELECT * FROM tally ORDER BY pairing")

    def blame(self) -> Iterator[BlameRow]:
        """How many faults each bot made, by variant, bot and code; those that tables count."""
        self._sum_up()
        return map(BlameRow._make, self._rows("SELECT * FROM blame ORDER BY variant, bot, code"))

    def rulings(self) -> list[RulingRow]:
        """By pairing and number."""
        query = "SELECT game >> 32, game & 4294967295, what, seat, reason, by, at FROM ruling"
        return [RulingRow(*row) for row in self._rows(f"{query} ORDER BY game")]

    def times(self) -> Iterator[TimeCount]:
        """By variant, bot and bucket; with what was added since the last commit."""
        self._sum_up()
        return map(TimeCount._make, self._rows("SELECT * FROM time ORDER BY variant, bot, bucket"))

    # How errors leave.

    def _chunks(
        self, query: str, values: Sequence[object] = (), at_once: int = ROWS_AT_ONCE
    ) -> Iterator[list[Any]]:
        try:
            yield from self._database.chunks(query, values, at_once)
        except self._database.Error as error:
            raise self._database.explained(error, writing=False) from error

    def _rows(
        self, query: str, values: Sequence[object] = (), at_once: int = ROWS_AT_ONCE
    ) -> Iterator[Any]:
        for rows in self._chunks(query, values, at_once):
            yield from rows

    def _first(self, query: str, values: Sequence[object]) -> Any:
        """The one row that there is, or None."""
        try:
            return self._database.execute(query, values).fetchone()
        except self._database.Error as error:
            raise self._database.explained(error, writing=False) from error

    @contextmanager
    def _sound(self) -> Iterator[None]:
        """Records are read, and a block of them may be damaged."""
        self._write_records()
        try:
            yield
        except blocks.BadBlock as error:
            raise damaged(self._database.named, error) from error
