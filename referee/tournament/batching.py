"""Records to rows: what the store wants to know of a game beside the game itself."""

from __future__ import annotations

import threading
import time
from zlib import crc32

import msgspec

from referee.record import Record
from referee.store.buckets import count_times
from referee.store.rows import FaultRow, GameRow
from referee.tournament.chunk import Batch, Chunk
from referee.verdict import Ending

MOST_GAMES = 128
OLDEST_S = 0.25

_encode = msgspec.msgpack.Encoder().encode


class Batches:
    """Finished games of a chunk, gathered until there are enough of them to be worth sending.

    A lock, since the games come from one thread and another one asks whether some have waited for
    too long.
    """

    def __init__(self, chunk: Chunk) -> None:
        self._chunk = chunk
        self._lock = threading.Lock()
        self._since = 0.0
        self._records: list[Record] = []

    def add(self, record: Record, now: float) -> bool:
        """Take a game in that ended just now; True where it is time to send."""
        with self._lock:
            records = self._records
            if not records:
                self._since = now
            records.append(record)
            return len(records) >= MOST_GAMES or now - self._since > OLDEST_S

    def take(self, *, only_old: bool = False) -> Batch | None:
        """What has gathered, or None."""
        with self._lock:
            if not self._records:
                return None
            if only_old and time.monotonic() - self._since <= OLDEST_S:
                return None
            records, self._records = self._records, []
        return _batch(self._chunk, records)


def _batch(chunk: Chunk, records: list[Record]) -> Batch:
    """The rows of these games; the times of their moves are counted for all of them at once."""
    pairing, prefix = chunk.pairing, len(f"{chunk.pairing}-")
    # Of games with an even number, and of those with an odd one.
    seatings = (chunk.second.id, chunk.first.id), (chunk.first.id, chunk.second.id)
    seated: tuple[list[Record], list[Record]] = ([], [])
    games: list[GameRow] = []
    faults: list[FaultRow] = []
    for record in records:
        number = int(record.game[prefix:])
        seats = seatings[number & 1]
        seated[number & 1].append(record)
        games.append(
            GameRow(
                pairing,
                number,
                record.pair,
                seats[0],
                seats[1],
                half_points(record),
                record.ending,
                len(record.moves),
                _digest(record),
                _encode(record),
            )
        )
        for fault in () if record.fault is None else record.faults():
            bot, detail = seats[fault.seat], fault.detail
            faults.append(
                FaultRow(pairing, number, fault.seat, bot, fault.code, fault.turn, detail)
            )
    times = [
        row
        for seats, some in zip(seatings, seated, strict=True)
        for row in count_times(pairing, seats, some)
    ]
    return Batch(chunk.id, games, faults, times)


def half_points(record: Record) -> int | None:
    """Of seat 0, forfeits included; None for a game that nobody won and that was no draw."""
    if record.winner is not None:
        return 2 if record.winner == 0 else 0
    return 1 if record.ending is Ending.RULES else None


def _digest(record: Record) -> int:
    """64 bits. Equal games have equal digests: the same luck, the same moves, the same end."""
    told = _encode((record.chance, record.moves))
    if record.ending is not Ending.RULES:
        told += _encode((record.ending, record.at_fault))
    # Nobody gains by a collision, so two checksums do, at a fraction of what a hash costs.
    return (crc32(told) << 32 | crc32(told[::-1])) - (1 << 63)
