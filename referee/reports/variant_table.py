"""One table: a row for every bot, a cell for every two that met, and how well they fit together.

Ratings are of the rated games alone. A game that a bot forfeits, because it would not start, tells
nothing of strength: it is counted apart, and is worth a point only where the table is ranked by
points. Every number is rounded here, once, to more than the games can tell and less than a
machine's arithmetic could change: the same games give the same bytes everywhere.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from referee.ratings.games import Games
from referee.ratings.ranks import TIE_BREAKS, RankBy
from referee.ratings.rating import Cycles, PlayerRating, Pool, Ratings, rate
from referee.reports.arrays import (
    CODES,
    NOT_RATED,
    FaultArrays,
    GameArrays,
    Ints,
    first_of_its_kind,
    forfeits,
)
from referee.reports.rulings import Ruled

FORFEITS = " A game won by forfeit is a point and is in no rating."
BYES = " A bye is worth every point of the meeting that it stands for."
PAIR_BITS = 32
"""A pair's number in a table: that of its pairing, shifted so far, and its own."""


class Row(Struct, frozen=True, kw_only=True):
    """One bot in a table."""

    rank: int
    rank_best: int
    rank_worst: int
    """Ranks that the results do not exclude at 95 %."""
    name: str
    elo: float | None
    err95: float | None
    bound: str | None
    """`>` or `<` for a perfect score, which has no Elo but the bound `bound_elo`."""
    bound_elo: float | None
    games: int
    """Rated ones; so are wins, draws, losses, and all that is made of them."""
    wins: int
    draws: int
    losses: int
    points: float
    """In a table ranked by points with forfeits won and byes, else without."""
    score: float | None
    """Share of the points, 0 to 1."""
    opponents: float | None
    """Average Elo of the opponents met."""
    draw_rate: float | None
    superiority: float | None
    """Likelihood of being stronger than the next in the table."""
    unrated: int
    """Void and forfeited games."""
    forfeits_won: int
    bye_points: float
    """What byes are worth in a ranking by points."""
    faults: dict[str, int]
    """By blame code."""


class Cell(Struct, frozen=True, kw_only=True):
    """How one bot did against another. Each two that met have two cells, one from each side."""

    first: str
    second: str
    games: int
    wins: int
    draws: int
    losses: int
    points: float
    score: float | None
    distinct: int
    """Different games among them."""

    @property
    def repeats(self) -> bool:
        """Whether most of the games are copies of others."""
        return 2 * self.distinct < self.games


class VariantTable(Struct, frozen=True, kw_only=True):
    """The table of one variant, or of all together."""

    variant: str | None
    """None: over all variants."""
    ranked_by: str
    tie_breaks: str
    rows: list[Row]
    cells: list[Cell]
    pools: list[Pool]
    advantage: float | None
    advantage_err95: float | None
    cycles: Cycles | None
    prior: bool
    rulings: list[Ruled] = []
    """On games that this table is made of."""


class Terms(NamedTuple):
    """How a table is made."""

    rank_by: RankBy
    advantage: bool
    prior: bool
    anchors: Mapping[str, float]
    byes: Mapping[str, int] = {}
    """How many byes a bot had."""
    games: int = 0
    """Of a meeting in one variant: what a bye is worth there."""


class Results(NamedTuple):
    """The games and faults that one table is made of, with what is known of each game."""

    games: GameArrays
    fresh: NDArray[np.bool_]
    """Marks one of all games of two bots that are copies of each other."""
    faults: FaultArrays

    def of_pairings(self, pairings: Ints) -> Results:
        """Only what was played in these."""
        played = np.isin(self.games.pairing, pairings)
        failed = np.isin(self.faults.pairing, pairings)
        return Results(
            GameArrays(*(each[played] for each in self.games)),
            self.fresh[played],
            FaultArrays(*(each[failed] for each in self.faults)),
        )


