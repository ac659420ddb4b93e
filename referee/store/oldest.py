"""The oldest records of a store, found without reading the others.

The time of a game is in its record alone. But the games of a pairing are numbered as they are
played, so that the oldest record of all is the first of some pairing: what is read is the first
record of each, and as many more as are asked for. A record in a block takes its share of it.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from itertools import islice

import msgspec
from msgspec import Struct

from referee.store.blocks import between
from referee.store.database import Store
from referee.store.rows import game_id

AT_ONCE = 100


class _When(Struct):
    """Of a record, what matters here."""

    started: str


_decode = msgspec.msgpack.Decoder(_When).decode


def oldest_records(store: Store) -> Iterator[tuple[str, int, int]]:
    """When it was played, key and size of every record, the oldest first."""
    return heapq.merge(*(_of_pairing(store, row.id) for row in store.pairings()))


def _of_pairing(store: Store, pairing: int) -> Iterator[tuple[str, int, int]]:
    key, end, most = game_id(pairing, 0), game_id(pairing, 0xFFFFFFFF), 1
    while rows := _page(store, key + 1, end, most):
        yield from rows
        key, most = rows[-1][1], AT_ONCE


def _page(store: Store, low: int, high: int, most: int) -> list[tuple[str, int, int]]:
    """Some at a time: nobody holds a question open for every pairing."""
    with store._sound():
        found = islice(between(store._rows, low, high, most), most)
        return [(_started(body), key, size) for key, body, size in found]


def _started(body: bytes) -> str:
    """Of what is no record, the earliest there can be: nobody misses it."""
    try:
        return _decode(body).started
    except msgspec.MsgspecError:
        return ""


def used_bytes(store: Store) -> int:
    """What the database takes, less what is free within it."""
    return store._database.used_bytes()
