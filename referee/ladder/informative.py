"""Which pairing tells most: the one whose games are expected to narrow the ratings most.

With C the covariance of the strengths, v = e_i − e_j and w = n·p·(1−p) the weight of n games of i
and j, the trace of C falls by w·‖Cv‖² / (1 + w·vᵀCv). For all pairs at once that is arithmetic on
C and C². A pairing that has been given out counts as if it had been played: C loses a matrix of
rank one, and the next choice is made with what is left. So many choices can be made before the
ratings are fitted again.

Strengths come from the same model as the tables (ratings/bradley_terry.py). Here everybody has one
virtual draw against an opponent of strength 0, so that whoever is new, or has won every game, has a
strength too, and a wide error: about 350 Elo before the first game.

Information alone would leave somebody out for long whose rating is as narrow as it gets. So one
choice of four is for whoever has waited longest, against the opponent who tells most about him.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from referee.ratings.bradley_terry import Bouts, K, fit, hessian, part, unknown
from referee.ratings.errors import centre, err95

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

FLOOR = 4
"""One choice of so many is for whoever has waited longest."""


class Score(NamedTuple):
    """What two players have done against each other."""

    games: int
    half_points: int
    """Of the one with the lower number."""


class Beliefs(NamedTuple):
    """How strong the players are, and how sure that is."""

    players: tuple[int, ...]
    """By their numbers, in order."""
    strength: Floats
    covariance: Floats

    def err95(self) -> dict[int, float]:
        """Half the width of everybody's 95 % interval, in Elo."""
        widths = err95(np.diagonal(self.covariance)) / K
        return dict(zip(self.players, widths.tolist(), strict=True))

    def of(self, players: Sequence[int]) -> Beliefs:
        """About these alone, who are all among the players, relative to their mean."""
        place = {player: at for at, player in enumerate(self.players)}
        chosen = np.array([place[player] for player in players], np.intp)
        covariance = self.covariance[np.ix_(chosen, chosen)]
        if len(chosen):
            centre(covariance, np.arange(len(chosen)))
        return Beliefs(tuple(players), self.strength[chosen], covariance)


def believe(
    players: Sequence[int],
    scores: Mapping[tuple[int, int], Score],
    before: Beliefs | None = None,
) -> Beliefs:
    """What the games tell of these players and of all whom they met; `before` is where to start.

    The scores are by two numbers, the lower one first.
    """
    everybody = sorted({*players, *(player for met in scores for player in met)})
    place = {player: at for at, player in enumerate(everybody)}
    size = len(everybody)
    low = np.array([place[one] for one, _ in scores], np.intp)
    high = np.array([place[other] for _, other in scores], np.intp)
    games = np.array([score.games for score in scores.values()], np.float64)
    points = np.array([score.half_points / 2 for score in scores.values()], np.float64)
    known = {} if before is None else dict(zip(before.players, before.strength, strict=True))
    bouts = Bouts(
        low=np.append(low, np.arange(size)),
        high=np.append(high, np.full(size, size)),
        games=np.append(games, np.ones(size))[None, :],
        points=np.append(points, np.full(size, 0.5))[None, :],
        pool=np.zeros(size + 1, np.intp),
        anchored=np.append(np.zeros(size, np.bool_), True),
        strength=np.array([*(known.get(player, 0.0) for player in everybody), 0.0]),
    )
    fitted = fit(bouts)
    curve = hessian(bouts, fitted.weight, held=False)
    covariance = np.linalg.inv(part(curve, unknown(bouts))).astype(np.float64, copy=False)
    return Beliefs(tuple(everybody), fitted.strength[:size], covariance)


class Turns:
    """Who has waited for how long, over all choices of a variant."""

    def __init__(self) -> None:
        self._now = 0
        self._last: dict[int, int] = {}

    def take(self, players: tuple[int, int]) -> None:
        self._now += 1
        self._last.update(dict.fromkeys(players, self._now))

    def longest(self, players: Sequence[int], games: Mapping[int, int]) -> int:
        """Of these the one that has waited longest; of several, the one with the fewest games."""
        return min(players, key=lambda each: (self._last.get(each, 0), games.get(each, 0), each))


class Chooser:
    """Gives out pairings of one variant, each as if those before it had been played."""

    def __init__(self, beliefs: Beliefs, games: int) -> None:
        """`games` is how many a pairing is given out for."""
        self.players = beliefs.players
        self._covariance = beliefs.covariance.copy()
        self._square = self._covariance @ self._covariance
        apart = beliefs.strength[:, None] - beliefs.strength
        # p·(1−p), which does not overflow for those who are far apart.
        small = np.exp(-np.abs(apart))
        self._weight = games * small / (1 + small) ** 2

    def choose(self, may_meet: Bools, who: int | None = None) -> tuple[int, int] | None:
        """The two whose games tell most; `who` has to be one of them, if given.

        `may_meet` is symmetric, in the order of the players. None: nobody may meet.
        """
        gain = np.where(may_meet, self._gain(), -1.0)
        np.fill_diagonal(gain, -1.0)
        if not gain.size:
            return None
        if who is None:
            one, other = divmod(int(gain.argmax()), len(self.players))
        else:
            one = self.players.index(who)
            other = int(gain[one].argmax())
        if gain[one, other] < 0:
            return None
        self._count(one, other)
        return self.players[min(one, other)], self.players[max(one, other)]

    def _gain(self) -> Floats:
        spread = _of_differences(self._covariance)
        gain: Floats = self._weight * _of_differences(self._square) / (1 + self._weight * spread)
        return gain

    def _count(self, one: int, other: int) -> None:
        """As if these two had played."""
        weight = float(self._weight[one, other])
        step = self._covariance[:, one] - self._covariance[:, other]
        share = weight / (1 + weight * float(step[one] - step[other]))
        cross = share * np.outer(self._covariance @ step, step)
        outer = np.outer(step, step)
        self._square += share * share * float(step @ step) * outer - cross - cross.T
        self._covariance -= share * outer


def _of_differences(matrix: Floats) -> Floats:
    """vᵀMv of every two, v their difference."""
    own = np.diagonal(matrix)
    return own[:, None] + own - 2 * matrix
