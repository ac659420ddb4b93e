"""From games to a table: who is how strong, and how sure that is.

The way of the data: games are counted (counts.py), whoever can be compared is found (pools.py),
the most likely strengths are computed (bradley_terry.py) with their covariance (errors.py), and
the table is put in order (ranks.py) and tested for cycles (cycles.py). On request it says what is
left where everybody picks a player (nash.py). Never NaN, never an exception, whatever the results:
what is not known is None.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from referee.mistake import Mistake
from referee.ratings.bradley_terry import K
from referee.ratings.counts import Counts, count
from referee.ratings.cycles import Cycles, WorstPair
from referee.ratings.errors import superiority, surely_better
from referee.ratings.games import Games
from referee.ratings.pools import Bounds, Split, bounds, dominated, split
from referee.ratings.ranks import TIE_BREAKS, RankBy, Standing, ranked
from referee.ratings.strengths import Strengths, strengths

__all__ = [
    "TIE_BREAKS",
    "BadRating",
    "Cycles",
    "PlayerRating",
    "Pool",
    "RankBy",
    "Ratings",
    "WorstPair",
    "rate",
    "rate_counts",
]

SURE_PAIRS = 5
"""So many pairs, all won, leave less than 2.5 % for the other being the better one."""

MOST_NASH = 1000
"""So many players take some seconds, and the time grows with their third power."""

Floats = NDArray[np.float64]
Places = NDArray[np.intp]


class BadRating(Mistake):
    """What was asked for cannot be done; one sentence says why."""


class PlayerRating(Struct, frozen=True, kw_only=True):
    name: str
    elo: float | None
    """Mean 0 in a pool unless anchored. None: a perfect score, or no games."""
    err95: float | None
    """Relative to the pool's mean, or to its anchors; None for a pool of one as well."""
    bound: str | None
    """`>` or `<` for a perfect score."""
    bound_elo: float | None
    games: int
    wins: int
    draws: int
    losses: int
    points: float
    opponents: float | None
    """Average Elo of the opponents met, by games, as far as it is known on the same scale."""
    rank: int
    """1 is best; equal only where nothing tells players apart."""
    rank_best: int
    rank_worst: int
    """Ranks that the pairwise differences do not exclude at 95 %."""
    superiority: float | None
    """Likelihood of being stronger than the next in the table; None where unknown."""
    pool: int | None
    """Index into pools; for a perfect score the pool on whose scale the bound is."""
    nash: float | None = None
    """Share in the Nash equilibrium of greatest entropy; None: not asked for, or no games."""
    nash_skill: float | None = None
    """Average Elo against that mix: 0 for whoever is in it, less for others."""


class Pool(Struct, frozen=True, kw_only=True):
    """Players that can be compared with each other."""

    players: list[str]
    """In rank order, without perfect scores."""
    anchored: bool


class Ratings(Struct, frozen=True, kw_only=True):
    players: list[PlayerRating]
    """In rank order."""
    pools: list[Pool]
    advantage: float | None
    """Elo of the first seat; None unless asked for, or where no game tells it."""
    advantage_err95: float | None
    cycles: Cycles | None
    """None where there is nothing to test."""
    prior: bool
    """Whether virtual draws were added."""
    nash: bool = False
    """Whether the Nash average was asked for."""


def rate(
    games: Games,
    *,
    advantage: bool = False,
    anchors: Mapping[str, float] | None = None,
    prior: bool = False,
    rank_by: RankBy = "elo",
    nash: bool = False,
) -> Ratings:
    """The table of these games.

    `advantage` estimates what the first seat is worth; `anchors` gives players their Elo; `prior`
    adds one virtual draw against an average opponent for every player; `nash` adds every player's
    part in the Nash equilibrium of greatest entropy.
    """
    return rate_counts(
        count(games),
        advantage=advantage,
        anchors=anchors,
        prior=prior,
        rank_by=rank_by,
        nash=nash,
    )


def rate_counts(
    counts: Counts,
    *,
    advantage: bool = False,
    anchors: Mapping[str, float] | None = None,
    prior: bool = False,
    rank_by: RankBy = "elo",
    nash: bool = False,
) -> Ratings:
    """The same from counts, which may be those of several sets of games together."""
    anchor = _anchors(counts.players, anchors or {})
    if nash and len(counts.players) > MOST_NASH:
        told = f"a Nash average is made for at most {MOST_NASH} players"
        raise BadRating(f"{told}, and here are {len(counts.players)}")
    parts = split(counts, ~np.isnan(anchor), prior=prior)
    found = strengths(counts, parts.pool, anchor, advantage=advantage, prior=prior)
    table = _Table(counts, parts, found, rank_by)
    players = table.players()
    if nash:
        guesses = _guesses(counts, parts, found, anchor, advantage=advantage)
        players = _with_nash(players, counts, guesses)
    return Ratings(
        players=players,
        pools=table.pools(),
        advantage=found.advantage,
        advantage_err95=found.advantage_err95,
        cycles=found.cycles,
        prior=prior,
        nash=nash,
    )


