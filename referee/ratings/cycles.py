"""Do single numbers explain the results? In rock-paper-scissors they do not.

- χ² of the residuals: for each two players that met, z = (points − expected) / √V with the Davidson
  variance V, and degrees of freedom = encounters − unknowns. A small p says that no number for each
  player explains the results; the encounters with the largest z say where. With a few games a
  player the ratings follow luck and V comes out too small: of 40-player Swiss tables of 7 rounds
  of pairs a quarter had p below 0.05, and with the prior as many as should.
- The cyclic share of energy: log-odds of all encounters are the sum of differences of potentials
  (the least squares fit, weighted by how well each is known) and of a part that goes in circles.
  Its share of the sum of squares is 1 for pure rock-paper-scissors and no more than noise for a
  ladder.
"""

from __future__ import annotations

import math

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from referee.ratings import linear
from referee.ratings.bradley_terry import (
    Bouts,
    Fit,
    gather,
    laplacian,
    loose_pools,
    pull,
    unknown,
)
from referee.ratings.errors import Scatter

Floats = NDArray[np.float64]

NAMED = 5
"""So many of the worst pairs are named."""


class WorstPair(Struct, frozen=True, kw_only=True):
    """Two players of whom the first scored more than their ratings tell."""

    first: str
    second: str
    games: int
    score: float
    """Share of the points that the first scored."""
    expected: float
    z: float


class Cycles(Struct, frozen=True, kw_only=True):
    chi2: float
    degrees: int
    p: float
    """Of a χ² as large as this if the ratings were all there is."""
    cyclic_share: float | None
    worst: list[WorstPair]


def cycles(names: list[str], bouts: Bouts, fitted: Fit, likely: Scatter) -> Cycles | None:
    """None where there is nothing to test: as many unknowns as encounters, or more."""
    degrees = len(bouts.low) - (len(unknown(bouts)) - len(loose_pools(bouts)))
    if degrees <= 0:
        return None
    games, points = bouts.games.sum(axis=0), bouts.points.sum(axis=0)
    expected = (bouts.games * fitted.expected).sum(axis=0)
    z = (points - expected) / np.sqrt(likely.both)
    chi2 = float(z @ z)
    return Cycles(
        chi2=chi2,
        degrees=degrees,
        p=chi2_above(chi2, degrees),
        cyclic_share=_cyclic_share(bouts, games, points),
        worst=_worst(names, bouts, points / games, expected / games, z),
    )


def chi2_above(chi2: float, degrees: int) -> float:
    """The probability of a χ² at least as large: Q(k/2, χ²/2), incomplete gamma."""
    shape, x = degrees / 2, chi2 / 2
    if x <= 0:
        return 1.0
    front = math.exp(shape * math.log(x) - x - math.lgamma(shape))
    if x < shape + 1:
        return min(max(1 - front * _series(shape, x), 0.0), 1.0)
    return min(max(front * _fraction(shape, x), 0.0), 1.0)


def _series(shape: float, x: float) -> float:
    """γ(a, x) without its front x^a·e^−x, by its power series."""
    term = total = 1 / shape
    while term > 1e-17 * total:
        shape += 1
        term *= x / shape
        total += term
    return total


def _fraction(shape: float, x: float) -> float:
    """Γ(a, x) without its front, by the continued fraction (Lentz)."""
    tiny = 1e-300
    below = x + 1 - shape
    c, d = 1 / tiny, 1 / (below or tiny)
    value = d
    turn = 0
    while True:
        turn += 1
        factor = -turn * (turn - shape)
        below += 2
        d = 1 / ((factor * d + below) or tiny)
        c = (below + factor / c) or tiny
        value *= c * d
        if abs(c * d - 1) < 1e-15 or turn > 1_000_000:
            return value


def _cyclic_share(bouts: Bouts, games: Floats, points: Floats) -> float | None:
    # Half a game more for both sides keeps log-odds of a whole score finite.
    ours, theirs = points + 0.5, games - points + 0.5
    odds = np.log(ours / theirs)
    known = ours * theirs / (ours + theirs)
    energy = float(known @ (odds * odds))
    if energy <= 0:
        return None
    flat = bouts._replace(games=games[None, :], points=points[None, :])
    force = gather(flat, known * odds, -known * odds)
    potential = _potential(flat, known, force)
    around = odds - (potential[flat.low] - potential[flat.high])
    return min(float(known @ (around * around)) / energy, 1.0)


def _potential(flat: Bouts, known: Floats, force: Floats) -> Floats:
    # Potentials are free by a constant for all players that games connect, and players that only
    # anchors put in one pool are not connected: a trace of weight for each holds them all.
    if len(flat.pool) > linear.MANY:
        times, own = pull(flat, known), gather(flat, known, known)
        trace = 1e-9 * float(own.mean())
        found = linear.solve(lambda x: times(x) + trace * x, own + trace, force)
        if found is not None:
            return found
    matrix = laplacian(flat, known, np.zeros_like(known), 0.0)
    matrix[np.diag_indices_from(matrix)] += 1e-9 * float(np.trace(matrix)) / len(matrix)
    potential = np.linalg.solve(matrix, force)
    return potential.astype(np.float64, copy=False)


def _worst(
    names: list[str], bouts: Bouts, score: Floats, expected: Floats, z: Floats
) -> list[WorstPair]:
    """By |z|; equal ones, but for rounding, in the order of their names."""
    size = np.round(np.abs(z), 9)
    games = bouts.games.sum(axis=0)
    least = np.partition(size, -NAMED)[-NAMED] if len(size) > NAMED else 0.0
    large = np.flatnonzero(size >= least)
    order = large[np.lexsort((bouts.high[large], bouts.low[large], -size[large]))]
    found = []
    for at in order[:NAMED].tolist():
        ahead = z[at] >= 0
        low, high = names[bouts.low[at]], names[bouts.high[at]]
        found.append(
            WorstPair(
                first=low if ahead else high,
                second=high if ahead else low,
                games=int(games[at]),
                score=float(score[at] if ahead else 1 - score[at]),
                expected=float(expected[at] if ahead else 1 - expected[at]),
                z=float(abs(z[at])),
            )
        )
    return found
