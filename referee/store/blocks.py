"""Records in blocks: what is most of the bytes, at a tenth of them.

Records of the same two bots are much alike, and one alone has little in it to be found alike. So
the records of a pairing go into blocks, compressed together: block by block 128 numbers, 1 to 128,
129 to 256 and so on, so that the block of a game is known by its number. A block whose records all
come between two commits is written as soon as the last of them is there. A commit writes the others
as rows of their own, and turns rows into a block where they complete it. What is left at the end of
a pairing is a shorter block.

A record may be loose and its neighbours in the block of its numbers: if it came late, or if the
pairing was given more games. Whoever reads looks in both places; nothing is in both.
"""

from __future__ import annotations

import heapq
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby, islice
from typing import Any

import msgspec

from referee.store.engine import Database
from referee.store.rows import GameRow, PairingRow, game_id

SIZE = 128
LEAST = 8
"""Fewer records than these gain little by being together."""
MOST_BYTES = 64 * 1024 * 1024
"""Of the records of a block. Larger ones stay loose; a block that claims to hold more is damaged,
whoever made it: it would have to be unpacked into memory as a whole."""
HELD_BYTES = 16 * 1024 * 1024
"""Of records that wait in memory for their block to be whole, or for the commit."""
OVERHEAD = 32
"""More bytes than the place of a record and its length take."""
LEVEL = 3
"""Of zlib: what the higher ones save is not worth twice the time."""
BLOCK = """CREATE TABLE block (
    id INTEGER PRIMARY KEY,
    last INTEGER NOT NULL,
    games INTEGER NOT NULL,
    body BLOB NOT NULL
)"""
"""The keys of the first game that may be in it and of the last one that is; how many are."""

_LOOSE = "SELECT id, body FROM record WHERE id BETWEEN ? AND ? ORDER BY id"
_BLOCKS = "SELECT id, body FROM block WHERE id BETWEEN ? AND ? ORDER BY id"
_ONE_BLOCK = "SELECT body FROM block WHERE id = ?"
_HELD = """SELECT (SELECT count(*) FROM record WHERE id BETWEEN ? AND ?),
    (SELECT games FROM block WHERE id = ?)"""
_SET_BLOCK = """INSERT INTO block VALUES (?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET
    last = excluded.last, games = excluded.games, body = excluded.body"""
_DROP_BLOCK = "DELETE FROM block WHERE id = ?"
_DROP_LOOSE = "DELETE FROM record WHERE id BETWEEN ? AND ?"
ALL = (0, (1 << 63) - 1)
"""The keys of all games that there could be."""

_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(tuple[list[int], list[bytes]]).decode

Ask = Callable[[str, Sequence[object], int], Iterator[Any]]
"""A question, its values, and how many rows to fetch at once."""
Kept = tuple[int, bytes, int]
"""The key of a record, the record, and the bytes that it takes in the database."""


class BadBlock(Exception):
    """A block that cannot be read: the database is damaged."""


def block_of(key: int) -> int:
    """The key of the block that a game belongs to."""
    return key - ((key & 0xFFFFFFFF) - 1) % SIZE


def unpacked(block: int, body: bytes) -> list[Kept]:
    """The records of a block, in order. Raises BadBlock."""
    try:
        places, records = _decode(_decompressed(body))
        share = len(body) // max(len(records), 1)
        return [(block + at, each, share) for at, each in zip(places, records, strict=True)]
    except (zlib.error, msgspec.MsgspecError, ValueError) as error:
        raise BadBlock(f"block {block >> 32}-{block & 0xFFFFFFFF}: {error}") from None


def _decompressed(body: bytes) -> bytes:
    opener = zlib.decompressobj()
    found = opener.decompress(body, MOST_BYTES)
    if not opener.eof:
        raise ValueError(f"it is cut off, or has more than {MOST_BYTES} bytes")
    return found


def _row(block: int, records: list[tuple[int, bytes]]) -> tuple[int, int, int, bytes]:
    packed = _encode(([key - block for key, _ in records], [body for _, body in records]))
    return block, records[-1][0], len(records), zlib.compress(packed, LEVEL)


# Reading.


def between(ask: Ask, low: int, high: int, at_once: int = 100) -> Iterator[Kept]:
    """The records with keys from `low` to `high`, in order."""
    loose = ((key, body, len(body)) for key, body in ask(_LOOSE, (low, high), at_once))
    blocks = ask(_BLOCKS, (block_of(low), high), 1)
    packed = (
        each for block, body in blocks for each in unpacked(block, body) if low <= each[0] <= high
    )
    return heapq.merge(loose, packed, key=_key)


