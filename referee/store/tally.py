"""Running counts of a pairing: all that tables need of its games, in one row.

A pair of games shares its chance, so that what errors are made of is the outcome of a pair, not of
a game. Seen from the pairing's first bot a pair has a letter for each seat: won, drawn, lost, or n
for no rated game, because it was not played yet or was void. Fifteen of these kinds have a game in
them, and wins, draws, losses, points and the errors clustered by pairs all follow from how many
pairs are of which kind.

A game has a partner if the schedule gave it one: games 2p−1 and 2p are pair p, and the pairing's
first bot has seat 0 in the odd one. Any other game is a pair by itself.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from referee.store.rows import FaultRow, PairingRow, game_id
from referee.verdict import PRECEDENCE, UNRATED, Ending

KINDS = ("nl", "nd", "nw", "ln", "ll", "ld", "lw", "dn", "dl", "dd", "dw", "wn", "wl", "wd", "ww")
"""Kinds of pairs: how the pairing's first bot did in seat 0, then in seat 1."""
KIND_GAMES = tuple(sum(seat != "n" for seat in kind) for kind in KINDS)
_HALF_POINTS = {"l": 0, "d": 1, "w": 2}
KIND_HALF_POINTS = tuple(sum(_HALF_POINTS.get(seat, 0) for seat in kind) for kind in KINDS)
"""Of the pairing's first bot, in a pair of each kind."""
COLUMNS = ("played", "different", "forfeits_first", "forfeits_second", *KINDS)
"""All games; rated ones that are no copies of others of the same two bots in the same variant, so
that over all pairings in which they met it is how many different games there are; games that either
bot was given, since the other would not start; pairs of each kind."""
_PLAYED, _DIFFERENT, _FORFEITS_FIRST, _FORFEITS_SECOND = range(4)
_FIRST_KIND = 3
"""A kind is a number from 1 to 15, four times the one letter and the other; the columns of the
first of them comes after so many."""

_UNRATED = frozenset(ending.value for ending in UNRATED)
_FORFEIT = Ending.FORFEIT.value
COUNTED = frozenset(code.value for code in (*PRECEDENCE, Ending.FORFEIT))
"""The faults that a table counts."""

CREATE = (
    f"""CREATE TABLE tally (
        pairing INTEGER PRIMARY KEY REFERENCES pairing,
        {", ".join(f"{column} INTEGER NOT NULL" for column in COLUMNS)}
    )""",
    """CREATE TABLE digest (
        pairing INTEGER NOT NULL,
        digest INTEGER NOT NULL,
        PRIMARY KEY (pairing, digest)
    ) WITHOUT ROWID""",
    """CREATE TABLE blame (
        variant TEXT NOT NULL,
        bot INTEGER NOT NULL REFERENCES bot,
        code TEXT NOT NULL,
        faults INTEGER NOT NULL,
        PRIMARY KEY (variant, bot, code)
    ) WITHOUT ROWID""",
)
"""`digest` holds each of the different rated games of two bots in a variant, under the first
pairing in which they met there; `tally.different` counts those that its pairing added. Faults are
counted by variant: no table asks for less."""

ADD_TALLY = f"""INSERT INTO tally VALUES ({", ".join("?" * (1 + len(COLUMNS)))})
    ON CONFLICT (pairing) DO UPDATE SET
    {", ".join(f"{column} = tally.{column} + excluded.{column}" for column in COLUMNS)}"""
ADD_BLAME = """INSERT INTO blame VALUES (?, ?, ?, ?)
    ON CONFLICT (variant, bot, code) DO UPDATE SET faults = blame.faults + excluded.faults"""

Played: TypeAlias = tuple[int, int, int, int, int, int | None, str, int, int]
"""A GameRow without its record."""
Tally: TypeAlias = tuple[int, ...]
"""A pairing, and its COLUMNS."""
PairKey: TypeAlias = tuple[int, int]
"""A pairing, and the number of a pair in it."""


class Alike(NamedTuple):
    """Rated games with the same result between the same seats."""

    first: int
    second: int
    points: int
    """Half-points of the first seat's bot."""
    games: int


class BlameRow(NamedTuple):
    """How many faults of this kind a bot made."""

    variant: str
    bot: int
    code: str
    faults: int


