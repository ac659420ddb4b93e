"""Running counts as arrays: what tables are made of.

They come from the store, which keeps them while games come in, or are counted here from arrays of
games. Rulings are few and the store counts as if there were none: the games of two bots that a
ruling is on are counted anew, and nobody else's are read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

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
from referee.reports.rulings import ruled_faults, ruled_games
from referee.store.database import Store
from referee.store.rows import PairingRow, RulingRow
from referee.store.sums import meeting
from referee.store.tally import COLUMNS, KIND_GAMES, KIND_HALF_POINTS, KINDS

Blame = Mapping[tuple[str, int, int], int]
"""Faults by variant, bot and code, which is an index into CODES."""


class Tallies(NamedTuple):
    """One place a pairing, in their order; arrays end in that axis."""

    pairing: Ints
    played: Ints
    different: Ints
    """Rated games that are no copies: over all pairings in which two bots met in a variant, as many
    as there are."""
    forfeits: Ints
    """Games that the first bot and that the second one was given: two rows."""
    pairs: Ints
    """A row for each kind of pairs."""

    def of(self, chosen: NDArray[np.bool_]) -> Tallies:
        return Tallies(*(each[..., chosen] for each in self))

    @property
    def games(self) -> Ints:
        """Rated ones."""
        return _GAMES @ self.pairs

    @property
    def half_points(self) -> Ints:
        """Of the first bot in rated games."""
        return _HALF_POINTS @ self.pairs


class Tallied(NamedTuple):
    """A tournament as it was played, or as it counts after rulings."""

    tallies: Tallies
    blame: Blame


_GAMES: Ints = np.array(KIND_GAMES, np.int64)
_HALF_POINTS: Ints = np.array(KIND_HALF_POINTS, np.int64)


def stored(store: Store, pairings: Sequence[PairingRow]) -> Tallied:
    """As the store has counted, with a place for every pairing."""
    rows = [np.array(chunk, np.int64) for chunk in store.tallies()]
    table = np.concatenate(rows) if rows else np.zeros((0, 1 + len(COLUMNS)), np.int64)
    ids = _ids(pairings)
    columns = np.zeros((len(COLUMNS), len(ids)), np.int64)
    columns[:, np.searchsorted(ids, table[:, 0])] = table[:, 1:].T
    place = {code: index for index, code in enumerate(CODES)}
    blame = {(row.variant, row.bot, place[row.code]): row.faults for row in store.blame()}
    return Tallied(Tallies(ids, columns[0], columns[1], columns[2:4], columns[4:]), blame)


def tallied(games: GameArrays, faults: FaultArrays, pairings: Sequence[PairingRow]) -> Tallied:
    """The same from all games of these pairings, which are in the order of the schedule."""
    ids = _ids(pairings)
    rows = {row.id: row for row in pairings}
    first = np.array([rows[each].first for each in ids.tolist()], np.int64)
    kinds: dict[tuple[str, int, int], int] = {}
    met = [kinds.setdefault(meeting(rows[each]), len(kinds)) for each in ids.tolist()]
    at = np.searchsorted(ids, games.pairing)
    rated = games.points != NOT_RATED
    # An unrated copy must not stand for a rated one.
    fresh = first_of_its_kind(np.array(met, np.int64)[at] * 2 + rated, games.digest) & rated
    won = forfeits(games, faults)
    given_at = np.searchsorted(ids, won.pairing)
    given_first = won.winner == first[given_at]
    size = len(ids)
    codes = Counter(
        zip(faults.pairing.tolist(), faults.bot.tolist(), faults.code.tolist(), strict=True)
    )
    blame: Counter[tuple[str, int, int]] = Counter()
    for (pairing, bot, code), number in codes.items():
        blame[rows[pairing].variant, bot, code] += number
    return Tallied(
        Tallies(
            pairing=ids,
            played=np.bincount(at, minlength=size),
            different=np.bincount(at[fresh], minlength=size),
            forfeits=np.stack(
                [
                    np.bincount(given_at[given], minlength=size)
                    for given in (given_first, ~given_first)
                ]
            ),
            pairs=_pairs(games, at, games.first == first[at], size),
        ),
        blame,
    )


def _pairs(games: GameArrays, at: Ints, in_seat_0: NDArray[np.bool_], size: int) -> Ints:
    """How many pairs of each kind each pairing has, as the store counts them."""
    rated = games.points != NOT_RATED
    number, pair, points = games.number[rated], games.pair[rated], games.points[rated]
    at, in_seat_0 = at[rated], in_seat_0[rated]
    kind = np.where(in_seat_0, 4 * (1 + points), 3 - points)
    scheduled = (pair == (number + 1) // 2) & (in_seat_0 == (number % 2 == 1))
    alone = np.flatnonzero(~scheduled)
    key = at[scheduled] << 32 | pair[scheduled]
    _, start, cluster = np.unique(key, return_index=True, return_inverse=True)
    together = np.bincount(cluster, kind[scheduled], minlength=len(start)).astype(np.int64)
    where = np.concatenate([at[scheduled][start], at[alone]])
    kinds = np.concatenate([together, kind[alone]])
    most = len(KINDS) + 1
    found = np.bincount(where * most + kinds, minlength=size * most)
    return found.astype(np.int64).reshape(size, most)[:, 1:].T


def ruled(
    store: Store, before: Tallied, pairings: Sequence[PairingRow], rulings: Sequence[RulingRow]
) -> tuple[Tallied, GameArrays]:
    """The counts after the rulings, and the games that were read for it: of the bots they are on,
    and in the order of the schedule."""
    named = {ruling.pairing for ruling in rulings}
    met = {meeting(row) for row in pairings if row.id in named}
    rows = [row for row in pairings if meeting(row) in met] if met else []
    games = in_schedule_order(_games_of(store, rows))
    faults = fault_arrays(fault for row in rows for fault in store.faults(row.id))
    anew = tallied(ruled_games(games, rulings), ruled_faults(faults, rulings), rows)
    as_played = tallied(games, faults, rows)
    tallies = Tallies(*(each.copy() for each in before.tallies))
    at = np.searchsorted(tallies.pairing, anew.tallies.pairing)
    for whole, part in zip(tallies, anew.tallies, strict=True):
        whole[..., at] = part
    blame = Counter(before.blame)
    blame.subtract(as_played.blame)
    blame.update(anew.blame)
    return Tallied(tallies, blame), games


def _games_of(store: Store, rows: Iterable[PairingRow]) -> GameArrays:
    return game_arrays(chunk for row in rows for chunk in store.columns(row.id))


def points_of_pairings(tallies: Tallies) -> dict[int, tuple[int, float, float]]:
    """Games, points of the first and of the second bot of each pairing, forfeits included."""
    half = tallies.half_points + 2 * tallies.forfeits[0]
    decided = tallies.games + tallies.forfeits.sum(axis=0)
    columns = (each.tolist() for each in (tallies.pairing, tallies.played, half, decided))
    return {
        pairing: (played, own / 2, games - own / 2)
        for pairing, played, own, games in zip(*columns, strict=True)
    }


def _ids(pairings: Iterable[PairingRow]) -> Ints:
    return np.array(sorted(row.id for row in pairings), np.int64)
