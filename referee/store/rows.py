"""What the store holds, as plain rows: the bots, the pairings, the games and their faults."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple, TypeAlias

from msgspec import Struct


class BotRow(Struct, frozen=True):
    """A bot as it was when the tournament started."""

    id: int
    name: str
    version: str
    hash: str
    definition: str
    """JSON: all that is needed to start it again."""
    out: str | None = None
    """Why it plays no more; None while it does."""


class PairingRow(Struct, frozen=True, gc=False):
    """Two bots that meet for a number of games of one variant."""

    id: int
    round: int
    variant: str
    first: int
    second: int
    games: int
    replay: int = 0


class GamesAt(Struct, frozen=True):
    """Which games a tournament had at one moment. No clock is asked: one may be set back."""

    last: dict[int, int] = {}
    """The highest number of a game, by pairing."""
    missing: dict[int, list[int]] = {}
    """Numbers below that whose games had not come back."""

    @classmethod
    def of(cls, games: Iterable[tuple[int, int]]) -> GamesAt:
        """Of pairings and numbers.

        >>> then = GamesAt.of([(7, 1), (7, 4), (7, 2)])
        >>> [then.has(7, number) for number in (1, 2, 3, 4, 5)], then.has(8, 1)
        ([True, True, False, True, False], False)
        """
        numbers: dict[int, set[int]] = {}
        for pairing, number in games:
            numbers.setdefault(pairing, set()).add(number)
        missing = {
            pairing: sorted(set(range(1, max(there))) - there) for pairing, there in numbers.items()
        }
        return cls(
            {pairing: max(there) for pairing, there in numbers.items()},
            {pairing: absent for pairing, absent in missing.items() if absent},
        )

    def has(self, pairing: int, number: int) -> bool:
        there = number <= self.last.get(pairing, 0)
        return there and number not in self.missing.get(pairing, ())


class GameRow(NamedTuple):
    """A finished game. The pairing and the number make it one of its kind."""

    pairing: int
    number: int
    """From 1 within the pairing."""
    pair: int
    first: int
    """The bot in seat 0."""
    second: int
    points: int | None
    """Half points of seat 0, forfeits included; None for a game that nobody won or drew."""
    ending: str
    plays: int
    digest: int
    """64 bits, signed: equal games have equal digests."""
    record: bytes
    """MessagePack."""


class FaultRow(NamedTuple):
    """A fault in a game; one at most of each seat."""

    pairing: int
    number: int
    seat: int
    bot: int
    code: str
    turn: int
    detail: str


class TimesRow(NamedTuple):
    """How long moves of a bot took, in some games of a pairing."""

    pairing: int
    bot: int
    moves: dict[int, int]
    """How many took a time of each bucket (buckets.py)."""


class RulingRow(NamedTuple):
    """What an organiser decided of a game afterwards. The record stays as it is."""

    pairing: int
    number: int
    what: str
    """`void`: it counts for nobody; `award`: the seat wins it."""
    seat: int | None
    reason: str
    by: str
    at: str


class Dropped(Struct, frozen=True):
    """Records that are no longer kept; the results of their games are."""

    games: int
    last: str
    """When the last of them was played."""


class TimeCount(NamedTuple):
    """How many moves of a bot took a time of this bucket."""

    variant: str
    bot: int
    bucket: int
    moves: int


Columns: TypeAlias = tuple[int, int, int, int, int, int | None, str, int]
"""pairing, number, pair, first, second, points, ending, digest: a game without its record."""


def game_id(pairing: int, number: int) -> int:
    """The one key of a game: games of a pairing lie side by side, in order."""
    return pairing << 32 | number


def keys_of(pairing: int) -> tuple[int, int]:
    """The keys of a pairing's games: the lowest and the highest that there could be."""
    return game_id(pairing, 0), game_id(pairing, 0xFFFFFFFF)


def ordered(query: str, key: str, pairing: int | None) -> tuple[str, tuple[int, ...]]:
    """The same question in order of the games, of all pairings or of one, and its values."""
    if pairing is None:
        return f"{query} ORDER BY {key}", ()
    return f"{query} WHERE {key} BETWEEN ? AND ? ORDER BY {key}", keys_of(pairing)