class Change(NamedTuple):
    """What new games change in the running counts."""

    tallies: dict[int, list[int]]
    """What is added to each of COLUMNS, by pairing; different games are not counted yet."""
    digests: dict[int, list[int]]
    """Of rated games, by pairing."""
    blame: list[BlameRow]


def placed(game: Sequence[Any], pairing: PairingRow) -> tuple[int, int]:
    """The pair that the schedule put this game in, 0 for one by itself, and the kind of a pair in
    which this is the only game, 0 if it is not rated."""
    number, first, points = game[1], game[3], game[5]
    in_seat_0 = first == pairing.first
    pair = (number + 1) >> 1
    if pair != game[2] or in_seat_0 != number & 1:
        pair = 0
    if points is None or game[6] in _UNRATED:
        return pair, 0
    return pair, (1 + points) << 2 if in_seat_0 else 3 - points


def results(tally: Tally, pairing: PairingRow) -> Iterator[Alike]:
    """The rated games of a pairing, by seats and result; the same may come more than once."""
    for kind, pairs in zip(KINDS, tally[1 + _FIRST_KIND + 1 :], strict=True):
        in_seat_0, in_seat_1 = (_HALF_POINTS.get(letter) for letter in kind)
        if pairs and in_seat_0 is not None:
            yield Alike(pairing.first, pairing.second, in_seat_0, pairs)
        if pairs and in_seat_1 is not None:
            yield Alike(pairing.second, pairing.first, 2 - in_seat_1, pairs)


def change_by(
    games: Sequence[Played],
    faults: Iterable[FaultRow],
    pairings: Mapping[int, PairingRow],
    find: Callable[[Sequence[int]], Iterable[Sequence[Any]]],
) -> Change:
    """What these games change; `find` gives those of the games with these keys that were there
    before, as far as `placed` needs them."""
    changes: dict[int, list[int]] = {}
    digests: dict[int, list[int]] = {}
    pairs: dict[PairKey, int] = {}
    for game in games:
        pairing = game[0]
        change = changes.get(pairing)
        if change is None:
            change = changes[pairing] = [0] * len(COLUMNS)
            digests[pairing] = []
        change[_PLAYED] += 1
        pair, kind = placed(game, pairings[pairing])
        if not kind:
            continue
        digests[pairing].append(game[8])
        if pair:
            key = (pairing, pair)
            pairs[key] = pairs.get(key, 0) + kind
        else:
            change[_FIRST_KIND + kind] += 1
    there = _there(pairs, pairings, find)
    for key, kind in pairs.items():
        before = there.get(key, 0)
        change = changes[key[0]]
        change[_FIRST_KIND + before + kind] += 1
        if before:
            change[_FIRST_KIND + before] -= 1
    return Change(changes, digests, _blame(games, list(faults), pairings, changes))


def _there(
    pairs: Mapping[PairKey, int],
    pairings: Mapping[int, PairingRow],
    find: Callable[[Sequence[int]], Iterable[Sequence[Any]]],
) -> dict[PairKey, int]:
    """The kinds that pairs of one new game were of before."""
    partners = [
        game_id(pairing, 2 * pair - (kind < 4))
        for (pairing, pair), kind in pairs.items()
        if kind < 4 or not kind & 3
    ]
    found: dict[PairKey, int] = {}
    for game in find(partners):
        pair, kind = placed(game, pairings[game[0]])
        if pair and kind:
            found[game[0], pair] = kind
    return found


def _blame(
    games: Sequence[Played],
    faults: list[FaultRow],
    pairings: Mapping[int, PairingRow],
    changes: Mapping[int, list[int]],
) -> list[BlameRow]:
    """The faults of these games; who is given a game by forfeit goes into the changes."""
    counted = [fault for fault in faults if fault.code in COUNTED]
    if not counted:
        return []
    seats = {game[:2]: game[3:5] for game in games}
    alone = Counter(fault[:2] for fault in counted)
    for fault in counted:
        # A game in which both forfeited is void: nobody is given it.
        if fault.code == _FORFEIT and alone[fault[:2]] == 1:
            first, second = seats[fault[:2]]
            winner = second if first == fault.bot else first
            given = winner == pairings[fault.pairing].first
            changes[fault.pairing][_FORFEITS_FIRST if given else _FORFEITS_SECOND] += 1
    made = Counter((pairings[fault.pairing].variant, fault.bot, fault.code) for fault in counted)
    return [BlameRow(*key, faults) for key, faults in made.items()]
