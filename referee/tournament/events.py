"""What a tournament tells while it runs. docs/events.md describes the stream that scripts read.

Each event is one JSON object on a line of `--events`; `event` says which it is. `Tick` is for
whoever shows progress and never leaves the process.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Literal, NamedTuple

from msgspec import Struct

from referee.store.database import Store
from referee.store.rows import BotRow, PairingRow
from referee.tournament.chunk import Batch
from referee.tournament.crew import Muster
from referee.verdict import UNRATED


class Building(Struct, frozen=True, kw_only=True, tag_field="event", tag="building"):
    """The build of a bot begins. Others may be built beside it."""

    bot: str


class LeftOut(Struct, frozen=True, kw_only=True, tag_field="event", tag="left_out"):
    """A bot cannot be read or built, or a program that it needs is missing: the others play without
    it."""

    bot: str
    """Its name; of a folder in which there is none, the folder."""
    why: str
    output: str
    """What the compiler said."""


class Started(Struct, frozen=True, kw_only=True, tag_field="event", tag="started"):
    """The tournament begins, or goes on."""

    name: str
    folder: str
    format: str
    variants: list[str]
    bots: list[str]
    played: int
    """Games that are there already."""
    planned: int
    """Games in all, as far as the format knows them."""
    jobs: int
    resumed: bool


class GamePlayed(Struct, frozen=True, kw_only=True, tag_field="event", tag="game"):
    """A game has a record. It is safe after the next commit, at most a second later."""

    game: str
    variant: str
    round: int
    players: tuple[str, str]
    """In seat order."""
    ending: str
    points: tuple[float, float] | None
    """In seat order; None for a void game."""
    rated: bool
    plays: int


class FaultSeen(Struct, frozen=True, kw_only=True, tag_field="event", tag="fault"):
    """A bot was at fault in a game."""

    game: str
    bot: str
    code: str
    turn: int
    detail: str


class BotOut(Struct, frozen=True, kw_only=True, tag_field="event", tag="out"):
    """A bot does not come up: the rest of its games is lost by forfeit."""

    bot: str
    why: str


class RoundEnded(Struct, frozen=True, kw_only=True, tag_field="event", tag="round"):
    """A round is over, and the next one follows from its results."""

    round: int
    played: int
    planned: int


class Finished(Struct, frozen=True, kw_only=True, tag_field="event", tag="finished"):
    """Every game has been played."""

    played: int
    seed: str
    salt: str


Told = Building | LeftOut | Started | GamePlayed | FaultSeen | BotOut | RoundEnded | Finished


class Tick(NamedTuple):
    """About ten times a second."""

    store: Store
    played: int
    planned: int
    new: int
    """Games since this run began."""
    state: Literal["calling", "playing"]
    muster: Muster | None = None
    """Who plays, where it is a cluster."""


Listener = Callable[[Told | Tick], None]


def games_told(
    batch: Batch, pairing: PairingRow, bots: Mapping[int, BotRow]
) -> Iterator[GamePlayed | FaultSeen]:
    """The events of a batch of finished games, all of one pairing."""
    for game in batch.games:
        yield GamePlayed(
            game=f"{game.pairing}-{game.number}",
            variant=pairing.variant,
            round=pairing.round,
            players=(bots[game.first].name, bots[game.second].name),
            ending=game.ending,
            points=None if game.points is None else (game.points / 2, 1 - game.points / 2),
            rated=game.ending not in UNRATED,
            plays=game.plays,
        )
    for fault in batch.faults:
        yield FaultSeen(
            game=f"{fault.pairing}-{fault.number}",
            bot=bots[fault.bot].name,
            code=fault.code,
            turn=fault.turn,
            detail=fault.detail,
        )
