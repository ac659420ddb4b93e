"""The machines of a cluster, as far as they are known: what each is, and which bots it can play."""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence
from typing import Any

from msgspec import Struct

from referee.bots.confinement import Confinement
from referee.bots.confinement.levels import Level
from referee.bots.manifest import Bot
from referee.cluster.parcel import Parcel
from referee.tournament.chunk import Call, Order
from referee.tournament.crew import Place
from referee.version import __version__

RECENT_S = 20.0
"""Over which the pace of a station is told."""


class Cargo(Struct, frozen=True, kw_only=True):
    """What every station needs before it can play."""

    bots: tuple[Bot, ...]
    """As they travel."""
    confinement: Confinement
    limit_ms: int
    """For a build."""
    parcels: dict[str, Parcel]


class Station:
    """One dask worker."""

    def __init__(self, address: str, threads: int) -> None:
        self.address = address
        self.threads = threads
        self.survey: dict[str, Any] | None = None
        self.unfit = ""
        """Why nothing can be played there; empty where something can, as far as is known."""
        self.troubles: dict[str, str | None] | None = None
        """By bot, why it cannot be played there; None before that is known."""
        self.games = 0
        self._paces: list[tuple[float, int]] = []

    def surveyed(self, found: dict[str, Any], least: Level | None) -> None:
        self.survey = found
        if found["version"] != __version__:
            self.unfit = f"it has referee {found['version']}, and this is {__version__}"
        elif least is not None and not self.offers(least):
            why = f" ({found['lacking']})" if found["lacking"] else ""
            self.unfit = f"it does not offer level {least}{why}"

    def offers(self, least: Level) -> bool:
        """Whether bots are confined there at least so strictly."""
        levels = [] if self.survey is None else self.survey["levels"]
        return any(Level(level) in stricter(least) for level in levels)

    @property
    def level(self) -> str:
        """The best that it offers."""
        levels = [] if self.survey is None else self.survey["levels"]
        return next((each.value for each in Level if each.value in levels), Level.NONE.value)

    def plays(self, names: Collection[str]) -> bool:
        if self.unfit or self.troubles is None:
            return False
        return all(name in self.troubles and self.troubles[name] is None for name in names)

    def count(self, games: int) -> None:
        self.games += games
        now = time.monotonic()
        self._paces = [each for each in self._paces if each[0] > now - RECENT_S] + [(now, games)]

    def place(self, since: float) -> Place:
        span = max(min(RECENT_S, time.monotonic() - since), 0.001)
        recent = sum(games for at, games in self._paces if at > time.monotonic() - RECENT_S)
        return Place(
            name=self.address, hands=self.threads, games=self.games, games_per_s=recent / span
        )


def stricter(least: Level) -> Sequence[Level]:
    """A level and those that promise more."""
    order = [Level.NONE, Level.STANDARD, Level.FULL]
    return order[order.index(least) :]


def names_in(order: Order) -> tuple[str, ...]:
    """Of the bots that an order is about."""
    if isinstance(order, Call):
        return (order.contestant.bot.name,)
    return (order.first.bot.name, order.second.bot.name)
