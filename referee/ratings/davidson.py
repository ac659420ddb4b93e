"""How much a score scatters when games can be drawn (Davidson).

The expected score p stays logistic. With q the share of draws between equals and ν = 2q/(1−q), the
chances of win, draw and loss are those with D = ν·√(W·L), W + D + L = 1 and W + D/2 = p. They have
a closed form: with r = √(ν²/4 + p(1−p)(4−ν²))

    D = 2ν·p(1−p) / (ν/2 + r)        variance of a game's points = p(1−p) − D/4
                                                                = p(1−p)·r / (ν/2 + r)

and neither cancels where p is near 0 or 1. One q for the table, from: expected draws = observed.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

LEAST_VARIANCE = 1e-12
"""Of a game between players that are absurdly far apart."""
_TURNS = 60


def variance(expected: Floats, draw_rate: float) -> Floats:
    """Of the points of one game."""
    even, half_nu, root = _parts(expected, draw_rate)
    spread: Floats = np.maximum(even * root / (half_nu + root), LEAST_VARIANCE)
    return spread


def draws(expected: Floats, draw_rate: float) -> Floats:
    """The chance that one game is drawn."""
    even, half_nu, root = _parts(expected, draw_rate)
    chance: Floats = 4 * half_nu * even / (half_nu + root)
    return chance


def draw_rate(expected: Floats, games: Floats, drawn: float) -> float:
    """The share of draws between equals at which as many draws are expected as were seen.

    Below 1, as a thousand draws do not show that no game could be won: half a decided game is
    always allowed for.
    """
    played = float(games.sum())
    most = 1 - 0.5 / (played + 1)
    low, high = 0.0, most

    def surplus(rate: float) -> float:
        return float((games * draws(expected, rate)).sum()) - drawn

    at_low, at_high = -drawn, surplus(most)
    if at_low >= 0:
        return 0.0
    if at_high <= 0:
        return most
    # False position with the Illinois rule: the end that stays counts half.
    side = 0
    for _ in range(_TURNS):
        rate = (low * at_high - high * at_low) / (at_high - at_low)
        found = surplus(rate)
        if abs(found) <= 1e-9 * played:
            return rate
        if found < 0:
            low, at_low = rate, found
            at_high = at_high / 2 if side == -1 else at_high
            side = -1
        else:
            high, at_high = rate, found
            at_low = at_low / 2 if side == 1 else at_low
            side = 1
    return (low + high) / 2


def _parts(expected: Floats, rate: float) -> tuple[Floats, float, Floats]:
    even = expected * (1 - expected)
    half_nu = rate / (1 - rate)
    # ν²/4 + pq(4−ν²) = ν²/4·(1−4pq) + 4pq: a sum of what is not negative.
    root = np.sqrt(half_nu * half_nu * np.maximum(1 - 4 * even, 0.0) + 4 * even)
    return even, half_nu, np.maximum(root, np.finfo(float).tiny)
