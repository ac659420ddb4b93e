"""A small tournament to fill stores with."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

import msgspec

from referee.store.database import Store
from referee.store.place import Address
from referee.store.rows import BotRow, FaultRow, GameRow, PairingRow

BOTS = [
    BotRow(1, "counter", "1.0", "aa", '{"run":"./counter"}'),
    BotRow(2, "random", "2.0", "bb", '{"run":"./random"}'),
    BotRow(3, "höher", "", "cc", "{}", "crashed"),
]
PAIRINGS = [
    PairingRow(1, 1, "underdog", 1, 2, 100),
    PairingRow(2, 1, "underdog", 1, 3, 100),
    PairingRow(3, 2, "duel", 2, 3, 100, 1),
]
VALUES = {"name": "three", "seed": "doc"}
on_server: list[Address] = []
"""Where new stores are made, if it is not in their folders."""


def new_store(folder: Path) -> Store:
    store = Store.create(folder, VALUES, BOTS, *on_server)
    store.add_pairings(PAIRINGS)
    store.commit()
    return store


def game(
    number: int,
    pairing: int = 1,
    tag: str = "",
    times: tuple[Sequence[int], Sequence[int]] | None = None,
) -> GameRow:
    """A game that is known by its number; every third is unrated. `times` are those of the moves of
    either seat, which its record tells then."""
    players = PAIRINGS[pairing - 1]
    seats = (players.first, players.second)
    first, second = seats if number % 2 else seats[::-1]
    points = None if number % 3 == 0 else number % 3
    body = f"{pairing}/{number}{tag}".encode()
    if times is not None:
        body = record(body, times)
    return GameRow(
        pairing, number, (number + 1) // 2, first, second, points, "rules", 13, -number, body
    )


def record(body: bytes, times: tuple[Sequence[int], Sequence[int]]) -> bytes:
    """What a store reads of a record, and something else."""
    moves = [(seat, 1) for seat in (0, 1) for _ in times[seat]]
    return msgspec.msgpack.encode({"moves": moves, "spent_us": [*times[0], *times[1]], "": body})


def games(first: int, last: int, pairing: int = 1) -> list[GameRow]:
    return [game(number, pairing) for number in range(first, last + 1)]


def large_game(number: int) -> GameRow:
    """A game with a record of 600 bytes that nothing makes smaller, and a few times."""
    body = random.Random(number).randbytes(600)
    return game(number)._replace(record=record(body, ([5, 70], [1000])))


def fault(number: int, pairing: int = 1, seat: int = 0, code: str = "timeout") -> FaultRow:
    return FaultRow(pairing, number, seat, 1, code, 3, "no answer")
