"""Rulings: what organisers decided of single games afterwards, and what tables make of it.

A ruling stands in the place of the referee's verdict. A void game is in no rating; an awarded one
is a win for its seat, whatever the record says. The faults of such a game are in no table either: a
bot that was timed out by a fault of the host is not to be blamed for it. The record stays as it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from referee.reports.arrays import NOT_RATED, FaultArrays, GameArrays, Ints
from referee.store.rows import PairingRow, RulingRow

AWARDED = {0: 2, 1: 0}
"""Half points of seat 0, by the seat that a game is awarded to."""


class Ruled(Struct, frozen=True, kw_only=True):
    """A ruling as a table tells it."""

    game: str
    """Pairing and number."""
    variant: str
    players: tuple[str, str]
    """In seat order."""
    what: str
    seat: int | None
    winner: str | None
    reason: str
    by: str
    at: str


def ruled_games(games: GameArrays, rulings: Sequence[RulingRow]) -> GameArrays:
    """The games, in the order of the schedule, as they count after the rulings."""
    if not rulings or not games.played:
        return games
    at, found = _places(games, rulings)
    points = games.points.copy()
    points[at] = [_points(ruling) for ruling in found]
    return games._replace(points=points)


def ruled_faults(faults: FaultArrays, rulings: Sequence[RulingRow]) -> FaultArrays:
    """The faults, without those of games that were ruled on."""
    if not rulings:
        return faults
    keys = np.array([_key_of(ruling) for ruling in rulings], np.int64)
    kept = ~np.isin(_keys(faults.pairing, faults.number), keys)
    return FaultArrays(*(each[kept] for each in faults))


def told_rulings(
    games: GameArrays,
    rulings: Sequence[RulingRow],
    pairings: Sequence[PairingRow],
    names: Mapping[int, str],
) -> list[Ruled]:
    """With names for numbers, in the order of the games, which is that of the schedule."""
    variants = {row.id: row.variant for row in pairings}
    at, found = _places(games, rulings)
    told: list[Ruled] = []
    for place, ruling in zip(at.tolist(), found, strict=True):
        players = names[int(games.first[place])], names[int(games.second[place])]
        told.append(
            Ruled(
                game=f"{ruling.pairing}-{ruling.number}",
                variant=variants[ruling.pairing],
                players=players,
                what=ruling.what,
                seat=ruling.seat,
                winner=None if ruling.seat is None else players[ruling.seat],
                reason=ruling.reason,
                by=ruling.by,
                at=ruling.at,
            )
        )
    return told


def _points(ruling: RulingRow) -> int:
    return NOT_RATED if ruling.seat is None else AWARDED[ruling.seat]


def _places(
    games: GameArrays, rulings: Sequence[RulingRow]
) -> tuple[NDArray[np.intp], list[RulingRow]]:
    """Where the games are that were ruled on; rulings on games that are not there are left out."""
    ordered = sorted(rulings, key=_key_of)
    keys = np.array([_key_of(ruling) for ruling in ordered], np.int64)
    played = _keys(games.pairing, games.number)
    at = np.searchsorted(played, keys)
    there = np.isin(keys, played)
    return at[there], [ruling for ruling, known in zip(ordered, there, strict=True) if known]


def _key_of(ruling: RulingRow) -> int:
    return ruling.pairing << 32 | ruling.number


def _keys(pairing: Ints, number: Ints) -> Ints:
    return pairing << 32 | number
