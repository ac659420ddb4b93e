"""What happens to a bot that is connected to a referee elsewhere.

Each is one JSON object on a line of `referee connect --json`; `event` says which it is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from msgspec import Struct


class Running(Struct, frozen=True, kw_only=True, tag_field="event", tag="running"):
    """The bot's process is up and has said hello."""

    bot: str
    pid: int


class Connected(Struct, frozen=True, kw_only=True, tag_field="event", tag="connected"):
    """The referee has answered the hello: games may come."""

    bot: str
    to: str
    referee: str
    """Its version."""


class Lost(Struct, frozen=True, kw_only=True, tag_field="event", tag="lost"):
    """The referee is not there, or not any more. The hello is said again until it is."""

    to: str
    why: str


class GameBegan(Struct, frozen=True, kw_only=True, tag_field="event", tag="start"):
    game: str
    variant: str
    players: tuple[str, str]
    seat: int


class GameOver(Struct, frozen=True, kw_only=True, tag_field="event", tag="over"):
    game: str
    result: Literal["win", "loss", "draw", "void"]
    ending: str
    scores: tuple[int, int]


class Blamed(Struct, frozen=True, kw_only=True, tag_field="event", tag="error"):
    """The referee says what the bot did wrong."""

    code: str
    detail: str
    game: str | None


class BrokeDown(Struct, frozen=True, kw_only=True, tag_field="event", tag="broke_down"):
    """The bot's process has ended, or is ended for a fault; it is started anew."""

    bot: str
    why: str


class Left(Struct, frozen=True, kw_only=True, tag_field="event", tag="left"):
    """The end: nobody plays for this bot any more."""

    bot: str
    games: int
    """That were played to an end."""


News = Running | Connected | Lost | GameBegan | GameOver | Blamed | BrokeDown | Left
Tell = Callable[[News], None]
