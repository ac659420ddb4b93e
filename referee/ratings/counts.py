"""Games as counts: one encounter for each two players that met, all in whole numbers.

Everything a table needs is a sum over games or over pairs of games, so a million games become at
most n·(n−1)/2 encounters before the first fraction is formed: the same set of games in any order
gives the same counts, and the same table to the last digit. Players are in order of their names,
and in an encounter `low` is the one that comes first there.

Errors are clustered: the two games of a pair share their chance. In a cluster let n1, n2 be the
games with `low` in seat 0 and in seat 1, and s1, s2 its half points there. What it adds to the
variance is a square of s − 2·n·p, and p is known only after the fit: so the sums over clusters of
all products of two of (s1, s2, n1, n2) are kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from referee.ratings.games import SINGLE, Games

Ints = NDArray[np.int64]

PRODUCTS = ("s1s1", "s1s2", "s1n1", "s1n2", "s2s2", "s2n1", "s2n2", "n1n1", "n1n2", "n2n2")
"""The rows of `moments`."""
_FACTORS = ((0, 0), (0, 1), (0, 2), (0, 3), (1, 1), (1, 2), (1, 3), (2, 2), (2, 3), (3, 3))
_OUTCOMES = 6
_CODES = 1 << 62
_ROOM = 4
"""For so many times as many keys as there are games a table may have room."""


class Counts(NamedTuple):
    """One encounter for each two players that met, in their order; arrays end in that axis."""

    players: list[str]
    """In order of their names."""
    low: NDArray[np.intp]
    high: NDArray[np.intp]
    outcomes: Ints
    """Losses, draws and wins of `low` in seat 0, then the same in seat 1: six rows."""
    clusters: Ints
    """Pairs of games; a single game is one too."""
    moments: Ints
    """Sums over clusters of the products in PRODUCTS, in half points and games."""

    @property
    def games(self) -> Ints:
        """By the seat of `low`: two rows."""
        by_seat: Ints = self.outcomes.reshape(2, 3, -1).sum(axis=1)
        return by_seat

    @property
    def half_points(self) -> Ints:
        """Of `low`, by its seat: two rows."""
        return self.draws + 2 * self.outcomes[2::3]

    @property
    def draws(self) -> Ints:
        """By the seat of `low`: two rows."""
        return self.outcomes[1::3]

    def find(self, low: int, high: int) -> int | None:
        """Where these two are, who come in the order of their names; None: they did not meet."""
        start, end = np.searchsorted(self.low, [low, low + 1])
        at = int(start + np.searchsorted(self.high[start:end], high))
        return at if at < end and self.high[at] == high else None


def sum_by(index: NDArray[np.intp], values: NDArray[Any], size: int = 0) -> NDArray[np.float64]:
    """The sums of the values that have the same index, in order of the index."""
    return np.bincount(index, values, size).astype(np.float64, copy=False)


def count(games: Games) -> Counts:
    """Of all games; one of a player against itself tells nothing and is left out."""
    names, place = in_order(games.players)
    first, second = place[games.first], place[games.second]
    points, pair = games.points.astype(np.int64), games.pair
    others = first != second
    if not others.all():
        first, second, points, pair = first[others], second[others], points[others], pair[others]
    swapped = first > second
    outcome = np.where(swapped, 5 - points, points)
    key = np.minimum(first, second) * len(names) + np.maximum(first, second)
    met, encounter = _kinds(key, len(names) ** 2)
    outcomes = _tally(encounter, outcome, len(met))
    single = pair == SINGLE
    alone = outcomes if single.all() else _tally(encounter[single], outcome[single], len(met))
    clusters, moments = _of_singles(alone)
    if not single.all():
        paired = ~single
        more, products = _of_pairs(encounter[paired], pair[paired], outcome[paired], len(met))
        clusters += more
        moments += products
    low, high = np.divmod(met, max(len(names), 1))
    return Counts(names, low.astype(np.intp), high.astype(np.intp), outcomes, clusters, moments)


def add(parts: Sequence[Counts]) -> Counts:
    """Counts of all games together; pairs of games do not reach from one part into another."""
    names = sorted({name for part in parts for name in part.players})
    index = {name: number for number, name in enumerate(names)}
    keys: list[Ints] = [np.empty(0, np.int64)]
    numbers: list[Ints] = [np.empty((_OUTCOMES + 1 + len(PRODUCTS), 0), np.int64)]
    for part in parts:
        place = np.array([index[name] for name in part.players], np.int64)
        keys.append(place[part.low] * len(names) + place[part.high])
        numbers.append(np.vstack([part.outcomes, part.clusters, part.moments]))
    met, encounter = np.unique(np.concatenate(keys), return_inverse=True)
    sums = np.zeros((len(numbers[0]), len(met)), np.int64)
    for total, values in zip(sums, np.concatenate(numbers, axis=1), strict=True):
        np.add.at(total, encounter, values)
    low, high = np.divmod(met, max(len(names), 1))
    return Counts(
        *(names, low.astype(np.intp), high.astype(np.intp)),
        outcomes=sums[:_OUTCOMES],
        clusters=sums[_OUTCOMES],
        moments=sums[_OUTCOMES + 1 :],
    )


def in_order(players: list[str]) -> tuple[list[str], Ints]:
    """The names in order, and the place of every player among them."""
    order = sorted(range(len(players)), key=players.__getitem__)
    place = np.empty(len(players), np.int64)
    place[order] = np.arange(len(players))
    return [players[number] for number in order], place


def _kinds(key: Ints, size: int) -> tuple[Ints, NDArray[np.intp]]:
    """All different keys in order, and where each key is among them; they are below `size`."""
    if size > _ROOM * len(key):
        return np.unique(key, return_inverse=True)
    # A table of all keys that there can be is quicker than a sort.
    seen = np.zeros(size, np.bool_)
    seen[key] = True
    met = np.flatnonzero(seen)
    place = np.empty(size, np.intp)
    place[met] = np.arange(len(met))
    return met, place[key]


def _tally(encounter: NDArray[np.intp], outcome: Ints, encounters: int) -> Ints:
    found = np.bincount(outcome * encounters + encounter, minlength=encounters * _OUTCOMES)
    return found.astype(np.int64, copy=False).reshape(_OUTCOMES, encounters)


def _of_singles(outcomes: Ints) -> tuple[Ints, Ints]:
    """Clusters and moments of single games: they follow from the outcomes."""
    moments = np.zeros((len(PRODUCTS), outcomes.shape[1]), np.int64)
    for seat, (ss, sn, nn) in enumerate((("s1s1", "s1n1", "n1n1"), ("s2s2", "s2n2", "n2n2"))):
        losses, draws, wins = outcomes[3 * seat : 3 * seat + 3]
        moments[PRODUCTS.index(ss)] = draws + 4 * wins
        moments[PRODUCTS.index(sn)] = draws + 2 * wins
        moments[PRODUCTS.index(nn)] = losses + draws + wins
    return outcomes.sum(axis=0), moments


def _of_pairs(
    encounter: NDArray[np.intp], pair: Ints, outcome: Ints, encounters: int
) -> tuple[Ints, Ints]:
    """Clusters and moments of games in pairs, all found by one sort of whole numbers."""
    if int(pair.min()) < 0 or encounters * (int(pair.max()) + 1) * _OUTCOMES >= _CODES:
        pair = np.unique(pair, return_inverse=True)[1]
    width = int(pair.max()) + 1
    code = np.sort((encounter * width + pair) * _OUTCOMES + outcome)
    cluster, outcome = np.divmod(code, _OUTCOMES)
    starts = np.flatnonzero(np.diff(cluster, prepend=-1))
    encounter = cluster[starts] // width
    second, points = np.divmod(outcome, 3)
    first_points = np.where(second == 0, points, 0)
    sums = [
        np.add.reduceat(values, starts)
        for values in (first_points, points - first_points, 1 - second, second)
    ]
    clusters = np.bincount(encounter, minlength=encounters).astype(np.int64)
    edges = np.flatnonzero(np.diff(encounter, prepend=-1))
    moments = np.zeros((len(PRODUCTS), encounters), np.int64)
    for product, (one, other) in zip(moments, _FACTORS, strict=True):
        product[encounter[edges]] = np.add.reduceat(sums[one] * sums[other], edges)
    return clusters, moments
