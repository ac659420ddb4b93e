"""Results as columns: what the ratings are computed from, wherever the games were played."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

SINGLE = -1
"""The pair of a game that has no other game of the same chance."""


class Games(NamedTuple):
    """One row a rated game."""

    players: list[str]
    first: NDArray[np.int32]
    """Index of the player in seat 0."""
    second: NDArray[np.int32]
    points: NDArray[np.int8]
    """Half points of the player in seat 0: 0, 1 or 2."""
    pair: NDArray[np.int64]
    """Two games of the same two players with the same number are one pair: the same chance, the
    seats swapped. SINGLE is a game on its own."""

    @property
    def size(self) -> int:
        """How many games."""
        return len(self.points)
