"""The choices of one variant: results so far, what is believed by them, and whose turn it is."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Sequence

import numpy as np

from referee.ladder.informative import FLOOR, Beliefs, Bools, Chooser, Score, Turns, believe

EXPECTED_GAMES = 10
"""What a chunk is taken for until its games are there."""
FIT_S = 1.0
FIT_SHARE = 20
"""Ratings are fitted again after a second, and after so many times as long as the fit took."""


class Choices:
    """Who is to meet next."""

    def __init__(self) -> None:
        self.widest = math.inf
        """The widest 95 % interval of those who play, in Elo; infinite before the first fit."""
        self._scores: dict[tuple[int, int], Score] = {}
        self._games: Counter[int] = Counter()
        self._beliefs: Beliefs | None = None
        self._chooser: Chooser | None = None
        self._turns = Turns()
        self._made: Counter[str] = Counter()
        """Choices by place: in each of them one of four is for whoever has waited."""
        self._fit_again = 0.0
        self._new_games = False

    def count(self, first: int, second: int, half_points: int, games: int = 1) -> None:
        """Games that ended alike; half points are those of the first."""
        low, high = min(first, second), max(first, second)
        before, half = self._scores.get((low, high), Score(0, 0))
        own = half_points if first == low else 2 - half_points
        self._scores[low, high] = Score(before + games, half + games * own)
        self._games.update({low: games, high: games})
        self._new_games = True

    def choose(
        self, players: Sequence[int], may_meet: Bools, place: str, now: float
    ) -> tuple[int, int] | None:
        """Of these players in order two who may meet, or None."""
        able = np.flatnonzero((may_meet & ~np.eye(len(players), dtype=np.bool_)).any(axis=1))
        if not len(able):
            return None
        chooser = self._up_to_date(tuple(players), now)
        waits = [players[at] for at in able.tolist()]
        who = self._turns.longest(waits, self._games) if self._made[place] % FLOOR == 0 else None
        met = chooser.choose(may_meet, who)
        if met is not None:
            self._made[place] += 1
            self._turns.take(met)
        return met

    def _up_to_date(self, players: tuple[int, ...], now: float) -> Chooser:
        chooser = self._chooser
        due = self._new_games and now >= self._fit_again
        if chooser is None or chooser.players != players or due:
            began = time.monotonic()
            self._beliefs = believe(players, self._scores, self._beliefs)
            active = self._beliefs.of(players)
            self.widest = max(active.err95().values(), default=0.0)
            chooser = self._chooser = Chooser(active, EXPECTED_GAMES)
            self._fit_again = now + max(FIT_S, FIT_SHARE * (time.monotonic() - began))
            self._new_games = False
        return chooser
