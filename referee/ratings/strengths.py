"""The strengths of all players that can be rated, in Elo: the fit, its errors and its test.

All pools are fitted together, as the advantage of the first seat is one for all of them. Where a
prior is asked for, every pool gets an average opponent, a player that is not in the table and
drew one game with each of its players: half a game in each seat.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from referee.ratings import davidson
from referee.ratings.bradley_terry import Bouts, Fit, K, fit, gather, loose_pools
from referee.ratings.counts import Counts, sum_by
from referee.ratings.cycles import Cycles, cycles
from referee.ratings.errors import (
    Scatter,
    believed_scatter,
    centre,
    covariance,
    err95,
    likely_scatter,
    observed_scatter,
)

Floats = NDArray[np.float64]
Places = NDArray[np.intp]


class Strengths(NamedTuple):
    elo: Floats
    """Of every player of the counts, nan where it cannot be told."""
    err95: Floats
    """nan for a pool of one as well: 0 is not wrong there, but nothing is known."""
    members: Places
    """The players in pools, in order: those of the covariance."""
    covariance: Floats
    """In Elo, relative to the pool's mean or its anchors."""
    anchored: NDArray[np.bool_]
    """Of every pool."""
    advantage: float | None
    advantage_err95: float | None
    cycles: Cycles | None


def strengths(
    counts: Counts, pool: Places, anchor: Floats, *, advantage: bool, prior: bool
) -> Strengths:
    """`pool` is -1 for who cannot be rated; `anchor` is an Elo, or nan."""
    members = np.flatnonzero(pool >= 0)
    played = _within_pools(counts, pool)
    bouts = _bouts(played, members, pool, anchor, advantage=advantage)
    whole = _with_average_opponents(bouts) if prior else bouts
    fitted = fit(whole)
    real = len(bouts.low)
    games_only = fitted._replace(expected=fitted.expected[:, :real])
    rate = davidson.draw_rate(games_only.expected, bouts.games, float(played.draws.sum()))
    likely = likely_scatter(bouts, games_only, rate)
    matrix = _covariance(played, bouts, whole, fitted, likely)
    elo, spread = _centred(bouts, fitted, matrix, anchor[members])
    alone = np.bincount(bouts.pool, minlength=len(bouts.pool))[bouts.pool] == 1
    error = np.where(alone & ~bouts.anchored, np.nan, err95(np.diagonal(spread)))
    seen = advantage and real > 0
    return Strengths(
        elo=_laid_out(elo, members, len(pool)),
        err95=_laid_out(error, members, len(pool)),
        members=members,
        covariance=spread,
        anchored=sum_by(bouts.pool, bouts.anchored) > 0,
        advantage=fitted.advantage / K if seen else None,
        advantage_err95=float(err95(matrix[-1, -1])) / K if seen else None,
        cycles=cycles([counts.players[i] for i in members], bouts, games_only, likely),
    )


def _within_pools(counts: Counts, pool: Places) -> Counts:
    one, other = pool[counts.low], pool[counts.high]
    inside = (one == other) & (one >= 0)
    if inside.all():
        return counts
    return Counts(counts.players, *(values[..., inside] for values in counts[1:]))


def _bouts(
    played: Counts, members: Places, pool: Places, anchor: Floats, *, advantage: bool
) -> Bouts:
    index = np.zeros(len(pool), np.intp)
    index[members] = np.arange(len(members))
    games, points = played.games.astype(float), played.half_points / 2
    if not advantage:
        games, points = games.sum(axis=0, keepdims=True), points.sum(axis=0, keepdims=True)
    found = Bouts(
        low=index[played.low],
        high=index[played.high],
        games=games,
        points=points,
        pool=pool[members],
        anchored=~np.isnan(anchor[members]),
        strength=np.where(np.isnan(anchor[members]), 0.0, K * anchor[members]),
    )
    return found._replace(strength=_start(found))


def _start(bouts: Bouts) -> Floats:
    """Given strengths; for others the average of those in the pool, or what the scores suggest."""
    given = sum_by(bouts.pool, bouts.anchored)[bouts.pool]
    total = sum_by(bouts.pool, bouts.strength)[bouts.pool]
    points = bouts.points.sum(axis=0)
    against = bouts.games.sum(axis=0) - points
    won, lost = gather(bouts, points, against), gather(bouts, against, points)
    start = np.where(given > 0, total / np.maximum(given, 1), np.log((won + 1) / (lost + 1)))
    return np.where(bouts.anchored, bouts.strength, start)


def _with_average_opponents(bouts: Bouts) -> Bouts:
    players, seats = len(bouts.pool), len(bouts.games)
    pools, first = np.unique(bouts.pool, return_index=True)
    draw = np.full((seats, players), 1 / seats)
    return Bouts(
        low=np.append(bouts.low, np.arange(players)),
        high=np.append(bouts.high, players + bouts.pool),
        games=np.hstack([bouts.games, draw]),
        points=np.hstack([bouts.points, draw / 2]),
        pool=np.append(bouts.pool, pools),
        anchored=np.append(bouts.anchored, np.zeros(len(pools), np.bool_)),
        strength=np.append(bouts.strength, bouts.strength[first]),
    )


def _covariance(played: Counts, bouts: Bouts, whole: Bouts, fitted: Fit, likely: Scatter) -> Floats:
    """Of everything that was fitted, in strengths."""
    real = len(bouts.low)
    expected = fitted.expected[:, :real]
    even = (bouts.games * davidson.variance(expected, 0.0)).sum(axis=0)
    seen = observed_scatter(played.moments, expected)
    scatter = believed_scatter(bouts, seen, likely, played.clusters, even)
    if len(whole.low) > real:
        # A virtual draw is as uncertain as a game: what it pulls too far is in the error as well.
        virtual = fitted.weight[:, real:]
        both = virtual.sum(axis=0)
        extra = Scatter(both, whole.signs @ virtual, both)
        scatter = Scatter(*(np.append(a, b) for a, b in zip(scatter, extra, strict=True)))
    return covariance(whole, fitted, scatter)


def _centred(bouts: Bouts, fitted: Fit, matrix: Floats, anchor: Floats) -> tuple[Floats, Floats]:
    """Elo and its covariance, relative to the mean of each pool without an anchor.

    The covariance is the matrix itself, changed: of thousands of players it is too large to copy.
    """
    players = len(bouts.pool)
    elo = fitted.strength[:players] / K
    spread = matrix[:players, :players]
    spread /= K * K
    for members in loose_pools(bouts):
        elo[members] -= elo[members].mean()
        centre(spread, members)
    return np.where(bouts.anchored, anchor, elo), spread


def _laid_out(values: Floats, members: Places, players: int) -> Floats:
    everywhere = np.full(players, np.nan)
    everywhere[members] = values
    return everywhere