def _anchors(names: list[str], anchors: Mapping[str, float]) -> Floats:
    """The given Elo of every player, nan where none is given."""
    for name, elo in anchors.items():
        if name not in names:
            raise BadRating(f"anchor {name!r} is none of the players")
        if not np.isfinite(elo):
            raise BadRating(f"anchor {name!r} needs a number of Elo, not {elo}")
    return np.array([anchors.get(name, np.nan) for name in names], np.float64)


def _guesses(
    counts: Counts, parts: Split, found: Strengths, anchor: Floats, *, advantage: bool
) -> Floats:
    """Log-odds by the ratings, for those who never met; 0 where nothing connects two players."""
    from referee.ratings.nash import differences, unmet

    guesses = differences(found.elo, parts.pool)
    if (np.isnan(guesses) & unmet(counts)).any():
        # With a virtual draw perfect scores have ratings too: else the last of a ladder, who never
        # met the first, would pass for its equal.
        pool = split(counts, ~np.isnan(anchor), prior=True).pool
        likely = strengths(counts, pool, anchor, advantage=advantage, prior=True)
        guesses = np.where(np.isnan(guesses), differences(likely.elo, pool), guesses)
    return np.nan_to_num(guesses)


def _with_nash(players: list[PlayerRating], counts: Counts, guesses: Floats) -> list[PlayerRating]:
    """The same players, and the part that each has in the equilibrium of those with games."""
    from referee.ratings.nash import equilibrium, log_odds

    played = np.unique(np.concatenate([counts.low, counts.high]))
    mix = equilibrium(log_odds(counts, guesses)[np.ix_(played, played)])
    # Rounded to what is sure, and no zero with a sign.
    skill = np.round(mix.skill / K, 4) + 0.0
    names = (counts.players[player] for player in played.tolist())
    told = {
        name: {"nash": share, "nash_skill": elo}
        for name, share, elo in zip(names, mix.share.tolist(), skill.tolist(), strict=True)
    }
    return [replace(player, **told.get(player.name, {})) for player in players]


