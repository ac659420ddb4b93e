"""The order of a table.

By Elo: perfect winners, then the rated, then perfect losers, then who has no games. A unit is a
pool or a single player with a perfect score, and units have no Elo between them, but one that won
all games against another stands before it without a doubt; between units that did not meet, the
Elo on their own scales decides, for want of better. By points: points first, and Elo where they
are equal.
"""

from __future__ import annotations

import heapq
from collections.abc import Collection
from typing import Literal, NamedTuple

RankBy = Literal["elo", "points"]

TIE_BREAKS: dict[str, str] = {
    "elo": (
        "Ranked by Elo; who won every game against others stands above them, whatever the numbers."
        " Ties: points, then wins; then the rank is shared."
    ),
    "points": "Ranked by points. Ties: Elo (or its bound), then wins; then the rank is shared.",
}
"""What a table says of its order, by what it is ranked by."""

_DIGITS = 6
"""Elo that differs by less is equal: it is rounding that tells them apart."""


class Standing(NamedTuple):
    """What the order is made from."""

    name: str
    place: int
    """1: all wins, 0: rated, -1: all losses, -2: no games."""
    elo: float
    """Or what its bound says; 0 where nothing is known."""
    points: float
    wins: int
    unit: int
    turn: int
    """When it was taken out for a perfect score."""
    pool: int


def ranked(
    standings: list[Standing], dominated: Collection[tuple[int, int]], rank_by: RankBy
) -> list[tuple[int, int]]:
    """(player, rank) in the order of the table, the players as indices."""
    keys = [_key(standing, rank_by) for standing in standings]
    order = sorted(range(len(standings)), key=lambda i: (keys[i], standings[i].name))
    if rank_by == "elo" and dominated:
        order = _units_in_order(order, standings, dominated)
    ranks = [1] * len(order)
    for at in range(1, len(order)):
        here, before = order[at], order[at - 1]
        same = keys[here] == keys[before]
        if rank_by == "elo":
            one, other = standings[here], standings[before]
            same &= one.pool == other.pool and one.turn == other.turn
        ranks[at] = ranks[at - 1] if same else at + 1
    return list(zip(order, ranks, strict=True))


def _key(standing: Standing, rank_by: RankBy) -> tuple[float, ...]:
    """Smaller is better."""
    elo = -round(standing.elo, _DIGITS)
    if rank_by == "points":
        none = float(standing.place == -2)
        return none, -standing.points, -standing.place, elo, -standing.wins
    return -standing.place, elo, -standing.points, -standing.wins


def _units_in_order(
    order: list[int], standings: list[Standing], dominated: Collection[tuple[int, int]]
) -> list[int]:
    """The same order as far as no unit comes before one that it lost all games to."""
    position = {player: at for at, player in enumerate(order)}
    members: dict[int, list[int]] = {}
    for player in order:
        members.setdefault(standings[player].unit, []).append(player)
    left = {unit: len(players) for unit, players in members.items()}
    below: dict[int, list[int]] = {unit: [] for unit in members}
    waits = dict.fromkeys(members, 0)
    for above, under in dominated:
        below[above].append(under)
        waits[under] += 1
    ready = [position[player] for unit, n in waits.items() if n == 0 for player in members[unit]]
    heapq.heapify(ready)
    sorted_out: list[int] = []
    while ready:
        player = order[heapq.heappop(ready)]
        sorted_out.append(player)
        unit = standings[player].unit
        left[unit] -= 1
        if left[unit] == 0:
            for under in below[unit]:
                waits[under] -= 1
                if waits[under] == 0:
                    for waiting in members[under]:
                        heapq.heappush(ready, position[waiting])
    return sorted_out
