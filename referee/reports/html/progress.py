"""Rating over time: what the first part of every pairing's games would have said.

Games are not played in the order in which time passes: pairings are played side by side, and some
bots are slower than others. So time is counted in shares: the rating after 30 % is that of the
first 30 % of the games of each pairing, by their numbers, which is the same however many workers
played them.
"""

from __future__ import annotations

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from referee.ratings.games import Games
from referee.ratings.rating import rate
from referee.reports.variant_table import Terms

CHECKPOINTS = ((50, 20), (150, 10), (500, 5))
"""Up to so many bots, so many ratings: each takes longer the more bots there are. No more bots than
the last are rated over time."""
MOST_LINES = 30
"""Bots in a chart, the best of the last ratings."""


class Line(Struct, frozen=True):
    """One bot's ratings, one for each share; None where there was none yet."""

    name: str
    elo: list[float | None]
    err95: list[float | None]


class Progress(Struct, frozen=True):
    shares: list[float]
    lines: list[Line]
    """The first in the order of the last ratings."""


def progress(games: Games, pairing: NDArray[np.int64], terms: Terms) -> Progress | None:
    """`pairing` holds a number for each game; games of a pairing are in the order of play."""
    steps = next((steps for bots, steps in CHECKPOINTS if len(games.players) <= bots), 0)
    if not steps:
        return None
    share = shares_of(pairing)
    marks = [step / steps for step in range(1, steps + 1)]
    found: dict[str, Line] = {}
    order: list[str] = []
    for mark in marks:
        early = share <= mark + 1e-9
        ratings = rate(
            Games(
                players=games.players,
                first=games.first[early],
                second=games.second[early],
                points=games.points[early],
                pair=games.pair[early],
            ),
            advantage=terms.advantage,
            prior=terms.prior,
            anchors={name: elo for name, elo in terms.anchors.items() if name in games.players},
        )
        order = [player.name for player in ratings.players]
        for player in ratings.players:
            line = found.setdefault(player.name, Line(player.name, [], []))
            line.elo.append(None if player.elo is None else round(player.elo, 1))
            line.err95.append(None if player.err95 is None else round(player.err95, 1))
    return Progress(marks, [found[name] for name in order[:MOST_LINES]])


def shares_of(pairing: NDArray[np.int64]) -> NDArray[np.float64]:
    """Which share of its pairing's games is over once a game is, for each game."""
    order = np.argsort(pairing, kind="stable")
    _, begins, place, count = np.unique(
        pairing[order], return_index=True, return_inverse=True, return_counts=True
    )
    share = np.empty(len(pairing), np.float64)
    share[order] = (np.arange(len(pairing)) - begins[place] + 1) / count[place]
    return share