class _Table:
    """Everything that is known of the players, put in order."""

    def __init__(self, counts: Counts, parts: Split, found: Strengths, rank_by: RankBy) -> None:
        self.counts = counts
        self.parts = parts
        self.found = found
        self.bound: Bounds = bounds(counts, parts, found.elo)
        self.results: list[list[int]] = _results(counts).tolist()
        """Losses, draws and wins of every player."""
        self.pool: Places = np.where(parts.turn > 0, self.bound.pool, parts.pool)
        self.order = self._in_order(rank_by)
        self.place = np.searchsorted(found.members, np.arange(len(counts.players))).tolist()
        """Of a player that is in a pool, in the covariance."""

    def players(self) -> list[PlayerRating]:
        numbers = self._pool_numbers()
        ranges = self._rank_ranges()
        elo, err95 = _known(self.found.elo), _known(self.found.err95)
        bound, opponents = _known(self.bound.elo), _known(self._average_opponents())
        pool = self.pool.tolist()
        rows = []
        for at, (player, rank) in enumerate(self.order):
            losses, draws, wins = self.results[player]
            following = self.order[at + 1][0] if at + 1 < len(self.order) else None
            best, worst = ranges[player]
            rows.append(
                PlayerRating(
                    name=self.counts.players[player],
                    elo=elo[player],
                    err95=err95[player],
                    bound=None if bound[player] is None else self._side(player),
                    bound_elo=bound[player],
                    games=losses + draws + wins,
                    wins=wins,
                    draws=draws,
                    losses=losses,
                    points=wins + draws / 2,
                    opponents=opponents[player],
                    rank=rank,
                    rank_best=min(best, rank),
                    rank_worst=max(worst, rank),
                    superiority=None if following is None else self._superior(player, following),
                    pool=numbers.get(pool[player]),
                )
            )
        return rows

    def pools(self) -> list[Pool]:
        members: dict[int, list[str]] = {number: [] for number in self._pool_numbers()}
        for player, _ in self.order:
            if self.parts.pool[player] >= 0:
                members[int(self.parts.pool[player])].append(self.counts.players[player])
        return [
            Pool(players=names, anchored=bool(self.found.anchored[pool]))
            for pool, names in members.items()
        ]

    def _pool_numbers(self) -> dict[int, int]:
        """Pools are numbered in the order in which their best players stand in the table."""
        pools = (int(self.parts.pool[player]) for player, _ in self.order)
        in_order = dict.fromkeys(pool for pool in pools if pool >= 0)
        return {pool: number for number, pool in enumerate(in_order)}

    def _in_order(self, rank_by: RankBy) -> list[tuple[int, int]]:
        elo = np.where(np.isnan(self.found.elo), self.bound.elo, self.found.elo)
        columns = (
            *(self.counts.players, self.parts.perfect.tolist(), np.nan_to_num(elo).tolist()),
            *(self.results, self.parts.unit.tolist(), self.parts.turn.tolist()),
            self.pool.tolist(),
        )
        standings = [
            Standing(
                name=name,
                place=perfect if any(results) else -2,
                elo=elo,
                points=results[2] + results[1] / 2,
                wins=results[2],
                unit=unit,
                turn=turn,
                pool=pool,
            )
            for name, perfect, elo, results, unit, turn, pool in zip(*columns, strict=True)
        ]
        return ranked(standings, dominated(self.counts, self.parts.unit), rank_by)

    def _average_opponents(self) -> Floats:
        """Of opponents on the same scale, weighted by games; nan where there are none."""
        low, high = self.counts.low, self.counts.high
        players = len(self.counts.players)
        known, elo = ~np.isnan(self.found.elo), np.nan_to_num(self.found.elo)
        games = self.counts.games.sum(axis=0) * (self.pool[low] == self.pool[high])
        total, number = np.zeros(players), np.zeros(players)
        for who, whom in ((low, high), (high, low)):
            weight = games * known[whom]
            total += np.bincount(who, weight * elo[whom], players)
            number += np.bincount(who, weight, players)
        return np.where(number > 0, total / np.maximum(number, 1), np.nan)

    def _rank_ranges(self) -> list[tuple[int, int]]:
        """First and last rank of every player that is not excluded at 95 %."""
        total = len(self.counts.players)
        above, below = np.zeros(total, np.int64), np.zeros(total, np.int64)
        inside = self.found.members
        above[inside], below[inside] = surely_better(
            self.found.elo[inside], self.found.covariance, self.parts.pool[inside]
        )
        better, worse = self._surely_apart()
        above += np.bincount(worse, minlength=total)
        below += np.bincount(better, minlength=total)
        silent = np.array([not any(results) for results in self.results], np.bool_)
        last = total - int(np.count_nonzero(silent))
        best = np.where(silent, last + 1, 1 + above)
        worst = np.where(silent, total, last - below)
        return list(zip(best.tolist(), worst.tolist(), strict=True))

    def _surely_apart(self) -> tuple[Places, Places]:
        """Who is surely better than whom though they have no scale in common, each two once: by a
        bound, or because the one won all of enough games."""
        total = len(self.counts.players)
        known = ~np.isnan(self.found.err95)
        keys = [np.zeros(0, np.int64)]
        for player in np.flatnonzero(~np.isnan(self.bound.elo)).tolist():
            # The far end of the others' intervals: two at 2.5 % are not both off.
            ahead = self.parts.perfect[player] * (self.bound.elo[player] - self.found.elo)
            same = known & (self.parts.pool == self.bound.pool[player])
            sure = np.flatnonzero(same & (np.where(known, ahead - self.found.err95, -1.0) > 0))
            won = self.parts.perfect[player] > 0
            keys.append(player * total + sure if won else sure * total + player)
        counts, unit = self.counts, self.parts.unit
        apart = (unit[counts.low] != unit[counts.high]) & (counts.clusters >= SURE_PAIRS)
        low, high = counts.low[apart].astype(np.int64), counts.high[apart].astype(np.int64)
        won_low = counts.half_points[:, apart].sum(axis=0) > 0
        keys.append(np.where(won_low, low * total + high, high * total + low))
        every = np.sort(np.concatenate(keys))
        once = every[np.diff(every, prepend=-1) > 0]
        return once // max(total, 1), once % max(total, 1)

    def _superior(self, player: int, following: int) -> float | None:
        if self.parts.turn[player] or self.parts.turn[following]:
            pairs = self._whitewash(player, following)
            return None if pairs is None else 1 - 0.5 ** (pairs + 1)
        if not self.parts.pool[player] == self.parts.pool[following] >= 0:
            return None
        matrix, one, other = self.found.covariance, self.place[player], self.place[following]
        spread = matrix[one, one] + matrix[other, other] - 2 * matrix[one, other]
        return superiority(float(self.found.elo[player] - self.found.elo[following]), float(spread))

    def _side(self, player: int) -> str:
        return ">" if self.parts.perfect[player] > 0 else "<"

    def _whitewash(self, player: int, following: int) -> int | None:
        """How many pairs of games these two played, if the one won all of them."""
        low, high = min(player, following), max(player, following)
        at = self.counts.find(low, high)
        if at is None:
            return None
        won = self.counts.outcomes[[2, 5] if player == low else [0, 3], at].sum()
        whole = won == self.counts.outcomes[:, at].sum()
        return int(self.counts.clusters[at]) if whole else None


def _results(counts: Counts) -> NDArray[np.int64]:
    """Losses, draws and wins of every player."""
    found = np.zeros((len(counts.players), 3), np.int64)
    both_seats = counts.outcomes[:3] + counts.outcomes[3:]
    for outcome in range(3):
        for who, seen in ((counts.low, outcome), (counts.high, 2 - outcome)):
            sums = np.bincount(who, both_seats[seen], len(counts.players))
            found[:, outcome] += sums.astype(np.int64)
    return found


def _known(values: Floats) -> list[float | None]:
    return [None if math.isnan(value) else value for value in values.tolist()]
