"""Nash averaging: who is left if everybody picks a player and the better one wins.

Two people each pick a player of the table, and the one's gain is the log-odds of the pick against
the other's. What nobody can beat on average is a mix of players, a Nash equilibrium: for a ladder
its best player, for rock-paper-scissors a third of each. There may be many; the one of the greatest
entropy is unique, and in it copies of one player share alike, so that to enter a bot twice
changes nothing for the others (Balduzzi and others, "Re-evaluating evaluation", 2018).

With A the antisymmetric matrix of log-odds and a temperature τ, let the mix be the p of
u = A·p, p = softmax(u/τ). That is the saddle point of the game with τ times their entropy given to
both sides, and there is one for every τ > 0. Nobody gains more than τ·log n against it, its entropy
is no less than that of any equilibrium, and as τ falls to 0 it becomes the one of the greatest
entropy. So it is followed from where all are nearly alike down to a τ that is nothing: a step along
the tangent, then Newton's. With v = √p, D = diag(v) and R = D·(I − v·vᵀ) the matrix to solve by is
τ·I − Rᵀ·A·R; as A is antisymmetric it cannot be singular, whatever was played.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from referee.ratings.bradley_terry import K
from referee.ratings.counts import Counts

Floats = NDArray[np.float64]
Places = NDArray[np.intp]

COLDEST = 1e-8
"""The temperature at the end, in log-odds."""
_NOTHING = 1e-10
"""A share below this is none."""
_FAINT = 1e-40
"""Who has less is moved by the others and moves nobody."""
_STEPS = 12
_NEAR = 1e-4
"""Newton's steps end below this, in temperatures: their error is then about its square."""
_SHORTEST = 0.99
"""If τ cannot even fall by so much, rounding is in the way, and what was reached is good."""


class Mix(NamedTuple):
    share: Floats
    """Of every player in the equilibrium; 1 in all."""
    skill: Floats
    """Average log-odds against it: 0 for whoever is in it, and less for others."""


def unmet(counts: Counts) -> NDArray[np.bool_]:
    """Which two players never met, as a square."""
    apart = np.ones((len(counts.players),) * 2, np.bool_)
    apart[counts.low, counts.high] = apart[counts.high, counts.low] = False
    np.fill_diagonal(apart, False)
    return apart


def log_odds(counts: Counts, guesses: Floats) -> Floats:
    """Of every player against every other; `guesses` are taken for those who never met."""
    points, games = counts.half_points.sum(axis=0) / 2, counts.games.sum(axis=0)
    # Half a point more for both sides keeps a whole score finite.
    odds = np.log((points + 0.5) / (games - points + 0.5))
    # Ratings are a solution to some digits, and the last ones must not tell copies apart.
    found = np.where(unmet(counts), np.round(guesses, 9), 0.0)
    found[counts.low, counts.high] = odds
    found[counts.high, counts.low] = -odds
    return found


def differences(elo: Floats, pool: Places) -> Floats:
    """In log-odds, of every two players on one scale; nan for others."""
    same = (pool[:, None] == pool) & (pool >= 0)
    return np.where(same, K * (elo[:, None] - elo), np.nan)


def equilibrium(odds: Floats) -> Mix:
    """The Nash equilibrium of greatest entropy of an antisymmetric matrix."""
    players = len(odds)
    largest = float(np.abs(odds).max(initial=0.0))
    if largest == 0:
        return Mix(np.full(players, 1 / max(players, 1)), np.zeros(players))
    heat = 4 * largest
    found = _settled(odds, np.zeros(players), heat)
    gains = np.zeros(players) if found is None else found
    fall = 0.5
    while heat > COLDEST and fall < _SHORTEST:
        colder = max(fall * heat, COLDEST)
        ahead = gains + (colder - heat) * _tangent(odds, gains, heat)
        found = _settled(odds, ahead, colder)
        if found is None:
            fall **= 0.5
        else:
            gains, heat = found, colder
            fall = max(fall**1.5, 0.05)
    share = _softmax(gains / heat)
    share[share < _NOTHING] = 0.0
    share /= share.sum()
    return Mix(share, odds @ share)


def _softmax(values: Floats) -> Floats:
    with np.errstate(under="ignore"):
        weights = np.exp(values - values.max())
        shares: Floats = weights / weights.sum()
    return shares


def _settled(odds: Floats, gains: Floats, heat: float) -> Floats | None:
    """The u of this temperature, from one nearby; None if it is too far away."""
    largest, last = float(np.abs(odds).max()), np.inf
    share = _softmax(gains / heat)
    for _ in range(_STEPS):
        step = _solved(odds, share, heat, odds @ share - gains)
        # Nobody's average is beyond the largest odds, wherever a step would lead.
        gains = np.clip(gains + step, -largest, largest)
        before, share = share, _softmax(gains / heat)
        size = float(np.abs(step[np.maximum(before, share) > _NOTHING]).max()) / heat
        if size < _NEAR:
            return gains
        if size > 2 * last:
            return None
        last = size
    return None


def _tangent(odds: Floats, gains: Floats, heat: float) -> Floats:
    """How u changes with the temperature."""
    share = _softmax(gains / heat)
    pull = share * (gains - share @ gains) / heat**2
    return _solved(odds, share, heat, -odds @ pull)


def _solved(odds: Floats, share: Floats, heat: float, off: Floats) -> Floats:
    """The x of x − A·(diag(p) − p·pᵀ)·x/τ = off, which is off + A·R·(τ·I − Rᵀ·A·R)⁻¹·Rᵀ·off."""
    inside = np.flatnonzero(share > _FAINT)
    root = np.sqrt(share[inside])
    across = root[:, None] * odds[np.ix_(inside, inside)] * root
    # Rᵀ·A·R, without the products of whole matrices.
    toward = across @ root
    across += np.outer(root, toward) - np.outer(toward, root)
    known = _across(root, root * off[inside])
    inner = np.linalg.solve(heat * np.eye(len(inside)) - across, known).astype(np.float64)
    moved: Floats = odds[:, inside] @ (root * _across(root, inner))
    return off + moved


def _across(root: Floats, values: Floats) -> Floats:
    """Without the part along the unit vector `root`."""
    return values - root * (root @ values)
