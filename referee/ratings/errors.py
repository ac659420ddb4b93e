"""How sure ratings are: the covariance of the strengths, and what follows from it.

C = H⁻¹ J H⁻¹ (sandwich), H the Hessian of the fit and J the observed scatter of the results. The
two games of a pair have the same chance and are not independent, so J is a sum over pairs: an
encounter adds Σ (s − n·p)² over its clusters. Taken as it comes that is too small, for p was
fitted to the same games, and nothing at all where identical games were played or an encounter is
one pair of games. So, with V the Davidson variance of an encounter (games taken as independent)
and c its clusters:

- ρ of a pool is observed scatter over ΣV: what pairing, or a poor model, makes of the variance.
  The observed scatter is taken G/(G−k) times for k unknowns and G clusters (at most twice), and is
  at least k: one pair for each unknown that came out a point otherwise, but no more than
  independent games without draws would give.
- an encounter's scatter is its own for c−1 parts of c, and ρ·V for one part: one cluster says
  nothing of its own scatter, many say all;
- and at least min(1, ρ·V): a thousand copies of one game prove little.

For two players this is the variance of two_players.py.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from referee.ratings import linear
from referee.ratings.bradley_terry import (
    Bouts,
    Fit,
    gather,
    hessian,
    hold,
    laplacian,
    part,
    unknown,
)
from referee.ratings.counts import PRODUCTS, sum_by
from referee.ratings.davidson import variance
from referee.ratings.two_players import Z95

Floats = NDArray[np.float64]
_BLOCK = 256


class Scatter(NamedTuple):
    """Σ over the clusters of each encounter, of squares and products of what is off.

    In a cluster let e1, e2 be points − n·p of `low` in seat 0 and in seat 1.
    """

    both: Floats
    """(e1 + e2)²: what is off for the strengths."""
    mixed: Floats
    """(e1 + e2)·(e1 − e2)."""
    seat: Floats
    """(e1 − e2)²: what is off for the advantage."""

    def times(self, factor: Floats) -> Scatter:
        return Scatter(self.both * factor, self.mixed * factor, self.seat * factor)

    def plus(self, other: Scatter) -> Scatter:
        return Scatter(self.both + other.both, self.mixed + other.mixed, self.seat + other.seat)


def observed_scatter(moments: NDArray[np.int64], expected: Floats) -> Scatter:
    """From the second moments of the counts, in points, at the expected scores of the fit."""
    at = dict(zip(PRODUCTS, moments, strict=True))
    one, two = expected[0], expected[-1]
    first = at["s1s1"] / 4 - one * at["s1n1"] + one * one * at["n1n1"]
    second = at["s2s2"] / 4 - two * at["s2n2"] + two * two * at["n2n2"]
    cross = at["s1s2"] / 4 - two * at["s1n2"] / 2 - one * at["s2n1"] / 2 + one * two * at["n1n2"]
    # What rounding may take from the rules that hold for squares and products is given back.
    first, second = np.maximum(first, 0.0), np.maximum(second, 0.0)
    most = np.sqrt(first * second)
    cross = np.clip(cross, -most, most)
    return Scatter(first + second + 2 * cross, first - second, first + second - 2 * cross)


def likely_scatter(bouts: Bouts, fitted: Fit, draw_rate: float) -> Scatter:
    """By the model, games taken as independent; for virtual games that is all there is."""
    spread = bouts.games * variance(fitted.expected, draw_rate)
    both = spread.sum(axis=0)
    return Scatter(both, bouts.signs @ spread, both)


def believed_scatter(
    bouts: Bouts, observed: Scatter, likely: Scatter, clusters: NDArray[np.int64], even: Floats
) -> Scatter:
    """The scatter that is believed, for the encounters that were played.

    `even` is the variance of independent games without draws.
    """
    pool = bouts.pool[bouts.low]
    pools = int(bouts.pool.max(initial=-1)) + 1
    free = sum_by(bouts.pool, ~bouts.anchored, pools)
    anchored = sum_by(bouts.pool, bouts.anchored, pools) > 0
    unknowns = free - ~anchored + bouts.seats_matter

    def total(values: Floats) -> Floats:
        return sum_by(pool, values, pools)

    groups = total(clusters.astype(float))
    correction = groups / np.maximum(np.maximum(groups - unknowns, groups / 2), 1.0)
    least = np.minimum(np.maximum(unknowns, 1.0), total(even))
    seen = np.maximum(total(observed.both) * correction, least)
    ratio = (seen / np.maximum(total(likely.both), np.finfo(float).tiny))[pool]
    share = 1 / clusters
    scatter = observed.times((1 - share) * correction[pool]).plus(likely.times(ratio * share))
    missing = np.maximum(np.minimum(1.0, ratio * likely.both) - scatter.both, 0.0)
    return scatter.plus(Scatter(missing, np.zeros_like(missing), missing))


def covariance(bouts: Bouts, fitted: Fit, scatter: Scatter) -> Floats:
    """Of all unknowns, anchored players at 0; the advantage is the last where seats matter."""
    curve = hold(bouts, hessian(bouts, fitted.weight, held=fitted.held, advantage=fitted.advantage))
    seat = float(scatter.seat.sum())
    if fitted.held:
        # The virtual draw is as uncertain as a game.
        seat += float(curve[-1, -1]) - float(fitted.weight.sum())
    if len(curve) > linear.MANY:
        return _of_many(bouts, curve, scatter, seat)
    noise = laplacian(bouts, scatter.both, scatter.mixed, seat)
    free = unknown(bouts)
    inverse = np.linalg.inv(part(curve, free))
    found = inverse @ part(noise, free) @ inverse.T
    if len(free) == len(curve):
        return found
    whole = np.zeros_like(curve)
    whole[np.ix_(free, free)] = found
    return whole


def _of_many(bouts: Bouts, curve: Floats, scatter: Scatter, seat: float) -> Floats:
    """The same with two squares in memory, `curve` being one of them."""
    anchored = np.flatnonzero(bouts.anchored)
    curve[anchored, :] = curve[:, anchored] = 0.0
    curve[anchored, anchored] = 1.0
    linear.invert(curve)
    curve[anchored, anchored] = 0.0
    low, high, everybody = bouts.low, bouts.high, np.arange(len(bouts.pool))
    rows, columns = [low, high, everybody], [high, low, everybody]
    values = [-scatter.both, -scatter.both, gather(bouts, scatter.both, scatter.both)]
    if bouts.seats_matter:
        border, last = gather(bouts, scatter.mixed, -scatter.mixed), np.array([len(everybody)])
        all_last = np.repeat(last, len(everybody))
        rows += [all_last, everybody, last]
        columns += [everybody, all_last, last]
        values += [border, border, np.array([seat])]
    noise = linear.Sparse.of(
        len(curve), np.concatenate(rows), np.concatenate(columns), np.concatenate(values)
    )
    return linear.sandwich(curve, noise)


def centre(matrix: Floats, members: NDArray[np.intp]) -> None:
    """Make the covariance one of differences to the members' mean, in place."""
    chosen = slice(None) if len(members) == len(matrix) else members
    matrix[:, chosen] -= matrix[:, chosen].mean(axis=1, keepdims=True)
    matrix[chosen, :] -= matrix[chosen, :].mean(axis=0, keepdims=True)


