"""What coordinator and worker say to each other: plain data, length-prefixed MessagePack.

A chunk is some games of one pairing with all that is needed to play them; what comes back are
batches of finished games, ready for the store, and at the end what is left. Nothing in it is tied
to this machine's processes, so a chunk can be played elsewhere.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from referee.arena.restart import Restart
from referee.bots.confinement import UNCONFINED, Confinement
from referee.bots.manifest import Bot
from referee.clock import Clock
from referee.record import Record
from referee.store.rows import BotRow, FaultRow, GameRow, TimesRow
from referee.tournament.telling import LiveReport

LENGTH_BYTES = 4
START_SHARE = 5
"""A chunk lasts at least so many times as long as its first game, the start of its bots included,
beyond that game."""


class Manner(Struct, frozen=True, kw_only=True):
    """How all games of a tournament are played."""

    tournament: str
    contest: str = ""
    """By which it is told from all other tournaments, of the same name and in the same folder, too.
    It has another one after it was interrupted."""
    clock: Clock
    startup_ms: int
    warm_up_ms: int
    think: Literal["in turn", "parallel"]
    at_once: int
    restart: Restart | None = None
    confinement: Confinement = UNCONFINED
    logs: Path | None = None
    """Where the bots' stderr is kept."""
    logs_go: bool = False
    """Whether that folder is removed when an order was played."""
    told: bool = False
    """Whether somebody may watch: of every chunk a game at a time is told move by move."""


class Contestant(Struct, frozen=True):
    """A bot with its number in the store."""

    id: int
    bot: Bot
    out: bool = False
    """It failed to start: its games are lost by forfeit, and it is not tried again."""


class Chunk(Struct, frozen=True, kw_only=True, tag="chunk"):
    """Some games of one pairing."""

    id: int
    pairing: int
    variant: str
    """Name, or path of a script."""
    options: dict[str, int | str]
    branch: str
    """The pairing's branch in the tree of luck."""
    first: Contestant
    second: Contestant
    numbers: tuple[tuple[int, int], ...]
    """Ranges of game numbers, both ends included."""
    own_chance: bool
    """Whether each game has chance of its own, since it is hidden and one of the two is no sample
    bot."""
    budget_s: float
    """After so long no further game is begun; a block that was begun is played to its end."""
    block: int = 0
    """How many games one process of a bot plays that keeps something from game to game; 0 is all of
    them."""
    manner: Manner
    called: tuple[str, str] | None = None
    """What the two are called in these games; None is by the names of the bots."""

    def dealt_anew(self) -> Chunk:
        """For another attempt: with other chance, where bots may know that of the one before."""
        if not self.own_chance:
            return self
        return replace(self, branch=f"{self.branch}/{secrets.token_hex(16)}")

    def each_number(self) -> Iterator[int]:
        for low, high in self.numbers:
            yield from range(low, high + 1)


class Call(Struct, frozen=True, kw_only=True, tag="call"):
    """Start this bot, hear its hello, let it go."""

    contestant: Contestant
    manner: Manner


class Batch(Struct, frozen=True, tag="batch"):
    """Finished games of a chunk."""

    chunk: int
    games: list[GameRow]
    faults: list[FaultRow]
    times: list[TimesRow]


class Done(Struct, frozen=True, kw_only=True, tag="done"):
    """A chunk has ended; every game of it that was played has been sent, the others are left."""

    chunk: int
    stalls: int
    replayed: int
    errors: dict[str, int]
    pinned: bool
    starting_s: float
    """From the order to the end of the first game: mostly the start of the bots."""
    kept: tuple[int, ...] = ()
    """Bots whose processes the worker keeps."""


class Called(Struct, frozen=True, kw_only=True, tag="called"):
    """How a call went."""

    id: int
    variants: tuple[str, ...] | None
    """What its hello names; None is everything."""
    trouble: str | None
    """Why it is out, after so many failed starts; None where it came up."""
    stateless: bool = False
    """Whether it says that it keeps nothing from game to game."""
    kept: tuple[int, ...] = ()
    """Bots whose processes the worker keeps."""


class Failed(Struct, frozen=True, tag="failed"):
    """The worker itself could not do its work; the sentence says why."""

    why: str


Order = Chunk | Call
Report = Batch | Done | Called | Failed | LiveReport


def plain(value: object) -> str:
    """What MessagePack does not know, as text."""
    if isinstance(value, Path):
        return str(value)
    raise NotImplementedError(type(value).__name__)


def from_plain(kind: type, value: Any) -> Any:
    return Path(value) if kind is Path else value


_encoder = msgspec.msgpack.Encoder(enc_hook=plain)
_order_decoder: msgspec.msgpack.Decoder[Order] = msgspec.msgpack.Decoder(Order, dec_hook=from_plain)
_report_decoder: msgspec.msgpack.Decoder[Report] = msgspec.msgpack.Decoder(Report)


def frame(message: Order | Report) -> bytes:
    """A message as it travels: its length, then itself."""
    body = _encoder.encode(message)
    return len(body).to_bytes(LENGTH_BYTES, "big") + body


def read_order(body: bytes) -> Order:
    return _order_decoder.decode(body)


def read_report(body: bytes) -> Report:
    return _report_decoder.decode(body)


class Frames:
    """Bytes in, whole messages out."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, data: bytes) -> Iterator[bytes]:
        buffer = self._buffer
        buffer += data
        start = 0
        while len(buffer) - start >= LENGTH_BYTES:
            body = start + LENGTH_BYTES
            end = body + int.from_bytes(buffer[start:body], "big")
            if len(buffer) < end:
                break
            yield bytes(buffer[body:end])
            start = end
        del buffer[:start]


def spans(numbers: Iterable[int]) -> tuple[tuple[int, int], ...]:
    """Numbers in any order as ranges."""
    found: list[tuple[int, int]] = []
    for number in sorted(numbers):
        if found and number == found[-1][1] + 1:
            found[-1] = (found[-1][0], number)
        else:
            found.append((number, number))
    return tuple(found)


def truly_named(game: GameRow, bots: Mapping[int, BotRow]) -> GameRow:
    """With the names of its tables, which the bots were not told."""
    record = msgspec.msgpack.decode(game.record, type=Record)
    names = (bots[game.first].name, bots[game.second].name)
    return game._replace(record=msgspec.msgpack.encode(replace(record, players=names)))
