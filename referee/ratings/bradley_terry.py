"""Bradley–Terry by maximum likelihood: one number for each player, from counts of games.

With strengths θ (K = ln 10 / 400 of them is one Elo) a player is expected to score
p = 1 / (1 + e^−(θi − θj + a)) in seat 0 and a is the advantage of that seat, 0 unless asked for; a
draw is half a win. The likelihood is concave: the gradient is Σ (points − games·p), the Hessian a
graph Laplacian of the weights games·p·(1−p), with one more row and column for a. Newton steps
solve it to the last digits; differences change by at most STEP_CAP in one step.

- Where more than a thousand players meet, steps come from the encounters alone (linear.py).
- Only differences count. A pool of players without an anchor is held by adding c·11ᵀ to its part
  of the Hessian; anchored players are taken out of the unknowns (constrained maximum likelihood).
- The solution is finite where every pool is strongly connected by "has scored against", its
  anchors counting as one player; pools.py sees to that.
- The advantage may still be without bounds (the first seat won every game) or not be told apart
  from the strengths (nobody ever swapped seats). One virtual drawn game of equals, half a draw for
  each seat, then holds it, and only then.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from referee.ratings import linear
from referee.ratings.counts import sum_by

Floats = NDArray[np.float64]

K = math.log(10) / 400
"""Strength of one Elo."""
STEP_CAP = 3.0
STEPS = 500
"""Far more than are taken: about five, and one for each power of e that a score is from even."""
PRECISE = 1e-5
"""Steps converge quadratically: the error after one as small as this is about its square."""
UNBOUNDED = 16.0
"""An advantage beyond this (2,800 Elo) is one that the games do not bound."""
TOLD = 1e-9
"""An advantage with less than this share of its information for itself is not told by the games."""
LEAST_WEIGHT = 1e-12
"""Of a game: absurd anchors must not make the Hessian singular."""


class Bouts(NamedTuple):
    """What was played among players that can be rated, as numbers of the model."""

    low: NDArray[np.intp]
    high: NDArray[np.intp]
    games: Floats
    """One row where seats do not matter, else two: with `low` in seat 0 and in seat 1."""
    points: Floats
    """Of `low`, in the same rows."""
    pool: NDArray[np.intp]
    """Of every player; what is virtual comes last."""
    anchored: NDArray[np.bool_]
    strength: Floats
    """Of anchored players; of others, where to start."""

    @property
    def signs(self) -> Floats:
        """What the advantage does for `low`, by the rows of `games`."""
        return np.array([0.0] if len(self.games) == 1 else [1.0, -1.0])

    @property
    def seats_matter(self) -> bool:
        return len(self.games) == 2


class Fit(NamedTuple):
    strength: Floats
    advantage: float
    held: bool
    """Whether a virtual draw was needed for the advantage."""
    expected: Floats
    """Share of the points that `low` is expected to score, in the rows of `Bouts.games`."""
    weight: Floats
    """Games·p·(1−p), in the same rows."""


class _Point(NamedTuple):
    """Where a step has led."""

    unknowns: Floats
    """Strengths, and the advantage as the last where seats matter."""
    expected: Floats
    weight: Floats
    gradient: Floats


def fit(bouts: Bouts) -> Fit:
    """The most likely strengths. Pools without an anchor are not yet centred."""
    held = False
    found = _climb(bouts, held)
    if found is None:
        held = True
        found = _climb(bouts, held)
    assert found is not None
    players = len(bouts.pool)
    return Fit(
        strength=found.unknowns[:players],
        advantage=float(found.unknowns[-1]) if bouts.seats_matter else 0.0,
        held=held,
        expected=found.expected,
        weight=found.weight,
    )


def hessian(bouts: Bouts, weight: Floats, *, held: bool, advantage: float = 0.0) -> Floats:
    """Minus the second derivatives, without what holds the pools in place."""
    total = laplacian(
        bouts,
        both=weight.sum(axis=0),
        mixed=bouts.signs @ weight,
        seat=float(weight.sum()),
    )
    if held:
        total[-1, -1] += float(_logistic(np.array([advantage]))[2][0])
    return total


def laplacian(bouts: Bouts, both: Floats, mixed: Floats, seat: float) -> Floats:
    """Σ over encounters of w·uuᵀ, u = e_low − e_high, bordered by the advantage if seats matter.

    `both` are the weights of the differences, `mixed` those of difference and advantage, `seat`
    that of the advantage alone.
    """
    players = len(bouts.pool)
    size = players + bouts.seats_matter
    matrix = np.zeros((size, size))
    matrix[bouts.low, bouts.high] = -both
    matrix[bouts.high, bouts.low] = -both
    np.fill_diagonal(matrix[:players, :players], gather(bouts, both, both))
    if bouts.seats_matter:
        border = gather(bouts, mixed, -mixed)
        matrix[-1, :players] = matrix[:players, -1] = border
        matrix[-1, -1] = seat
    return matrix


def pull(bouts: Bouts, both: Floats) -> Callable[[Floats], Floats]:
    """What `laplacian` does to strengths, without the matrix."""

    def times(strength: Floats) -> Floats:
        off = both * (strength[bouts.low] - strength[bouts.high])
        return gather(bouts, off, -off)

    return times


def hold(bouts: Bouts, matrix: Floats) -> Floats:
    """Take the freedom from every pool without an anchor, in place."""
    scale = max(float(np.trace(matrix)), 1.0) / max(len(matrix), 1)
    for members in loose_pools(bouts):
        if len(members) == len(bouts.pool):
            matrix[: len(members), : len(members)] += scale / len(members)
        else:
            matrix[np.ix_(members, members)] += scale / len(members)
    return matrix


def loose_pools(bouts: Bouts) -> list[NDArray[np.intp]]:
    """The players of every pool that no anchor holds."""
    pools = int(bouts.pool.max(initial=-1)) + 1
    anchors = sum_by(bouts.pool, bouts.anchored, pools)
    order = np.argsort(bouts.pool, kind="stable")
    ends = np.cumsum(np.bincount(bouts.pool, minlength=pools))
    members = np.split(order, ends[:-1]) if pools else []
    return [part for part, held in zip(members, anchors, strict=True) if not held]


def part(matrix: Floats, chosen: NDArray[np.intp]) -> Floats:
    """These rows and columns of a matrix; itself, and no copy, where they are all of them."""
    return matrix if len(chosen) == len(matrix) else matrix[np.ix_(chosen, chosen)]


def unknown(bouts: Bouts) -> NDArray[np.intp]:
    """Which rows of the Hessian are unknowns: all but anchored players."""
    return np.flatnonzero(np.append(~bouts.anchored, [True] * bouts.seats_matter))


def gather(bouts: Bouts, low: Floats, high: Floats) -> Floats:
    """Sums for each player where it is `low` and where it is `high`."""
    players = len(bouts.pool)
    return sum_by(bouts.low, low, players) + sum_by(bouts.high, high, players)


def _logistic(x: Floats) -> tuple[Floats, Floats, Floats]:
    """p, the smaller of p and 1−p, and p·(1−p): none of them overflows or cancels."""
    small = np.exp(-np.abs(x))
    least = small / (1 + small)
    return np.where(x >= 0, 1 / (1 + small), least), least, least / (1 + small)


def _look(bouts: Bouts, unknowns: Floats, held: bool) -> _Point:
    players = len(bouts.pool)
    difference = unknowns[bouts.low] - unknowns[bouts.high]
    advantage = float(unknowns[-1]) if bouts.seats_matter else 0.0
    logit = difference + bouts.signs[:, None] * advantage
    expected, least, slope = _logistic(logit)
    # Points − games·p, from the side that is near 0: near 1 the difference would be rounding.
    missed = bouts.games - bouts.points
    surplus = np.where(logit >= 0, bouts.games * least - missed, bouts.points - bouts.games * least)
    both = surplus.sum(axis=0)
    gradient = np.zeros(len(unknowns))
    gradient[:players] = gather(bouts, both, -both)
    if bouts.seats_matter:
        gradient[-1] = float((bouts.signs @ surplus).sum())
    if held:
        gradient[-1] += 0.5 - float(_logistic(np.array([advantage]))[0][0])
    weight = bouts.games * np.maximum(slope, LEAST_WEIGHT)
    return _Point(unknowns, expected, weight, gradient)


def _climb(bouts: Bouts, held: bool) -> _Point | None:
    """To the top; None where an advantage that nothing holds has none."""
    here = _look(bouts, np.append(bouts.strength, [0.0] * bouts.seats_matter), held)
    for _ in range(STEPS):
        advantage = float(here.unknowns[-1]) if bouts.seats_matter else 0.0
        step, told = _newton_step(bouts, here, held, advantage)
        if not held and not (told and abs(advantage) <= UNBOUNDED):
            return None
        here, whole = _go(bouts, here, step, held)
        if whole and float(np.abs(step).max(initial=0.0)) < PRECISE:
            break
    return here


def _newton_step(bouts: Bouts, here: _Point, held: bool, advantage: float) -> tuple[Floats, bool]:
    """The step, and whether the games tell the advantage from the strengths.

    They do where the advantage has information of its own left when that which the strengths
    explain as well is taken off (the Schur complement).
    """
    step = np.zeros(len(here.gradient))
    players = len(bouts.pool)
    free = np.flatnonzero(~bouts.anchored)
    gradient = here.gradient[:players]
    if not bouts.seats_matter:
        step[free] = _explained(bouts, here.weight, gradient[:, None])[:, 0]
        return step, True
    mixed = bouts.signs @ here.weight
    border = gather(bouts, mixed, -mixed)
    corner = float(here.weight.sum())
    if held:
        corner += float(_logistic(np.array([advantage]))[2][0])
    solved = _explained(bouts, here.weight, np.stack([gradient, border], axis=1))
    border = border[free]
    left = corner - float(border @ solved[:, 1])
    if left <= TOLD * corner:
        return step, False
    step[-1] = (float(here.gradient[-1]) - float(border @ solved[:, 0])) / left
    step[free] = solved[:, 0] - step[-1] * solved[:, 1]
    return step, True


def _explained(bouts: Bouts, weight: Floats, forces: Floats) -> Floats:
    """The changes of those who are not anchored that answer these columns of forces."""
    both = weight.sum(axis=0)
    free = np.flatnonzero(~bouts.anchored)
    if len(bouts.pool) > linear.MANY:
        found = [_explained_by_turns(bouts, both, force) for force in forces.T]
        solved = [change[free] for change in found if change is not None]
        if len(solved) == len(found):
            return np.stack(solved, axis=1)
    alone = bouts._replace(games=bouts.games[:1])
    matrix = hold(alone, laplacian(alone, both, both, 0.0))
    answer = np.linalg.solve(part(matrix, free), forces[free])
    return answer.astype(np.float64, copy=False)


def _explained_by_turns(bouts: Bouts, both: Floats, force: Floats) -> Floats | None:
    """The same for one force, by conjugate gradients."""
    pools = int(bouts.pool.max(initial=-1)) + 1
    diagonal = gather(bouts, both, both)
    members = sum_by(bouts.pool, np.ones(len(bouts.pool)), pools)
    loose = sum_by(bouts.pool, bouts.anchored, pools) == 0
    share = np.where(loose, float(diagonal.mean()) / np.maximum(members, 1), 0.0)
    times = pull(bouts, both)

    def held(strength: Floats) -> Floats:
        moved = times(strength) + (share * sum_by(bouts.pool, strength, pools))[bouts.pool]
        return np.where(bouts.anchored, strength, moved)

    diagonal = np.where(bouts.anchored, 1.0, diagonal + share[bouts.pool])
    return linear.solve(held, diagonal, np.where(bouts.anchored, 0.0, force))


def _go(bouts: Bouts, here: _Point, step: Floats, held: bool) -> tuple[_Point, bool]:
    """Along a step, as far as the likelihood goes on rising; and whether that was all the way."""
    seat = float(step[-1]) if bouts.seats_matter else 0.0
    change = np.abs(step[bouts.low] - step[bouts.high]).max(initial=0.0) + abs(seat)
    share = min(1.0, STEP_CAP / change) if change > 0 else 1.0
    slope = float(here.gradient @ step)
    while True:
        there = _look(bouts, here.unknowns + share * step, held)
        # The slope along the step falls all the way. Steep downhill means far beyond the top.
        if change < 1e-4 or share < 1e-6 or float(there.gradient @ step) >= -0.5 * slope:
            return there, share == 1.0
        share /= 2
