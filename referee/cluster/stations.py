"""The machines of a cluster, as far as they are known: what each is, and which bots it can play."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

from msgspec import Struct

from referee.bots.confinement import Confinement
from referee.bots.confinement.levels import Level
from referee.bots.manifest import Bot
from referee.cluster.fingerprint import fingerprint
from referee.cluster.parcel import Parcel
from referee.tournament.chunk import Call, Contestant, Order
from referee.tournament.crew import MachineStatus
from referee.version import __version__

RECENT_S = 20.0
"""Over which the pace of a station is told."""
SILENT_S = 15.0
"""A station that the scheduler has not heard of for so long gets no more orders, and what it was at
is given to another. Stations report at least every few seconds."""


class Cargo(Struct, frozen=True, kw_only=True):
    """What every station needs before it can play."""

    bots: tuple[Bot, ...]
    """As they travel."""
    confinement: Confinement
    limit_ms: int
    """For a build."""
    parcels: dict[str, Parcel]


class Trouble(NamedTuple):
    """Why a bot cannot be played on a station."""

    why: str
    output: str = ""
    """The end of what its build said."""


class Station:
    """One dask worker."""

    def __init__(self, address: str, threads: int) -> None:
        self.address = address
        self.threads = threads
        self.survey: dict[str, Any] | None = None
        self.unfit = ""
        """Why nothing can be played there; empty where something can, as far as is known."""
        self.troubles: dict[str, Trouble | None] | None = None
        """By bot, why it cannot be played there; None before that is known."""
        self.plays_all = True
        """Whether there are no such bots."""
        self.proven: set[str] = set()
        """Bots that have come up there."""
        self.at_hand: frozenset[int] = frozenset()
        """Bots whose processes are kept there, as far as is known."""
        self.flying = 0
        """Orders that it has."""
        self.failures = 0
        """How often in a row it failed at an order."""
        self.lapses = 0
        """How often in a row it lacked what it had said that it has."""
        self.to_be_asked = ""
        """What it has not been asked yet, or has to be asked again."""
        self.games = 0
        self.silent = False
        self._last_seen = 0.0
        self._heard = time.monotonic()
        self._paces: deque[tuple[float, int]] = deque()

    def heard_of(self, last_seen: float, newest: float) -> None:
        """When the scheduler last heard of it, and of the one that it heard of last."""
        now = time.monotonic()
        if last_seen != self._last_seen:
            self._last_seen = last_seen
            self._heard = now - (newest - last_seen)
        self.silent = now - self._heard > SILENT_S

    def surveyed(self, found: dict[str, Any]) -> None:
        self.survey = found
        if found["code"] != fingerprint():
            self.unfit = f"its referee {__version__} is not the same as here: the files differ"

    def made_ready(self, troubles: dict[str, Trouble | None]) -> None:
        self.troubles = troubles
        self.plays_all = not any(troubles.values())

    def distrust(self, troubles: dict[str, str]) -> None:
        """These bots do not come up there."""
        if self.troubles is not None:
            self.troubles.update({bot: Trouble(why) for bot, why in troubles.items()})
            self.plays_all = False

    def refuses(self, least: Level) -> str:
        """Why it is not strict enough; empty where it is."""
        if self.survey is None or self.offers(least):
            return ""
        why = f" ({self.survey['lacking']})" if self.survey["lacking"] else ""
        return f"it does not offer level {least}{why}"

    def offers(self, least: Level) -> bool:
        """Whether bots are confined there at least so strictly."""
        levels = [] if self.survey is None else self.survey["levels"]
        return any(Level(level) in stricter(least) for level in levels)

    @property
    def level(self) -> str:
        """The best that it offers."""
        levels = [] if self.survey is None else self.survey["levels"]
        return next((each.value for each in Level if each.value in levels), Level.NONE.value)

    @property
    def is_ready(self) -> bool:
        """Whether it can be given orders."""
        return self.troubles is not None and not self.unfit and not self.silent

    def plays(self, names: Collection[str]) -> bool:
        troubles = self.troubles
        if troubles is None or not self.is_ready:
            return False
        return all(name in troubles and troubles[name] is None for name in names)

    @property
    def free_threads(self) -> int:
        return self.threads - self.flying

    def count(self, games: int) -> None:
        self.games += games
        self._paces.append((time.monotonic(), games))

    def place(self, since: float) -> MachineStatus:
        now = time.monotonic()
        while self._paces and self._paces[0][0] < now - RECENT_S:
            self._paces.popleft()
        span = max(min(RECENT_S, now - since), 0.001)
        recent = sum(games for _, games in self._paces)
        return MachineStatus(
            name=self.address, hands=self.threads, games=self.games, games_per_s=recent / span
        )


def stricter(least: Level) -> Sequence[Level]:
    """A level and those that promise more."""
    order = [Level.NONE, Level.STANDARD, Level.FULL]
    return order[order.index(least) :]


def names_in(order: Order) -> tuple[str, ...]:
    """Of the bots that an order has to start: not of those that are out."""
    return tuple(each.bot.name for each in contestants_of(order) if not each.out)


def contestants_of(order: Order) -> tuple[Contestant, ...]:
    return (order.contestant,) if isinstance(order, Call) else (order.first, order.second)
