"""Who can be rated against whom.

A finite most likely rating exists only among players that are strongly connected by "has scored
against" (a draw is half a point for both). So first whoever has a perfect score is taken out, all
wins or all losses; then among the others somebody may have a perfect score, and so on. The rest
falls into its strongly connected components: pools, each with a scale of its own. Anchored players
are on one scale whatever they played, so here they count as one player.

Where virtual draws are added nobody is perfect, and a pool is whoever is connected by games at all.

Graphs are square arrays of booleans, which the ratings' covariance outweighs eight times.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from referee.ratings.counts import Counts
from referee.ratings.two_players import elo, perfect_limit

Bools = NDArray[np.bool_]
Places = NDArray[np.intp]


class Split(NamedTuple):
    """Every player is in a pool, has a perfect score, or has no games."""

    pool: Places
    """-1: in none."""
    perfect: NDArray[np.int8]
    """1: all wins, -1: all losses, in what is left when its turn comes."""
    turn: Places
    """When it was taken out for a perfect score, counted from 1; 0: never."""
    unit: Places
    """Equal for players of one pool and for those that were taken out as one; -1: no games."""


def split(counts: Counts, anchored: Bools, *, prior: bool) -> Split:
    players = len(counts.players)
    node = _as_one(anchored)
    scored = _who_scored(counts, node, players)
    has_games = np.zeros(players, np.bool_)
    has_games[counts.low] = has_games[counts.high] = True
    perfect = np.zeros(players, np.int8)
    turn = np.zeros(players, np.intp)
    if prior:
        scored |= scored.T
    else:
        perfect, turn = _take_out(scored)
    inside = np.zeros(players, np.bool_)
    inside[node[has_games]] = True
    inside &= turn == 0
    label = components(scored, inside)
    pool = _renumbered(np.where(has_games, label[node], -1))
    return Split(
        pool=pool,
        perfect=perfect[node] * has_games,
        turn=turn[node] * has_games,
        unit=np.where(has_games, np.where(pool >= 0, pool, players + node), -1),
    )


def components(edges: Bools, inside: Bools) -> Places:
    """The strongly connected component of every node inside, -1 outside.

    Forward and backward from one node: what is reached both ways is its component, and every
    other component lies whole in one of the three parts that are left.
    """
    label = np.full(len(edges), -1, np.intp)
    backward = np.ascontiguousarray(edges.T)
    parts = [inside.copy()]
    found = 0
    while parts:
        part = parts.pop()
        if not part.any():
            continue
        start = int(part.argmax())
        ahead, behind = _reach(edges, start, part), _reach(backward, start, part)
        label[ahead & behind] = found
        found += 1
        parts += [ahead & ~behind, behind & ~ahead, part & ~ahead & ~behind]
    return label


def dominated(counts: Counts, unit: Places) -> set[tuple[int, int]]:
    """(a, b) where a player of unit a won all games against one of unit b.

    A unit is what games put in no doubt: a pool, or one player with a perfect score; -1 is none.
    """
    one, other = unit[counts.low], unit[counts.high]
    apart = (one != other) & (one >= 0) & (other >= 0)
    won = counts.half_points[:, apart].sum(axis=0) > 0
    one, other = one[apart], other[apart]
    above, below = np.where(won, one, other), np.where(won, other, one)
    return set(zip(above.tolist(), below.tolist(), strict=True))


class Bounds(NamedTuple):
    """What a perfect score tells: at least or at most so much Elo."""

    elo: NDArray[np.float64]
    """nan for all that have none."""
    pool: Places
    """On whose scale: that of most games; -1 where no opponent has a rating."""


def bounds(counts: Counts, parts: Split, ratings: NDArray[np.float64]) -> Bounds:
    """The Elo against the average opponent that a perfect score leaves likely at 95 %.

    Only games count in which it was perfect: not those against players taken out before. An
    opponent that was taken out later for the same reason counts with its own bound, and others
    without a rating do not count; where none is left, the average is taken as 0.
    """
    found = np.full(len(ratings), np.nan)
    scale = np.full(len(ratings), -1, np.intp)
    if not parts.turn.any():
        return Bounds(found, scale)
    games = counts.games.sum(axis=0)
    known, pool = ratings.copy(), parts.pool.copy()
    starts, encounters, opponents = _by_player(counts)
    # The last to be taken out stand nearest to the pools: their bounds serve the others.
    order = [int(i) for i in np.argsort(-parts.turn, kind="stable") if parts.turn[i]]
    for player in order:
        part = slice(starts[player], starts[player + 1])
        met, opponent = encounters[part], opponents[part]
        turn, same = parts.turn[opponent], parts.perfect[opponent] == parts.perfect[player]
        # Alike and in the same turn are only anchored players, and not by games of theirs.
        counted = (turn == 0) | (turn > parts.turn[player])
        counted |= (turn == parts.turn[player]) & ~same
        if not counted.any():
            continue
        helps = ~np.isnan(known[opponent]) & counted & ((turn == 0) | same)
        home = _most_games(pool[opponent[helps]], games[met[helps]])
        helps &= pool[opponent] == home
        weight = games[met[helps]]
        average = float(weight @ known[opponent[helps]] / weight.sum()) if len(weight) else 0.0
        pairs = int(counts.clusters[met[counted]].sum())
        found[player] = average + int(parts.perfect[player]) * elo(perfect_limit(pairs))
        scale[player] = home
        known[player], pool[player] = found[player], home
    return Bounds(found, scale)


def _as_one(anchored: Bools) -> Places:
    """The node that stands for each player: itself, and for all anchored players the first."""
    node = np.arange(len(anchored))
    if anchored.any():
        node[anchored] = int(anchored.argmax())
    return node


def _who_scored(counts: Counts, node: Places, players: int) -> Bools:
    """scored[i, j]: i has scored against j. Nobody against itself."""
    scored = np.zeros((players, players), np.bool_)
    points, games = counts.half_points.sum(axis=0), counts.games.sum(axis=0)
    low, high = node[counts.low], node[counts.high]
    some, not_all = points > 0, points < 2 * games
    scored[low[some], high[some]] = True
    scored[high[not_all], low[not_all]] = True
    np.fill_diagonal(scored, False)
    return scored


def _take_out(scored: Bools) -> tuple[NDArray[np.int8], Places]:
    perfect = np.zeros(len(scored), np.int8)
    turn = np.zeros(len(scored), np.intp)
    beaten, lost_to = scored.sum(axis=1), scored.sum(axis=0)
    now = 0
    while True:
        now += 1
        in_play = (turn == 0) & (beaten + lost_to > 0)
        out = np.flatnonzero(in_play & ((beaten == 0) | (lost_to == 0)))
        if not len(out):
            return perfect, turn
        perfect[out] = np.where(lost_to[out] == 0, 1, -1)
        turn[out] = now
        beaten = beaten - scored[:, out].sum(axis=1)
        lost_to = lost_to - scored[out].sum(axis=0)


def _reach(edges: Bools, start: int, part: Bools) -> Bools:
    reached = np.zeros(len(edges), np.bool_)
    reached[start] = True
    frontier = np.array([start])
    while len(frontier):
        new = edges[frontier].any(axis=0) & part & ~reached
        reached |= new
        frontier = np.flatnonzero(new)
    return reached


def _renumbered(pool: Places) -> Places:
    """The same pools, numbered in the order of their first players."""
    kinds, first, label = np.unique(pool, return_index=True, return_inverse=True)
    outside = int(np.count_nonzero(kinds < 0))
    number = np.empty(len(kinds), np.intp)
    number[np.argsort(np.where(kinds < 0, -1, first))] = np.arange(len(kinds)) - outside
    fresh: Places = number[label].astype(np.intp)
    return fresh


def _by_player(counts: Counts) -> tuple[Places, Places, Places]:
    """For each player: where its part starts in (its encounters, its opponents there)."""
    players = len(counts.players)
    ends = np.concatenate([counts.low, counts.high])
    order = np.argsort(ends, kind="stable")
    opponents = np.concatenate([counts.high, counts.low])[order]
    starts = np.append(0, np.cumsum(np.bincount(ends, minlength=players)))
    encounters = np.tile(np.arange(len(counts.low)), 2)[order]
    return starts.astype(np.intp), encounters.astype(np.intp), opponents


def _most_games(pool: Places, games: NDArray[np.int64]) -> int:
    """The pool in which most of the games were played; of several the first."""
    inside = pool >= 0
    if not inside.any():
        return -1
    return int(np.bincount(pool[inside], games[inside]).argmax())
