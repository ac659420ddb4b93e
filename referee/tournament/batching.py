"""Records to rows: what the store wants to know of a game beside the game itself."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from zlib import crc32

import msgspec

from referee.record import Record
from referee.store.buckets import pack_by_seat
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
        self._prefix = len(f"{chunk.pairing}-")
        """Of the name of a game, before its number."""
        self._lock = threading.Lock()
        self._since = 0.0
        self._games: list[GameRow] = []
        self._faults: list[FaultRow] = []

    def add(self, record: Record, now: float) -> bool:
        """Take a game in that ended just now; True where it is time to send."""
        chunk = self._chunk
        number = int(record.game[self._prefix :])
        first, second = chunk.first.id, chunk.second.id
        if number % 2 == 0:
            first, second = second, first
        row = GameRow(
            chunk.pairing,
            number,
            record.pair,
            first,
            second,
            half_points(record),
            record.ending,
            len(record.moves),
            _digest(record),
            _encode(record),
            _times(record),
        )
        with self._lock:
            games = self._games
            if not games:
                self._since = now
            games.append(row)
            if record.fault is not None:
                self._faults += _faults(record, chunk.pairing, number, (first, second))
            return len(games) >= MOST_GAMES or now - self._since > OLDEST_S

    def take(self, *, only_old: bool = False) -> Batch | None:
        """What has gathered, or None."""
        with self._lock:
            if not self._games:
                return None
            if only_old and time.monotonic() - self._since <= OLDEST_S:
                return None
            batch = Batch(self._chunk.id, self._games, self._faults)
            self._games, self._faults = [], []
            return batch


def half_points(record: Record) -> int | None:
    """Of seat 0, forfeits included; None for a game that nobody won and that was no draw."""
    if record.winner is not None:
        return 2 if record.winner == 0 else 0
    return 1 if record.ending is Ending.RULES else None


def _faults(record: Record, pairing: int, number: int, bots: tuple[int, int]) -> Iterator[FaultRow]:
    for fault in record.faults():
        yield FaultRow(
            *(pairing, number, fault.seat, bots[fault.seat]),
            *(fault.code, fault.turn, fault.detail),
        )


def _digest(record: Record) -> int:
    """64 bits. Equal games have equal digests: the same luck, the same moves, the same end."""
    told = _encode((record.chance, record.moves))
    if record.ending is not Ending.RULES:
        told += _encode((record.ending, record.at_fault))
    # Nobody gains by a collision, so two checksums do, at a fraction of what a hash costs.
    return (crc32(told) << 32 | crc32(told[::-1])) - (1 << 63)


def _times(record: Record) -> tuple[bytes, bytes]:
    """How long the moves of either seat took, packed."""
    return pack_by_seat([seat for seat, _ in record.moves], record.spent_us)
