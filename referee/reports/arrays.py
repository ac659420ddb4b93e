"""Stored games and faults as arrays, for what is counted game by game.

Rows come from the store in any order; they are put into the order of the schedule here, so that a
table never depends on which game was finished first.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from referee.store.rows import Columns, FaultRow
from referee.store.trouble import BadStore
from referee.verdict import PRECEDENCE, UNRATED, Ending

Ints = NDArray[np.int64]
NOT_RATED = -1
CODES: tuple[str, ...] = (*(code.value for code in PRECEDENCE), Ending.FORFEIT.value)
"""The faults that a table counts, in their order."""
_UNRATED = frozenset(ending.value for ending in UNRATED)


class GameArrays(NamedTuple):
    """One place a game with a record."""

    pairing: Ints
    number: Ints
    """Within the pairing, from 1."""
    pair: Ints
    first: Ints
    """The bot in seat 0, by its number in the store."""
    second: Ints
    points: Ints
    """Half points of the bot in seat 0; NOT_RATED for a void or forfeited game."""
    digest: Ints
    """Equal for equal games."""

    @property
    def played(self) -> int:
        return len(self.pairing)


class FaultArrays(NamedTuple):
    """One place a fault."""

    pairing: Ints
    number: Ints
    bot: Ints
    code: Ints
    """Index into CODES."""


def game_arrays(batches: Iterable[Sequence[Columns]]) -> GameArrays:
    """From `Store.columns`."""
    nothing = GameArrays(*(np.zeros(0, np.int64) for _ in GameArrays._fields))
    parts = [nothing, *(_batch(rows) for rows in batches if rows)]
    return GameArrays(*(np.concatenate(each) for each in zip(*parts, strict=True)))


def _batch(rows: Sequence[Columns]) -> GameArrays:
    pairing, number, pair, first, second, points, ending, digest = zip(*rows, strict=True)
    # A forfeit has points, and yet it says nothing of strength.
    rated = [
        NOT_RATED if half is None or end in _UNRATED else half
        for half, end in zip(points, ending, strict=True)
    ]
    columns = (pairing, number, pair, first, second, rated, digest)
    try:
        return GameArrays(*(np.array(each, np.int64) for each in columns))
    except (ValueError, TypeError, OverflowError) as error:
        # SQLite keeps any text where a number is due.
        raise BadStore(
            f"the database is damaged: the row of a game has no number: {error}"
        ) from None


def fault_arrays(faults: Iterable[FaultRow]) -> FaultArrays:
    index = {code: place for place, code in enumerate(CODES)}
    # A code that is no fault of a bot stands in no table.
    flat = chain.from_iterable(
        (fault.pairing, fault.number, fault.bot, index[fault.code])
        for fault in faults
        if fault.code in index
    )
    return FaultArrays(*np.fromiter(flat, np.int64).reshape(-1, 4).T)


def in_schedule_order(games: GameArrays) -> GameArrays:
    ahead = games.pairing[1:] - games.pairing[:-1]
    if bool(np.all((ahead > 0) | ((ahead == 0) & (games.number[1:] > games.number[:-1])))):
        return games
    order = np.lexsort((games.number, games.pairing))
    return GameArrays(*(each[order] for each in games))


def first_of_its_kind(kind: Ints, digest: Ints) -> NDArray[np.bool_]:
    """Marks one game of each digest within a kind."""
    order = np.lexsort((digest, kind))
    same = (kind[order][1:] == kind[order][:-1]) & (digest[order][1:] == digest[order][:-1])
    marks = np.ones(len(kind), np.bool_)
    marks[order[1:][same]] = False
    return marks


class Forfeits(NamedTuple):
    """One place a game that one of its bots forfeited."""

    pairing: Ints
    winner: Ints


def forfeits(games: GameArrays, faults: FaultArrays) -> Forfeits:
    """Who won by forfeit; the games are in the order of the schedule.

    A game in which both forfeited is void: it has two faults, and nobody wins it.
    """
    failed = _key(faults.pairing, faults.number)
    _, place, count = np.unique(failed, return_inverse=True, return_counts=True)
    alone = (count[place] == 1) & (faults.code == CODES.index(Ending.FORFEIT.value))
    played = _key(games.pairing, games.number)
    at = np.searchsorted(played, failed[alone])
    first, second = games.first[at], games.second[at]
    return Forfeits(games.pairing[at], np.where(first == faults.bot[alone], second, first))


def _key(pairing: Ints, number: Ints) -> Ints:
    return pairing << 32 | number
