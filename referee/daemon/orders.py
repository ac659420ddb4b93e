"""What the coordinator and the hall's process say to each other, in the frames of the workers.

To the hall: open the door, who may come in, what to play, when to stop. From it: who came and went,
finished games as a worker sends them, live moves of the games that are followed, and counters.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec
from msgspec import Struct

from referee.arena.happenings import HallTerms
from referee.protocol.messages import HelloReceived
from referee.tournament.chunk import (
    LENGTH_BYTES,
    Batch,
    Chunk,
    Done,
    Failed,
    Frames,
    from_plain,
    plain,
)
from referee.tournament.telling import LiveBegan, LiveMoved

# To the hall.


class Admit(Struct, frozen=True, kw_only=True, tag="admit"):
    """Who may come in, from now on. A guest that is in and not named any more is shown out."""

    keys: dict[str, str]
    """Public keys (Z85), and whose they are."""
    tokens: dict[str, str]
    """SHA-256 of tokens in hexadecimal digits, and whose they are. Good without CURVE only."""


class Open(Struct, frozen=True, kw_only=True, tag="open"):
    """Listen. The first order of all; what comes back is Opened, or Failed and the end."""

    endpoint: str
    secret: str | None
    """With the server's secret key, CURVE is on and tokens are not asked for."""
    admit: Admit
    terms: HallTerms = HallTerms()


class Play(Struct, frozen=True, kw_only=True, tag="play"):
    """Games between two guests. What comes back are batches, and Done at the end."""

    chunk: Chunk
    guests: tuple[str, str]
    """The names under which the chunk's first and second contestant are connected."""
    arrivals: tuple[int, int]
    """Which arrivals of theirs are meant: whoever came under such a name since then is another."""


class CallOff(Struct, frozen=True, tag="call off"):
    """Begin no further game of a chunk; what is being played is played to its end."""

    chunk: int


class Follow(Struct, frozen=True, tag="follow"):
    """Tell so many games at a time move by move; those that are told are told to their end."""

    games: int


class Close(Struct, frozen=True, tag="close"):
    """Finish within this time, void what is not finished, say bye and leave."""

    finish_s: float


HallOrder = Open | Admit | Play | CallOff | Follow | Close


# From the hall.


class Opened(Struct, frozen=True, kw_only=True, tag="opened"):
    """It listens."""

    endpoint: str
    """With the real port."""
    public: str | None
    """The server's public key, which bots need to connect, where CURVE is on."""


class GuestCame(Struct, frozen=True, kw_only=True, tag="guest came"):
    """A bot has said hello."""

    name: str
    hello: HelloReceived
    """Without its token."""
    address: str
    arrival: int
    """The number of this arrival, among all."""


class GuestLeft(Struct, frozen=True, tag="guest left"):
    """A bot is not there any more; its chunks end by themselves."""

    name: str
    why: str


class ChunkFailed(Struct, frozen=True, tag="chunk failed"):
    """A chunk could not be set up, its variant for one; the hall goes on."""

    chunk: int
    why: str


class Counters(Struct, frozen=True, kw_only=True, tag="counters"):
    """Every second."""

    connected: int
    away: int
    open_games: int
    answers: int
    """Since the hall was opened; so are the following."""
    refused: dict[str, int]
    """Who was not let in, by why."""
    dropped: dict[str, int]
    """Who was shown out and what was not listened to, by why."""


HallReport = (
    Batch
    | Done
    | Failed
    | Opened
    | GuestCame
    | GuestLeft
    | ChunkFailed
    | LiveBegan
    | LiveMoved
    | Counters
)

_encoder = msgspec.msgpack.Encoder(enc_hook=plain)
_orders: msgspec.msgpack.Decoder[HallOrder] = msgspec.msgpack.Decoder(
    HallOrder, dec_hook=from_plain
)
_reports: msgspec.msgpack.Decoder[HallReport] = msgspec.msgpack.Decoder(HallReport)


def hall_frame(message: HallOrder | HallReport) -> bytes:
    """A message as it travels: its length, then itself."""
    body = _encoder.encode(message)
    return len(body).to_bytes(LENGTH_BYTES, "big") + body


def read_hall_orders(frames: Frames, data: bytes) -> Iterator[HallOrder]:
    return map(_orders.decode, frames.feed(data))


def read_hall_reports(frames: Frames, data: bytes) -> Iterable[HallReport]:
    return map(_reports.decode, frames.feed(data))
