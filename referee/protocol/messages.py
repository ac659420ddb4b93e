"""Protocol 1: every message, once, as a type. protocol.md's tables are made from these.

The referee's messages carry their `type` first. A bot's answer may leave its `type` out; what
comes from a bot is read by `codec` and becomes one of the `…Received` events.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType, field

from referee.clock import Clock

PROTOCOL = 1
LARGEST_INT = 2**53
LINE_LIMIT = 64 * 1024
NESTING_LIMIT = 32
NOTE_LIMIT = 200
"""Bytes of UTF-8 of one note that are kept."""
NOTES_LIMIT = 2048
"""Bytes of UTF-8 of all notes of a bot in one game that are kept: 4 KiB for both seats."""
NAME_LIMIT = 60
FLOOD_BYTES = 1024 * 1024
STALE_LIMIT = 100


def cut(text: str, most: int) -> str:
    """The beginning of a text, with at most so many bytes of UTF-8 and no half character."""
    return text[:most].encode()[:most].decode(errors="ignore")


WireInt = Annotated[int, Meta(ge=-LARGEST_INT, le=LARGEST_INT)]
TurnId = Annotated[int, Meta(ge=1, le=LARGEST_INT)]


# From the referee to a bot.


class Hello(Struct, tag="hello", frozen=True):
    """The first line of all. The bot answers with its own hello."""

    protocol: int
    referee: str


class Start(Struct, tag="start", frozen=True):
    """A game begins. There is nothing to answer."""

    game: str
    variant: str
    rules: int
    options: Mapping[str, int | str]
    seat: int
    players: tuple[str, str]
    clock: Clock
    bot_seed: int


class Turn(Struct, tag="turn", frozen=True):
    """The bot is to move: answer with this `id` and one of the `legal` moves."""

    game: str
    id: int
    view: dict[str, Any]
    events: list[dict[str, Any]]
    legal: Sequence[int | str] | None
    left_ms: int | None


class Over(Struct, tag="over", frozen=True):
    """A game is over. There is nothing to answer."""

    game: str
    result: Literal["win", "loss", "draw", "void"]
    ending: str
    at_fault: tuple[int, ...]
    scores: tuple[int, int]
    events: list[dict[str, Any]]


class Error(Struct, tag="error", frozen=True):
    """What the bot did wrong. No second try: `over` follows."""

    code: str
    detail: str
    game: str | None = None
    id: int | None = None


class Ping(Struct, tag="ping", frozen=True):
    """Are you there? Never sent while the bot is to move."""


class Bye(Struct, tag="bye", frozen=True):
    """No more games. The bot has a second to exit."""


ToBot = Hello | Start | Turn | Over | Error | Ping | Bye


# From a bot to the referee.


class HelloReceived(Struct, frozen=True):
    """The bot is up."""

    protocol: int = PROTOCOL
    name: str | None = None
    token: str | None = None
    version: str | None = None
    author: str | None = None
    variants: tuple[str, ...] | None = None
    games_at_once: int = 1
    stateless: bool = False


class MoveReceived(Struct, frozen=True, gc=False):
    """An answer to a turn. This is also the shape that the fast path of the codec decodes."""

    id: TurnId
    move: WireInt | str
    kind: Literal["move"] | UnsetType = field(default=UNSET, name="type")


class OddMoveReceived(Struct, frozen=True):
    """An answer whose move is no integer and no text, or that carries a note."""

    id: int
    move: object
    note: str | None = None


class ResignReceived(Struct, frozen=True):
    """The bot gives this game up."""

    id: int


class PongReceived(Struct, frozen=True):
    """The bot is there."""


class Misbehaved(Struct, frozen=True):
    """The bot broke the protocol; nothing that it says after this is heard."""

    code: str
    detail: str
    received: str = ""


Event = HelloReceived | MoveReceived | OddMoveReceived | ResignReceived | PongReceived | Misbehaved