def results_of(games: GameArrays, faults: FaultArrays, variant_of: Ints) -> Results:
    """`variant_of` holds a number for each pairing: games of two variants are never copies."""
    most = 1 + max(games.first.max(initial=0), games.second.max(initial=0))
    low, high = np.minimum(games.first, games.second), np.maximum(games.first, games.second)
    # An unrated copy must not stand for a rated one.
    rated = games.points != NOT_RATED
    kind = ((variant_of[games.pairing] * most + low) * most + high) * 2 + rated
    return Results(games, first_of_its_kind(kind, games.digest), faults)


def variant_table(
    variant: str | None,
    bots: Mapping[int, str],
    results: Results,
    terms: Terms,
    variants: int = 1,
    *,
    rulings: Sequence[Ruled] = (),
) -> VariantTable:
    """The table of these bots, their names by their number in the store, over so many variants."""
    place = np.zeros(max(bots, default=0) + 1, np.int64)
    place[list(bots)] = np.arange(len(bots))
    rated = results.games.points != NOT_RATED
    games = GameArrays(*(each[rated] for each in results.games))
    seats = place[games.first], place[games.second]
    names = list(bots.values())
    ratings = rate(
        Games(
            players=names,
            first=seats[0].astype(np.int32),
            second=seats[1].astype(np.int32),
            points=games.points.astype(np.int8),
            pair=games.pairing << PAIR_BITS | games.pair,
        ),
        advantage=terms.advantage,
        prior=terms.prior,
        anchors={name: elo for name, elo in terms.anchors.items() if name in names},
        rank_by=terms.rank_by,
    )
    byes = [terms.byes.get(name, 0) * terms.games * variants for name in names]
    tally = _tally(results, place, byes)
    rows = _rows(ratings, dict(zip(names, tally, strict=True)), terms.rank_by)
    crossed = _crossed(seats, games.points, results.fresh[rated], len(bots))
    at = {name: number for number, name in enumerate(names)}
    return VariantTable(
        variant=variant,
        ranked_by=terms.rank_by,
        tie_breaks=_tie_breaks(terms),
        rows=rows,
        cells=_cells(crossed, [at[row.name] for row in rows], names),
        pools=ratings.pools,
        advantage=_rounded(ratings.advantage, 2),
        advantage_err95=_rounded(ratings.advantage_err95, 2),
        cycles=_rounded_cycles(ratings.cycles),
        prior=ratings.prior,
        rulings=list(rulings),
    )


def _tie_breaks(terms: Terms) -> str:
    told = TIE_BREAKS[terms.rank_by]
    if terms.rank_by == "points":
        told += FORFEITS + (BYES if terms.byes else "")
    return told


class _Tally(NamedTuple):
    """What is counted of a bot beside its rated games."""

    unrated: int
    forfeits_won: int
    bye_points: float
    faults: dict[str, int]


def _tally(results: Results, place: Ints, byes: list[int]) -> list[_Tally]:
    games, faults, bots = results.games, results.faults, len(byes)
    void = games.points == NOT_RATED
    seated = np.concatenate([place[games.first[void]], place[games.second[void]]])
    unrated = np.bincount(seated, minlength=bots)
    won = np.bincount(place[forfeits(games, faults).winner], minlength=bots)
    kinds = len(CODES)
    counts = np.bincount(place[faults.bot] * kinds + faults.code, minlength=bots * kinds)
    return [
        _Tally(
            unrated=int(unrated[bot]),
            forfeits_won=int(won[bot]),
            bye_points=float(byes[bot]),
            faults={code: int(n) for code, n in zip(CODES, own, strict=True) if n},
        )
        for bot, own in enumerate(counts.reshape(bots, kinds))
    ]


def _rows(ratings: Ratings, tallies: Mapping[str, _Tally], rank_by: RankBy) -> list[Row]:
    rows = [_row(player, tallies[player.name], rank_by) for player in ratings.players]
    if rank_by == "points" and any(row.forfeits_won or row.bye_points for row in rows):
        return _ranked_anew(rows)
    return rows


