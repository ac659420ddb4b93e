"""Games for somebody who leafs through them: the newest of every pairing, a few at a time.

The key of a game is its pairing and its number, so that the newest games of a pairing are found
without reading the others, however many there are.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from referee.store.blocks import downwards
from referee.store.database import Store
from referee.store.rows import GamesAt, game_id

_LAST = """SELECT pairing.id, (
        SELECT max(record.id) FROM record
        WHERE record.id BETWEEN pairing.id << 32 AND pairing.id << 32 | 4294967295
    ), (
        SELECT block.last FROM block
        WHERE block.id BETWEEN pairing.id << 32 AND pairing.id << 32 | 4294967295
        ORDER BY block.id DESC LIMIT 1
    ) FROM pairing"""

_MET = """WITH met AS (
        SELECT game.first AS first, game.second AS second, pairing.variant AS variant, game.digest,
            CASE ruling.what WHEN 'void' THEN NULL
                WHEN 'award' THEN CASE ruling.seat WHEN 0 THEN 2 ELSE 0 END
                ELSE CASE game.ending WHEN 'forfeit' THEN NULL ELSE game.points END
            END AS points
        FROM pairing
        JOIN game ON game.id BETWEEN pairing.id << 32 AND pairing.id << 32 | 4294967295
        LEFT JOIN ruling ON ruling.game = game.id
        WHERE (pairing.first = ? OR pairing.second = ?) AND ? IN ('', pairing.variant)
    ), own AS (
        SELECT CASE first WHEN ? THEN second ELSE first END AS other,
            CASE first WHEN ? THEN points ELSE 2 - points END AS points, variant, digest
        FROM met WHERE points IS NOT NULL
    )
    SELECT other, count(*) FILTER (WHERE points = 2), count(*) FILTER (WHERE points = 1),
        count(*) FILTER (WHERE points = 0), count(DISTINCT variant || digest)
    FROM own GROUP BY other"""


class Met(NamedTuple):
    """How one bot did against another."""

    wins: int
    draws: int
    losses: int
    distinct: int
    """Different games among them."""

    @property
    def games(self) -> int:
        return self.wins + self.draws + self.losses

    @property
    def points(self) -> float:
        return self.wins + self.draws / 2


def met_by(store: Store, bots: Iterable[int], variant: str | None) -> dict[tuple[int, int], Met]:
    """How each of these bots did against each that it met, in a variant or in all of them.

    As rulings have it; without games that are in no rating.
    """
    return {
        (bot, other): Met(*counts)
        for bot in bots
        for other, *counts in store._rows(_MET, (bot, bot, variant or "", bot, bot))
    }


def last_numbers(store: Store) -> dict[int, int]:
    """The highest number of a game in each pairing that has any."""
    with store._sound():
        last = {row: max(loose or 0, packed or 0) for row, loose, packed in store._rows(_LAST)}
    return {pairing: key & 0xFFFFFFFF for pairing, key in last.items() if key}


def games_now(store: Store) -> GamesAt:
    """Those that are there."""
    return GamesAt.of(store._rows("SELECT id >> 32, id & 4294967295 FROM game"))


def newest_records(
    store: Store, pairing: int, most: int, *, above: int = 0, below: int = 1 << 32
) -> list[tuple[int, bytes]]:
    """Numbers and records of a pairing, the highest number first, between two numbers."""
    keys = game_id(pairing, max(0, above) + 1), game_id(pairing, below - 1)
    with store._sound():
        return [(key & 0xFFFFFFFF, body) for key, body in downwards(store._rows, *keys, most)]


def records_of(store: Store, games: Iterable[tuple[int, int]]) -> dict[tuple[int, int], bytes]:
    """The records of these games, as far as they are there."""
    found = {}
    for pairing, number in games:
        body = store.record(pairing, number)
        if body is not None:
            found[pairing, number] = body
    return found
