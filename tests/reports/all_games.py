"""Tables counted from all games, one by one: what the running counts have to come to.

This is how tables were made before there were running counts, kept to compare with.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from referee.ratings.games import Games
from referee.ratings.ranks import RankBy
from referee.ratings.rating import rate
from referee.reports.arrays import (
    CODES,
    NOT_RATED,
    FaultArrays,
    GameArrays,
    Ints,
    fault_arrays,
    first_of_its_kind,
    forfeits,
    game_arrays,
    in_schedule_order,
)
from referee.reports.placing import champion
from referee.reports.rulings import Ruled, ruled_faults, ruled_games, told_rulings
from referee.reports.standings import (
    Cell,
    Setting,
    Standings,
    VariantTable,
    _byes,
    _definition,
    _planned,
    _players,
    _ranked,
    _same_ties,
    _variants,
    setting_of,
)
from referee.reports.variant_table import (
    Terms,
    _rounded,
    _rounded_cycles,
    _rows,
    _Tally,
    _tie_breaks,
)
from referee.store.database import Store
from referee.tournament.formats import Pairing, Round, Score, bracket

PAIR_BITS = 32


def from_all_games(store: Store) -> Standings:
    """The tables of the games that are stored, every one of them read."""
    return standings_from(
        setting_of(store), game_arrays(store.columns()), fault_arrays(store.faults())
    )


def standings_from(
    setting: Setting, games: GameArrays, faults: FaultArrays, *, rank_by: RankBy | None = None
) -> Standings:
    """The same from arrays, in any order, for a tournament that keeps them while it runs."""
    spec, played = setting.spec, in_schedule_order(games)
    counted, blamed = ruled_games(played, setting.rulings), ruled_faults(faults, setting.rulings)
    everybody = {row.id: row.name for row in setting.bots}
    rulings = told_rulings(played, setting.rulings, setting.pairings, everybody)
    numbers: dict[str, list[int]] = {variant: [] for variant in _variants(setting)}
    for row in setting.pairings:
        numbers[row.variant].append(row.id)
    variant_of = np.zeros(1 + max((row.id for row in setting.pairings), default=0), np.int64)
    for place, ids in enumerate(numbers.values()):
        variant_of[ids] = place
    results = results_of(counted, blamed, variant_of)
    rounds = _bracket(setting, list(numbers), played, faults)
    if rulings and rounds:
        rounds = _same_ties(rounds, _bracket(setting, list(numbers), counted, blamed))
    terms = Terms(
        *(rank_by or spec.ranking, spec.advantage, spec.prior, spec.anchors),
        byes=_byes(rounds) if spec.format == "swiss" else {},
        games=spec.games,
    )
    tables = [
        variant_table(
            variant,
            _players(setting, variant),
            results.of_pairings(np.array(ids, np.int64)),
            terms,
            rulings=[ruling for ruling in rulings if ruling.variant == variant],
        )
        for variant, ids in numbers.items()
    ]
    if len(numbers) > 1:
        tables.append(variant_table(None, everybody, results, terms, len(numbers), rulings=rulings))
    return Standings(
        name=spec.name,
        format=spec.format,
        variants=list(numbers),
        finished=setting.finished,
        played=played.played,
        planned=_planned(setting, list(numbers)),
        seed=setting.seed if setting.finished else None,
        salt=setting.salt if setting.finished else None,
        level=setting.level,
        tables=_ranked(tables, setting, rounds, rank_by),
        champion=champion(rounds) if spec.format == "knockout" else None,
        bracket=rounds,
        changes=setting.changes,
        left_out=setting.left_out,
        processes=setting.processes,
        elsewhere=[row.name for row in setting.bots if _definition(row).elsewhere],
        disqualified=setting.disqualified,
        dropped=setting.dropped,
        rulings=rulings,
    )


def _bracket(
    setting: Setting, variants: list[str], games: GameArrays, faults: FaultArrays
) -> list[Round]:
    """The rounds as the format sees them. To it, a variant's name is as good as a path."""
    names = {row.id: row.name for row in setting.bots}
    points = points_of_pairings(games, faults, {row.id: row.first for row in setting.pairings})
    scores: dict[Pairing, Score] = {}
    for row in setting.pairings:
        pairing = Pairing(
            round=row.round,
            variant=row.variant,
            first=names[row.first],
            second=names[row.second],
            games=row.games,
            replay=row.replay,
        )
        scores[pairing] = Score(*points[row.id])
    spec = msgspec.structs.replace(setting.spec, variants=tuple(variants), options={})
    players = {variant: list(_players(setting, variant).values()) for variant in variants}
    return bracket(spec, players, scores)


def points_of_pairings(
    games: GameArrays, faults: FaultArrays, first_of: Mapping[int, int]
) -> dict[int, tuple[int, float, float]]:
    """Games, points of the first and of the second bot of each pairing, forfeits included."""
    size = max(first_of, default=0) + 1
    first = np.zeros(size, np.int64)
    first[list(first_of)] = list(first_of.values())
    played = np.bincount(games.pairing, minlength=size)
    rated = games.points != NOT_RATED
    pairing, points = games.pairing[rated], games.points[rated]
    own = np.where(games.first[rated] == first[pairing], points, 2 - points)
    won = forfeits(games, faults)
    given = np.concatenate([pairing, won.pairing])
    halves = np.concatenate([own, np.where(won.winner == first[won.pairing], 2, 0)])
    half = np.bincount(given, halves, minlength=size)
    decided = np.bincount(given, minlength=size)
    return {
        each: (int(played[each]), float(half[each] / 2), float(decided[each] - half[each] / 2))
        for each in first_of
    }


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