def _row(player: PlayerRating, tally: _Tally, rank_by: RankBy) -> Row:
    games = player.games
    given = tally.forfeits_won + tally.bye_points if rank_by == "points" else 0
    return Row(
        rank=player.rank,
        rank_best=player.rank_best,
        rank_worst=player.rank_worst,
        name=player.name,
        elo=_rounded(player.elo, 2),
        err95=_rounded(player.err95, 2),
        bound=player.bound,
        bound_elo=_rounded(player.bound_elo, 2),
        games=games,
        wins=player.wins,
        draws=player.draws,
        losses=player.losses,
        points=player.points + given,
        score=_rounded(player.points / games, 6) if games else None,
        opponents=_rounded(player.opponents, 2),
        draw_rate=_rounded(player.draws / games, 6) if games else None,
        superiority=_rounded(player.superiority, 6),
        unrated=tally.unrated,
        forfeits_won=tally.forfeits_won,
        bye_points=tally.bye_points,
        faults=tally.faults,
    )


def _ranked_anew(rows: list[Row]) -> list[Row]:
    """Ratings know nothing of forfeits and byes; what told equal points apart still does."""
    follows = {row.name: after.name for row, after in pairwise(rows)}
    ranked = sorted(rows, key=lambda row: (-row.points, row.rank))
    found: list[Row] = []
    for number, row in enumerate(ranked, start=1):
        before = found[-1] if found else None
        level = before is not None and before.points == row.points
        tied = level and ranked[number - 2].rank == row.rank
        rank = before.rank if before is not None and tied else number
        after = ranked[number].name if number < len(ranked) else None
        superiority = row.superiority if follows.get(row.name) == after else None
        best, worst = min(row.rank_best, rank), max(row.rank_worst, rank)
        found.append(
            replace(row, rank=rank, rank_best=best, rank_worst=worst, superiority=superiority)
        )
    return found


def _crossed(
    seats: tuple[Ints, Ints], points: Ints, fresh: NDArray[np.bool_], bots: int
) -> NDArray[np.int64]:
    """Wins, draws, losses and distinct games, each of every bot against every other."""
    key = seats[0] * bots + seats[1]

    def count(which: NDArray[np.bool_]) -> NDArray[np.int64]:
        found = np.bincount(key[which], minlength=bots * bots).reshape(bots, bots)
        return found.astype(np.int64)

    won, drawn, lost, kinds = (
        count(which) for which in (points == 2, points == 1, points == 0, fresh)
    )
    return np.stack([won + lost.T, drawn + drawn.T, lost + won.T, kinds + kinds.T])


def _cells(crossed: NDArray[np.int64], order: list[int], names: list[str]) -> list[Cell]:
    """In the order of the table, row by row."""
    crossed = crossed[:, order][:, :, order]
    met = np.argwhere(crossed[:3].sum(axis=0) > 0)
    counts = crossed[:, met[:, 0], met[:, 1]].T
    cells: list[Cell] = []
    for (one, other), numbers in zip(met.tolist(), counts.tolist(), strict=True):
        wins, draws, losses, distinct = numbers
        games = wins + draws + losses
        points = wins + draws / 2
        cells.append(
            Cell(
                first=names[order[one]],
                second=names[order[other]],
                games=games,
                wins=wins,
                draws=draws,
                losses=losses,
                points=points,
                score=_rounded(points / games, 6),
                distinct=distinct,
            )
        )
    return cells


def _rounded_cycles(cycles: Cycles | None) -> Cycles | None:
    if cycles is None:
        return None
    return replace(
        cycles,
        chi2=_rounded(cycles.chi2, 3),
        p=float(f"{cycles.p:.6g}"),
        cyclic_share=_rounded(cycles.cyclic_share, 6),
        worst=[
            replace(
                pair,
                score=_rounded(pair.score, 6),
                expected=_rounded(pair.expected, 6),
                z=_rounded(pair.z, 3),
            )
            for pair in cycles.worst
        ],
    )


def _rounded(number: float | None, digits: int) -> float | None:
    # Adding zero makes a plain zero of a negative one.
    return None if number is None else round(number, digits) + 0.0