def downwards(ask: Ask, low: int, high: int, most: int) -> list[tuple[int, bytes]]:
    """So many of the records with keys from `low` to `high`, the highest key first."""
    loose = ask(f"{_LOOSE} DESC LIMIT ?", (low, high, most), most)
    blocks = ask(f"{_BLOCKS} DESC", (block_of(low), high), 1)
    packed = (
        (key, record)
        for block, body in blocks
        for key, record, _ in reversed(unpacked(block, body))
        if low <= key <= high
    )
    return list(islice(heapq.merge(loose, packed, key=_key, reverse=True), most))


def one(ask: Ask, key: int) -> bytes | None:
    """The record of this game, if it is kept."""
    for (body,) in ask("SELECT body FROM record WHERE id = ?", (key,), 1):
        return bytes(body)
    block = block_of(key)
    for (body,) in ask(_ONE_BLOCK, (block,), 1):
        return next((record for at, record, _ in unpacked(block, body) if at == key), None)
    return None


def _key(record: Sequence[Any]) -> int:
    key: int = record[0]
    return key


# Writing.


class Waiting:
    """Records that were added since the last commit and are not in the database yet, by block."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """They are in the database, or not to be."""
        self._blocks: defaultdict[int, list[tuple[int, bytes]]] = defaultdict(list)
        self._whole: list[int] = []
        self._bytes = 0

    def __bool__(self) -> bool:
        return bool(self._blocks)

    def add(self, games: Iterable[GameRow]) -> bool:
        """Take records in; True if some are to be written now."""
        for game in games:
            key, body = game[0] << 32 | game[1], game[9]
            block = block_of(key)
            records = self._blocks[block]
            records.append((key, body))
            self._bytes += len(body)
            if len(records) == SIZE:
                self._whole.append(block)
        return bool(self._whole) or self._bytes > HELD_BYTES

    def write_some(self, database: Database, ask: Ask, pairings: Mapping[int, PairingRow]) -> None:
        """The blocks that are whole; everything, if it is too much to be held."""
        if self._bytes > HELD_BYTES:
            self.write(database, ask, pairings)
            return
        for block in self._whole:
            records = sorted(self._blocks.pop(block))
            self._bytes -= sum(len(body) for _, body in records)
            database.execute(_SET_BLOCK, _row(block, records))
        self._whole = []

    def write(self, database: Database, ask: Ask, pairings: Mapping[int, PairingRow]) -> None:
        """Everything. What is a block by itself goes there at once, the rest by way of rows."""
        loose: list[int] = []
        for block, records in sorted(self._blocks.items()):
            whole = len(records) == expected(block, pairings[block >> 32]) >= LEAST
            if whole and is_small(records):
                database.execute(_SET_BLOCK, _row(block, sorted(records)))
            else:
                loose.append(block)
        database.insert("record", [each for block in loose for each in self._blocks[block]])
        for block in loose:
            seal(database, ask, block, pairings[block >> 32])
        self.forget()


def is_small(records: Iterable[tuple[int, bytes]]) -> bool:
    """Whether they may go into one block."""
    return sum(len(body) + OVERHEAD for _, body in records) <= MOST_BYTES


def expected(block: int, pairing: PairingRow) -> int:
    """How many games of a block there are to be."""
    return min(SIZE, game_id(pairing.id, pairing.games) - block + 1)


def seal(database: Database, ask: Ask, block: int, pairing: PairingRow) -> None:
    """Turn the loose records of these numbers into a block, if none of them is to come any more.

    A shorter block is made when all games of the pairing are there; if it gets more, not before the
    new ones are as many as the old ones, so that nothing is compressed over and over.
    """
    ((loose, held),) = ask(_HELD, (block, block + SIZE - 1, block), 1)
    held = held or 0
    left = expected(block, pairing)
    whole = loose + held >= SIZE
    complete = 0 < left < SIZE and loose + held >= left and loose >= max(LEAST, held)
    if not loose or not (whole or complete):
        return
    kept = [(key, body) for key, body, _ in between(ask, block, block + SIZE - 1, SIZE + 1)]
    if not is_small(kept):
        return
    database.execute(_SET_BLOCK, _row(block, kept))
    database.execute(_DROP_LOOSE, (block, block + SIZE - 1))


def drop(database: Database, ask: Ask, keys: Iterable[int]) -> None:
    """Let the records of these games go, wherever they are."""
    for block, some in groupby(sorted(keys), block_of):
        gone = set(some)
        database.executemany("DELETE FROM record WHERE id = ?", [(key,) for key in gone])
        for (body,) in list(ask(_ONE_BLOCK, (block,), 1)):
            there = [(key, record) for key, record, _ in unpacked(block, body)]
            kept = [each for each in there if each[0] not in gone]
            if not kept:
                database.execute(_DROP_BLOCK, (block,))
            elif len(kept) < len(there):
                database.execute(_SET_BLOCK, _row(block, kept))