def err95(variance_of: Floats) -> Floats:
    """Half the width of the 95 % interval."""
    half: Floats = Z95 * np.sqrt(np.maximum(variance_of, 0.0))
    return half


def superiority(difference: float, spread: float) -> float:
    """The likelihood that a difference with this variance is one in strength."""
    if spread <= 0:
        return 0.5 if difference == 0 else float(difference > 0)
    return 0.5 * (1 + math.erf(difference / math.sqrt(2 * spread)))


def surely_better(
    strength: Floats, matrix: Floats, pool: NDArray[np.intp]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """For each player: how many of its pool are better at 95 %, and how many are worse."""
    above = np.zeros(len(strength), np.int64)
    below = np.zeros(len(strength), np.int64)
    own = np.diagonal(matrix)
    for start in range(0, len(strength), _BLOCK):
        part = slice(start, start + _BLOCK)
        ahead = strength[part, None] - strength
        spread = own[part, None] + own - 2 * matrix[part]
        sure = np.abs(ahead) > Z95 * np.sqrt(np.maximum(spread, 0.0)) + 1e-9
        sure &= pool[part, None] == pool
        above[part] = (sure & (ahead < 0)).sum(axis=1)
        below[part] = (sure & (ahead > 0)).sum(axis=1)
    return above, below
