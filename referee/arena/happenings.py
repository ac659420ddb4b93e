"""The hall from outside: what it is given to play, on which terms, and what it tells."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from msgspec import Struct

from referee.arena.game import Setting
from referee.clock import DEFAULT_WARM_UP_MS
from referee.links.strangers import SILENT_S
from referee.protocol.messages import FLOOD_BYTES, HelloReceived
from referee.record import Record
from referee.schedule import GameOrder

AWAY_MS = 10_000
PING_S = 15.0


class HallTerms(Struct, frozen=True, kw_only=True):
    """The rules of the hall."""

    warm_up_ms: int = DEFAULT_WARM_UP_MS
    """On top of the first answer after a hello."""
    away_ms: int = AWAY_MS
    """A guest that is gone, does not read or does not answer a ping loses its games after this."""
    ping_s: float = PING_S
    """A guest that is not to move and has said nothing for so long is asked whether it is there."""
    hello_s: float = SILENT_S
    """A connection that is nobody's may speak for so long before it says a good hello."""
    flood_bytes: int = FLOOD_BYTES
    """The most that a guest may send from one turn to the next."""


class Refused(Struct, frozen=True):
    """Why somebody is not let in, in a sentence, and in a word for the counters."""

    why: str
    kind: str = "refused"


class Doors(Protocol):
    """Who decides who is let in."""

    def admit(self, user: str, hello: HelloReceived) -> str | Refused:
        """The name of the guest. `user` is whom the connection's key belongs to, if it has one."""


class Match(Struct, frozen=True, kw_only=True):
    """Games between two guests."""

    id: int
    setting: Setting
    guests: tuple[str, str]
    """Names of guests, in the order of the pairing; the setting says what they are called."""
    orders: Sequence[GameOrder]
    at_once: int = 64


class Arrived(Struct, frozen=True):
    """A guest has said hello and was let in."""

    name: str
    hello: HelloReceived
    address: str


class Departed(Struct, frozen=True):
    """A guest is not there any more."""

    name: str
    why: str


class Played(Struct, frozen=True):
    """A game of a match has ended."""

    match: int
    record: Record


class MatchOver(Struct, frozen=True):
    """Nothing more of a match will be played."""

    match: int
    unplayed: list[GameOrder]
    stalls: int = 0
    replayed: int = 0
    errors: dict[str, int] = {}


class Began(Struct, frozen=True):
    """A game that is followed has begun."""

    match: int
    game: str
    variant: str
    players: tuple[str, str]
    """In seat order."""
    lines: list[str]


class Moved(Struct, frozen=True):
    """A game that is followed has gone on: what both seats know of it."""

    match: int
    game: str
    move_number: int
    """How many moves there are now."""
    lines: list[str]


class Ended(Struct, frozen=True):
    """A game that was followed has ended."""

    match: int
    game: str
    variant: str
    players: tuple[str, str]
    winner: int | None
    ending: str
    scores: tuple[int, int]


Happening = Arrived | Departed | Played | MatchOver | Began | Moved | Ended
