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

from referee.ratings.counts import Counts
from referee.ratings.pairs import count_pairs, encounters
from referee.ratings.ranks import TIE_BREAKS, RankBy
from referee.ratings.rating import Cycles, PlayerRating, Pool, Ratings, rate_counts
from referee.reports.arrays import CODES, Ints
from referee.reports.rulings import Ruled
from referee.reports.tallies import Tallies

FORFEITS = " A game won by forfeit is a point and is in no rating."
BYES = " A bye is worth every point of the meeting that it stands for."


class Row(Struct, frozen=True, kw_only=True):
    """One bot in a table."""

    rank: int | None
    """None for a bot that stands below the ranks: it is disqualified or, in the table over all
    variants, does not play each of them."""
    rank_best: int | None
    rank_worst: int | None
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

    @property
    def ranks(self) -> tuple[int, int, int]:
        """Of a bot that has a rank: that, the best, and the worst."""
        assert self.rank is not None
        assert self.rank_best is not None
        assert self.rank_worst is not None
        return self.rank, self.rank_best, self.rank_worst


class Cell(Struct, frozen=True, gc=False):
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
    partial: list[str] = []
    """Bots that do not play every variant, in the table over all."""


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
    """What one table is made of: pairings, their bots, and what was counted in them."""

    first: Ints
    second: Ints
    tallies: Tallies
    faults: Mapping[tuple[int, int], int]
    """By bot and code."""


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
    names = list(bots.values())
    pairs = results.tallies.pairs
    met = encounters(names, place[results.first], place[results.second], pairs)
    counts = count_pairs(met, pairs)
    ratings = rate_counts(
        counts,
        advantage=terms.advantage,
        prior=terms.prior,
        anchors={name: elo for name, elo in terms.anchors.items() if name in names},
        rank_by=terms.rank_by,
    )
    byes = [terms.byes.get(name, 0) * terms.games * variants for name in names]
    tally = _tally(results, place, byes)
    rows = _rows(ratings, dict(zip(names, tally, strict=True)), terms.rank_by)
    return VariantTable(
        variant=variant,
        ranked_by=terms.rank_by,
        tie_breaks=_tie_breaks(terms),
        rows=rows,
        cells=_cells(counts, met.total(results.tallies.different), [row.name for row in rows]),
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
    tallies, bots = results.tallies, len(byes)
    void = tallies.played - tallies.games
    first, second = place[results.first], place[results.second]
    unrated, won = np.zeros(bots, np.int64), np.zeros(bots, np.int64)
    for who, given in ((first, tallies.forfeits[0]), (second, tallies.forfeits[1])):
        unrated += np.bincount(who, void, bots).astype(np.int64)
        won += np.bincount(who, given, bots).astype(np.int64)
    made: list[dict[str, int]] = [{} for _ in byes]
    for (bot, code), faults in sorted(results.faults.items()):
        if faults:
            made[place[bot]][CODES[code]] = faults
    return [
        _Tally(
            unrated=int(unrated[bot]),
            forfeits_won=int(won[bot]),
            bye_points=float(byes[bot]),
            faults=faults,
        )
        for bot, faults in enumerate(made)
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
    ranked = sorted(rows, key=lambda row: (-row.points, row.ranks))
    found: list[Row] = []
    for number, row in enumerate(ranked, start=1):
        before = found[-1] if found else None
        level = before is not None and before.points == row.points
        tied = level and ranked[number - 2].rank == row.rank
        rank = before.ranks[0] if before is not None and tied else number
        after = ranked[number].name if number < len(ranked) else None
        superiority = row.superiority if follows.get(row.name) == after else None
        _, best, worst = row.ranks
        best, worst = min(best, rank), max(worst, rank)
        found.append(
            replace(row, rank=rank, rank_best=best, rank_worst=worst, superiority=superiority)
        )
    return found


def _cells(counts: Counts, different: Ints, order: list[str]) -> list[Cell]:
    """Of every two that met, from both sides, in the order of the table, row by row."""
    standing = {name: number for number, name in enumerate(order)}
    place = np.array([standing[name] for name in counts.players], np.int64)
    low, high = place[counts.low], place[counts.high]
    losses, draws, wins = counts.outcomes[:3] + counts.outcomes[3:]
    both = np.hstack(
        [
            np.stack([low, high, wins, draws, losses, different]),
            np.stack([high, low, losses, draws, wins, different]),
        ]
    )
    first, second, won, drawn, lost, distinct = both[:, np.lexsort((both[1], both[0]))]
    games, half_points = won + drawn + lost, 2 * won + drawn
    # A score is one of few, and numpy does not round as the rest of the table is rounded.
    scores, which = np.unique(half_points << 32 | games, return_inverse=True)
    rounded = [round((each >> 32) / 2 / (each & 0xFFFFFFFF), 6) for each in scores.tolist()]
    names = np.array(order, object)
    columns = (
        *(names[first], names[second], games, won, drawn, lost, half_points / 2),
        *(np.array(rounded)[which], distinct),
    )
    # A million of them, where a thousand bots meet: no line of Python is run for each.
    return list(map(Cell, *(column.tolist() for column in columns)))


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
