"""Two players: score, Elo difference and how sure it is, from pairs of games.

Games come in pairs with the same chance and swapped seats, and the two games of a pair are not
independent, so the variance is taken between pairs (0, ½, 1, 1½ or 2 points each) and single games
count as half a pair. Never NaN: a perfect score gives a bound, no games give nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from msgspec import Struct

Z95 = 1.959964


class Score(Struct, frozen=True):
    """How the first player stands against the second."""

    wins: int
    draws: int
    losses: int
    pairs: int
    """Whole pairs of rated games."""
    elo: float | None
    """Elo difference; None where the score is perfect or there are no games."""
    err95: float | None
    """Half the width of the 95 % interval."""
    bound: str | None
    """For a perfect score: `>` or `<`, the difference is at least or at most `bound_elo`."""
    bound_elo: float | None
    superiority: float
    """Likelihood that the first is the stronger."""
    normalised_elo: float | None = None
    """(mean − ½)/σ · 800/ln 10, σ² the variance of a game, taken between pairs: how clear the
    difference is, whatever the share of draws. None without games, or where no pair differs."""

    @property
    def games(self) -> int:
        return self.wins + self.draws + self.losses

    @property
    def points(self) -> float:
        return self.wins + self.draws / 2


def score(results: Iterable[tuple[int, float]]) -> Score:
    """From (pair, points of the first player) of every rated game."""
    by_pair: dict[int, list[float]] = {}
    wins = draws = losses = 0
    for pair, points in results:
        by_pair.setdefault(pair, []).append(points)
        wins += points == 1.0
        draws += points == 0.5
        losses += points == 0.0
    games = wins + draws + losses
    whole = sum(len(points) > 1 for points in by_pair.values())
    points = wins + draws / 2
    if games == 0:
        return Score(0, 0, 0, 0, None, None, None, None, 0.5)
    if points in (0.0, games):
        limit = elo(perfect_limit(len(by_pair)))
        sign = 1 if points else -1
        sure = 1 - 0.5 ** (len(by_pair) + 1)
        return Score(
            *(wins, draws, losses, whole, None, None),
            bound=">" if points else "<",
            bound_elo=sign * limit,
            superiority=sure if points else 1 - sure,
        )
    mean = points / games
    spread = _spread(list(by_pair.values()), points, games)
    error = _standard_error(spread, len(by_pair), games)
    low, high = mean - Z95 * error, mean + Z95 * error
    return Score(
        *(wins, draws, losses, whole),
        elo=elo(mean),
        err95=(elo(high) - elo(low)) / 2 if low > 0 and high < 1 else Z95 * error * _slope(mean),
        bound=None,
        bound_elo=None,
        superiority=0.5 * (1 + math.erf((mean - 0.5) / error / math.sqrt(2))),
        normalised_elo=_normalised(mean, spread / games),
    )


def elo(mean: float) -> float:
    """The Elo difference at which this mean score is expected."""
    return 400 * math.log10(mean / (1 - mean))


def _slope(mean: float) -> float:
    """Elo per point of mean score, for an interval that would reach beyond a whole score."""
    return 400 / math.log(10) / (mean * (1 - mean))


def _normalised(mean: float, variance: float) -> float | None:
    """By the variance of a game; where games come in pairs it is twice that of a pair's mean."""
    if variance == 0:
        return None
    return (mean - 0.5) / math.sqrt(variance) * 800 / math.log(10)


def _spread(pairs: list[list[float]], points: float, games: int) -> float:
    """The squares of what each pair is off the mean, in points, added up."""
    # Whole and half numbers, so that what is not off is 0 exactly; and the sum is exactly rounded:
    # the same games in another order give the same table to the last digit.
    off = (sum(pair) * games - points * len(pair) for pair in pairs)
    return math.fsum(each * each for each in off) / games**2


def _standard_error(spread: float, pairs: int, games: int) -> float:
    """Of the mean score, clustered by pairs. Floored: a thousand copies of one game prove little.

    The floor is one pair that came out a point otherwise; without it, pairs that are all 1–1
    would claim certainty.
    """
    correction = pairs / (pairs - 1) if pairs > 1 else 1.0
    return math.sqrt(max(spread * correction, 1.0)) / games


def perfect_limit(pairs: int) -> float:
    """The least mean score that a perfect result over so many pairs leaves likely (95 %)."""
    return _clamp(0.025 ** (1 / pairs))


def _clamp(mean: float) -> float:
    return min(max(mean, 1e-6), 1 - 1e-6)
