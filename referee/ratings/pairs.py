"""Counts from pairs of games that were counted already: how many of each kind two players had.

A kind says how a meeting's first player did in seat 0 and in seat 1 of one pair: it lost, drew, won
or had no game there. There are fifteen with a game in them, and the counts of a million pairs are
fifteen numbers times what one pair of each kind adds.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from referee.ratings.counts import PRODUCTS, Counts, in_order

Ints = NDArray[np.int64]
KINDS = 15
"""Kind 4·a + b, from 1, is of the results a and b, each 0 for no game, then lost, drawn, won."""
_OUTCOMES = 6


class Encounters(NamedTuple):
    """Each two players that met, in the order of their names, and which meetings are theirs."""

    players: list[str]
    """In order of their names."""
    low: NDArray[np.intp]
    high: NDArray[np.intp]
    which: NDArray[np.intp]
    """The meetings that are counted."""
    place: NDArray[np.intp]
    """The encounter of each of them."""
    swapped: NDArray[np.bool_]
    """Whether its first player is `high`."""

    def total(self, values: Ints) -> Ints:
        """Something that is counted of meetings, by encounter."""
        sums = np.bincount(self.place, values[self.which], minlength=len(self.low))
        return sums.astype(np.int64)


def encounters(players: list[str], first: Ints, second: Ints, pairs: Ints) -> Encounters:
    """Of meetings with rated games, by two players each; `pairs` has a row for each kind.

    One of a player with itself tells nothing and is left out.
    """
    names, place = in_order(players)
    which = np.flatnonzero((first != second) & pairs.any(axis=0))
    one, other = place[first[which]], place[second[which]]
    key = np.minimum(one, other) * len(names) + np.maximum(one, other)
    met, index = np.unique(key, return_inverse=True)
    low, high = np.divmod(met, max(len(names), 1))
    return Encounters(
        names, low.astype(np.intp), high.astype(np.intp), which, index, swapped=one > other
    )


def count_pairs(met: Encounters, pairs: Ints) -> Counts:
    """The counts of all games in these pairs."""
    sums = np.zeros((_OUTCOMES + 1 + len(PRODUCTS), len(met.low)), np.int64)
    for parts, swapped in ((_PARTS, False), (_SWAPPED, True)):
        chosen = met.swapped == swapped
        index, which = met.place[chosen], met.which[chosen]
        for total, added in zip(sums, parts.T @ pairs[:, which], strict=True):
            total += np.bincount(index, added, minlength=len(met.low)).astype(np.int64)
    return Counts(
        *(met.players, met.low, met.high),
        outcomes=sums[:_OUTCOMES],
        clusters=sums[_OUTCOMES],
        moments=sums[_OUTCOMES + 1 :],
    )


def _parts(results: Sequence[int]) -> list[int]:
    """What one pair adds to outcomes, clusters and moments; `low` had these results by seat."""
    s1, s2 = (max(result - 1, 0) for result in results)
    n1, n2 = (int(result > 0) for result in results)
    outcomes = [int(result == each) for result in results for each in (1, 2, 3)]
    factors = {"s1": s1, "s2": s2, "n1": n1, "n2": n2}
    return [*outcomes, 1, *(factors[name[:2]] * factors[name[2:]] for name in PRODUCTS)]


_ALL = list(product(range(4), repeat=2))[1:]
_PARTS: Ints = np.array([_parts(kind) for kind in _ALL], np.int64)
# Where `low` is the second player, it had the other seat, and won what the first one lost.
_SWAPPED: Ints = np.array(
    [_parts([result and 4 - result for result in reversed(kind)]) for kind in _ALL], np.int64
)
