"""Games as they are read, from any number of files, until they are rated."""

from __future__ import annotations

from array import array
from collections import Counter

import numpy as np
from numpy.typing import ArrayLike

from referee.ratings.games import SINGLE, Games
from referee.results.blocks import BadResults, quote

POINTS = {"1-0": 2, "0-1": 0, "1/2-1/2": 1, "½-½": 1, "0.5-0.5": 1}
"""Half points of the player in seat 0, for every way to write a result."""
UNFINISHED = "*"
RESULTS = "1-0, 0-1, 1/2-1/2"


class Collected:
    """What several files hold together. Players are the same where their names are."""

    def __init__(self) -> None:
        self.skipped: Counter[str] = Counter()
        """How many games were left out, by the reason."""
        self._numbers: dict[str, int] = {}
        self._first = [np.empty(0, np.int32)]
        self._second = [np.empty(0, np.int32)]
        self._points = [np.empty(0, np.int8)]
        self._pairs = [np.empty(0, np.int64)]
        self._earlier = 0
        """How many parts of `_pairs` are of files that have been read to their ends."""
        self._next_pair = 0

    def player(self, name: str) -> int:
        """The number of a player."""
        return self._numbers.setdefault(name, len(self._numbers))

    def add(self, first: ArrayLike, second: ArrayLike, points: ArrayLike, pair: ArrayLike) -> None:
        """Games as columns, see Games; but here pairs of a file have any numbers except SINGLE."""
        self._first.append(np.asarray(first, np.int32))
        self._second.append(np.asarray(second, np.int32))
        self._points.append(np.asarray(points, np.int8))
        self._pairs.append(np.asarray(pair, np.int64))

    def add_rows(self, games: array[int]) -> None:
        """The same, one game after another: first, second, points, pair."""
        self.add(*np.array(games, np.int64).reshape(-1, 4).T)

    def end_file(self) -> None:
        """What follows is of another file, and its pairs are others."""
        pairs = np.concatenate([*self._pairs[self._earlier :], np.empty(0, np.int64)])
        paired = pairs != SINGLE
        if paired.any():
            pairs[paired] += self._next_pair - pairs[paired].min()
            self._next_pair = int(pairs.max()) + 1
        self._pairs[self._earlier :] = [pairs]
        self._earlier = len(self._pairs)

    def games(self) -> Games:
        """All of them. Players are in the order of their names, so that neither the order of the
        files nor the way in which they were read shows."""
        players = sorted(self._numbers)
        place = np.empty(len(players), np.int32)
        place[[self._numbers[name] for name in players]] = np.arange(len(players))
        return Games(
            players=players,
            first=np.take(place, np.concatenate(self._first)),
            second=np.take(place, np.concatenate(self._second)),
            points=np.concatenate(self._points),
            pair=np.concatenate(self._pairs),
        )


def read_points(text: str) -> int | None:
    """Half points of seat 0 from a result as it is written; None for an unfinished game."""
    points = POINTS.get(text)
    if points is None and text != UNFINISHED:
        raise BadResults(f"result {quote(text)} is none of {RESULTS}")
    return points


def check_names(first: str, second: str) -> None:
    """That a game has two players."""
    if not first or not second:
        raise BadResults("a player has no name")
    if first == second:
        raise BadResults(f"{quote(first)} plays against itself")
